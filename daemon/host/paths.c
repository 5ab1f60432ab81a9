/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/host/paths.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "engine/base/buf.h"
#include "engine/base/log.h"
#include "engine/base/number.h"
#include "engine/base/path.h"

#define BACKLOG 4096 /* clients that wait to be accepted; the kernel has a limit of its own, net.core.somaxconn */

/* What this process has made at `path` gets another owner. By its descriptor: in a folder that somebody else may write
 * to, the name may have become another file's since. */
static int give_to(const char *path, int flags, uid_t uid, gid_t gid, struct err *e)
{
    struct stat st;
    int fd = open(path, flags | O_NOFOLLOW | O_CLOEXEC), rc = 0;
    if (fd < 0 || fstat(fd, &st))
        rc = err_errno(e, "%s", path);
    else if (st.st_uid != geteuid() || !(S_ISDIR(st.st_mode) || (S_ISSOCK(st.st_mode) && st.st_nlink == 1)))
        rc = err_set(e, ERR_FORBIDDEN, "%s was replaced by something else while it was made", path);
    else if (fchownat(fd, "", uid, gid, AT_EMPTY_PATH))
        rc = err_errno(e, "give %s to user %u, group %u", path, (unsigned)uid, (unsigned)gid);
    if (fd >= 0)
        close(fd);
    return rc;
}

/* Makes what is missing of a path; the last folder is made for the service's user. */
static int make_folders(const char *path, mode_t mode, const struct identity *who, struct err *e)
{
    char *p = xstrdup(path);
    for (size_t n = strlen(p); n > 1 && p[n - 1] == '/';)
        p[--n] = '\0';
    mode_t mask = umask(0022);
    int rc = path_make_parents(p, 0755, e);
    bool made = !rc && mkdir(p, mode) == 0;
    if (!rc && !made && errno != EEXIST)
        rc = err_errno(e, "make folder %s", p);
    if (made && who->change)
        rc = give_to(p, O_RDONLY | O_DIRECTORY, who->uid, who->gid, e);
    umask(mask);
    free(p);
    return rc;
}

/* $NAME if it is an absolute path (the first of a list, as systemd gives them), else NULL. */
static char *from_environment(const char *name)
{
    const char *text = getenv(name);
    if (!text || *text != '/')
        return NULL;
    char *out = xstrdup(text);
    out[strcspn(out, ":")] = '\0';
    return out;
}

static char *join(char *base, const char *rest)
{
    struct buf b = {0};
    if (!base)
        return NULL;
    buf_printf(&b, "%s/%s", base, rest);
    free(base);
    return b.data;
}

static char *default_state(void)
{
    char *p = from_environment("STATE_DIRECTORY");
    if (p)
        return p;
    if (geteuid() == 0)
        return xstrdup("/var/lib/shoald");
    p = join(from_environment("XDG_STATE_HOME"), "shoald");
    return p ? p : join(from_environment("HOME"), ".local/state/shoald");
}

static char *default_socket(void)
{
    char *p = join(from_environment("RUNTIME_DIRECTORY"), "api.sock");
    if (p)
        return p;
    if (geteuid() == 0)
        return xstrdup("/run/shoald/api.sock");
    p = join(from_environment("XDG_RUNTIME_DIR"), "shoald/api.sock");
    return p ? p
             : join(default_state(), "api.sock"); /* no login session: beside the state, where the client looks too */
}

char *paths_config(void)
{
    char *p = join(from_environment("CONFIGURATION_DIRECTORY"), "shoald.yaml");
    if (p)
        return p;
    if (geteuid() == 0)
        return xstrdup("/etc/shoal/shoald.yaml");
    p = join(from_environment("XDG_CONFIG_HOME"), "shoal/shoald.yaml");
    return p ? p : join(from_environment("HOME"), ".config/shoal/shoald.yaml");
}

static char *absolute(const char *path)
{
    char *cwd = *path == '/' ? NULL : getcwd(NULL, 0);
    return cwd ? join(cwd, path) : xstrdup(path);
}

int paths_state(char **out, const char *given, const struct identity *who, struct err *e)
{
    char *p = given ? absolute(given) : default_state();
    if (!p)
        return err_set(e, ERR_USAGE, "no state folder: neither XDG_STATE_HOME nor HOME is set; use --state DIR");
    int rc = make_folders(p, 0700, who, e);
    if (rc)
        free(p);
    else
        *out = p;
    return rc;
}

int paths_private(const char *state, struct err *e)
{
    struct stat st;
    if (stat(state, &st))
        return err_errno(e, "state folder %s", state);
    if (!S_ISDIR(st.st_mode))
        return err_set(e, ERR_USAGE, "state folder %s: it is no folder", state);
    if (st.st_uid != geteuid())
        return err_set(
            e, ERR_FORBIDDEN,
            "state folder %s belongs to user %u, and the service runs as user %u: chown -R it, or choose another "
            "with --state",
            state, (unsigned)st.st_uid, (unsigned)geteuid());
    if (!(st.st_mode & 077))
        return 0;
    if (chmod(state, 0700))
        return err_errno(e, "state folder %s: close it to others (mode 0700)", state);
    log_line(LOG_WARNING, "state folder %s was open to others (mode %o): it is 0700 now", state,
             (unsigned)st.st_mode & 0777);
    return 0;
}

static int count_entries(const char *folder)
{
    DIR *d = opendir(folder);
    int n = 0;
    for (const struct dirent *item; d && (item = readdir(d));)
        n += item->d_name[0] != '.';
    if (d)
        closedir(d);
    return n;
}

