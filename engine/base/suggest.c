/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/base/suggest.h"

#include <ctype.h>
#include <limits.h>
#include <string.h>

enum { LONGEST = 63 };

static char folded(char c)
{
    return c == '_' ? '-' : (char)tolower((unsigned char)c);
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Optimal string alignment: the edit distance with swaps of neighbours (Damerau 1964), three rows of its table at a
 * time. */
unsigned suggest_distance(const char *a, const char *b)
{
    size_t na = strlen(a), nb = strlen(b);
    if (na > LONGEST || nb > LONGEST)
        return UINT_MAX;
    unsigned row[3][LONGEST + 1];
    for (size_t j = 0; j <= nb; j++)
        row[0][j] = (unsigned)j;
    for (size_t i = 1; i <= na; i++) {
        unsigned *now = row[i % 3];
        const unsigned *last = row[(i + 2) % 3], *before = row[(i + 1) % 3];
        now[0] = (unsigned)i;
        for (size_t j = 1; j <= nb; j++) {
            char ca = folded(a[i - 1]), cb = folded(b[j - 1]);
            now[j] = least(least(last[j], now[j - 1]) + 1, last[j - 1] + (ca != cb));
            if (i > 1 && j > 1 && ca == folded(b[j - 2]) && folded(a[i - 2]) == cb)
                now[j] = least(now[j], before[j - 2] + 1);
        }
    }
    return row[na % 3][nb];
}

const char *suggest_nearest(const char *word, const char *const *known, size_t n)
{
    size_t third = strlen(word) / 3;
    unsigned best = (unsigned)(third > 1 ? third : 1) + 1;
    const char *found = NULL;
    for (size_t i = 0; i < n; i++) {
        unsigned d = suggest_distance(word, known[i]);
        if (d < best) {
            best = d;
            found = known[i];
        }
    }
    return found;
}
