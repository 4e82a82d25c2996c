// SPDX-License-Identifier: Apache-2.0
// The checks after the macros of opck.h, and their messages.

#include <lightnet/opck.h>

#include <stdio.h>
#include <string.h>

#include "ir/param_words.h"

#define MESSAGE_BYTES 4096

ln_status ln_opck_report(ln_op_arg *op_arg, ln_msg_level level, const char *fmt, ...)
{
    char message[MESSAGE_BYTES];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(message, sizeof message, fmt, ap);
    va_end(ap);
    switch (level) {
    case LN_MSG_ERROR:
    case LN_MSG_ERROR_SYS: return ln_op_fail(op_arg, LN_INVALID, "%s", message);
    case LN_MSG_INTER_ERROR:
    case LN_MSG_INTER_ERROR_SYS: return ln_op_fail(op_arg, LN_INTERNAL, "%s", message);
    default: break;
    }
    ln_msg_emit(level, "%s: `%s` %s", op_arg && op_arg->optype ? op_arg->optype : "(no type)",
                op_arg && op_arg->name ? op_arg->name : "", message);
    return LN_OK;
}

// ---- Relations ----

static const char *const relation_texts[] = {
#define RELATION_TEXT(name, operator) #operator,
    LN_OPCK_RELATION_LIST(RELATION_TEXT)
#undef RELATION_TEXT
};

static int holds(double a, ln_opck_relation relation, double b)
{
    switch (relation) {
#define RELATION_CASE(name, operator)                                                              \
    case ln_opck_##name: return a operator b;
        LN_OPCK_RELATION_LIST(RELATION_CASE)
#undef RELATION_CASE
    }
    return 0;
}

// ---- Parameters ----

ln_status ln_opck_check_there(ln_op_arg *op_arg, const void *entry, const char *arg_name,
                              const char *what)
{
    return entry ? LN_OK : ln_op_fail(op_arg, LN_INVALID, "needs a `%s` %s", arg_name, what);
}

static ln_status fail_missing(ln_op_arg *op_arg, const char *what)
{
    return ln_op_fail(op_arg, LN_INVALID, "lacks a %s that it checks", what);
}

ln_status ln_opck_check_type(ln_op_arg *op_arg, const ln_param_entry *entry, ln_param_type type)
{
    if (!entry)
        return fail_missing(op_arg, "param");
    if (entry->type == type)
        return LN_OK;
    return ln_op_fail(op_arg, LN_INVALID, "`%s` param should be %s, but is %s", entry->arg_name,
                      ln_param_type_title(type), ln_param_type_title(entry->type));
}

// The number as the type of the comparison sees it.
static double seen_as(ln_opck_number number, double value_double, float value_float, int value_int)
{
    switch (number) {
    case LN_OPCK_int: return value_int;
    case LN_OPCK_float: return (double)value_float;
    case LN_OPCK_double: break;
    }
    return value_double;
}

// 0.1 means the float next to it where floats are compared.
static double expected_as(ln_opck_number number, double expect)
{
    return number == LN_OPCK_float ? (double)(float)expect : expect;
}

ln_status ln_opck_check_number(ln_op_arg *op_arg, const ln_param_entry *entry,
                               ln_opck_number number, ln_opck_relation relation, double expect)
{
    if (!entry)
        return fail_missing(op_arg, "param");
    double value = seen_as(number, entry->value_double, entry->value_float, entry->value_int);
    if (holds(value, relation, expected_as(number, expect)))
        return LN_OK;
    return ln_op_fail(op_arg, LN_INVALID, "`%s` param's value should be %s %.9g, but gets a %.9g",
                      entry->arg_name, relation_texts[relation], expect, value);
}

ln_status ln_opck_check_array(ln_op_arg *op_arg, const ln_param_entry *entry, ln_opck_number number,
                              ln_opck_relation relation, double expect)
{
    if (!entry)
        return fail_missing(op_arg, "param");
    if (entry->array_len > 0 &&
        (!entry->value_array_double || !entry->value_array_float || !entry->value_array_int))
        return ln_op_fail(op_arg, LN_INVALID, "`%s` param should be an array of numbers",
                          entry->arg_name);
    for (int i = 0; i < entry->array_len; i++) {
        double value = seen_as(number, entry->value_array_double[i], entry->value_array_float[i],
                               entry->value_array_int[i]);
        if (!holds(value, relation, expected_as(number, expect)))
            return ln_op_fail(op_arg, LN_INVALID,
                              "`%s` param's elements should be %s %.9g, but element %d is a %.9g",
                              entry->arg_name, relation_texts[relation], expect, i, value);
    }
    return LN_OK;
}

ln_status ln_opck_check_array_len(ln_op_arg *op_arg, const ln_param_entry *entry,
                                  ln_opck_relation relation, long long expect)
{
    if (!entry)
        return fail_missing(op_arg, "param");
    if (holds(entry->array_len, relation, (double)expect))
        return LN_OK;
    return ln_op_fail(op_arg, LN_INVALID,
                      "`%s` param's array length should be %s %lld, but gets a %d", entry->arg_name,
                      relation_texts[relation], expect, entry->array_len);
}

