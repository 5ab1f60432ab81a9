/* SPDX-License-Identifier: Apache-2.0
 *
 * SQLite's default file system with faults: it counts the calls that can fail, and lets those from the k-th on fail, as
 * a disk does that is full or breaks. Made the default by vfs_fault_install; one per process.
 */
#ifndef SHOAL_TESTS_LIB_VFS_FAULT_H
#define SHOAL_TESTS_LIB_VFS_FAULT_H

#include <stdbool.h>

enum vfs_fault_kind { VFS_FAULT_IO, VFS_FAULT_FULL };

/* Without shared memory its files are as on a network file system. */
void vfs_fault_install(bool shared_memory);
/* The `first`-th call from now on (0: the next) and the `count` - 1 after it fail. */
void vfs_fault_arm(long first, long count, enum vfs_fault_kind kind);
void vfs_fault_disarm(void);
/* Whether a fault has happened since it was armed. */
bool vfs_fault_hit(void);

#endif
