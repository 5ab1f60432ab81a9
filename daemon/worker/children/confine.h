/* SPDX-License-Identifier: Apache-2.0
 *
 * What is left to a process that reads what any user may send: its memory and the descriptors that it has, and one
 * folder where it reads and writes files.
 */
#ifndef SHOAL_DAEMON_WORKER_CHILDREN_CONFINE_H
#define SHOAL_DAEMON_WORKER_CHILDREN_CONFINE_H

/* From here on the process opens, makes and executes no file, opens no socket, and traces and signals no other process.
 * A kernel that knows no such limits gives none; nor does a build with sanitizers, which open files themselves. */
void confine(void);
/* The same, but for files below `folder`, which it may still read, make, replace and remove, and for what the kernel
 * says of the memory that there is. */
void confine_to(const char *folder);
/* The same, and it may make folders there. */
void confine_to_tree(const char *folder);

#endif
