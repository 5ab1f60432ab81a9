/* SPDX-License-Identifier: Apache-2.0
 *
 * Headings of tables that people mean as experiments, and that are none by their name.
 */
#ifndef SHOAL_DAEMON_CAMPAIGN_HEADINGS_H
#define SHOAL_DAEMON_CAMPAIGN_HEADINGS_H

#include <stdbool.h>

/* Whether a heading begins with what experiments and their errors are often called, or has a unit of energy behind its
 * name. */
bool heading_means_energy(const char *head);

#endif