ln_status ln_opck_check_count(ln_op_arg *op_arg, ln_opck_count what, long long count,
                              ln_opck_relation relation, long long expect)
{
    static const char *const texts[] = {
        [LN_OPCK_PARAMS] = "params",
        [LN_OPCK_TENSORS_IN] = "input tensors",
        [LN_OPCK_TENSORS_OUT] = "output tensors",
    };
    if (holds((double)count, relation, (double)expect))
        return LN_OK;
    if (relation == ln_opck_eq)
        return ln_op_fail(op_arg, LN_INVALID, "needs %lld %s, but gets %lld %s", expect,
                          texts[what], count, texts[what]);
    return ln_op_fail(op_arg, LN_INVALID, "needs %s %lld %s, but gets %lld %s",
                      relation_texts[relation], expect, texts[what], count, texts[what]);
}

// ---- Tensors ----

ln_status ln_opck_check_defined(ln_op_arg *op_arg, const ln_tensor_entry *entry, const char *name,
                                int is_expected)
{
    if (!entry == !is_expected)
        return LN_OK;
    return ln_op_fail(op_arg, LN_INVALID, "tensor `%s` %s have been defined before",
                      name ? name : "(null)", is_expected ? "should" : "shouldn't");
}

ln_status ln_opck_check_ndim(ln_op_arg *op_arg, const ln_tensor_entry *entry, long long expect)
{
    if (!entry)
        return fail_missing(op_arg, "tensor");
    if (entry->tensor->ndim == expect)
        return LN_OK;
    return ln_op_fail(op_arg, LN_INVALID, "tensor `%s`'s ndim should be %lld, but gets a %d",
                      entry->name, expect, entry->tensor->ndim);
}

ln_status ln_opck_check_len(ln_op_arg *op_arg, const ln_tensor_entry *entry, long long expect)
{
    if (!entry)
        return fail_missing(op_arg, "tensor");
    if (entry->tensor->len == expect)
        return LN_OK;
    return ln_op_fail(op_arg, LN_INVALID, "tensor `%s`'s length should be %lld, but gets a %d",
                      entry->name, expect, entry->tensor->len);
}

ln_status ln_opck_check_same_shape(ln_op_arg *op_arg, const ln_tensor_entry *entry1,
                                   const ln_tensor_entry *entry2)
{
    if (!entry1 || !entry2)
        return fail_missing(op_arg, "tensor");
    const tl_tensor *t1 = entry1->tensor, *t2 = entry2->tensor;
    if (t1->ndim == t2->ndim &&
        (t1->ndim == 0 || memcmp(t1->dims, t2->dims, sizeof(int) * (size_t)t1->ndim) == 0))
        return LN_OK;
    char shape1[LN_SHAPE_TEXT_BYTES], shape2[LN_SHAPE_TEXT_BYTES];
    ln_sprint_shape(shape1, sizeof shape1, t1->ndim, t1->dims);
    ln_sprint_shape(shape2, sizeof shape2, t2->ndim, t2->dims);
    return ln_op_fail(op_arg, LN_INVALID,
                      "tensors `%s` and `%s` should have the same shape, but get %s and %s",
                      entry1->name, entry2->name, shape1, shape2);
}

static const char *dtype_name(tl_dtype dtype)
{
    const char *name = tl_dtype_name(dtype);
    return name ? name : "TL_DTYPE_INVALID";
}

ln_status ln_opck_check_same_type(ln_op_arg *op_arg, const ln_tensor_entry *entry1,
                                  const ln_tensor_entry *entry2)
{
    if (!entry1 || !entry2)
        return fail_missing(op_arg, "tensor");
    if (entry1->tensor->dtype == entry2->tensor->dtype)
        return LN_OK;
    return ln_op_fail(op_arg, LN_INVALID,
                      "tensors `%s` and `%s` should have the same dtype, but get %s and %s",
                      entry1->name, entry2->name, dtype_name(entry1->tensor->dtype),
                      dtype_name(entry2->tensor->dtype));
}

ln_status ln_opck_check_static(ln_op_arg *op_arg, const ln_tensor_entry *entry, int is_expected)
{
    if (!entry)
        return fail_missing(op_arg, "tensor");
    if (!entry->isstatic == !is_expected)
        return LN_OK;
    return ln_op_fail(op_arg, LN_INVALID, "tensor `%s` should%s be static", entry->name,
                      is_expected ? "" : "n't");
}

ln_status ln_opck_check_mtype(ln_op_arg *op_arg, const ln_tensor_entry *entry, ln_mem_type expect)
{
    if (!entry)
        return fail_missing(op_arg, "tensor");
    if (entry->mtype == expect)
        return LN_OK;
    // Made by an abstract operator: where it is is decided when that is lowered, and checked
    // then.
    if (entry->mtype == LN_MEM_NONE && entry->creater)
        return LN_OK;
    return ln_op_fail(op_arg, LN_INVALID, "tensor `%s`'s mtype should be %s, but gets %s",
                      entry->name, ln_mem_type_name(expect), ln_mem_type_name(entry->mtype));
}

ln_status ln_opck_check_dtype(ln_op_arg *op_arg, const ln_tensor_entry *entry, tl_dtype expect)
{
    if (!entry)
        return fail_missing(op_arg, "tensor");
    if (entry->tensor->dtype == expect)
        return LN_OK;
    return ln_op_fail(op_arg, LN_INVALID, "tensor `%s`'s dtype should be %s, but gets %s",
                      entry->name, dtype_name(expect), dtype_name(entry->tensor->dtype));
}
