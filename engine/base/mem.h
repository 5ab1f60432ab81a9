/* SPDX-License-Identifier: Apache-2.0
 *
 * malloc and friends that abort on exhaustion: the service is crash-only and loses nothing.
 */
#ifndef SHOAL_ENGINE_BASE_MEM_H
#define SHOAL_ENGINE_BASE_MEM_H

#include <stddef.h>

/* Zeroed. */
void *xcalloc(size_t n, size_t size);
void *xrealloc(void *p, size_t n, size_t size);
char *xstrdup(const char *s);
/* From now on exhaustion writes this text to standard output, past its buffer, and exits with `status` in place of
 * aborting. The text must outlive the process. */
void mem_end_with(const char *text, int status);

#endif
