/* SPDX-License-Identifier: Apache-2.0
 *
 * An ensemble as one file: a tar archive, compressed with zstd. Its members are plain files in one folder, which has
 * the name of the ensemble's id, in this order:
 *
 *   shoal-ensemble.json    the head: format, version, the rows of the database, and "files": [[path, bytes], ..]
 *   every file of "files", in that order: input/spec.yaml, the other inputs, then what windows and estimates wrote
 *   shoal-checksums.json   {"sha256": [of each file of "files", in that order]}
 *
 * A reader refuses whatever is not exactly that.
 */
#ifndef SHOAL_DAEMON_ARCHIVE_ARCHIVE_H
#define SHOAL_DAEMON_ARCHIVE_ARCHIVE_H

#define ARCHIVE_FORMAT "shoal ensemble"
#define ARCHIVE_VERSION 1 /* larger where an older program would misread it */
#define ARCHIVE_HEAD "shoal-ensemble.json"
#define ARCHIVE_SUMS "shoal-checksums.json"
#define ARCHIVE_SPEC "input/spec.yaml"
#define ARCHIVE_INPUTS "input/" /* what the paths of input files begin with */
#define ARCHIVE_FILES 1000000   /* at most */
#define ARCHIVE_NAME 512        /* bytes of a path, at most */

#endif
