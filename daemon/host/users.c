/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/host/users.h"

#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>

#include "engine/base/number.h"

void users_name(uint32_t uid, char name[USERS_NAME])
{
    char space[4096];
    struct passwd entry, *found = NULL;
    getpwuid_r(uid, &entry, space, sizeof space, &found);
    if (found)
        snprintf(name, USERS_NAME, "%s", found->pw_name);
    else
        snprintf(name, USERS_NAME, "%" PRIu32, uid);
}

bool users_find(const char *text, uint32_t *uid)
{
    int64_t number;
    const struct passwd *found = getpwnam(text);
    if (!found && (!number_parse(text, &number) || number < 0 || number > UINT32_MAX))
        return false;
    *uid = found ? found->pw_uid : (uint32_t)number;
    return true;
}
