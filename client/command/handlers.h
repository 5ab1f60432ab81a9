/* SPDX-License-Identifier: Apache-2.0
 *
 * The handlers that the table of commands names (client/commands.c); each is defined in the room of its command.
 */
#ifndef SHOAL_CLIENT_COMMAND_HANDLERS_H
#define SHOAL_CLIENT_COMMAND_HANDLERS_H

#include "client/command/client.h"

/* Handlers get the words after the options and return an exit code. */
int submit_main(struct client *c, int argc, char **argv);
int list_main(struct client *c, int argc, char **argv);
int status_main(struct client *c, int argc, char **argv);
int top_main(struct client *c, int argc, char **argv);
int watch_main(struct client *c, int argc, char **argv);
int wait_main(struct client *c, int argc, char **argv);
int events_main(struct client *c, int argc, char **argv);
int results_main(struct client *c, int argc, char **argv);
int report_main(struct client *c, int argc, char **argv);
int cancel_main(struct client *c, int argc, char **argv);
int pause_main(struct client *c, int argc, char **argv);
int resume_main(struct client *c, int argc, char **argv);
int priority_main(struct client *c, int argc, char **argv);
int move_main(struct client *c, int argc, char **argv);
int retry_main(struct client *c, int argc, char **argv);
int reestimate_main(struct client *c, int argc, char **argv);
int extend_main(struct client *c, int argc, char **argv);
int rm_main(struct client *c, int argc, char **argv);
int du_main(struct client *c, int argc, char **argv);
int export_main(struct client *c, int argc, char **argv);
int import_ensemble_main(struct client *c, int argc, char **argv);
int usage_main(struct client *c, int argc, char **argv);
int drain_main(struct client *c, int argc, char **argv);
int undrain_main(struct client *c, int argc, char **argv);
int hold_main(struct client *c, int argc, char **argv);
int release_main(struct client *c, int argc, char **argv);
int web_main(struct client *c, int argc, char **argv);
int up_main(struct client *c, int argc, char **argv);
int doctor_main(struct client *c, int argc, char **argv);
int version_main(struct client *c, int argc, char **argv);
int import_main(struct client *c, int argc, char **argv);
int ladder_main(struct client *c, int argc, char **argv);
int init_main(struct client *c, int argc, char **argv);
/* Becomes shoal-worker; returns only when that fails. */
int offline_main(struct client *c, int argc, char **argv);
/* Has shoal-worker estimate and shows its JSON as a table, with --json becomes it. */
int estimate_main(struct client *c, int argc, char **argv);
/* What is to be done with a campaign, and its file. */
int campaign_main(struct client *c, int argc, char **argv);

#endif
