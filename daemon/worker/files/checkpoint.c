/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/worker/files/checkpoint.h"

#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/checksum.h"
#include "engine/base/number.h"

static const char *const file_names[CHECKPOINT_FILES] = {"checkpoint", "checkpoint.previous"};

#define MAGIC_5 UINT64_C(0x35504b434c414853) /* "SHALCKP5" as bytes; the digit is the version of the format */
#define MAGIC_4 UINT64_C(0x34504b434c414853) /* without what follows the key */
#define MAGIC_3 UINT64_C(0x33504b434c414853) /* without what follows the offsets */
#define NUMBER_MAX (UINT64_C(1) << 62)       /* sums of two fit what frames and offsets of files can say */

enum word {
    WORD_MAGIC,
    WORD_WINDOW, /* its upper half: 0, or 1 more than the window in which the replica here began */
    WORD_WINDOWS,
    WORD_STAGE,
    WORD_STAGE_STEP,
    WORD_INDEX,
    WORD_SALT,
    WORD_STATE_BYTES,
    WORD_OFFSETS,
    WORD_ENSEMBLE = WORD_OFFSETS + OUTPUT_WORK,
    WORD_SEED,
    WORD_KEY,
    WORD_WORK, /* the offset of the file of works */
    WORD_SWITCHES,
    WORD_COUNT
};

static void put_word(struct buf *out, uint64_t value)
{
    uint64_t w = htole64(value);
    buf_add(out, &w, sizeof w);
}

static uint64_t word_at(const char *data, size_t index)
{
    uint64_t w;
    memcpy(&w, data + 8 * index, sizeof w);
    return le64toh(w);
}

static void encode(const struct checkpoint *c, struct buf *out)
{
    const uint64_t walker = c->exchanged ? c->walker + 1 : 0;
    const uint64_t words[WORD_OFFSETS] = {
        [WORD_MAGIC] = c->switching ? MAGIC_5 : MAGIC_4,
        [WORD_WINDOW] = c->window | walker << 32,
        [WORD_WINDOWS] = c->windows,
        [WORD_STAGE] = c->stage,
        [WORD_STAGE_STEP] = c->stage_step,
        [WORD_INDEX] = c->index,
        [WORD_SALT] = c->salt,
        [WORD_STATE_BYTES] = c->state.len,
    };
    for (int i = 0; i < WORD_OFFSETS; i++)
        put_word(out, words[i]);
    for (int i = 0; i < OUTPUT_WORK; i++)
        put_word(out, c->offset[i]);
    put_word(out, c->owner.ensemble);
    put_word(out, c->owner.seed);
    put_word(out, c->owner.key);
    if (c->switching) {
        put_word(out, c->offset[OUTPUT_WORK]);
        put_word(out, c->switches);
    }
    buf_add(out, c->state.data, c->state.len);
    put_word(out, checksum(out->data, out->len));
}

/* The checksum is no proof: any writer of the file can make it right. */
static bool in_range(const struct checkpoint *c)
{
    bool good = c->window < c->windows && c->windows <= INT32_MAX && c->walker < c->windows && c->stage <= INT32_MAX &&
                c->stage_step < NUMBER_MAX && c->index < NUMBER_MAX && c->salt <= INT32_MAX &&
                c->switches <= UINT32_MAX;
    for (int i = 0; i < OUTPUT_COUNT; i++)
        good &= c->offset[i] < NUMBER_MAX;
    return good;
}

