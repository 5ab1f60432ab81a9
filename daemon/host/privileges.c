/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/host/privileges.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/base/log.h"

#define SERVICE_USER "shoal"
#define ACCESS_GROUP "shoal-users"

void privileges_begin(void)
{
    /* Without these a socket or the database would become standard output. */
    int fd;
    while ((fd = open("/dev/null", O_RDWR)) >= 0 && fd <= 2)
        ;
    if (fd > 2)
        close(fd);
    umask(0077);
    struct rlimit r;
    if (getrlimit(RLIMIT_NOFILE, &r) == 0 && r.rlim_cur < r.rlim_max) {
        r.rlim_cur = r.rlim_max;
        setrlimit(RLIMIT_NOFILE, &r);
    }
}

static int find_user(struct identity *who, const char *name, bool asked, struct err *e)
{
    errno = 0;
    const struct passwd *p = getpwnam(name);
    if (!p && asked)
        return err_set(e, ERR_USAGE, "--user %s: there is no such user", name);
    if (!p)
        return err_set(
            e, ERR_USAGE,
            "started by root, and there is no user \"%s\" to become: make one (useradd --system --user-group "
            "%s), name another with --user, or stay root with --user root",
            name, name);
    who->uid = p->pw_uid;
    who->gid = p->pw_gid;
    who->change = p->pw_uid != geteuid();
    return 0;
}

static int find_group(struct identity *who, const char *name, bool asked, struct err *e)
{
    const struct group *g = getgrnam(name);
    if (!g && asked)
        return err_set(e, ERR_USAGE, "--group %s: there is no such group", name);
    if (!g) {
        log_line(LOG_WARNING, "there is no group %s: only root and the service's own user can connect", name);
        return 0;
    }
    who->access = g->gr_gid;
    who->has_access = true;
    return 0;
}

int privileges_identity(struct identity *who, const char *user, const char *group, struct err *e)
{
    bool root = geteuid() == 0;
    *who = (struct identity){.uid = geteuid(), .gid = getegid()};
    if (user && !root) {
        const struct passwd *p = getpwnam(user);
        if (!p || p->pw_uid != geteuid())
            return err_set(e, ERR_USAGE, "--user %s: only root can become another user", user);
    }
    if (root && find_user(who, user ? user : SERVICE_USER, user, e))
        return -(int)e->code;
    if (group)
        return find_group(who, group, true, e);
    return who->change ? find_group(who, ACCESS_GROUP, false, e) : 0;
}

int privileges_drop(const struct identity *who, struct err *e)
{
    if (!who->change)
        return 0;
    if (setgroups(0, NULL) || setresgid(who->gid, who->gid, who->gid) || setresuid(who->uid, who->uid, who->uid))
        return err_errno(e, "become user %u", (unsigned)who->uid);
    if (setuid(0) == 0)
        return err_set(e, ERR_INTERNAL, "root again after giving it up");
    return 0;
}
