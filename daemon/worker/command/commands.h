/* SPDX-License-Identifier: Apache-2.0
 *
 * What shoal-worker can be asked to do. Each command reads its own line (line.h; argv[0] is the command's name)
 * and returns the exit code, which `shoal energy` and its kin pass on. Data on stdout, messages on stderr.
 */
#ifndef SHOAL_DAEMON_WORKER_COMMAND_COMMANDS_H
#define SHOAL_DAEMON_WORKER_COMMAND_COMMANDS_H

#include "engine/base/err.h"

/* Says the error on stderr and returns its exit code. */
int exit_with(const char *command, const struct err *e);

int serve_main(int argc, char **argv);
int energy_main(int argc, char **argv);
int observe_main(int argc, char **argv);
int bench_main(int argc, char **argv);
int campaign_main(int argc, char **argv);
int validate_main(int argc, char **argv);
int suggest_restraint_main(int argc, char **argv);
int estimate_main(int argc, char **argv);
int check_submission_main(int argc, char **argv);
int unpack_main(int argc, char **argv);
int molecules_main(int argc, char **argv);
int devices_main(int argc, char **argv);
int version_main(int argc, char **argv);

#endif
