# SPDX-License-Identifier: Apache-2.0
# Programs of a build that have something to do on a GPU; for `run` and `pack`.
# shellcheck shell=bash disable=SC2034
programs=(client/shoal daemon/shoald daemon/worker/shoal-worker tests/e2e/planted_gpu_worker tests/graphs/graph_tests tests/bench/graph_costs tests/unit/test_steady)
physics=(constraints state state_files state_guards barostat waters buried_water exchange_kicks dynamics mesh_every switches switch_bits bonded forces force_slopes force_bits lists biases coordinations saxs)
