/* SPDX-License-Identifier: Apache-2.0
 *
 * Messages between shoald and shoal-worker over a socket pair (the worker's is descriptor 3): a 4-byte little-endian
 * length, then one JSON object with a "type". The directory holds input/spec.yaml and the input files as uploaded; the
 * worker writes each replica's files into its folder in there: lambda_KK (KK = window, two digits or more), and where
 * windows have several replicas repeat_RR/lambda_KK.
 *
 * shoald -> worker
 *   start    {set, ensemble, directory, windows, attempt, salt, doublings, replicas: [{number, window, repeat, key,
 *            folder, steps, origin}], ladder}
 *            run these replicas together from their checkpoints, if any. number and set name them in these messages,
 *            ensemble is the id that users see, which checkpoints keep, key keys the random streams beside the spec's
 *            seed, steps is the target over all stages (0: what the spec says): the last stage is so much longer.
 *            ladder (1 when absent) is the revision that made the windows what they are: input/spec.yaml is another
 *            when it changes. origin (may be absent) is the folder of what the window sampled before that. salt (0 when
 *            absent) changes the noise: where it is larger than the newest checkpoint's, a replica goes on from the
 *            checkpoint before (what followed from the newest was a failure that would come again bit for bit) and says
 *            so in an event of kind salt; checkpoints keep it. doublings (0 when absent): how often the switches of
 *            walkers are twice as long as the first of them, whose number the spec gives. Where the spec says exchange,
 *            all windows of a repeat are one set
 *   stop     {set}
 *            checkpoint each replica at its next sync point, then answer stopped for each (pause, cancel, preemption)
 *   drain    {}
 *            stop all, then exit 0
 *
 * worker -> shoald
 *   hello    {protocol, device, model, slots, pid, version, limits, memory: {total, free, slab, cards, joined},
 *            energy_mj}
 *            once, first. protocol: FRAMES_PROTOCOL. joined: devices that the name of the device has, of which so many
 *            cards are open; memory, here and in load, is of the card that has least for replicas
 *   progress {replica, stage, step, steps, time_ps}
 *            step and steps count over all stages. Of a walker switched too, also of segment: timesteps of switches
 *            that it has done beside these
 *   segment  {replica, index, stage, step, steps, time_ps, bytes}
 *            a checkpoint is durable, and outputs are fsynced up to it: bytes is an object, file name in the folder ->
 *            its length at the checkpoint
 *   load     {slots, busy, us_per_replica_step, ns_per_day, memory: {total, free, used, replica},
 *            replicas: [[replica, bytes, card]], energy_mj}
 *            when the first replica begins, every few seconds while replicas run, and when none runs any more: how many
 *            replicas are wanted from now on; the share of the time since in which the device had work; what all
 *            replicas did together; bytes, of the device, that it can still give, that this worker has, of the largest
 *            replica, and of each that has some, with the name of the card where they are. energy_mj, also of hello:
 *            what the device has taken since its driver was loaded, in millijoules; 0: it does not tell
 *   event    {replica, kind, message}
 *            worth a row: list grown, graph drift, production begun
 *   done     {replica, step}
 *            all stages finished, final files in place
 *   stopped  {replica, step}
 *   failed   {replica, code, message, step}
 *            code: its number in schemas/errors.def
 *   ending   {message}
 *            the last, where it exits with another status than 0: why; the only one where its device does not open
 *
 * A replica of a set that fails is told with failed; shoald then stops the others of the set.
 * stage is the number of the protocol's stage, from 0. The worker exits with status 0 only after a drain or when shoald
 * is gone; any other end is a crash, and the replicas it had running go back to the queue. shoald starts it as
 * `shoal-worker serve --device D [--slots N]`.
 */
#ifndef SHOAL_DAEMON_PROCESSES_FRAMES_H
#define SHOAL_DAEMON_PROCESSES_FRAMES_H

#include <jansson.h>
#include <stdbool.h>

#include "engine/base/buf.h"

#define FRAMES_PROTOCOL 5     /* grows with every change that the other side must know of */
#define FRAME_MAX (16u << 20) /* bytes of JSON in one frame */

/* Appends one frame to `out`. Takes no reference. */
void frame_put(struct buf *out, const json_t *message);
/* One whose text the caller adds to `out` in between, without allocating a JSON value. */
size_t frame_begin(struct buf *out);
void frame_end(struct buf *out, size_t begun);
/* Takes one whole frame off the front of `in`: *message is a new reference, or NULL when more bytes are needed.
 * ERR_PROTOCOL: too long, not JSON, no "type". */
int frame_take(struct buf *in, json_t **message, struct err *e);

#endif
