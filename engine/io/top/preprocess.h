/* SPDX-License-Identifier: Apache-2.0
 *
 * The preprocessor of topologies: #include, #define, #undef, #ifdef, #ifndef, #else, #endif; ';' comments and lines
 * that begin with '*'; lines continued by a backslash; macros replaced word by word. Hands out one non-empty line at a
 * time and remembers where it came from.
 */
#ifndef SHOAL_ENGINE_IO_TOP_PREPROCESS_H
#define SHOAL_ENGINE_IO_TOP_PREPROCESS_H

#include "engine/base/buf.h"
#include "engine/io/io.h"
#include "engine/io/hash_table.h"

enum {
    PP_DEPTH = 32,
    PP_LINE_MAX = 1 << 16,
    PP_TOTAL_MAX = 1 << 27 /* bytes read and made by macros in all: includes and macros can double at every level */
};

struct pp_condition {
    int line;
    bool active; /* lines of the current branch are read */
    bool seen_else;
};

struct pp_file {
    const char *name; /* owned by pp.names */
    const char *pos, *end;
    int line; /* physical line that was read last */
    struct pp_condition *conditions;
    int nconditions, cap;
};

struct pp_macro {
    char *value; /* NULL: not defined now */
    bool busy;   /* being replaced: a macro does not expand inside itself */
    bool used;   /* asked for or replaced */
};

struct pp {
    struct source *source;
    struct pp_file files[PP_DEPTH];
    int depth;
    char **names; /* of every file opened, for messages */
    int nnames, names_cap;
    struct hash_table macro_names;
    struct pp_macro *macros;
    int nmacros, macros_cap;
    struct buf raw, line;
    size_t total;          /* against PP_TOTAL_MAX */
    const char *file;      /* where the line came from; set before the first line too */
    int number;            /* its first physical line */
    const char *open_file; /* the first file that ended with an #ifdef or #ifndef without #endif; NULL: none */
    int open_line;         /* of that #ifdef or #ifndef */
};

/* The macros of `defines` are there from the start. */
int pp_open(struct pp *p, struct source *src, const char *name, const struct define *defines, int ndefines,
            struct err *e);
/* 1: *text is the next non-empty line, without comments and surrounding blanks, valid until the next call. 0: end.
 * Negative: ERR_TOPOLOGY, ERR_UNSUPPORTED, ERR_MISSING_FILE with file:line. */
int pp_next(struct pp *p, char **text, struct err *e);
/* Whether a macro is defined at the line at hand. */
bool pp_defined(const struct pp *p, const char *name);
/* Whether any line has asked for a macro, or had it replaced. */
bool pp_used(const struct pp *p, const char *name);
void pp_close(struct pp *p);

#endif
