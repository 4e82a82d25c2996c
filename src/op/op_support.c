// SPDX-License-Identifier: Apache-2.0
// Checks that code made from descriptions shares.

#include <lightnet/op_support.h>

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <lightnet/allocator.h>
#include <lightnet/opck.h>
#include <lightnet/spelling.h>

#include "base/open_below.h"
#include "ir/param_words.h"
#include "op/call.h"

#define NAMES_BYTES 1024

// ---- Which arguments there are ----

// <prefix><number> gives the number, if it is at most LN_OP_MAX_VARIADIC; else 0.
static int variadic_number(const char *name, const char *prefix)
{
    int number = ln_arg_number(name, prefix);
    return number <= LN_OP_MAX_VARIADIC ? number : 0;
}

static bool is_described(const ln_arg_info *infos, const char *arg_name)
{
    for (; infos->arg_name; infos++)
        if (infos->flags & LN_ARG_VARIADIC ? variadic_number(arg_name, infos->arg_name) > 0
                                           : strcmp(arg_name, infos->arg_name) == 0)
            return true;
    return false;
}

static void add_name(char *names, const char *name, const char *suffix)
{
    size_t len = strlen(names);
    snprintf(names + len, NAMES_BYTES - len, "%s%s%s", len ? ", " : "", name, suffix);
}

static ln_status fail_unknown_name(ln_op_arg *op_arg, const char *what, const ln_nearest *nearest,
                                   const char *names)
{
    return ln_op_fail(op_arg, LN_INVALID, "unknown %s '%s'; known: %s%s%s%s", what, nearest->word,
                      names[0] ? names : "none", nearest->name ? "; did you mean '" : "",
                      nearest->name ? nearest->name : "", nearest->name ? "'?" : "");
}

// Lists are short, but a file may make them long; the number of described names bounds the length
// of a list that is right, so the search for doubles is bounded too.
static ln_status check_tensors(ln_op_arg *op_arg, ln_list *list, const ln_arg_info *infos,
                               const char *what)
{
    for (ln_list *l = list; l; l = l->next) {
        const ln_tensor_list_entry *entry = l->data;
        if (!is_described(infos, entry->arg_name)) {
            char names[NAMES_BYTES] = "";
            ln_nearest nearest = ln_nearest_to(entry->arg_name);
            for (const ln_arg_info *info = infos; info->arg_name; info++) {
                add_name(names, info->arg_name, info->flags & LN_ARG_VARIADIC ? "1..." : "");
                ln_nearest_try(&nearest, info->arg_name);
            }
            return fail_unknown_name(op_arg, what, &nearest, names);
        }
        if (ln_tensor_list_find_by_arg_name(list, entry->arg_name) != entry)
            return ln_op_fail(op_arg, LN_INVALID, "%s '%s' is there twice", what, entry->arg_name);
    }
    return LN_OK;
}

ln_status ln_op_check_ins_any(ln_op_arg *op_arg, const ln_arg_info *ins)
{
    LN_TRY(check_tensors(op_arg, op_arg->tensors_in, ins, "input"));
    const ln_tensor_list_entry *listed;
    LN_LIST_FOREACH (listed, op_arg->tensors_in) {
        const ln_tensor_entry *entry = ln_tensor_table_find(op_arg->tensor_table, listed->name);
        if (entry && entry->is_open)
            return ln_op_fail(op_arg, LN_UNSUPPORTED,
                              "needs the shape of tensor '%s', which is known only in a run",
                              listed->name);
    }
    return LN_OK;
}

ln_status ln_op_check_ins(ln_op_arg *op_arg, const ln_arg_info *ins)
{
    LN_TRY(ln_op_check_ins_any(op_arg, ins));
    for (ln_list *l = op_arg->tensors_in; l; l = l->next) {
        const ln_tensor_list_entry *listed = l->data;
        const ln_tensor_entry *entry = ln_tensor_table_find(op_arg->tensor_table, listed->name);
        if (entry && entry->tensor && !TL_DTYPE_IS_NATIVE(entry->tensor->dtype))
            return ln_op_fail(op_arg, LN_UNSUPPORTED, "does not compute with %s, as '%s' is",
                              tl_dtype_title(entry->tensor->dtype), listed->name);
    }
    return LN_OK;
}

