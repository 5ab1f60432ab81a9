/* SPDX-License-Identifier: Apache-2.0
 *
 * Walkers whose switches may become longer (docs/theory.md#switches).
 */
#ifndef SHOAL_ENGINE_ESTIMATE_SWITCHING_PACE_H
#define SHOAL_ENGINE_ESTIMATE_SWITCHING_PACE_H

#include <stdbool.h>
#include <stddef.h>

/* Zeroed: they may not. */
struct switch_pace {
    size_t first, later;  /* switches of a walker by which it is found how long others are, and how many these are */
    int doublings;        /* the most */
    double length, apart; /* ps, of one of the first; production from a switch to the next */
    bool decided;         /* the first works were looked at, and later switches have so many doublings: */
    int chosen;
};

/* How long later switches are to be. */
struct switch_choice {
    bool made;         /* false: some walker has not made its first switches yet */
    int doublings;     /* how often later ones are twice as long */
    double dissipated; /* kT, of one of the first; NAN: less than twice its error */
    bool otherwise;    /* that is what was decided: the first works, as they are now, say another number */
};

#endif
