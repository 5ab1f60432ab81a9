/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/series/xvg.h"

void xvg_begin(struct buf *out, const char *file, const char *title, const char *yaxis)
{
    buf_printf(out, "# %s, written by Shoal\n", file);
    buf_printf(out, "@    title \"%s\"\n@    xaxis  label \"Time (ps)\"\n@    yaxis  label \"%s\"\n@TYPE xy\n", title,
               yaxis);
}

void xvg_legends_begin(struct buf *out)
{
    buf_printf(out,
               "@ view 0.15, 0.15, 0.75, 0.85\n@ legend on\n@ legend box on\n@ legend loctype view\n"
               "@ legend 0.78, 0.8\n@ legend length 2\n");
}