int paths_database(const char *state, struct err *e)
{
    char *database = join(xstrdup(state), "shoald.db"), *ensembles = join(xstrdup(state), "ensembles");
    struct stat st;
    bool missing = stat(database, &st) != 0, empty = !missing && st.st_size == 0;
    int n = missing || empty ? count_entries(ensembles) : 0, rc = 0;
    if (n > 0)
        rc = err_set(e, ERR_DATABASE,
                     "%s is %s, but %s holds %d %s: put the database back from a copy, or move %s away to start "
                     "with nothing",
                     database, missing ? "missing" : "empty", ensembles, n, number_word(n, "ensemble", "ensembles"),
                     ensembles);
    free(database);
    free(ensembles);
    return rc;
}

int paths_socket(char **out, const char *given, const struct identity *who, struct err *e)
{
    struct sockaddr_un a;
    char *p = given ? absolute(given) : default_socket();
    if (!p)
        return err_set(e, ERR_USAGE,
                       "no place for the socket: neither XDG_RUNTIME_DIR nor HOME is set; use --socket PATH");
    if (strlen(p) >= sizeof a.sun_path) {
        int rc = err_set(e, ERR_USAGE, "socket path %s: at most %zu bytes are possible", p, sizeof a.sun_path - 1);
        free(p);
        return rc;
    }
    char *folder = xstrdup(p);
    *strrchr(folder, '/') = '\0';
    int rc = *folder ? make_folders(folder, 0755, who, e) : 0;
    free(folder);
    if (rc)
        free(p);
    else
        *out = p;
    return rc;
}

int paths_worker(char **out, const char *given, struct err *e)
{
    static const char *const places[] = {"shoal-worker", "worker/shoal-worker", "../libexec/shoal/shoal-worker"};
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (!given)
        given = getenv("SHOAL_WORKER");
    if (given) {
        if (access(given, X_OK))
            return err_errno(e, "worker program %s", given);
        *out = absolute(given);
        return 0;
    }
    if (n < 0)
        return err_errno(e, "/proc/self/exe");
    self[n] = '\0';
    *strrchr(self, '/') = '\0';
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char *p = join(xstrdup(self), places[i]);
        if (access(p, X_OK) == 0) {
            *out = p;
            return 0;
        }
        free(p);
    }
    return err_set(e, ERR_USAGE, "no shoal-worker in %s or ../libexec/shoal; use --worker PROGRAM", self);
}

/* A child of a killed service holds its lock and its socket until it has become another program. False: not any more.
 */
static bool wait_for_leftovers(int *tries)
{
    enum { TRIES = 40 };
    const struct timespec moment = {.tv_nsec = 50 * 1000000L};
    if (++*tries > TRIES)
        return false;
    nanosleep(&moment, NULL);
    return true;
}

static int lock_alone(int fd)
{
    int rc;
    for (int tries = 0; (rc = flock(fd, LOCK_EX | LOCK_NB)) && errno == EWOULDBLOCK && wait_for_leftovers(&tries);)
        ;
    return rc;
}

int paths_lock(int *fd, const char *state, struct err *e)
{
    int rc = 0;
    *fd = open(state, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*fd < 0)
        rc = err_errno(e, "%s", state);
    else if (lock_alone(*fd))
        rc = errno == EWOULDBLOCK ? err_set(e, ERR_CONFLICT, "another shoald uses %s", state)
                                  : err_errno(e, "lock %s", state);
    if (rc && *fd >= 0)
        close(*fd);
    return rc;
}

/* 0 where somebody listens there, else errno. */
static int knock(const struct sockaddr_un *a)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int why = fd < 0 || connect(fd, (const struct sockaddr *)a, sizeof *a) ? errno : 0;
    if (fd >= 0)
        close(fd);
    return why;
}

static int remove_stale(const struct sockaddr_un *a, struct err *e)
{
    struct stat st;
    if (lstat(a->sun_path, &st))
        return errno == ENOENT ? 0 : err_errno(e, "socket %s", a->sun_path);
    if (!S_ISSOCK(st.st_mode))
        return err_set(e, ERR_CONFLICT, "%s is there already and is no socket: choose another path with --socket",
                       a->sun_path);
    int why;
    for (int tries = 0; !(why = knock(a)) && wait_for_leftovers(&tries);)
        ;
    if (!why)
        return err_set(e, ERR_CONFLICT, "another service listens on %s", a->sun_path);
    if (why == ECONNREFUSED && unlink(a->sun_path))
        return err_errno(e, "remove stale socket %s", a->sun_path);
    return 0;
}

/* The socket file has its mode from the beginning. */
static int bind_for(int fd, const struct sockaddr_un *a, const struct identity *who, struct err *e)
{
    const mode_t mask = umask(who->has_access ? 0117 : 0177);
    const int bad = bind(fd, (const struct sockaddr *)a, sizeof *a), why = errno;
    umask(mask);
    errno = why;
    if (bad)
        return err_errno(e, "bind to %s", a->sun_path);
    if (!who->has_access && !who->change)
        return 0;
    return give_to(a->sun_path, O_PATH, who->uid, who->has_access ? who->access : who->gid, e);
}

int paths_listen(int *out, const char *path, const struct identity *who, struct err *e)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    memcpy(a.sun_path, path, strlen(path) + 1);
    int rc = remove_stale(&a, e);
    if (rc)
        return rc;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return err_errno(e, "socket");
    rc = bind_for(fd, &a, who, e);
    if (rc == 0 && listen(fd, BACKLOG))
        rc = err_errno(e, "listen on %s", path);
    if (rc) {
        close(fd);
        return rc;
    }
    *out = fd;
    return 0;
}
