/* SPDX-License-Identifier: Apache-2.0 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#include "engine/base/buf.h"
#include "engine/base/path.h"
#include "engine/io/io.h"
#include "engine/io/hash_table.h"

static void joined(const char *from, const char *name, const char *expected)
{
    char *path = path_join(from, name);
    assert_string_equal(path, expected);
    free(path);
}

static void test_paths(void **state)
{
    joined(NULL, "a.top", "a.top");
    joined(NULL, "./a/./b//c.itp", "a/b/c.itp");
    joined("x.top", "a.itp", "a.itp");
    joined("top/x.top", "a.itp", "top/a.itp");
    joined("top/x.top", "../ff/a.itp", "ff/a.itp");
    joined("top/x.top", "../../a.itp", "../a.itp");
    joined("../x.top", "a.itp", "../a.itp");
    joined("../x.top", "../a.itp", "../../a.itp");
    joined("top/x.top", "/usr/../share/a.itp", "/share/a.itp");
    joined("/usr/x.top", "a.itp", "/usr/a.itp");
    joined("/usr/x.top", "../../../a.itp", "/a.itp");
    joined("a/x.top", "..", "");
}

/* Where a file is kept for a name, which is the same for that name itself. */
static void kept(const char *name, const char *expected)
{
    char *once = path_kept(name), *again = path_kept(once);
    assert_true(path_is_normal(name) && path_is_below(once));
    assert_string_equal(once, expected);
    assert_string_equal(again, expected);
    free(again);
    free(once);
}

static void test_kept(void **state)
{
    kept("a.top", "a.top");
    kept("a/..b/c", "a/..b/c");
    kept("../a.top", "@up1/a.top");
    kept("../../ff/a.itp", "@up2/ff/a.itp");
    kept("/usr/a.itp", "@root/usr/a.itp");
    static const char *const other[] = {"", ".", "..", "../..", "/", "a/", "./a", "a/../b", "a//b", "/../a", "/a/.."};
    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        assert_false(path_is_normal(other[i]));
}

static void add(struct source *s, const char *name, const char *text)
{
    struct err e = {0};
    assert_int_equal(source_memory_add(s, name, text, strlen(text), &e), 0);
}

static void finds(struct source *s, const char *from, const char *name, const char *found, const char *text)
{
    struct err e = {0};
    struct source_text t;
    if (source_open(s, from, name, &t, &e))
        fail_msg("%s", e.msg);
    assert_string_equal(t.name, found);
    assert_string_equal(t.text, text);
    assert_int_equal(t.len, strlen(text));
}

static void lacks(struct source *s, const char *from, const char *name, enum err_code code, const char *message)
{
    struct err e = {0};
    struct source_text t;
    assert_int_equal(source_open(s, from, name, &t, &e), -(int)code);
    if (strncmp(e.msg, message, strlen(message)) != 0)
        fail_msg("\"%s\" does not begin with \"%s\"", e.msg, message);
}

