/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/worker/children/own_limits.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "daemon/worker/threads/sanitizers.h"
#include "engine/base/number.h"

#define LIMIT_MAX (1 << 20) /* s, or MiB */

static int set(int what, rlim_t soft, rlim_t hard, struct err *e)
{
    struct rlimit now;
    if (getrlimit(what, &now) == 0 && now.rlim_max != RLIM_INFINITY && now.rlim_max < hard)
        hard = now.rlim_max; /* what the service manager allows less of stays less */
    return setrlimit(what, &(struct rlimit){soft < hard ? soft : hard, hard}) ? err_errno(e, "setrlimit") : 0;
}

int own_limits(const char *seconds, const char *mib, struct err *e)
{
    int64_t s, m;
    if (number_whole(&s, "--seconds ", seconds, 1, LIMIT_MAX, e) || number_whole(&m, "--mib ", mib, 1, LIMIT_MAX, e))
        return -(int)e->code;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)!nice(5);
    if (set(RLIMIT_CORE, 0, 0, e) || set(RLIMIT_CPU, (rlim_t)s, (rlim_t)s + 1, e))
        return -(int)e->code;
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* their shadow memory is terabytes */
    if (set(RLIMIT_DATA, (rlim_t)m << 20, (rlim_t)m << 20, e))
        return -(int)e->code;
#endif
    return 0;
}
