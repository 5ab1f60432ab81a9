/* SPDX-License-Identifier: Apache-2.0
 *
 * A spec and its files straight from a user's disk, for the commands that need no service.
 */
#ifndef SHOAL_DAEMON_WORKER_OFFLINE_INPUT_H
#define SHOAL_DAEMON_WORKER_OFFLINE_INPUT_H

#include "daemon/spec/spec.h"

/* Reads the spec at `path` and the files it names, relative to its folder; #include files are also searched in
 * `includes` (ninclude folders), those of GMXLIB and /usr/share/gromacs/top. *spec and *sys (zeroed before) are the
 * caller's. Errors are those of spec_parse and spec_system; ERR_MISSING_FILE when there is no spec. */
int input_read(const char *path, const char *const *includes, int ninclude, struct spec **spec, struct system *sys,
               struct err *e);
/* ERR_USAGE: the spec has no such window. */
int input_window(const struct spec *spec, int64_t window, struct err *e);
/* The files of a folder and of the same include folders; the caller's to free. */
struct source *input_source(const char *folder, const char *const *includes, int ninclude);
/* The folder that a path is in, "." where it names none; the caller's to free. */
char *input_folder(const char *path);

#endif
