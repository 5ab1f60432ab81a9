/* SPDX-License-Identifier: Apache-2.0
 *
 * A connection to the database: what went wrong on it, and who may use it meanwhile.
 */
#include "daemon/store/internal.h"

#include <errno.h>
#include <string.h>

int store_said(sqlite3 *db, struct err *e)
{
    int primary = db ? sqlite3_errcode(db) & 0xff : SQLITE_NOMEM;
    bool of_system = primary == SQLITE_FULL || primary == SQLITE_IOERR || primary == SQLITE_CANTOPEN;
    int number = of_system ? sqlite3_system_errno(db) : 0;
    if (number)
        return err_set(e, ERR_DATABASE, "%s (%s)", sqlite3_errmsg(db), strerror(number));
    return err_set(e, ERR_DATABASE, "%s", db ? sqlite3_errmsg(db) : "out of memory");
}

bool store_lacks_space(sqlite3 *db, int rc)
{
    const int number = rc == SQLITE_OK ? 0 : sqlite3_system_errno(db);
    return (rc & 0xff) == SQLITE_FULL || number == ENOSPC || number == EDQUOT;
}

int store_error(sqlite3 *db, struct err *e, const char *doing)
{
    store_said(db, e);
    return err_prefix(e, "%s", doing);
}

int store_exec(sqlite3 *db, const char *sql, struct err *e)
{
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK)
        return 0;
    return store_said(db, e);
}

void store_write_begin(struct store *s)
{
    if (s->portable)
        uv_mutex_lock(&s->read_lock);
}

void store_write_end(struct store *s)
{
    if (s->portable)
        uv_mutex_unlock(&s->read_lock);
}
