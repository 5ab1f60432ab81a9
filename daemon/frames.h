/* SPDX-License-Identifier: Apache-2.0
 *
 * Messages between shoald and shoal-worker over a socket pair (the worker's is descriptor 3): a 4-byte little-endian length,
 * then one JSON object with a "type". The directory holds input/spec.yaml and the input files as uploaded; the worker writes
 * lambda_NN/ in it (NN = window, two digits or more).
 *
 * shoald -> worker
 *   start    {replica, ensemble, directory, window, windows, attempt}   run this replica from its checkpoint, if any; replica
 *                                   is a number that names it in these messages, ensemble the id that users see
 *   stop     {replica}              checkpoint at the next sync point, then answer stopped (pause, cancel, preemption)
 *   drain    {}                     stop all, then exit 0
 *
 * worker -> shoald
 *   hello    {device, model, slots, pid, version}                       once, first
 *   progress {replica, stage, step, steps, time_ps}                     step and steps count over all stages
 *   segment  {replica, index, stage, step, steps, bytes}                a checkpoint is durable; outputs fsynced up to it:
 *                                   bytes is an object, file name in lambda_NN -> its length at the checkpoint
 *   event    {replica, kind, message}                                   worth a row: list grown, graph drift, rebuild
 *   done     {replica, step}                                            all stages finished, final files in place
 *   stopped  {replica, step}
 *   failed   {replica, code, message, step}                             code: its number in schemas/errors.def
 *
 * stage is the number of the protocol's stage, from 0. The worker exits with status 0 only after a drain or when shoald is
 * gone; any other end is a crash, and the replicas it had running go back to the queue. shoald starts it as
 * `shoal-worker serve --device D [--slots N]`.
 */
#ifndef SHOAL_DAEMON_FRAMES_H
#define SHOAL_DAEMON_FRAMES_H

#include <jansson.h>
#include <stdbool.h>

#include "engine/base/buf.h"

#define FRAME_MAX (16u << 20) /* bytes of JSON in one frame */

/* Appends one frame to `out`. Takes no reference. */
void frame_put(struct buf *out, const json_t *message);
/* Takes one whole frame off the front of `in`: *message is a new reference, or NULL when more bytes are needed.
 * ERR_PROTOCOL: too long, not JSON, no "type". */
int frame_take(struct buf *in, json_t **message, struct err *e);

#endif
