/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/worker/observe_files.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/base/xvg.h"
#include "engine/plot/observed.h"

static bool is_picture(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && !strcmp(dot, ".svg");
}

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
    int rc = make_folder(f->output, e);
    if (rc || !f->plot)
        return rc;
    return is_picture(f->plot) ? check_picture(f->plot, e) : make_folder(f->plot, e);
}

static int write_text(const struct observe_files *f, const struct observe_result *r, const struct buf *text,
                      const char *ending, struct err *e)
{
    struct buf path = {0};
    buf_printf(&path, "%s/%s.%s", f->output, r->o->name, ending);
    int rc = buf_write_file(path.data, text->data, text->len, e);
    buf_free(&path);
    return rc;
}

/* From the same text and numbers that a page of the client has. */
static int draw(struct plot_sheet *to, const struct observe_result *r, const struct buf *text, struct err *e)
{
    struct observed_curve curve = {.label = r->o->name};
    struct buf json = {0};
    struct writer w = {.out = &json, .first = true};
    jw_begin(&w, NULL, '{');
    observe_json(r, false, &w);
    jw_end(&w, '}');
    json_t *about = json_loadb(json.data, json.len, 0, NULL);
    curve.about = about;
    int rc = xvg_read(&curve.table, r->o->name, text->data, text->len, e);
    if (!rc && curve.table.nrows)
        observed_plot(to, &curve, 1);
    xvg_close(&curve.table);
    json_decref(about);
    buf_free(&json);
    return rc;
}

static int plot(struct observe_files *f, const struct observe_result *r, const struct buf *text, struct err *e)
{
    struct plot_sheet own = {0};
    struct buf path = {0};
    if (is_picture(f->plot))
        return draw(&f->figures, r, text, e);
    buf_printf(&path, "%s/%s.svg", f->plot, r->o->name);
    int rc = draw(&own, r, text, e);
    if (!rc && own.height > 0)
        rc = plot_write(&own, path.data, e);
    plot_sheet_close(&own);
    buf_free(&path);
    return rc;
}

int observe_files_add(struct observe_files *f, const struct observe_result *r, struct err *e)
{
    struct buf text = {0}, csv = {0};
    observe_file(r, &text);
    int rc = write_text(f, r, &text, "xvg", e);
    if (!rc && f->csv) {
        xvg_csv(&csv, text.data, text.len);
        rc = write_text(f, r, &csv, "csv", e);
    }
    if (!rc && f->plot)
        rc = plot(f, r, &text, e);
    buf_free(&text);
    buf_free(&csv);
    return rc;
}

int observe_files_end(struct observe_files *f, struct err *e)
{
    return f->plot && is_picture(f->plot) ? plot_write(&f->figures, f->plot, e) : 0;
}

void observe_files_close(struct observe_files *f)
{
    plot_sheet_close(&f->figures);
}
