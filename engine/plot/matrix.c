/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "engine/plot/figure.h"

enum { LEFT = 34, TOP = 24, CELL_MOST = 46, CELL_WRITTEN = 27 };

static void draw_cell(struct buf *out, int i, int j, double cell, double value, double least)
{
    double x = LEFT + cell * j, y = TOP + cell * i, dark = fmax(0, fmin(1, value));
    buf_printf(out,
               "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill-opacity=\"%.3f\" class=\"cell\">"
               "<title>%d, %d: %.3f</title></rect>\n",
               x, y, cell, cell, dark, i, j, value);
    if (cell >= CELL_WRITTEN && value >= 0.005) {
        char number[16];
        snprintf(number, sizeof number, "%.2f", value);
        plot_label(out, x + cell / 2, y + cell / 2 + 4, "middle", dark > 0.75 ? "on" : "",
                   value < 0.995 ? number + 1 : "1"); /* ".12" */
    }
    if ((i - j == 1 || j - i == 1) && value < least)
        buf_printf(out, "<path d=\"M%.1f %.1fh%.1fv%.1fh-%.1fZ\" class=\"low\"/>\n", x, y, cell, cell, cell);
}

/* Numbers of rows and columns, as many as have room. */
static void number_them(struct buf *out, double cell, int n)
{
    int every = 1;
    while (every * cell < 20)
        every *= every == 2 ? 5 : 2;
    for (int i = 0; i < n; i += every) {
        char number[16];
        snprintf(number, sizeof number, "%d", i);
        plot_label(out, LEFT - 6, TOP + cell * (i + 0.5) + 4, "end", "soft", number);
        plot_label(out, LEFT + cell * (i + 0.5), TOP - 8, "middle", "soft", number);
    }
}

void plot_matrix(struct buf *out, const char *title, const char *note, const double *matrix, int n, double least)
{
    double cell = fmin(CELL_MOST, (double)(PLOT_WIDTH - LEFT - 4) / n);
    plot_begin(out, title, note, NULL, 0, TOP + cell * n + 4);
    number_them(out, cell, n);
    for (int i = 0; i < n * n; i++)
        if (isfinite(matrix[i]))
            draw_cell(out, i / n, i % n, cell, matrix[i], least);
    plot_end(out);
}
