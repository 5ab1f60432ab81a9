/* SPDX-License-Identifier: Apache-2.0
 *
 * gcc's names of the sanitizers that a file is compiled with, for clang too.
 */
#ifndef SHOAL_DAEMON_WORKER_THREADS_SANITIZERS_H
#define SHOAL_DAEMON_WORKER_THREADS_SANITIZERS_H

#if defined(__has_feature)
#if __has_feature(address_sanitizer) && !defined(__SANITIZE_ADDRESS__)
#define __SANITIZE_ADDRESS__ 1
#endif
#if __has_feature(thread_sanitizer) && !defined(__SANITIZE_THREAD__)
#define __SANITIZE_THREAD__ 1
#endif
#endif

#endif