ln_status ln_op_check_outs(ln_op_arg *op_arg, const ln_arg_info *outs)
{
    return check_tensors(op_arg, op_arg->tensors_out, outs, "output");
}

ln_status ln_op_check_params(ln_op_arg *op_arg, const ln_param_info *params)
{
    for (ln_list *l = op_arg->params; l; l = l->next) {
        const ln_param_entry *entry = l->data;
        const ln_param_info *info = params;
        while (info->arg_name && strcmp(info->arg_name, entry->arg_name) != 0)
            info++;
        if (!info->arg_name) {
            char names[NAMES_BYTES] = "";
            ln_nearest nearest = ln_nearest_to(entry->arg_name);
            for (info = params; info->arg_name; info++) {
                add_name(names, info->arg_name, "");
                ln_nearest_try(&nearest, info->arg_name);
            }
            return fail_unknown_name(op_arg, "param", &nearest, names);
        }
        if (ln_param_list_find(op_arg->params, entry->arg_name) != entry)
            return ln_op_fail(op_arg, LN_INVALID, "param '%s' is there twice", entry->arg_name);
    }
    return LN_OK;
}

// ---- Variadic arguments ----

// `has[i]` says whether there is <arg_name><i + 1>. Returns how many there are, or -1 if none is or
// one is left out.
static int count_numbers(ln_op_arg *op_arg, const bool has[LN_OP_MAX_VARIADIC], const char *what,
                         const char *arg_name)
{
    int last = LN_OP_MAX_VARIADIC;
    while (last > 0 && !has[last - 1])
        last--;
    if (last == 0) {
        (void)ln_op_fail(op_arg, LN_INVALID, "needs at least one %s %s1", what, arg_name);
        return -1;
    }
    for (int i = 0; i < last; i++) {
        if (!has[i]) {
            (void)ln_op_fail(op_arg, LN_INVALID, "%s %s%d is missing, although there is %s%d", what,
                             arg_name, i + 1, arg_name, last);
            return -1;
        }
    }
    return last;
}

// The memory that the description of input `arg_name` asks for.
static ln_mem_type described_mtype(const ln_op_arg *op_arg, const char *arg_name)
{
    const ln_arg_info *in = op_arg->info ? op_arg->info->ins : NULL;
    while (in && in->arg_name && strcmp(in->arg_name, arg_name) != 0)
        in++;
    return in && in->arg_name ? in->mtype : LN_MEM_NONE;
}

int ln_op_find_variadic(ln_op_arg *op_arg, const char *arg_name, ln_tensor_entry **entries)
{
    const ln_mem_type mtype = described_mtype(op_arg, arg_name);
    bool has[LN_OP_MAX_VARIADIC] = {false};
    for (ln_list *l = op_arg->tensors_in; l; l = l->next) {
        const ln_tensor_list_entry *entry = l->data;
        int number = variadic_number(entry->arg_name, arg_name);
        if (number == 0)
            continue;
        entries[number - 1] = ln_tensor_table_find(op_arg->tensor_table, entry->name);
        if (!entries[number - 1]) {
            (void)ln_op_fail(op_arg, LN_INVALID, "tensor '%s' (%s) should have been defined before",
                             entry->name, entry->arg_name);
            return -1;
        }
        has[number - 1] = true;
    }
    int count = count_numbers(op_arg, has, "input", arg_name);
    for (int i = 0; i < count && mtype != LN_MEM_NONE; i++)
        if (ln_opck_check_mtype(op_arg, entries[i], mtype) != LN_OK)
            return -1;
    return count;
}

int ln_op_count_variadic_outs(ln_op_arg *op_arg, const char *arg_name)
{
    bool has[LN_OP_MAX_VARIADIC] = {false};
    for (ln_list *l = op_arg->tensors_out; l; l = l->next) {
        const ln_tensor_list_entry *entry = l->data;
        int number = variadic_number(entry->arg_name, arg_name);
        if (number > 0)
            has[number - 1] = true;
    }
    return count_numbers(op_arg, has, "output", arg_name);
}

