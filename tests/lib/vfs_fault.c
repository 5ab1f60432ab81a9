/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/vfs_fault.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* The loop thread and the store's both use files. */
static atomic_long calls, first_bad = -1, last_bad = -1;
static atomic_bool hit;
static _Atomic(int) kind;

struct file {
    sqlite3_file base;
    sqlite3_file *real; /* behind this struct, in the same memory */
};

static sqlite3_vfs shim, *under;

void vfs_fault_arm(long first, long count, enum vfs_fault_kind what)
{
    atomic_store(&hit, false);
    atomic_store(&kind, (int)what);
    atomic_store(&calls, 0);
    atomic_store(&last_bad, first + count - 1);
    atomic_store(&first_bad, first);
}

void vfs_fault_disarm(void)
{
    atomic_store(&first_bad, -1);
    atomic_store(&last_bad, -1);
}

bool vfs_fault_hit(void)
{
    return atomic_load(&hit);
}

static bool fails(void)
{
    long call = atomic_fetch_add(&calls, 1), first = atomic_load(&first_bad);
    if (first < 0 || call < first || call > atomic_load(&last_bad))
        return false;
    atomic_store(&hit, true);
    return true;
}

static int broken(int io_error)
{
    return atomic_load(&kind) == VFS_FAULT_FULL && (io_error == SQLITE_IOERR_WRITE || io_error == SQLITE_IOERR_SHMSIZE)
               ? SQLITE_FULL
               : io_error;
}

#define REAL(f) (((struct file *)(f))->real)
#define CALL(f, method, ...) REAL(f)->pMethods->method(REAL(f), __VA_ARGS__)

static int close_file(sqlite3_file *f)
{
    return REAL(f)->pMethods->xClose(REAL(f));
}

static int read_file(sqlite3_file *f, void *to, int n, sqlite3_int64 at)
{
    return fails() ? SQLITE_IOERR_READ : CALL(f, xRead, to, n, at);
}

/* A write that fails has written half. */
static int write_file(sqlite3_file *f, const void *from, int n, sqlite3_int64 at)
{
    if (!fails())
        return CALL(f, xWrite, from, n, at);
    CALL(f, xWrite, from, n / 2, at);
    return broken(SQLITE_IOERR_WRITE);
}

static int truncate_file(sqlite3_file *f, sqlite3_int64 size)
{
    return fails() ? SQLITE_IOERR_TRUNCATE : CALL(f, xTruncate, size);
}

static int sync_file(sqlite3_file *f, int flags)
{
    return fails() ? SQLITE_IOERR_FSYNC : CALL(f, xSync, flags);
}

static int file_size(sqlite3_file *f, sqlite3_int64 *size)
{
    return fails() ? SQLITE_IOERR_FSTAT : CALL(f, xFileSize, size);
}

static int lock(sqlite3_file *f, int level)
{
    return CALL(f, xLock, level);
}

static int unlock(sqlite3_file *f, int level)
{
    return CALL(f, xUnlock, level);
}

static int check_lock(sqlite3_file *f, int *out)
{
    return CALL(f, xCheckReservedLock, out);
}

static int control(sqlite3_file *f, int op, void *arg)
{
    return CALL(f, xFileControl, op, arg);
}

static int sector_size(sqlite3_file *f)
{
    return REAL(f)->pMethods->xSectorSize(REAL(f));
}

static int characteristics(sqlite3_file *f)
{
    return REAL(f)->pMethods->xDeviceCharacteristics(REAL(f));
}

static int shm_map(sqlite3_file *f, int region, int size, int extend, void volatile **out)
{
    return extend && fails() ? broken(SQLITE_IOERR_SHMSIZE) : CALL(f, xShmMap, region, size, extend, out);
}

static int shm_lock(sqlite3_file *f, int at, int n, int flags)
{
    return CALL(f, xShmLock, at, n, flags);
}

static void shm_barrier(sqlite3_file *f)
{
    REAL(f)->pMethods->xShmBarrier(REAL(f));
}

static int shm_unmap(sqlite3_file *f, int delete)
{
    return CALL(f, xShmUnmap, delete);
}

static sqlite3_io_methods methods = {.iVersion = 2,
                                     .xClose = close_file,
                                     .xRead = read_file,
                                     .xWrite = write_file,
                                     .xTruncate = truncate_file,
                                     .xSync = sync_file,
                                     .xFileSize = file_size,
                                     .xLock = lock,
                                     .xUnlock = unlock,
                                     .xCheckReservedLock = check_lock,
                                     .xFileControl = control,
                                     .xSectorSize = sector_size,
                                     .xDeviceCharacteristics = characteristics,
                                     .xShmMap = shm_map,
                                     .xShmLock = shm_lock,
                                     .xShmBarrier = shm_barrier,
                                     .xShmUnmap = shm_unmap};

static int open_file(sqlite3_vfs *v, const char *name, sqlite3_file *f, int flags, int *out)
{
    struct file *mine = (struct file *)f;
    mine->base.pMethods = NULL;
    if (fails())
        return SQLITE_CANTOPEN;
    mine->real = (sqlite3_file *)(mine + 1);
    int rc = under->xOpen(under, name, mine->real, flags, out);
    if (mine->real->pMethods)
        mine->base.pMethods = &methods;
    return rc;
}

static int delete_file(sqlite3_vfs *v, const char *name, int sync)
{
    return fails() ? SQLITE_IOERR_DELETE : under->xDelete(under, name, sync);
}

void vfs_fault_install(bool shared_memory)
{
    methods.iVersion = shared_memory ? 2 : 1;
    under = sqlite3_vfs_find(NULL);
    shim = *under;
    shim.zName = "fault";
    shim.szOsFile = (int)sizeof(struct file) + under->szOsFile;
    shim.xOpen = open_file;
    shim.xDelete = delete_file;
    sqlite3_vfs_register(&shim, 1);
}
