/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/store/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "daemon/host/notify.h"
#include "engine/base/log.h"

#define APPLICATION_ID 0x53686f61 /* "Shoa" */
#define BUSY_MS 10000             /* another process reads the database, a backup for instance */
#define PROGRESS_OPS 10000000     /* of SQLite's virtual machine: about a second of a check */
#define EXTEND_US 60000000
#define RETRY_NS UINT64_C(1000000000)

extern const char sql_0001[], sql_0002[], sql_0003[], sql_0004[], sql_0005[], sql_0006[], sql_0007[], sql_0008[],
    sql_0009[], sql_0010[], sql_0011[], sql_0012[], sql_0013[], sql_0014[], sql_0015[], sql_0016[], sql_0017[],
    sql_0018[], sql_0019[], sql_0020[], sql_0021[], sql_0022[], sql_0023[];
static const char *const migrations[STORE_SCHEMA] = {sql_0001, sql_0002, sql_0003, sql_0004, sql_0005, sql_0006,
                                                     sql_0007, sql_0008, sql_0009, sql_0010, sql_0011, sql_0012,
                                                     sql_0013, sql_0014, sql_0015, sql_0016, sql_0017, sql_0018,
                                                     sql_0019, sql_0020, sql_0021, sql_0022, sql_0023};

static int get_number(sqlite3 *db, const char *sql, int64_t *out, struct err *e)
{
    sqlite3_stmt *q;
    if (sqlite3_prepare_v2(db, sql, -1, &q, NULL) != SQLITE_OK)
        return store_error(db, e, sql);
    int rc = sqlite3_step(q) == SQLITE_ROW ? 0 : store_error(db, e, sql);
    if (rc == 0)
        *out = sqlite3_column_int64(q, 0);
    sqlite3_finalize(q);
    return rc;
}

/* WAL needs memory that processes of one machine share: on network filesystems it corrupts.
 * Magic numbers: statfs(2). */
static int refuse_network(const char *directory, struct err *e)
{
    static const struct {
        unsigned long magic;
        const char *name;
    } network[] = {{0x6969, "NFS"},        {0x517b, "SMB"},       {0xff534d42, "CIFS"}, {0xfe534d42, "SMB2"},
                   {0x0bd00bd0, "Lustre"}, {0x47504653, "GPFS"},  {0x00c36400, "Ceph"}, {0x5346414f, "AFS"},
                   {0x19830326, "BeeGFS"}, {0x7461636f, "OCFS2"}, {0x01161970, "GFS2"}};
    struct statfs fs;
    if (statfs(directory, &fs))
        return err_errno(e, "%s", directory);
    for (size_t i = 0; i < sizeof network / sizeof *network; i++)
        if ((unsigned long)fs.f_type == network[i].magic)
            return err_set(
                e, ERR_DATABASE,
                "%s is on %s: the state folder must be on a local disk (choose one with --state), or belong to "
                "one service alone (--portable)",
                directory, network[i].name);
    return 0;
}

/* A connection that is to be alone says so before it reads anything: then SQLite keeps the index of the log in memory
 * of its own, and needs none that is shared between processes. */
