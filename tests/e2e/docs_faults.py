# SPDX-License-Identifier: Apache-2.0
"""Pages of the guide that have something wrong, each with what the test has to say of it."""

# Found by looking.
FAULTS = (
    ("```\nshoal list\n```", "of an unknown kind: ''"),
    ("```sh slow\nshoal list\n```", "of an unknown kind"),
    ("```sh\nshoal list", "has no end"),
    ("```yaml\nname: a\n```", "of an unknown kind"),
    ("- a list\n\n    shoal list", "code outside of a block"),
    ("```text output\nx\n```", "the output of nothing"),
    ("```sh root\nshoal list --jason\n```", "shoal list has no --jason"),
    ("```sh root\nfrob\n```", "'frob' is not a program"),
    ("```sh root\nsudo systemctl start shoalb.service\n```", "no unit shoalb"),
    ("```sh build\nmeson setup b -Dx=1\n```", "meson has no x"),
    ("```sh build\nmeson test --setup quick\n```", "meson has no quick"),
    ("```sh build\ndeploy/slowstart\n```", "is no program of the tree"),
    ("`shoal submitt SPEC`", "no command submitt"),
    ("`shoal du --window 3`", "shoal du has no --window"),
    ("`shoald --slot 2`", "shoald has no --slot"),
    ("`shoal-worker energie`", "has no energie"),
    ("`--no-such-option`", "no program has"),
    ("| message |\n|---|\n| `the ensemble was eaten by ..` |", "no program says"),
    ("| message |\n|---|\n| `..: ..` |", "no program says"),
    ("\n## Exit codes\n\n| 0 | success |\n", "exit code 2: bad usage"),
    ("\n## Exit codes\n\n| 4 | success |\n", "exit code 4: no such"),
    ("[a](nowhere.md)", "there is no nowhere.md"),
    ("[a](../README.md#nowhere)", "no heading"),
)
# Found by running.
FAILURES = (
    ("```sh\nshoal help submit\nfalse\ntrue\n```", "exit code 1"),
    ("```sh\nshoal list --jason\n```", "exit code 2"),
    ("```sh fails=3\nshoal list\n```", "exit code 0"),
    ("```sh\nshoal list\n```\n\n```text output\n...\nnothing\n```", "nothing stands for 'nothing'"),
    ("```sh\necho unconverged\n```\n\n```text output\nconverged\n```", "nothing stands for 'converged'"),
    ("```yaml in=examples/methane/methane.yaml\nbarostat: {presure: 1 bar}\n```", "did you mean pressure?"),
)