static void test_memory(void **state)
{
    struct source *s = source_memory_new();
    add(s, "a.top", "one");
    add(s, "ff/b.itp", "two");
    add(s, "ff/../c.itp", "three");
    add(s, "a.top", "four");
    finds(s, NULL, "a.top", "a.top", "four");
    finds(s, "a.top", "ff/b.itp", "ff/b.itp", "two");
    finds(s, "ff/b.itp", "../c.itp", "c.itp", "three");
    finds(s, "ff/b.itp", "c.itp", "c.itp", "three"); /* not beside it: as named */
    lacks(s, "ff/b.itp", "d.itp", ERR_MISSING_FILE, "there is no file \"ff/d.itp\" or \"d.itp\"");
    assert_string_equal(s->wanted[0], "ff/d.itp");
    assert_string_equal(s->wanted[1], "d.itp");
    assert_null(s->wanted[2]);
    lacks(s, "a.top", "d.itp", ERR_MISSING_FILE, "there is no file \"d.itp\"");
    assert_null(s->wanted[1]);
    lacks(s, NULL, "/etc/passwd", ERR_MISSING_FILE, "there is no file \"/etc/passwd\"");
    lacks(s, "ff/b.itp", "../../x.itp", ERR_MISSING_FILE, "there is no file \"../x.itp\" or \"../../x.itp\"");
    assert_string_equal(s->wanted[0], "../x.itp");
    /* What is above the base or absolute, and what it includes; also under the names that such files are kept by. */
    add(s, "../x.itp", "above");
    add(s, "@up2/y.itp", "higher");
    add(s, "/lib/z.itp", "absolute");
    finds(s, "ff/b.itp", "../../x.itp", "../x.itp", "above");
    finds(s, "../x.itp", "../y.itp", "../../y.itp", "higher");
    finds(s, "../x.itp", "a.top", "a.top", "four"); /* not beside it: as named */
    finds(s, "/lib/q.itp", "z.itp", "/lib/z.itp", "absolute");
    finds(s, "a.top", "/lib/../lib/z.itp", "/lib/z.itp", "absolute");
    struct err e = {0};
    static const char *const none[] = {"..", "", "/", "../..", "a/.."};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_int_equal(source_memory_add(s, none[i], "", 0, &e), -ERR_UNSUPPORTED);
    lacks(s, "ff/b.itp", "..", ERR_UNSUPPORTED, "\"..\" is not the name of a file");
    source_free(s);
    source_free(NULL);
}

static void write_file(const char *folder, const char *name, const char *text)
{
    struct buf path = {0};
    struct err e = {0};
    buf_printf(&path, "%s/%s", folder, name);
    assert_int_equal(buf_write_file(path.data, text, strlen(text), &e), 0);
    buf_free(&path);
}

/* Two folders beside each other, `base` and `inc`, in a fresh folder; the caller frees the text. */
static char *make_folders(void)
{
    char *top = xstrdup("/tmp/shoal-source-XXXXXX");
    struct buf b = {0};
    assert_non_null(mkdtemp(top));
    buf_printf(&b, "%s/base", top);
    assert_int_equal(mkdir(b.data, 0700), 0);
    write_file(b.data, "a.top", "base a");
    b.len = 0;
    buf_printf(&b, "%s/inc", top);
    assert_int_equal(mkdir(b.data, 0700), 0);
    write_file(b.data, "a.top", "inc a");
    write_file(b.data, "b.itp", "inc b");
    b.len = 0;
    buf_printf(&b, "%s/base/link.itp", top);
    assert_int_equal(symlink("../inc/b.itp", b.data), 0);
    buf_free(&b);
    return top;
}

static void remove_folders(char *top)
{
    static const char *const names[] = {"base/@up1/inc/a.top",
                                        "base/@up1/inc",
                                        "base/@up1/k.itp",
                                        "base/@up1",
                                        "base/link.itp",
                                        "base/a.top",
                                        "base",
                                        "inc/a.top",
                                        "inc/b.itp",
                                        "inc",
                                        ""};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct buf b = {0};
        buf_printf(&b, "%s/%s", top, names[i]);
        assert_int_equal(remove(b.data), 0);
        buf_free(&b);
    }
    free(top);
}

