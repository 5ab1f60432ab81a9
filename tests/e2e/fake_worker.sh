#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The worker program of tests: what reads and estimates is the real one (unless FAKE_RULES.COMMAND says otherwise), and is there
# at once; what runs replicas is fake_worker.py.
case "$1" in
check-submission | estimate | unpack) [ -e "$FAKE_RULES.$1" ] || exec "$FAKE_REAL_WORKER" "$@" ;;
esac
exec "$(dirname "$0")/fake_worker.py" "$@"
