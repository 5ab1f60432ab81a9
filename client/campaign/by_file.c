/* SPDX-License-Identifier: Apache-2.0
 *
 * Commands that take an ensemble, or a campaign's file: report, ladder.
 */
#include <string.h>

#include "client/campaign/campaign.h"
#include "client/command/handlers.h"
#include "client/gather/gather.h"
#include "client/propose/propose.h"
#include "client/report/report.h"

bool campaign_is_file(const char *word)
{
    const char *dot = strrchr(word, '.');
    return dot && (!strcmp(dot, ".yaml") || !strcmp(dot, ".yml"));
}

int report_main(struct client *c, int argc, char **argv)
{
    return campaign_is_file(argv[0]) ? campaign_report(c, argv[0]) : report_ensemble(c, argv[0]);
}

int ladder_main(struct client *c, int argc, char **argv)
{
    return campaign_is_file(argv[0]) ? ladder_of_spec(c, argv[0]) : propose_windows(c, argv[0]);
}