static void test_disk(void **state)
{
    char *top = make_folders();
    struct buf base = {0}, inc = {0};
    buf_printf(&base, "%s/base", top);
    buf_printf(&inc, "%s/inc", top);
    struct source *s = source_disk_new(base.data, false);
    lacks(s, NULL, "b.itp", ERR_MISSING_FILE, "there is no file \"b.itp\"");
    source_disk_include(s, inc.data);
    finds(s, NULL, "a.top", "a.top", "base a");
    finds(s, "a.top", "b.itp", "b.itp", "inc b");
    finds(s, NULL, "../inc/a.top", "../inc/a.top", "inc a");
    finds(s, NULL, "link.itp", "link.itp", "inc b");
    lacks(s, NULL, "../inc", ERR_MISSING_FILE, "there is no file \"../inc\""); /* a folder is no file */
    source_free(s);

    s = source_disk_new(base.data, true);
    finds(s, NULL, "a.top", "a.top", "base a");
    lacks(s, NULL, "link.itp", ERR_MISSING_FILE, "there is no file \"link.itp\"");
    lacks(s, NULL, "../inc/a.top", ERR_MISSING_FILE, "there is no file \"../inc/a.top\"");
    base.len = 0;
    buf_printf(&base, "%s/base/a.top", top);
    lacks(s, NULL, base.data, ERR_MISSING_FILE, "there is no file \"");
    source_free(s);

    /* What is kept in a folder for a name that leads out of it: all that a confined source reads; for another one it
     * comes last. */
    base.len = inc.len = 0;
    buf_printf(&base, "%s/base", top);
    buf_printf(&inc, "%s/base/@up1", top);
    assert_int_equal(mkdir(inc.data, 0700), 0);
    write_file(inc.data, "k.itp", "kept k");
    inc.len = 0;
    buf_printf(&inc, "%s/base/@up1/inc", top);
    assert_int_equal(mkdir(inc.data, 0700), 0);
    write_file(inc.data, "a.top", "kept a");
    for (int confined = 0; confined < 2; confined++) {
        s = source_disk_new(base.data, confined);
        finds(s, NULL, "../inc/a.top", "../inc/a.top", confined ? "kept a" : "inc a");
        finds(s, "../inc/a.top", "../k.itp", "../k.itp", "kept k");
        source_free(s);
    }
    buf_free(&base);
    buf_free(&inc);
    remove_folders(top);
}

/* A text of several pieces and two members; one that is cut short is none. */
static void test_gzip(void **state)
{
    enum { LINES = 20000 };
    char folder[] = "/tmp/shoal-gzip-XXXXXX";
    struct buf path = {0}, text = {0}, raw = {0};
    struct err e = {0};
    assert_non_null(mkdtemp(folder));
    buf_printf(&path, "%s/a.top.gz", folder);
    for (int member = 0; member < 2; member++) {
        gzFile f = gzopen(path.data, member ? "ab" : "wb");
        size_t from = text.len;
        for (int i = 0; i < LINES; i++)
            buf_printf(&text, "%d line %d\n", member, i);
        assert_int_equal(gzwrite(f, text.data + from, (unsigned)(text.len - from)), (int)(text.len - from));
        gzclose(f);
    }
    struct source *s = source_disk_new(folder, true);
    finds(s, NULL, "a.top.gz", "a.top.gz", text.data);
    source_free(s);
    assert_int_equal(buf_read_file(&raw, path.data, &e), 0);
    assert_int_equal(buf_write_file(path.data, raw.data, raw.len - 20, &e), 0);
    s = source_disk_new(folder, true);
    lacks(s, NULL, "a.top.gz", ERR_IO,
          "\"a.top.gz\": its gzip data end too early, are damaged, or hold more than 512 MB");
    source_free(s);
    assert_int_equal(remove(path.data), 0);
    assert_int_equal(rmdir(folder), 0);
    buf_free(&path);
    buf_free(&text);
    buf_free(&raw);
}

static void test_table(void **state)
{
    struct hash_table t = {0};
    assert_int_equal(hash_table_get(&t, "x", 1), -1);
    for (int i = 0; i < 5000; i++)
        assert_int_equal(hash_table_add(&t, &i, sizeof i, 2 * i), 2 * i);
    for (int i = 0; i < 5000; i++) {
        assert_int_equal(hash_table_get(&t, &i, sizeof i), 2 * i);
        assert_int_equal(hash_table_add(&t, &i, sizeof i, 7), 2 * i);
    }
    int absent = 5000;
    assert_int_equal(hash_table_get(&t, &absent, sizeof absent), -1);
    assert_int_equal(hash_table_add(&t, "", 0, 3), 3);
    assert_int_equal(hash_table_get(&t, "", 0), 3);
    hash_table_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paths), cmocka_unit_test(test_kept), cmocka_unit_test(test_memory),
        cmocka_unit_test(test_disk),  cmocka_unit_test(test_gzip), cmocka_unit_test(test_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
