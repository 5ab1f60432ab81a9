/* SPDX-License-Identifier: Apache-2.0
 *
 * Checksums of the files of an archive, one after the other. Zeroed is valid and empty.
 */
#ifndef SHOAL_DAEMON_ARCHIVE_SUMS_H
#define SHOAL_DAEMON_ARCHIVE_SUMS_H

#include <jansson.h>
#include <nettle/sha2.h>

struct file_sums {
    struct sha256_ctx now;
    json_t *all; /* an array of SHA-256 in hexadecimal digits; owned */
};

void sums_begin(struct file_sums *s);
void sums_add(struct file_sums *s, const void *data, size_t len);
void sums_end(struct file_sums *s);
void sums_free(struct file_sums *s);

#endif
