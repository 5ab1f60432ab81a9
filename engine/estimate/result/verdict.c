/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/estimate/result/result.h"

const char *const verdict_words[] = {
    [VERDICT_CONVERGED] = "converged", [VERDICT_UNCONVERGED] = "unconverged", [VERDICT_FAILED] = "failed"};

void verdict_add(struct verdict *v, enum verdict_kind kind, const char *code, const char *fmt, ...)
{
    char text[1200];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (kind > v->kind)
        v->kind = kind;
    v->reasons = xrealloc(v->reasons, (size_t)v->nreasons + 1, sizeof *v->reasons);
    v->reasons[v->nreasons++] = (struct reason){kind, code, xstrdup(text)};
}

void verdict_failure(const struct verdict *v, struct buf *out)
{
    for (int i = 0; i < v->nreasons; i++)
        if (v->reasons[i].kind == VERDICT_FAILED)
            buf_printf(out, "%s%s", out->len ? "; " : "", v->reasons[i].text);
}

void verdict_close(struct verdict *v)
{
    for (int i = 0; i < v->nreasons; i++)
        free(v->reasons[i].text);
    free(v->reasons);
    *v = (struct verdict){0};
}
