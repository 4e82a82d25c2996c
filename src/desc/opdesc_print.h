// SPDX-License-Identifier: Apache-2.0
// Shared by the files that print one operator's code: opdesc_gen.c (checks and outputs),
// opdesc_life.c (the functions after them) and opdesc_tables.c (facts and prototype).

#ifndef LN_DESC_OPDESC_PRINT_H
#define LN_DESC_OPDESC_PRINT_H

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "desc/opdesc.h"

LN_CPPSTART

typedef struct printer {
    const ln_opdesc *op;
    ln_text *text;
    ln_text scope; // every snippet of <op>_prepare
    ln_text
        life; // every snippet of static_run, run, post_run, calc_offset, macs, cost and commutes
} printer;

// ---- opdesc_print.c ----

// Append every snippet of <op>_prepare, or of the functions after it, to `scope`.
void ln_gen_scope_of_prepare(ln_text *scope, const ln_opdesc *op);
void ln_gen_scope_of_life(ln_text *scope, const ln_opdesc *op);

// `scope` mentions the variable <name><suffix>.
bool ln_gen_mentions_part(const char *scope, const char *name, const char *suffix);

// The private struct keeps what the life functions look at: all of it when they name `priv`.
bool ln_gen_is_kept(const printer *p, const char *arg_name);
bool ln_gen_has_priv(const printer *p);

// Prints `line` with every $ replaced by `name` and every @ by the operator type.
void ln_gen_put(printer *p, int indent, const char *line, const char *name);
void ln_gen_put_checks(printer *p, const char *check, const ln_value *checks, int indent);

// Declares <arg> and <arg>_len where `scope` mentions them; <arg>_entry is declared.
void ln_gen_put_param_locals(printer *p, const ln_opdesc_param *param, const char *scope);

// The input of that name, the variadic input; NULL if there is none.
const ln_opdesc_tensor *ln_gen_find_in(const ln_opdesc *op, const char *name);
const ln_opdesc_tensor *ln_gen_variadic(const ln_opdesc *op);

bool ln_gen_is_array(const ln_opdesc_param *param);

static inline bool ln_gen_is_true(ln_desc_flag flag)
{
    return flag == LN_DESC_TRUE;
}

// ---- opdesc_life.c ----

// static_run, run, post_run, calc_offset, macs, cost and commutes.
void ln_opdesc_put_life(printer *p);

// ---- opdesc_tables.c ----

// Argument names, ln_arg_info, ln_param_info and the entries of default values.
void ln_opdesc_put_tables(const printer *p);

// Elements of the arrays that are ended with a zero, one a line but for `since`: ln_arg_info,
// ln_place_info, int.
void ln_opdesc_put_args(ln_text *text, const ln_opdesc *op, const ln_opdesc_tensor *tensors,
                        size_t count, bool has_prose);
void ln_opdesc_put_places(ln_text *text, const ln_opdesc *op);
void ln_opdesc_put_since(ln_text *text, const ln_opdesc *op);
bool ln_opdesc_has_places(const ln_opdesc *op);

// Its LN_ARG_... bits.
unsigned ln_opdesc_flags(const ln_opdesc_tensor *t);

// ln_op_info, the ln_op_arg of the prototype, and ln_opimpl_<optype>.
void ln_opdesc_put_proto(const printer *p);

LN_CPPEND

#endif
