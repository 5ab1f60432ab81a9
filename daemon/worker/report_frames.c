/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/worker/report_frames.h"

#include <inttypes.h>

#include "daemon/processes/frames.h"

/* Of what is told again and again, all the time: no memory is taken for it. */
static void put_progress(struct buf *out, json_int_t replica, const struct replica_report *what)
{
    const bool segment = what->kind == REPORT_SEGMENT;
    const size_t begun = frame_begin(out);
    buf_printf(out, "{\"type\":\"%s\",\"replica\":%lld,\"stage\":%" PRIu64 ",\"step\":%" PRIu64 ",\"steps\":%" PRIu64,
               segment ? "segment" : "progress", (long long)replica, what->stage, what->step, what->steps);
    buf_printf(out, ",\"time_ps\":%.9f", what->time);
    if (what->switched)
        buf_printf(out, ",\"switched\":%" PRIu64, what->switched);
    if (segment)
        buf_printf(out, ",\"index\":%" PRIu64 ",\"bytes\":{", what->index);
    for (int i = 0; segment && i < OUTPUT_COUNT && (i < OUTPUT_WORK || what->bytes[i]); i++)
        buf_printf(out, "%s\"%s\":%" PRIu64, i ? "," : "", output_names[i], what->bytes[i]);
    buf_printf(out, segment ? "}}" : "}");
    frame_end(out, begun);
}

/* Messages may hold bytes of input files; JSON holds UTF-8 only. */
static json_t *text_of(const char *msg)
{
    json_t *text = json_string(msg);
    if (text)
        return text;
    char plain[sizeof((struct err *)NULL)->msg];
    size_t i = 0;
    for (; msg[i] && i + 1 < sizeof plain; i++)
        plain[i] = (unsigned char)msg[i] < 128 ? msg[i] : '?';
    plain[i] = '\0';
    return json_string(plain);
}

static void put(struct buf *out, json_t *message)
{
    frame_put(out, message);
    json_decref(message);
}

void report_frame_put(struct buf *out, json_int_t replica, const struct replica_report *what)
{
    switch (what->kind) {
    case REPORT_PROGRESS:
    case REPORT_SEGMENT:
        put_progress(out, replica, what);
        return;
    case REPORT_EVENT:
        put(out, json_pack("{s:s, s:I, s:s, s:o}", "type", "event", "replica", replica, "kind", what->event, "message",
                           text_of(what->why->msg)));
        return;
    case REPORT_DONE:
    case REPORT_STOPPED:
        put(out, json_pack("{s:s, s:I, s:I}", "type", what->kind == REPORT_DONE ? "done" : "stopped", "replica",
                           replica, "step", (json_int_t)what->step));
        return;
    case REPORT_FAILED:
        put(out, json_pack("{s:s, s:I, s:i, s:o, s:I}", "type", "failed", "replica", replica, "code",
                           (int)what->why->code, "message", text_of(what->why->msg), "step", (json_int_t)what->step));
        return;
    }
}
