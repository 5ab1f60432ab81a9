/* SPDX-License-Identifier: Apache-2.0
 *
 * The programs beside `shoal`, shoal-worker and shoald, and programs of others.
 */
#ifndef SHOAL_CLIENT_PROGRAMS_BECOME_H
#define SHOAL_CLIENT_PROGRAMS_BECOME_H

/* Becomes that program: the one that $SHOAL_WORKER or $SHOALD names, or one beside this program, in libexec or in the
 * build tree. Returns only when that fails, which is said on standard error. */
void program_become(const char *name, char **words);
/* Becomes the program words[0] of $PATH, or says why not and ends with EXIT_UNREACHABLE. */
void program_become_named(char **words);

#endif
