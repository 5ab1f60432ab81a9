/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/worker/own_limits.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

static int whole(const char *text, rlim_t *out, struct err *e)
{
    char *end;
    long n = strtol(text, &end, 10);
    if (*end || end == text || n < 1 || n > 1 << 20)
        return err_set(e, ERR_USAGE, "%s: expected a whole number from 1 to %d", text, 1 << 20);
    *out = (rlim_t)n;
    return 0;
}

static int set(int what, rlim_t soft, rlim_t hard, struct err *e)
{
    struct rlimit now;
    if (getrlimit(what, &now) == 0 && now.rlim_max != RLIM_INFINITY && now.rlim_max < hard)
        hard = now.rlim_max; /* what the service manager allows less of stays less */
    return setrlimit(what, &(struct rlimit){soft < hard ? soft : hard, hard}) ? err_errno(e, "setrlimit") : 0;
}

int own_limits(const char *seconds, const char *mib, struct err *e)
{
    rlim_t s, m;
    if (whole(seconds, &s, e) || whole(mib, &m, e))
        return -(int)e->code;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)!nice(5);
    if (set(RLIMIT_CORE, 0, 0, e) || set(RLIMIT_CPU, s, s + 1, e))
        return -(int)e->code;
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* their shadow memory is terabytes */
    if (set(RLIMIT_DATA, m << 20, m << 20, e))
        return -(int)e->code;
#endif
    return 0;
}
