/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/worker/observe/files.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/series/xvg.h"
#include "engine/plot/observed.h"

static int make_folder(const char *path, struct err *e)
{
    struct stat about;
    if (!mkdir(path, 0777))
        return 0;
    if (errno == EEXIST && !stat(path, &about) && S_ISDIR(about.st_mode))
        return 0;
    return err_errno(e, "%s", path);
}

/* Its folder takes files, which is better known before the work is done. */
static int check_picture(const char *path, struct err *e)
{
    const char *slash = strrchr(path, '/');
    struct buf folder = {0};
    buf_printf(&folder, "%.*s/", slash ? (int)(slash - path) : 1, slash ? path : ".");
    int rc = access(folder.data, W_OK) ? err_errno(e, "%s", path) : 0;
    buf_free(&folder);
    return rc;
}

int observe_files_begin(const struct observe_files *f, struct err *e)
{
    int rc = f->plot ? plot_check_name(f->plot, true, e) : 0;
    if (!rc)
        rc = make_folder(f->output, e);
    if (rc || !f->plot)
        return rc;
    return plot_is_picture(f->plot) ? check_picture(f->plot, e) : make_folder(f->plot, e);
}

static int write_text(const struct observe_files *f, const char *name, const struct buf *text, const char *ending,
                      struct err *e)
{
    struct buf path = {0};
    buf_printf(&path, "%s/%s.%s", f->output, name, ending);
    int rc = buf_write_file(path.data, text->data, text->len, e);
    buf_free(&path);
    return rc;
}

/* From the same text and numbers that a page of the client has. */
static int draw(struct plot_sheet *to, const struct observe_result *r, const char *name, const struct buf *text,
                struct err *e)
{
    struct observed_curve curve = {.label = name};
    struct buf json = {0};
    struct writer w = {.out = &json, .first = true};
    jw_begin(&w, NULL, '{');
    observe_json(r, false, &w);
    jw_end(&w, '}');
    json_t *about = json_loadb(json.data, json.len, 0, NULL);
    curve.about = about;
    int rc = xvg_read(&curve.table, name, text->data, text->len, e);
    if (!rc && curve.table.nrows)
        observed_plot(to, &curve, 1, NULL);
    xvg_close(&curve.table);
    json_decref(about);
    buf_free(&json);
    return rc;
}

static int plot(struct observe_files *f, const struct observe_result *r, const char *name, const struct buf *text,
                struct err *e)
{
    struct plot_sheet own = {0};
    struct buf path = {0};
    if (plot_is_picture(f->plot))
        return draw(&f->figures, r, name, text, e);
    buf_printf(&path, "%s/%s.svg", f->plot, name);
    int rc = draw(&own, r, name, text, e);
    if (!rc && own.height > 0)
        rc = plot_write(&own, path.data, e);
    plot_sheet_close(&own);
    buf_free(&path);
    return rc;
}

static int add_table(struct observe_files *f, const struct observe_result *r, const char *name, const struct buf *text,
                     struct err *e)
{
    struct buf csv = {0};
    int rc = write_text(f, name, text, "xvg", e);
    if (!rc && f->csv) {
        xvg_csv(&csv, text->data, text->len);
        rc = write_text(f, name, &csv, "csv", e);
    }
    if (!rc && f->plot)
        rc = plot(f, r, name, text, e);
    buf_free(&csv);
    return rc;
}

int observe_files_add(struct observe_files *f, const struct observe_result *r, const struct observe_series *series,
                      struct err *e)
{
    struct buf text = {0}, frames = {0}, name = {0};
    observe_file(r, &text);
    int rc = add_table(f, r, r->o->name, &text, e);
    if (!rc && series->n) {
        buf_printf(&name, OBSERVE_SERIES_NAME, r->o->name);
        observe_series_file(series, r, &frames);
        rc = add_table(f, r, name.data, &frames, e);
    }
    buf_free(&text);
    buf_free(&frames);
    buf_free(&name);
    return rc;
}

int observe_files_end(struct observe_files *f, struct err *e)
{
    return f->plot && plot_is_picture(f->plot) ? plot_write(&f->figures, f->plot, e) : 0;
}

void observe_files_close(struct observe_files *f)
{
    plot_sheet_close(&f->figures);
}