ln_status ln_op_define_variadic(ln_op_arg *op_arg, const char *arg_name, int count, int ndim,
                                const int *dims, tl_dtype dtype, ln_mem_type mtype, int is_static,
                                const char *owner_name, ln_tensor_entry **entries)
{
    for (int i = 0; i < count; i++) {
        char name[LN_MAX_NAME_LEN];
        snprintf(name, sizeof name, "%s%d", arg_name, i + 1);
        entries[i] =
            ln_op_define_output(op_arg, name, ndim, dims, dtype, mtype, is_static, owner_name);
        if (!entries[i])
            return op_arg->status;
    }
    return LN_OK;
}

ln_status ln_op_keep_variadic(ln_tensor_entry *const *entries, int count,
                              ln_tensor_entry ***out_entries, tl_tensor ***out_tensors)
{
    *out_entries = ln_alloc_array((size_t)count, sizeof **out_entries);
    *out_tensors = ln_alloc_array((size_t)count, sizeof **out_tensors);
    if (!*out_entries || !*out_tensors) {
        ln_free(*out_entries);
        ln_free(*out_tensors);
        *out_entries = NULL;
        *out_tensors = NULL;
        return LN_NO_MEMORY;
    }
    for (int i = 0; i < count; i++) {
        (*out_entries)[i] = entries[i];
        (*out_tensors)[i] = entries[i]->tensor;
    }
    return LN_OK;
}

// ---- Values of parameters ----

ln_status ln_op_check_param_value(ln_op_arg *op_arg, const ln_param_entry *entry)
{
    bool has_value = true;
    bool is_array = false;
    switch (entry->type) {
    case LN_PARAM_STRING: has_value = entry->value_string != NULL; break;
    case LN_PARAM_ARRAY_STRING:
        is_array = true;
        has_value = entry->value_array_string != NULL;
        for (int i = 0; has_value && i < entry->array_len; i++)
            has_value = entry->value_array_string[i] != NULL;
        break;
    case LN_PARAM_ARRAY_NUMBER:
        is_array = true;
        has_value = entry->value_array_double && entry->value_array_float && entry->value_array_int;
        break;
    case LN_PARAM_ARRAY_BOOL:
        is_array = true;
        has_value = entry->value_array_bool != NULL;
        break;
    default: break;
    }
    if (entry->array_len < 0 || (!has_value && !(is_array && entry->array_len == 0)))
        return ln_op_fail(op_arg, LN_INVALID, "param '%s' has no value", entry->arg_name);
    return LN_OK;
}

static bool is_whole(double number)
{
    return number >= -2147483648.0 && number <= 2147483647.0 && floor(number) == number;
}

ln_status ln_op_check_whole(ln_op_arg *op_arg, const ln_param_entry *entry)
{
    if (entry->type == LN_PARAM_NUMBER && !is_whole(entry->value_double))
        return ln_op_fail(op_arg, LN_INVALID, "param '%s' should be an integer, but is %g",
                          entry->arg_name, entry->value_double);
    for (int i = 0; entry->type == LN_PARAM_ARRAY_NUMBER && i < entry->array_len; i++)
        if (!is_whole(entry->value_array_double[i]))
            return ln_op_fail(op_arg, LN_INVALID,
                              "param '%s' should hold integers, but its element %d is %g",
                              entry->arg_name, i, entry->value_array_double[i]);
    return LN_OK;
}

int ln_op_is_inner_path(const char *path)
{
    return ln_is_creatable_below(path && strncmp(path, "./", 2) == 0 ? path + 2 : path);
}

// ---- Arguments by their place ----

ln_status ln_op_optional_in(ln_op_arg *op_arg, int index, ln_tensor_entry **out_entry)
{
    const ln_arg_info *info = &op_arg->info->ins[index];
    *out_entry = NULL;
    const ln_tensor_list_entry *listed =
        ln_tensor_list_find_by_arg_name(op_arg->tensors_in, info->arg_name);
    if (!listed)
        return LN_OK;
    ln_tensor_entry *entry = ln_tensor_table_find(op_arg->tensor_table, listed->name);
    LN_TRY(ln_opck_check_defined(op_arg, entry, listed->name, 1));
    if (info->mtype != LN_MEM_NONE)
        LN_TRY(ln_opck_check_mtype(op_arg, entry, info->mtype));
    *out_entry = entry;
    return LN_OK;
}

