/* SPDX-License-Identifier: Apache-2.0
 *
 * Anchors for restraints that hold a ligand to a receptor (Boresch et al., standard_state.h), from frames of a run in
 * which it stays bound.
 *
 * Looked at are all pairs of heavy atoms a (receptor) and A (ligand) with two heavy atoms more along bonds on each
 * side, b c and B C. The distances a-A that fluctuate least are kept; of those the set that fluctuates least in all six
 * coordinates is taken, because the volume of the free ligand in them is proportional to the product of their widths s:
 * least of sum ln s - ln sin(b-a-A) - ln sin(a-A-B) - 1 if a and A are in contact like a hydrogen bond Turned down are
 * angles at a and A beyond 45 and 135 degrees or where 10 RT bend them straight, angles at b and B beyond 30 and 150,
 * dihedrals that turn, and atoms of the ligand that others of it can replace (a turned ring, a methyl's). Force
 * constants are those that give the widths seen, RT/s^2 (Clark, Robb, Cole and Michel, J. Chem. Theory Comput. 19, 3686
 * (2023), doi 10.1021/acs.jctc.3c00139), within 10 to 100 kcal/mol per A^2 or rad^2; values at rest are means. Of one
 * frame alone nothing is known of widths: the least constants, and the distance nearest to that of a contact.
 */
#ifndef SHOAL_ENGINE_DERIVE_ANCHORS_H
#define SHOAL_ENGINE_DERIVE_ANCHORS_H

#include "engine/derive/standard_state.h"
#include "engine/system/system.h"

enum { ANCHOR_COORDINATES = 6 };

/* c b a of the receptor, A B C of the ligand; then a-A, b-a-A, a-A-B, c-b-a-A, b-a-A-B, a-A-B-C in nm and rad, kJ/mol.
 */
struct anchors {
    int atom[6];
    double mean[ANCHOR_COORDINATES], width[ANCHOR_COORDINATES], k[ANCHOR_COORDINATES];
    double contact; /* in which part of the frames a and A are in contact like a hydrogen bond */
    bool replaced;  /* every choice of anchors has equivalent atoms: symmetric poses cannot be told apart */
    int nframes;
    struct standard_state state;
};

/* Which atom each coordinate begins at, of how many. */
extern const struct anchor_place {
    int first, natoms;
} anchor_places[ANCHOR_COORDINATES];

struct anchor_search;

/* receptor, ligand: molecules of the system. Room for `frames` frames; of more, every 2nd, 4th, 8th and so on is
 * kept. */
struct anchor_search *anchors_new(const struct system *sys, int receptor, int ligand, int frames);
/* Positions of all atoms, images as they come. */
void anchors_frame(struct anchor_search *s, const double (*x)[3], const double box[BOX_SIZE]);
/* ERR_UNSUPPORTED: there are none that would hold, and why. */
int anchors_choose(struct anchor_search *s, double temperature, struct anchors *out, struct err *e);
void anchors_free(struct anchor_search *s);

#endif
