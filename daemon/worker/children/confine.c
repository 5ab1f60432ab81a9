/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/worker/children/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "daemon/worker/threads/sanitizers.h"

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#define CALLS_END 0x40000000 /* from here on they are those of x32 */
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#define CALLS_END UINT32_MAX
#endif

#define READ (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define WRITE (LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_REMOVE_FILE)

static bool allow(int rules, const char *path, uint64_t access)
{
    struct landlock_path_beneath_attr below = {.allowed_access = access, .parent_fd = open(path, O_PATH | O_CLOEXEC)};
    if (below.parent_fd < 0)
        return false;
    long rc = syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &below, 0);
    close(below.parent_fd);
    return rc == 0;
}

/* All that the first version of Landlock knows is refused, but for what is done in the folder (NULL: none), `more`
 * among it, and what device/memory.c reads. Nothing is refused where the folder cannot be allowed: it is not there, or
 * a filter of system calls is in the way. */
static void no_files(const char *folder, uint64_t more)
{
    const struct landlock_ruleset_attr all = {.handled_access_fs = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1};
    int fd = (int)syscall(SYS_landlock_create_ruleset, &all, sizeof all, 0);
    if (fd < 0)
        return;
    if (folder) {
        allow(fd, "/proc/self", READ);
        allow(fd, "/proc/meminfo", LANDLOCK_ACCESS_FS_READ_FILE);
        allow(fd, "/sys/fs/cgroup", READ);
    }
    if (!folder || allow(fd, folder, READ | WRITE | more))
        syscall(SYS_landlock_restrict_self, fd, 0);
    close(fd);
}

/* Landlock has no say in these. io_uring would make the others in their place. */
static void no_others(void)
{
#ifdef ARCH
    enum { CALLS = 7, ENDS = 2 }; /* comparisons with calls, and what follows them: allow, then refuse */
#define CALL(number, after) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), (after) + 1, 0)
    struct sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH, 0, CALLS + ENDS + 1),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, CALLS_END, CALLS + 1, 0),
        CALL(SYS_socket, 6),
        CALL(SYS_kill, 5),
        CALL(SYS_ptrace, 4),
        CALL(SYS_process_vm_readv, 3),
        CALL(SYS_process_vm_writev, 2),
        CALL(SYS_pidfd_open, 1),
        CALL(SYS_io_uring_setup, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
    };
    const struct sock_fprog filter = {sizeof program / sizeof *program, program};
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
#endif
}

static void confine_but(const char *folder, uint64_t more)
{
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        return;
    no_files(folder, more);
    no_others();
#endif
}

void confine(void)
{
    confine_but(NULL, 0);
}

void confine_to(const char *folder)
{
    confine_but(folder, 0);
}

void confine_to_tree(const char *folder)
{
    confine_but(folder, LANDLOCK_ACCESS_FS_MAKE_DIR);
}