static int connect_to(sqlite3 **db, const char *path, int flags, bool alone, struct err *e)
{
    if (sqlite3_open_v2(path, db, flags | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
        return store_error(*db, e, path);
    sqlite3_busy_timeout(*db, BUSY_MS);
    if (alone && store_exec(*db, "PRAGMA locking_mode = EXCLUSIVE", e))
        return -(int)e->code;
    return store_exec(*db, "PRAGMA foreign_keys = ON; PRAGMA synchronous = FULL; PRAGMA trusted_schema = OFF", e);
}

static int backup(sqlite3 *from, const char *path, int64_t version, struct err *e)
{
    struct buf name = {0};
    sqlite3 *to = NULL;
    buf_printf(&name, "%s.v%lld.bak", path, (long long)version);
    unlink(name.data); /* of a migration that was interrupted: the database is still what it was */
    int rc = connect_to(&to, name.data, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, false, e);
    sqlite3_backup *b = rc ? NULL : sqlite3_backup_init(to, "main", from, "main");
    if (!rc && (!b || sqlite3_backup_step(b, -1) != SQLITE_DONE))
        rc = store_error(to, e, name.data);
    sqlite3_backup_finish(b);
    sqlite3_close(to);
    if (!rc)
        log_line(LOG_INFO, "migrating backup=%s", name.data);
    buf_free(&name);
    return rc;
}

/* Whether every reference leads somewhere. */
static int check_references(sqlite3 *db, struct err *e)
{
    sqlite3_stmt *q;
    if (sqlite3_prepare_v2(db, "PRAGMA foreign_key_check", -1, &q, NULL) != SQLITE_OK)
        return store_error(db, e, "foreign_key_check");
    int step = sqlite3_step(q), rc = 0;
    if (step == SQLITE_ROW)
        rc = err_set(e, ERR_DATABASE, "row %lld of table %s refers to a row of %s that is not there",
                     (long long)sqlite3_column_int64(q, 1), (const char *)sqlite3_column_text(q, 0),
                     (const char *)sqlite3_column_text(q, 2));
    else if (step != SQLITE_DONE)
        rc = store_error(db, e, "foreign_key_check");
    sqlite3_finalize(q);
    return rc;
}

static int migrate_one(sqlite3 *db, const char *migration, int to, struct err *e)
{
    struct buf sql = {0};
    buf_printf(&sql, "BEGIN IMMEDIATE;\n%s\n;PRAGMA application_id = %d; PRAGMA user_version = %d", migration,
               APPLICATION_ID, to);
    int rc = sqlite3_exec(db, sql.data, NULL, NULL, NULL) == SQLITE_OK ? 0 : store_error(db, e, "its statements");
    buf_free(&sql);
    if (!rc)
        rc = check_references(db, e);
    if (!rc)
        rc = store_exec(db, "COMMIT", e);
    if (!rc)
        return 0;
    if (!sqlite3_get_autocommit(db))
        sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
    return err_prefix(e, "migration %04d", to);
}

/* A table that others refer to is rebuilt by making it anew, filling it and dropping the old one; that is possible only
 * while references are not enforced, and they can be switched only outside a transaction. They are checked before each
 * commit. */
static int migrate_all(sqlite3 *db, const char *const *list, int from, int n, struct err *e)
{
    int rc = store_exec(db, "PRAGMA foreign_keys = OFF", e);
    for (int to = from + 1; to <= n && !rc; to++)
        rc = migrate_one(db, list[to - 1], to, e);
    struct err again = {0};
    int on = store_exec(db, "PRAGMA foreign_keys = ON", rc ? &again : e);
    return rc ? rc : on;
}

int store_migrate(sqlite3 *db, const char *path, const char *const *list, int n, struct err *e)
{
    int64_t version, application, tables;
    if (get_number(db, "PRAGMA user_version", &version, e) ||
        get_number(db, "PRAGMA application_id", &application, e) ||
        get_number(db, "SELECT count(*) FROM sqlite_schema", &tables, e))
        return -(int)e->code;
    if (tables && application != APPLICATION_ID)
        return err_set(e, ERR_DATABASE, "%s is not a database of shoald", path);
    if (version > n)
        return err_set(e, ERR_DATABASE, "%s has schema %lld, this shoald knows %d: it was written by a newer one", path,
                       (long long)version, n);
    if (version > 0 && version < n && backup(db, path, version, e))
        return -(int)e->code;
    return version < n ? migrate_all(db, list, (int)version, n, e) : 0;
}

/* Called by SQLite all the while it checks. */
static int ask_for_time(void *arg)
{
    notify("EXTEND_TIMEOUT_USEC=%d", EXTEND_US);
    return 0;
}

static int check_after_crash(struct store *s, struct err *e)
{
    int64_t clean;
    if (get_number(s->writer, "SELECT clean FROM service", &clean, e) || clean)
        return -(int)e->code;
    sqlite3_stmt *q;
    if (sqlite3_prepare_v2(s->writer, "PRAGMA quick_check(1)", -1, &q, NULL) != SQLITE_OK)
        return store_error(s->writer, e, "check");
    sqlite3_progress_handler(s->writer, PROGRESS_OPS, ask_for_time, NULL);
    int rc = 0;
    if (sqlite3_step(q) != SQLITE_ROW || strcmp((const char *)sqlite3_column_text(q, 0), "ok") != 0)
        rc = err_set(e, ERR_DATABASE, "%s is damaged: %s", s->path,
                     (const char *)sqlite3_column_text(q, 0) ? (const char *)sqlite3_column_text(q, 0) : "unreadable");
    sqlite3_finalize(q);
    sqlite3_progress_handler(s->writer, 0, NULL, NULL);
    if (!rc)
        log_line(LOG_INFO, "the last stop was not in order; the database is sound");
    return rc;
}

/* Writes one integer in a transaction of its own; only while the thread does not run. */
static int mark(struct store *s, bool clean, struct err *e)
{
    store_write_begin(s);
    int rc = store_exec(s->writer, clean ? "UPDATE service SET clean = 1" : "UPDATE service SET clean = 0", e);
    store_write_end(s);
    return rc;
}

static int prepare_statements(struct store *s, struct err *e)
{
    static const char *const sql[STATEMENT_COUNT] = {
#define X(name, text) text,
        STORE_STATEMENTS(X)
#undef X
    };
    for (int i = 0; i < STATEMENT_COUNT; i++)
        if (sqlite3_prepare_v3(s->writer, sql[i], -1, SQLITE_PREPARE_PERSISTENT, &s->statements[i], NULL) != SQLITE_OK)
            return store_said(s->writer, e);
    return 0;
}

/* Ensembles belong to the number of a user, which is another on the machine where the folder comes from. */
static int adopt(struct store *s, struct err *e)
{
    char sql[200];
    const unsigned uid = geteuid();
    snprintf(sql, sizeof sql,
             "UPDATE OR IGNORE ensemble SET owner = %u WHERE owner <> %u; UPDATE account SET uid = %u WHERE uid <> %u",
             uid, uid, uid, uid);
    return s->portable ? store_exec(s->writer, sql, e) : 0;
}

static int open_reader(struct store *s, struct err *e)
{
    if (!s->portable)
        return connect_to(&s->reader, s->path, SQLITE_OPEN_READONLY, false, e);
    s->reader = s->writer;
    return 0;
}

static int open_files(struct store *s, const char *directory, struct err *e)
{
    if ((!s->portable && refuse_network(directory, e)) ||
        connect_to(&s->writer, s->path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, s->portable, e) ||
        store_exec(s->writer, "PRAGMA journal_mode = WAL", e) ||
        store_migrate(s->writer, s->path, migrations, STORE_SCHEMA, e) || check_after_crash(s, e) ||
        mark(s, false, e) || adopt(s, e) || prepare_statements(s, e) || open_reader(s, e))
        return err_prefix(e, "open database %s", s->path);
    return 0;
}

/* SQLite makes the log when it writes first, which mark() has done, and keeps it while the database is open. */
static int note_identity(struct store *s, struct err *e)
{
    static const char *const suffixes[STORE_FILES] = {"", "-wal"};
    for (int i = 0; i < STORE_FILES; i++) {
        struct store_file *f = &s->files[i];
        struct buf path = {0};
        struct stat st;
        buf_printf(&path, "%s%s", s->path, suffixes[i]);
        f->path = path.data;
        if (stat(f->path, &st))
            return err_errno(e, "%s", f->path);
        f->device = st.st_dev;
        f->inode = st.st_ino;
    }
    store_note_sizes(s);
    return 0;
}

static void close_files(struct store *s)
{
    for (int i = 0; i < STATEMENT_COUNT; i++)
        sqlite3_finalize(s->statements[i]);
    memset(s->statements, 0, sizeof s->statements);
    if (s->reader != s->writer)
        sqlite3_close(s->reader);
    sqlite3_close(s->writer);
    s->reader = s->writer = NULL;
}

static void destroy(struct store *s)
{
    close_files(s);
    for (int i = 0; i < STORE_FILES; i++)
        free(s->files[i].path);
    uv_mutex_destroy(&s->read_lock);
    uv_mutex_destroy(&s->lock);
    uv_cond_destroy(&s->wake);
    free(s->reserve);
    free(s->path);
    free(s);
}

static bool full(const struct store *s)
{
    return (s->writer && store_lacks_space(s->writer, sqlite3_errcode(s->writer))) ||
           (s->reader && store_lacks_space(s->reader, sqlite3_errcode(s->reader)));
}

int store_open(struct store **out, const char *directory, bool portable, struct err *e)
{
    struct store *s = xcalloc(1, sizeof *s);
    s->portable = portable;
    struct buf path = {0};
    buf_printf(&path, "%s/shoald.db", directory);
    s->path = path.data;
    s->retry_ns = RETRY_NS;
    reserve_find(s);
    uv_mutex_init(&s->read_lock);
    uv_mutex_init(&s->lock);
    uv_cond_init(&s->wake);
    int rc = open_files(s, directory, e);
    if (rc && full(s) && reserve_give(s)) {
        log_line(LOG_WARNING, "%s: opened again in what was kept for it", e->msg);
        close_files(s);
        *e = (struct err){0};
        rc = open_files(s, directory, e);
    }
    if (!rc)
        rc = note_identity(s, e);
    if (rc) {
        destroy(s);
        return rc;
    }
    *out = s;
    return 0;
}

static void handle_closed(uv_handle_t *h)
{
    struct store *s = h->data;
    if (--s->handles == 0)
        destroy(s);
}

void store_finish(struct store *s)
{
    struct err e = {0};
    if (s->running)
        store_stop_thread(s);
    if (mark(s, true, &e))
        log_line(LOG_WARNING, "%s", e.msg);
}

void store_close(struct store *s)
{
    if (!s)
        return;
    bool started = s->running;
    store_finish(s);
    if (!started) {
        destroy(s);
        return;
    }
    uv_close((uv_handle_t *)&s->turn, handle_closed);
    uv_close((uv_handle_t *)&s->committed, handle_closed);
}

int store_numbers(struct store *s, struct store_numbers *out, struct err *e)
{
    uv_mutex_lock(&s->read_lock);
    int rc = get_number(s->reader, store_reads[READ_LAST_ENSEMBLE], &out->ensemble, e);
    if (!rc)
        rc = get_number(s->reader, store_reads[READ_LAST_REPLICA], &out->replica, e);
    if (!rc)
        rc = get_number(s->reader, store_reads[READ_LAST_EVENT], &out->event, e);
    uv_mutex_unlock(&s->read_lock);
    return rc ? err_prefix(e, "%s", s->path) : 0;
}

bool store_ok(const struct store *s)
{
    return !atomic_load(&s->failing);
}

bool store_settled(struct store *s)
{
    uv_mutex_lock(&s->lock);
    bool settled = !s->open && !s->sent && !s->done;
    uv_mutex_unlock(&s->lock);
    return settled || !store_ok(s);
}