static int decode(struct checkpoint *c, const struct buf *in, const char *path, struct err *e)
{
    const uint64_t magic = in->len >= 8 ? word_at(in->data, WORD_MAGIC) : 0;
    const bool old = magic == MAGIC_3, switching = magic == MAGIC_5;
    const size_t head = 8 * (old ? WORD_ENSEMBLE : switching ? WORD_COUNT : WORD_WORK);
    if (in->len < head + 8)
        return err_set(e, ERR_CHECKPOINT, "%s: only %zu %s", path, in->len,
                       number_word((int64_t)in->len, "byte", "bytes"));
    uint64_t sum;
    memcpy(&sum, in->data + in->len - 8, 8);
    bool whole = le64toh(sum) == checksum(in->data, in->len - 8), ours = old || switching || magic == MAGIC_4;
    if (whole && !ours && !memcmp(in->data, "SHALCKP", 7))
        return err_set(
            e, ERR_UNSUPPORTED,
            "%s: of format %c, this program reads formats 3 to 5: go on with the program that wrote it, or submit "
            "the ensemble again",
            path, in->data[7]);
    if (!ours)
        return err_set(e, ERR_CHECKPOINT, "%s: not a checkpoint", path);
    if (!whole || word_at(in->data, WORD_STATE_BYTES) != in->len - head - 8)
        return err_set(e, ERR_CHECKPOINT, "%s: damaged", path);
    c->window = word_at(in->data, WORD_WINDOW) & UINT32_MAX;
    c->exchanged = word_at(in->data, WORD_WINDOW) >> 32 != 0;
    c->walker = c->exchanged ? (word_at(in->data, WORD_WINDOW) >> 32) - 1 : 0;
    c->windows = word_at(in->data, WORD_WINDOWS);
    c->stage = word_at(in->data, WORD_STAGE);
    c->stage_step = word_at(in->data, WORD_STAGE_STEP);
    c->index = word_at(in->data, WORD_INDEX);
    c->salt = word_at(in->data, WORD_SALT);
    for (int i = 0; i < OUTPUT_WORK; i++)
        c->offset[i] = word_at(in->data, (size_t)WORD_OFFSETS + (size_t)i);
    c->switching = switching;
    if (switching) {
        c->offset[OUTPUT_WORK] = word_at(in->data, WORD_WORK);
        c->switches = word_at(in->data, WORD_SWITCHES);
    }
    c->owned = !old;
    if (c->owned)
        c->owner = (struct checkpoint_owner){word_at(in->data, WORD_ENSEMBLE), word_at(in->data, WORD_SEED),
                                             word_at(in->data, WORD_KEY)};
    if (!in_range(c))
        return err_set(e, ERR_CHECKPOINT, "%s: holds numbers that no replica has", path);
    buf_add(&c->state, in->data + head, in->len - head - 8);
    return 0;
}

uint64_t checkpoint_ensemble(const char *id)
{
    return checksum(id, strlen(id));
}

int checkpoint_check_owner(const struct checkpoint *c, const struct checkpoint_owner *by, struct err *e)
{
    if (!c->owned)
        return 0;
    if (c->owner.ensemble && by->ensemble && c->owner.ensemble != by->ensemble)
        return err_set(e, ERR_CHECKPOINT, "the checkpoint is of another ensemble");
    if (c->owner.seed != by->seed)
        return err_set(e, ERR_CHECKPOINT,
                       "the checkpoint is of a run with seed %" PRIu64 ", and the spec's is %" PRIu64, c->owner.seed,
                       by->seed);
    if (c->owner.key != by->key)
        return err_set(e, ERR_CHECKPOINT, "the checkpoint is of another window or repeat");
    return 0;
}

int checkpoint_write(const char *folder, const struct checkpoint *c, struct err *e)
{
    struct buf newest = {0}, previous = {0}, data = {0};
    buf_printf(&newest, "%s/%s", folder, file_names[CHECKPOINT_NEWEST]);
    buf_printf(&previous, "%s/%s", folder, file_names[CHECKPOINT_PREVIOUS]);
    encode(c, &data);
    int rc = rename(newest.data, previous.data) && errno != ENOENT ? err_errno(e, "rename %s", newest.data) : 0;
    if (!rc)
        rc = buf_write_file(newest.data, data.data, data.len, e);
    buf_free(&data);
    buf_free(&previous);
    buf_free(&newest);
    return rc;
}

/* What a disk says of a file that it has lost. */
static bool is_damage(int number)
{
    return number == EIO || number == EBADMSG || number == EUCLEAN;
}

int checkpoint_read(const char *folder, int which, struct checkpoint *c, struct err *e)
{
    struct buf path = {0}, data = {0};
    int rc;
    buf_printf(&path, "%s/%s", folder, file_names[which]);
    if (access(path.data, F_OK) && errno == ENOENT) {
        rc = CHECKPOINT_NONE;
    } else {
        rc = buf_read_file(&data, path.data, e);
        if (rc && is_damage(errno)) {
            e->code = ERR_CHECKPOINT;
            rc = -ERR_CHECKPOINT;
        }
        if (!rc)
            rc = decode(c, &data, path.data, e);
    }
    buf_free(&data);
    buf_free(&path);
    return rc;
}

int checkpoint_drop(const char *folder, int which, struct err *e)
{
    struct buf path = {0};
    buf_printf(&path, "%s/%s", folder, file_names[which]);
    int rc = unlink(path.data) && errno != ENOENT ? err_errno(e, "remove %s", path.data) : 0;
    buf_free(&path);
    return rc;
}

void checkpoint_close(struct checkpoint *c)
{
    buf_free(&c->state);
}