ln_tensor_entry *ln_op_in(ln_op_arg *op_arg, int index)
{
    ln_tensor_entry *entry;
    if (ln_op_optional_in(op_arg, index, &entry) == LN_OK)
        (void)ln_opck_check_there(op_arg, entry, op_arg->info->ins[index].arg_name, "input tensor");
    return entry;
}

const ln_param_entry *ln_op_param(ln_op_arg *op_arg, int index)
{
    const ln_param_info *info = &op_arg->info->params[index];
    const ln_param_entry *entry = ln_param_list_find(op_arg->params, info->arg_name);
    if (!entry)
        entry = info->default_entry;
    if (ln_opck_check_there(op_arg, entry, info->arg_name, "param") != LN_OK ||
        ln_opck_check_type(op_arg, entry, info->ptype) != LN_OK ||
        ln_op_check_param_value(op_arg, entry) != LN_OK)
        return NULL;
    return entry;
}

const ln_param_entry *ln_op_param_whole(ln_op_arg *op_arg, int index)
{
    const ln_param_entry *entry = ln_op_param(op_arg, index);
    return entry && ln_op_check_whole(op_arg, entry) == LN_OK ? entry : NULL;
}

ln_tensor_entry *ln_op_in_of(ln_op_arg *op_arg, int index, tl_dtype dtype, int ndim)
{
    ln_tensor_entry *entry = ln_op_in(op_arg, index);
    if (!entry || (dtype != TL_DTYPE_INVALID && ln_opck_check_dtype(op_arg, entry, dtype) != LN_OK))
        return NULL;
    return ndim < 0 || ln_opck_check_ndim(op_arg, entry, ndim) == LN_OK ? entry : NULL;
}

const ln_param_entry *ln_op_param_from(ln_op_arg *op_arg, int index, int least)
{
    const ln_param_entry *entry = ln_op_param_whole(op_arg, index);
    if (!entry ||
        ln_opck_check_number(op_arg, entry, LN_OPCK_int, ln_opck_ge, (double)least) != LN_OK)
        return NULL;
    return entry;
}

const ln_param_entry *ln_op_param_array(ln_op_arg *op_arg, int index, int len, int least)
{
    const ln_param_entry *entry = ln_op_param_whole(op_arg, index);
    if (!entry || ln_opck_check_array_len(op_arg, entry, ln_opck_eq, len) != LN_OK ||
        ln_opck_check_array(op_arg, entry, LN_OPCK_int, ln_opck_ge, (double)least) != LN_OK)
        return NULL;
    return entry;
}

ln_status ln_op_param_number(ln_op_arg *op_arg, int index, int number)
{
    const ln_param_info *info = &op_arg->info->params[index];
    ln_param_entry *given = ln_param_list_find(op_arg->params, info->arg_name);
    const ln_param_entry *entry = given ? given : info->default_entry;
    if (number < 0)
        return ln_op_fail_unknown(op_arg, info->arg_name, entry->value_string);
    if (given)
        given->value_int = number;
    return LN_OK;
}

ln_tensor_entry *ln_op_out(ln_op_arg *op_arg, int index, int ndim, const int *dims, tl_dtype dtype,
                           const char *owner_name)
{
    const ln_arg_info *info = &op_arg->info->outs[index];
    return ln_op_define_output(op_arg, info->arg_name, ndim, dims, dtype, info->mtype, 0,
                               owner_name);
}

void *ln_op_priv(ln_op_arg *op_arg, size_t byte_count)
{
    op_arg->priv = ln_alloc(byte_count);
    if (!op_arg->priv)
        (void)ln_op_fail_recorded(op_arg);
    return op_arg->priv;
}

void ln_op_undo(ln_op_arg *op_arg)
{
    ln_free(op_arg->priv);
    op_arg->priv = NULL;
    ln_op_undefine_outputs(op_arg);
}

// ---- Failures ----

ln_status ln_op_fail_unknown(ln_op_arg *op_arg, const char *arg_name, const char *text)
{
    char words[512];
    return ln_op_fail(op_arg, LN_INVALID, "param '%s': '%s' is not known%s", arg_name,
                      text ? text : "", ln_param_choice_words(arg_name, text, words, sizeof words));
}

ln_status ln_op_fail_recorded(ln_op_arg *op_arg)
{
    ln_status status = ln_error_status();
    return ln_op_fail(op_arg, status != LN_OK ? status : LN_INVALID, "%s", ln_error_message());
}
