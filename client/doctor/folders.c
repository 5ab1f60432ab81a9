/* SPDX-License-Identifier: Apache-2.0
 *
 * Folders: is there space, and may they be read and written?
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "client/doctor/doctor.h"

#define SYSTEM_STATE "/var/lib/shoald"
#define LEAST_BYTES 5e9
#define GB 1e9

/* False: it is said that there is too little. *gb: what is free. */
static bool has_space(struct doctor *d, const char *check, const char *path, double *gb)
{
    struct statvfs at;
    *gb = 0;
    if (statvfs(path, &at)) {
        doctor_say(d, check, "mount the file system again, or choose another folder", "%s: %s", path, strerror(errno));
        return false;
    }
    *gb = (double)at.f_bavail * (double)at.f_frsize / GB;
    if (*gb * GB >= LEAST_BYTES)
        return true;
    doctor_say(d, check, "shoal du says what ensembles take, shoal rm removes them",
               "%s: %.1f GB are free, expected %.0f GB or more", path, *gb, LEAST_BYTES / GB);
    return false;
}

/* A service's own user alone may read its state, which another user sees too. */
static bool is_private(struct doctor *d, const char *path)
{
    struct stat st;
    if (stat(path, &st))
        return true;
    if (st.st_mode & 077)
        doctor_say(d, "state", "chmod 700 it: the database has what all users submitted",
                   "%s is open to other users (mode %o)", path, st.st_mode & 0777);
    else if (st.st_uid == geteuid() && access(path, R_OK | W_OK | X_OK))
        doctor_say(d, "state", "chmod u+rwx it, or mount its file system for writing", "%s: %s", path, strerror(errno));
    else
        return true;
    return false;
}

static void check_state(struct doctor *d, const char *path)
{
    double gb;
    const bool fits = has_space(d, "state", path, &gb), kept = is_private(d, path);
    if (fits && kept)
        doctor_say(d, "state", NULL, "%s: %.0f GB are free", path, gb);
}

/* Of a service of one's own; "": there is no place for one. */
static void own_state(struct buf *path)
{
    const char *xdg = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    buf_add(path, "", 0);
    if (xdg && *xdg == '/')
        buf_printf(path, "%s/shoald", xdg);
    else if (home && *home == '/')
        buf_printf(path, "%s/.local/state/shoald", home);
}

static void check_specs(struct doctor *d, const char *path)
{
    double gb;
    struct stat st;
    if (stat(path, &st))
        doctor_say(d, "specs", "name a folder with specs: shoal doctor FOLDER", "%s: %s", path, strerror(errno));
    else if (!S_ISDIR(st.st_mode))
        doctor_say(d, "specs", "name a folder with specs: shoal doctor FOLDER", "%s is no folder", path);
    else if (access(path, R_OK | X_OK))
        doctor_say(d, "specs", "chmod u+rx it, or ask its owner", "%s cannot be read: %s", path, strerror(errno));
    else if (access(path, W_OK))
        doctor_say(d, "specs", "write results elsewhere: --output FOLDER", "%s cannot be written: %s", path,
                   strerror(errno));
    else if (has_space(d, "specs", path, &gb))
        doctor_say(d, "specs", NULL, "%s: %.0f GB are free", path, gb);
}

void doctor_folders(struct doctor *d, const char *specs)
{
    struct buf own = {0};
    own_state(&own);
    if (!access(SYSTEM_STATE, F_OK))
        check_state(d, SYSTEM_STATE);
    if (own.len && !access(own.data, F_OK))
        check_state(d, own.data);
    check_specs(d, specs);
    buf_free(&own);
}
