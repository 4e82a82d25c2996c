// SPDX-License-Identifier: Apache-2.0
// Near names come from the lists that the names are made of.

#include "ir/param_words.h"

#include <stdio.h>
#include <string.h>

#include <lightnet/act.h>
#include <lightnet/dtype.h>
#include <lightnet/spelling.h>

const char *ln_param_type_title(ln_param_type type)
{
    switch (type) {
    case LN_PARAM_NULL: return "null";
    case LN_PARAM_STRING: return "a text";
    case LN_PARAM_NUMBER: return "a number";
    case LN_PARAM_BOOL: return "true or false";
    case LN_PARAM_ARRAY_STRING: return "a list of texts";
    case LN_PARAM_ARRAY_NUMBER: return "a list of numbers";
    case LN_PARAM_ARRAY_BOOL: return "a list of true and false";
    default: return ln_param_type_name(type);
    }
}

// ---- Choices ----

typedef struct choices {
    const char *arg_name;
    const char *(*name_at)(int index);
    int count;
} choices;

static const char *dtype_at(int index)
{
    return tl_dtype_name((tl_dtype)index);
}

static const char *elew_op_at(int index)
{
    return tl_elew_op_name((tl_elew_op)index);
}

static const char *sort_dir_at(int index)
{
    return tl_sort_dir_name((tl_sort_dir)index);
}

static const char *resize_type_at(int index)
{
    return tl_resize_type_name((tl_resize_type)index);
}

static const char *act_at(int index)
{
    return ln_act_name((ln_act)index);
}

static const choices all_choices[] = {
    {"dtype", dtype_at, TL_DTYPE_SIZE},     {"elew_op", elew_op_at, TL_ELEW_OP_SIZE},
    {"dir", sort_dir_at, TL_SORT_DIR_SIZE}, {"mode", resize_type_at, TL_RESIZE_TYPE_SIZE},
    {"act", act_at, LN_ACT_COUNT},
};

static void put_known(const choices *c, char *buffer, size_t size)
{
    size_t used = (size_t)snprintf(buffer, size, "; known: ");
    for (int i = 0; i < c->count && used < size; i++)
        used += (size_t)snprintf(buffer + used, size - used, "%s%s", i ? ", " : "", c->name_at(i));
}

static void put_near(const char *name, char *buffer, size_t size)
{
    snprintf(buffer, size, "; did you mean '%s'?", name);
}

// The prefix of a name may have been left out.
static void find_near(const choices *c, const char *text, char *buffer, size_t size)
{
    ln_nearest nearest = ln_nearest_to(text);
    for (int i = 0; i < c->count; i++) {
        const char *name = c->name_at(i);
        ln_nearest_try(&nearest, name);
        const char *bare = strncmp(name, "TL_", 3) == 0 ? name + 3 : name;
        ln_nearest_try(&nearest, bare);
        if (nearest.name == bare)
            nearest.name = name;
    }
    if (nearest.name)
        put_near(nearest.name, buffer, size);
    else
        put_known(c, buffer, size);
}

const char *ln_param_choice_words(const char *arg_name, const char *text, char *buffer, size_t size)
{
    buffer[0] = '\0';
    if (arg_name && strcmp(arg_name, "dtype") == 0)
        return ln_dtype_words(text, buffer, size);
    for (size_t i = 1; arg_name && i < sizeof all_choices / sizeof all_choices[0]; i++) {
        if (strcmp(all_choices[i].arg_name, arg_name) == 0)
            find_near(&all_choices[i], text ? text : "", buffer, size);
    }
    return buffer;
}

// What other systems call element types.
static const struct {
    const char *alias;
    tl_dtype dtype;
} aliases[] = {
    {"float32", TL_FLOAT},  {"fp32", TL_FLOAT},  {"f32", TL_FLOAT},     {"single", TL_FLOAT},
    {"float64", TL_DOUBLE}, {"fp64", TL_DOUBLE}, {"f64", TL_DOUBLE},    {"half", TL_FLOAT16},
    {"fp16", TL_FLOAT16},   {"f16", TL_FLOAT16}, {"bf16", TL_BFLOAT16}, {"int", TL_INT32},
    {"i32", TL_INT32},      {"i16", TL_INT16},   {"i8", TL_INT8},       {"i64", TL_INT64},
    {"long", TL_INT64},     {"short", TL_INT16}, {"uint", TL_UINT32},   {"u32", TL_UINT32},
    {"u16", TL_UINT16},     {"u8", TL_UINT8},    {"byte", TL_UINT8},    {"u64", TL_UINT64},
    {"boolean", TL_BOOL},   {"str", TL_STRING},
};

const char *ln_dtype_words(const char *text, char *buffer, size_t size)
{
    const char *word = text ? text : "";
    if (strncmp(word, "TL_", 3) == 0 || strncmp(word, "tl_", 3) == 0)
        word += 3;
    for (size_t i = 0; i < sizeof aliases / sizeof aliases[0]; i++) {
        ln_nearest same = ln_nearest_to(word);
        ln_nearest_try(&same, aliases[i].alias);
        if (!same.name || same.distance > 0)
            continue;
        put_near(tl_dtype_name(aliases[i].dtype), buffer, size);
        return buffer;
    }
    find_near(&all_choices[0], word, buffer, size);
    return buffer;
}
