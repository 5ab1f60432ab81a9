/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/system/vdw_modifiers.h"

#include "engine/base/buf.h"

enum { WHOLE, SWITCHES };

const struct vdw_modifier_info vdw_modifiers[] = {
#define VDW(name, word, start, force, text, ...) [VDW_##name] = {word, start == SWITCHES, text},
#include "engine/math/vdw_modifiers.def"
};

void vdw_modifiers_that_switch(struct buf *out)
{
    enum { COUNT = sizeof vdw_modifiers / sizeof *vdw_modifiers };
    const char *words[COUNT];
    int n = 0;
    for (int i = 0; i < COUNT; i++)
        if (vdw_modifiers[i].switches)
            words[n++] = vdw_modifiers[i].word;
    buf_words(out, words, n, "and");
}
