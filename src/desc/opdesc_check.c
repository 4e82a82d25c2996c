// SPDX-License-Identifier: Apache-2.0
// Turns one merged description into its struct and checks everything that can be said about it
// without a C compiler. What an object may hold stands in the tables of fields.

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <lightnet/msg.h>
#include <lightnet/spelling.h>

#include "desc/cident.h"
#include "desc/opdesc.h"

typedef enum field_kind {
    FIELD_STRING,     // const char *
    FIELD_IDENTIFIER, // const char *, a C identifier
    FIELD_EXPR,       // const char *, from a string or a number's spelling
    FIELD_FLAG,       // ln_desc_flag
    FIELD_NUMBER,     // const ln_value *
    FIELD_ARRAY,      // const ln_value *
    FIELD_ANY,        // const ln_value *
} field_kind;

typedef struct field {
    const char *key;
    field_kind kind;
    bool is_required;
    size_t offset;
} field;

#define F(type, key, kind, is_required, member)                                                    \
    {                                                                                              \
        key, FIELD_##kind, is_required, offsetof(type, member)                                     \
    }
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const field op_fields[] = {
    F(ln_opdesc, "optype", IDENTIFIER, true, optype),
    F(ln_opdesc, "author", STRING, false, author),
    F(ln_opdesc, "arch", IDENTIFIER, true, arch),
    F(ln_opdesc, "tensors_in", ARRAY, true, tensors_in),
    F(ln_opdesc, "tensors_out", ARRAY, true, tensors_out),
    F(ln_opdesc, "params", ARRAY, false, param_values),
    F(ln_opdesc, "doc", STRING, false, doc),
    F(ln_opdesc, "dtypes", STRING, false, dtypes),
    F(ln_opdesc, "nan", STRING, false, nan),
    F(ln_opdesc, "example", STRING, false, example),
    F(ln_opdesc, "macs", EXPR, false, macs),
    F(ln_opdesc, "cost", EXPR, false, cost),
    F(ln_opdesc, "step_cost", NUMBER, false, step_cost_value),
    F(ln_opdesc, "commutes", EXPR, false, commutes),
    F(ln_opdesc, "rtol", NUMBER, false, rtol_value),
    F(ln_opdesc, "autogen", FLAG, false, autogen),
    F(ln_opdesc, "base", FLAG, false, is_base),
    F(ln_opdesc, "any_dtype", FLAG, false, any_dtype),
    F(ln_opdesc, "variable_length", FLAG, false, variable_length),
    F(ln_opdesc, "include", ANY, false, include),
    F(ln_opdesc, "extra_privs", ARRAY, false, extra_privs),
    F(ln_opdesc, "check", STRING, false, check),
    F(ln_opdesc, "checks", ARRAY, false, checks),
    F(ln_opdesc, "custom", STRING, false, custom),
    F(ln_opdesc, "static_run", STRING, false, static_run),
    F(ln_opdesc, "run", STRING, false, run),
    F(ln_opdesc, "post_run", STRING, false, post_run),
    F(ln_opdesc, "calc_offset", STRING, false, calc_offset),
    F(ln_opdesc, "infer", IDENTIFIER, false, infer),
    F(ln_opdesc, "compute", IDENTIFIER, false, compute),
    F(ln_opdesc, "accepts", IDENTIFIER, false, accepts),
    F(ln_opdesc, "prepare", IDENTIFIER, false, prepare),
    F(ln_opdesc, "workspace", IDENTIFIER, false, workspace),
    F(ln_opdesc, "is_random", IDENTIFIER, false, is_random),
    F(ln_opdesc, "any_address", FLAG, false, any_address),
    F(ln_opdesc, "domain", STRING, false, domain),
    F(ln_opdesc, "since", ARRAY, false, since),
};

static const field in_fields[] = {
    F(ln_opdesc_tensor, "arg_name", IDENTIFIER, true, arg_name),
    F(ln_opdesc_tensor, "mtype", STRING, false, mtype),
    F(ln_opdesc_tensor, "doc", STRING, false, doc),
    F(ln_opdesc_tensor, "dtype", STRING, false, dtype),
    F(ln_opdesc_tensor, "ndim", EXPR, false, ndim),
    F(ln_opdesc_tensor, "dims", ANY, false, dims),
    F(ln_opdesc_tensor, "len", EXPR, false, len),
    F(ln_opdesc_tensor, "sametype", STRING, false, sametype),
    F(ln_opdesc_tensor, "sameshape", STRING, false, sameshape),
    F(ln_opdesc_tensor, "static", FLAG, false, is_static),
    F(ln_opdesc_tensor, "optional", FLAG, false, is_optional),
    F(ln_opdesc_tensor, "attribute", FLAG, false, is_attribute),
    F(ln_opdesc_tensor, "shape_only", FLAG, false, is_shape_only),
    F(ln_opdesc_tensor, "weight", FLAG, false, is_weight),
    F(ln_opdesc_tensor, "types", EXPR, false, types),
    F(ln_opdesc_tensor, "variadic", FLAG, false, is_variadic),
    F(ln_opdesc_tensor, "check", STRING, false, check),
    F(ln_opdesc_tensor, "checks", ARRAY, false, checks),
    F(ln_opdesc_tensor, "custom", STRING, false, custom),
};

static const field out_fields[] = {
    F(ln_opdesc_tensor, "arg_name", IDENTIFIER, true, arg_name),
    F(ln_opdesc_tensor, "mtype", STRING, false, mtype),
    F(ln_opdesc_tensor, "doc", STRING, false, doc),
    F(ln_opdesc_tensor, "ndim", EXPR, false, ndim),
    F(ln_opdesc_tensor, "dims", ANY, false, dims),
    F(ln_opdesc_tensor, "shape", STRING, false, shape),
    F(ln_opdesc_tensor, "dtype", STRING, false, dtype),
    F(ln_opdesc_tensor, "len", EXPR, false, len),
    F(ln_opdesc_tensor, "owner", STRING, false, owner),
    F(ln_opdesc_tensor, "inplace", ANY, false, inplace),
    F(ln_opdesc_tensor, "inplace_first", ANY, false, inplace_first),
    F(ln_opdesc_tensor, "part_of", STRING, false, part_of),
    F(ln_opdesc_tensor, "joins", STRING, false, joins),
    F(ln_opdesc_tensor, "static", FLAG, false, is_static),
    F(ln_opdesc_tensor, "scratch", FLAG, false, is_scratch),
    F(ln_opdesc_tensor, "optional", FLAG, false, is_optional),
    F(ln_opdesc_tensor, "variadic", FLAG, false, is_variadic),
    F(ln_opdesc_tensor, "custom", STRING, false, custom),
    F(ln_opdesc_tensor, "cleanup", STRING, false, cleanup),
};

static const field param_fields[] = {
    F(ln_opdesc_param, "arg_name", IDENTIFIER, true, arg_name),
    F(ln_opdesc_param, "ptype", STRING, true, ptype),
    F(ln_opdesc_param, "doc", STRING, false, doc),
    F(ln_opdesc_param, "realtype", STRING, false, realtype),
    F(ln_opdesc_param, "from_func", IDENTIFIER, false, from_func),
    F(ln_opdesc_param, "eq", EXPR, false, bounds[LN_DESC_EQ]),
    F(ln_opdesc_param, "gt", EXPR, false, bounds[LN_DESC_GT]),
    F(ln_opdesc_param, "ge", EXPR, false, bounds[LN_DESC_GE]),
    F(ln_opdesc_param, "lt", EXPR, false, bounds[LN_DESC_LT]),
    F(ln_opdesc_param, "le", EXPR, false, bounds[LN_DESC_LE]),
    F(ln_opdesc_param, "ne", EXPR, false, bounds[LN_DESC_NE]),
    F(ln_opdesc_param, "len", EXPR, false, len),
    F(ln_opdesc_param, "check", STRING, false, check),
    F(ln_opdesc_param, "checks", ARRAY, false, checks),
    F(ln_opdesc_param, "custom", STRING, false, custom),
    F(ln_opdesc_param, "default", ANY, false, default_value),
    F(ln_opdesc_param, "required", FLAG, false, is_required),
};

static const field priv_fields[] = {
    F(ln_opdesc_priv, "type", STRING, true, type),
    F(ln_opdesc_priv, "name", IDENTIFIER, true, name),
};

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// ---- Fields ----

static ln_place key_or_value_place(const ln_value *source, const char *key)
{
    const ln_value *value = ln_value_get(source, key);
    return value ? value->place : source->place;
}

static ln_status fail_unknown_key(const ln_value *member, const field *fields, size_t count,
                                  const char *what)
{
    char known[1024] = "";
    for (size_t i = 0; i < count; i++) {
        size_t len = strlen(known);
        snprintf(known + len, sizeof known - len, "%s%s", i ? ", " : "", fields[i].key);
    }
    return ln_fail_at(member->key_place, LN_INVALID, "unknown key '%s' of %s; known keys: %s",
                      member->key, what, known);
}

static ln_status fail_kind(const ln_value *value, const char *expected)
{
    return ln_fail_at(value->place, LN_INVALID, "'%s' should be %s, but is %s", value->key,
                      expected, ln_value_kind_text(value->kind));
}

static ln_status store_field(const field *f, const ln_value *value, void *out)
{
    void *member = (char *)out + f->offset;
    bool is_string = value->kind == LN_VALUE_STRING;
    switch (f->kind) {
    case FIELD_IDENTIFIER:
    case FIELD_STRING:
        if (!is_string)
            return fail_kind(value, "a string");
        if (f->kind == FIELD_IDENTIFIER && !ln_is_identifier(value->text))
            return ln_fail_at(value->place, LN_INVALID,
                              "'%s' should be a C identifier that is no keyword, but is '%s'",
                              f->key, value->text);
        *(const char **)member = value->text;
        return LN_OK;
    case FIELD_EXPR:
        if (!is_string && value->kind != LN_VALUE_NUMBER)
            return fail_kind(value, "a number or a C expression in a string");
        if (value->text[strspn(value->text, " \t\r\n")] == '\0')
            return ln_fail_at(value->place, LN_INVALID, "'%s' is empty", f->key);
        *(const char **)member = value->text;
        return LN_OK;
    case FIELD_FLAG: {
        // The language's grammar made true and false numbers; 0 and 1 are taken as such.
        bool is_number =
            value->kind == LN_VALUE_NUMBER && (value->number == 0 || value->number == 1);
        if (value->kind != LN_VALUE_BOOL && !is_number)
            return fail_kind(value, "true or false");
        bool is_true = is_number ? value->number == 1 : value->boolean;
        *(ln_desc_flag *)member = is_true ? LN_DESC_TRUE : LN_DESC_FALSE;
        return LN_OK;
    }
    case FIELD_NUMBER:
        if (value->kind != LN_VALUE_NUMBER)
            return fail_kind(value, "a number");
        break;
    case FIELD_ARRAY:
        if (value->kind != LN_VALUE_ARRAY)
            return fail_kind(value, "an array");
        break;
    case FIELD_ANY: break;
    }
    *(const ln_value **)member = value;
    return LN_OK;
}

static ln_status read_fields(const ln_value *object, const field *fields, size_t count,
                             const char *what, bool is_relaxed, void *out)
{
    if (object->kind != LN_VALUE_OBJECT)
        return ln_fail_at(object->place, LN_INVALID, "%s should be an object, but is %s", what,
                          ln_value_kind_text(object->kind));
    for (const ln_value *member = object->first; member; member = member->next) {
        size_t i = 0;
        while (i < count && strcmp(fields[i].key, member->key) != 0)
            i++;
        if (i == count)
            return fail_unknown_key(member, fields, count, what);
        LN_TRY(store_field(&fields[i], member, out));
    }
    for (size_t i = 0; i < count && !is_relaxed; i++)
        if (fields[i].is_required && !ln_value_get(object, fields[i].key))
            return ln_fail_at(object->place, LN_INVALID, "%s needs '%s'", what, fields[i].key);
    return LN_OK;
}

// ---- Names ----

static ln_status check_word(const ln_value *source, const char *key, const char *word,
                            const char *const *known, size_t count)
{
    if (!word)
        return LN_OK;
    char list[1024] = "";
    for (size_t i = 0; i < count; i++) {
        if (strcmp(known[i], word) == 0)
            return LN_OK;
        size_t len = strlen(list);
        snprintf(list + len, sizeof list - len, "%s%s", i ? ", " : "", known[i]);
    }
    return ln_fail_at(key_or_value_place(source, key), LN_INVALID, "%s '%s' is not one of %s", key,
                      word, list);
}

static const char *const mtypes[] = {"LN_MEM_NONE", "LN_MEM_CPU", "LN_MEM_CUDA", "LN_MEM_DPU"};
static const char *const dtypes[] = {
    "TL_DOUBLE",     "TL_FLOAT",          "TL_INT32",      "TL_INT16",        "TL_INT8",
    "TL_UINT32",     "TL_UINT16",         "TL_UINT8",      "TL_BOOL",         "TL_INT64",
    "TL_UINT64",     "TL_FLOAT16",        "TL_BFLOAT16",   "TL_FLOAT8E4M3FN", "TL_FLOAT8E4M3FNUZ",
    "TL_FLOAT8E5M2", "TL_FLOAT8E5M2FNUZ", "TL_FLOAT8E8M0", "TL_FLOAT4E2M1",   "TL_INT4",
    "TL_UINT4",      "TL_INT2",           "TL_UINT2",      "TL_COMPLEX64",    "TL_COMPLEX128",
    "TL_STRING",     "TL_OBJECT"};
static const char *const ptypes[] = {
    "LN_PARAM_NULL",         "LN_PARAM_STRING",       "LN_PARAM_NUMBER",    "LN_PARAM_BOOL",
    "LN_PARAM_ARRAY_STRING", "LN_PARAM_ARRAY_NUMBER", "LN_PARAM_ARRAY_BOOL"};
// int64 last: only functions of the call form read such numbers.
static const char *const realtypes[] = {"int", "float", "double", "int64"};
#define SNIPPET_REALTYPES 3

// What the generated code itself calls its variables.
static const char *const reserved[] = {"op_arg", "priv", "te", "is_check_only", "i"};
static const char *const suffixes[] = {"_entry", "_list_entry", "_name",  "_ndim", "_dims",
                                       "_dtype", "_len",        "_count", "_given"};

typedef struct named {
    const char *name;
    const ln_value *source;
} named;

// `b` is what the generated code derives from `a`, such as src_entry.
static bool is_derived(const char *a, const char *b)
{
    size_t len = strlen(a);
    if (strncmp(a, b, len) != 0)
        return false;
    for (size_t i = 0; i < COUNT(suffixes); i++)
        if (strcmp(b + len, suffixes[i]) == 0)
            return true;
    return false;
}

static ln_status check_names_differ(const named *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        ln_place place = key_or_value_place(names[i].source, "arg_name");
        for (size_t j = 0; j < COUNT(reserved); j++)
            if (strcmp(names[i].name, reserved[j]) == 0)
                return ln_fail_at(place, LN_INVALID,
                                  "arg_name '%s' is a name of the generated code, choose another",
                                  names[i].name);
        for (size_t j = 0; j < count; j++) {
            if (j < i && strcmp(names[j].name, names[i].name) == 0)
                return ln_fail_at(place, LN_INVALID, "arg_name '%s' is here a second time",
                                  names[i].name);
            if (is_derived(names[j].name, names[i].name))
                return ln_fail_at(place, LN_INVALID,
                                  "arg_name '%s' is what the generated code calls a part of '%s', "
                                  "choose another",
                                  names[i].name, names[j].name);
        }
    }
    return LN_OK;
}

static ln_status check_all_names(ln_document *arena, const ln_opdesc *op)
{
    size_t count = 0;
    named *names =
        ln_document_alloc(arena, (op->in_count + op->out_count + op->param_count) * sizeof *names);
    if (!names)
        return LN_NO_MEMORY;
    for (size_t i = 0; i < op->in_count; i++)
        names[count++] = (named){op->ins[i].arg_name, op->ins[i].source};
    for (size_t i = 0; i < op->out_count; i++)
        names[count++] = (named){op->outs[i].arg_name, op->outs[i].source};
    for (size_t i = 0; i < op->param_count; i++)
        names[count++] = (named){op->params[i].arg_name, op->params[i].source};
    return check_names_differ(names, count);
}

// ---- Checks lists ----

static ln_status check_checks(const ln_value *checks)
{
    for (const ln_value *check = checks ? checks->first : NULL; check; check = check->next) {
        const ln_value *text = check;
        if (check->kind == LN_VALUE_OBJECT) {
            text = ln_value_get(check, "check");
            if (!text || check->count != 1)
                return ln_fail_at(check->place, LN_INVALID,
                                  "an element of 'checks' is {check: \"...\"} or a string");
        }
        if (text->kind != LN_VALUE_STRING)
            return ln_fail_at(text->place, LN_INVALID,
                              "an element of 'checks' should be a string, but is %s",
                              ln_value_kind_text(text->kind));
    }
    return LN_OK;
}

static ln_status check_include(const ln_value *include)
{
    if (!include || include->kind == LN_VALUE_STRING)
        return LN_OK;
    if (include->kind != LN_VALUE_ARRAY)
        return fail_kind(include, "a string or an array of strings");
    for (const ln_value *header = include->first; header; header = header->next)
        if (header->kind != LN_VALUE_STRING || strpbrk(header->text, "\r\n\""))
            return ln_fail_at(
                header->place, LN_INVALID,
                "'include' holds names of headers, such as \"a/b.h\" or \"<math.h>\"");
    return LN_OK;
}

// ---- Tensors ----

static ln_status check_same(const ln_opdesc *op, size_t index, const char *key, const char *name)
{
    if (!name)
        return LN_OK;
    for (size_t i = 0; i < index + (op->ins[index].is_variadic == LN_DESC_TRUE); i++)
        if (strcmp(op->ins[i].arg_name, name) == 0)
            return LN_OK;
    return ln_fail_at(key_or_value_place(op->ins[index].source, key), LN_INVALID,
                      "%s '%s' is no input that stands before '%s'", key, name,
                      op->ins[index].arg_name);
}

static ln_status check_in(const ln_opdesc *op, size_t index)
{
    const ln_opdesc_tensor *in = &op->ins[index];
    bool is_last = index + 1 == op->in_count;
    LN_TRY(check_word(in->source, "mtype", in->mtype, mtypes, COUNT(mtypes)));
    LN_TRY(check_word(in->source, "dtype", in->dtype, dtypes, COUNT(dtypes)));
    LN_TRY(check_same(op, index, "sametype", in->sametype));
    LN_TRY(check_same(op, index, "sameshape", in->sameshape));
    LN_TRY(check_checks(in->checks));
    // Old descriptions have it, and nothing came of it.
    if (in->dims)
        ln_msg_warn(
            "%s:%d:%d: 'dims' of an input is ignored; 'check' can ask for dimensions of '%s'",
            in->dims->place.file, in->dims->place.line, in->dims->place.column, in->arg_name);
    if (in->is_variadic == LN_DESC_TRUE && in->is_optional == LN_DESC_TRUE)
        return ln_fail_at(in->source->place, LN_INVALID, "'%s' cannot be optional and variadic",
                          in->arg_name);
    if (!is_last && in->is_optional == LN_DESC_TRUE && in[1].is_optional != LN_DESC_TRUE)
        return ln_fail_at(in[1].source->place, LN_INVALID,
                          "'%s' must be optional too, because '%s' before it is", in[1].arg_name,
                          in->arg_name);
    return LN_OK;
}

static ln_status check_dims(const ln_opdesc_tensor *out)
{
    const ln_value *dims = out->dims;
    if (!dims || dims->kind == LN_VALUE_STRING)
        return LN_OK;
    if (dims->kind != LN_VALUE_ARRAY)
        return fail_kind(dims, "an array or a C expression in a string");
    if (dims->count > 8)
        return ln_fail_at(dims->place, LN_INVALID, "%zu dimensions, a tensor has at most 8",
                          dims->count);
    for (const ln_value *dim = dims->first; dim; dim = dim->next) {
        if (dim->kind == LN_VALUE_STRING)
            continue;
        if (dim->kind != LN_VALUE_NUMBER)
            return ln_fail_at(dim->place, LN_INVALID,
                              "a dimension should be a number or a C expression in a string, but "
                              "is %s",
                              ln_value_kind_text(dim->kind));
        if (dim->number < 0 || dim->number > 2147483647.0 ||
            dim->number != (double)(long long)dim->number)
            return ln_fail_at(dim->place, LN_INVALID, "%s is no dimension", dim->text);
    }
    const ln_value *ndim = ln_value_get(out->source, "ndim");
    if (ndim && ndim->kind == LN_VALUE_NUMBER && ndim->number != (double)dims->count)
        return ln_fail_at(dims->place, LN_INVALID, "'dims' has %zu elements, but 'ndim' is %s",
                          dims->count, ndim->text);
    return LN_OK;
}

static const ln_opdesc_tensor *find_in(const ln_opdesc *op, const char *name)
{
    for (size_t i = 0; i < op->in_count; i++)
        if (strcmp(op->ins[i].arg_name, name) == 0)
            return &op->ins[i];
    return NULL;
}

// Whether `name` is that of one of a variadic input's tensors, such as src2.
static bool is_one_of_several(const ln_opdesc *op, const char *name)
{
    for (size_t i = 0; i < op->in_count; i++) {
        size_t len = strlen(op->ins[i].arg_name);
        if (op->ins[i].is_variadic == LN_DESC_TRUE &&
            strncmp(name, op->ins[i].arg_name, len) == 0 && name[len] >= '1' && name[len] <= '9' &&
            !name[len + 1])
            return true;
    }
    return false;
}

// `name` is an input, variadic or not as it must be.
static ln_status check_place_of(const ln_opdesc *op, ln_place place, const char *key,
                                const char *name, bool is_variadic)
{
    const ln_opdesc_tensor *in = find_in(op, name);
    if (!in && !is_variadic && is_one_of_several(op, name))
        return LN_OK;
    if (!in)
        return ln_fail_at(place, LN_INVALID, "%s '%s' is no input", key, name);
    if ((in->is_variadic == LN_DESC_TRUE) != is_variadic)
        return ln_fail_at(place, LN_INVALID, "%s '%s' is %svariadic", key, name,
                          is_variadic ? "not " : "");
    return LN_OK;
}

// `names`, if they are there, are those of inputs.
static ln_status check_names_of_place(const ln_opdesc *op, const char *key, const ln_value *names)
{
    bool is_list = names && names->kind == LN_VALUE_ARRAY;
    if (names && !is_list && names->kind != LN_VALUE_STRING)
        return fail_kind(names, "the name of an input or an array of names");
    for (const ln_value *name = is_list ? names->first : names; name;
         name = is_list ? name->next : NULL) {
        if (name->kind != LN_VALUE_STRING)
            return fail_kind(names, "the name of an input or an array of names");
        LN_TRY(check_place_of(op, name->place, key, name->text, false));
    }
    return LN_OK;
}

// Where the output may be: `inplace`, `inplace_first`, `part_of`, `joins`.
static ln_status check_placement(const ln_opdesc *op, const ln_opdesc_tensor *out)
{
    LN_TRY(check_names_of_place(op, "inplace", out->inplace));
    LN_TRY(check_names_of_place(op, "inplace_first", out->inplace_first));
    if (out->part_of)
        LN_TRY(check_place_of(op, key_or_value_place(out->source, "part_of"), "part_of",
                              out->part_of, false));
    if (out->joins)
        LN_TRY(check_place_of(op, key_or_value_place(out->source, "joins"), "joins", out->joins,
                              true));
    int count = (out->inplace != NULL) + (out->inplace_first != NULL) + (out->part_of != NULL) +
                (out->joins != NULL);
    if (count && (out->owner || out->is_scratch == LN_DESC_TRUE || count > 1))
        return ln_fail_at(out->source->place, LN_INVALID,
                          "'%s' can have only one of 'inplace', 'inplace_first', 'part_of', "
                          "'joins', 'owner', 'scratch'",
                          out->arg_name);
    if ((out->part_of || out->joins || out->inplace_first) && !op->calc_offset)
        return ln_fail_at(out->source->place, LN_INVALID,
                          "'%s' needs the operator's 'calc_offset', which says where the bytes are",
                          out->arg_name);
    return LN_OK;
}

static ln_status check_out(const ln_opdesc *op, const ln_opdesc_tensor *out)
{
    LN_TRY(check_word(out->source, "mtype", out->mtype, mtypes, COUNT(mtypes)));
    LN_TRY(check_dims(out));
    LN_TRY(check_placement(op, out));
    if (out->is_variadic == LN_DESC_TRUE &&
        (out->custom || out->cleanup || out->len || out->is_scratch == LN_DESC_TRUE))
        return ln_fail_at(
            out->source->place, LN_INVALID,
            "'%s' is variadic and cannot have 'custom', 'cleanup', 'len' or 'scratch'",
            out->arg_name);
    if (out->shape && (out->dims || out->ndim))
        return ln_fail_at(key_or_value_place(out->source, "shape"), LN_INVALID,
                          "'%s' has 'shape', which replaces 'ndim' and 'dims'", out->arg_name);
    if (out->custom)
        return LN_OK; // it may set what is missing
    if (!out->shape && !out->dims)
        return ln_fail_at(out->source->place, LN_INVALID, "output '%s' needs 'dims' or 'shape'",
                          out->arg_name);
    if (!out->shape && !out->ndim && out->dims->kind != LN_VALUE_ARRAY)
        return ln_fail_at(out->source->place, LN_INVALID, "output '%s' needs 'ndim'",
                          out->arg_name);
    if (!out->dtype)
        return ln_fail_at(out->source->place, LN_INVALID, "output '%s' needs 'dtype'",
                          out->arg_name);
    return LN_OK;
}

// ---- Parameters ----

static bool is_array_ptype(const char *ptype)
{
    return strncmp(ptype, "LN_PARAM_ARRAY_", 15) == 0;
}

static bool is_number_ptype(const char *ptype)
{
    return strcmp(ptype, "LN_PARAM_NUMBER") == 0 || strcmp(ptype, "LN_PARAM_ARRAY_NUMBER") == 0;
}

static bool is_string_ptype(const char *ptype)
{
    return strcmp(ptype, "LN_PARAM_STRING") == 0 || strcmp(ptype, "LN_PARAM_ARRAY_STRING") == 0;
}

static ln_status check_default_scalar(const ln_opdesc_param *param, const ln_value *value)
{
    const char *ptype = param->ptype;
    ln_value_kind kind = is_number_ptype(ptype)                ? LN_VALUE_NUMBER
                         : is_string_ptype(ptype)              ? LN_VALUE_STRING
                         : strcmp(ptype, "LN_PARAM_NULL") == 0 ? LN_VALUE_NULL
                                                               : LN_VALUE_BOOL;
    if (value->kind != kind)
        return ln_fail_at(value->place, LN_INVALID, "the default of '%s', a %s, cannot be %s",
                          param->arg_name, ptype, ln_value_kind_text(value->kind));
    bool is_whole = value->number >= -2147483648.0 && value->number <= 2147483647.0 &&
                    value->number == (double)(long long)value->number;
    if (kind == LN_VALUE_NUMBER && param->realtype && strcmp(param->realtype, "int") == 0 &&
        !is_whole)
        return ln_fail_at(value->place, LN_INVALID, "the default %s of '%s' is no int", value->text,
                          param->arg_name);
    if (kind == LN_VALUE_NUMBER && param->realtype && strcmp(param->realtype, "int64") == 0 &&
        floor(value->number) != value->number)
        return ln_fail_at(value->place, LN_INVALID, "the default %s of '%s' is no integer",
                          value->text, param->arg_name);
    return LN_OK;
}

static ln_status check_default(const ln_opdesc_param *param)
{
    const ln_value *value = param->default_value;
    if (!value)
        return LN_OK;
    if (!is_array_ptype(param->ptype))
        return check_default_scalar(param, value);
    if (value->kind != LN_VALUE_ARRAY)
        return ln_fail_at(value->place, LN_INVALID, "the default of '%s', a %s, cannot be %s",
                          param->arg_name, param->ptype, ln_value_kind_text(value->kind));
    for (const ln_value *item = value->first; item; item = item->next)
        LN_TRY(check_default_scalar(param, item));
    return LN_OK;
}

static ln_status check_param(const ln_opdesc_param *param)
{
    static const char *const bound_keys[] = {"eq", "gt", "ge", "lt", "le", "ne"};
    const ln_value *source = param->source;
    LN_TRY(check_word(source, "ptype", param->ptype, ptypes, COUNT(ptypes)));
    LN_TRY(check_checks(param->checks));
    bool is_number = is_number_ptype(param->ptype);
    bool is_string = is_string_ptype(param->ptype);
    if (is_number && !param->realtype)
        return ln_fail_at(source->place, LN_INVALID,
                          "param '%s' is a number and needs 'realtype': int, float or double",
                          param->arg_name);
    if (is_number)
        LN_TRY(check_word(source, "realtype", param->realtype, realtypes, SNIPPET_REALTYPES));
    if (param->realtype && !is_number && !is_string)
        return ln_fail_at(key_or_value_place(source, "realtype"), LN_INVALID,
                          "param '%s' is a %s, only numbers and strings have 'realtype'",
                          param->arg_name, param->ptype);
    if (is_string && param->realtype && !param->from_func)
        return ln_fail_at(source->place, LN_INVALID,
                          "param '%s' is a string with 'realtype' and needs 'from_func'",
                          param->arg_name);
    if (param->from_func && (!is_string || !param->realtype))
        return ln_fail_at(key_or_value_place(source, "from_func"), LN_INVALID,
                          "'from_func' of '%s' needs a string with 'realtype'", param->arg_name);
    if (is_string && param->realtype && !ln_is_identifier_or_int(param->realtype))
        return ln_fail_at(key_or_value_place(source, "realtype"), LN_INVALID,
                          "realtype '%s' is no name of a C type", param->realtype);
    for (int i = 0; i < LN_DESC_BOUNDS; i++)
        if (param->bounds[i] && !is_number)
            return ln_fail_at(key_or_value_place(source, bound_keys[i]), LN_INVALID,
                              "'%s' bounds numbers, but param '%s' is a %s", bound_keys[i],
                              param->arg_name, param->ptype);
    if (param->len && !is_array_ptype(param->ptype))
        return ln_fail_at(key_or_value_place(source, "len"), LN_INVALID,
                          "only arrays have 'len', but param '%s' is a %s", param->arg_name,
                          param->ptype);
    return check_default(param);
}

// ---- The operator ----

static ln_status check_optype(const ln_opdesc *op)
{
    if (strcmp(op->arch, "none") == 0)
        return LN_OK;
    size_t optype_len = strlen(op->optype);
    size_t arch_len = strlen(op->arch);
    if (optype_len > arch_len + 1 && strcmp(op->optype + optype_len - arch_len, op->arch) == 0 &&
        op->optype[optype_len - arch_len - 1] == '_')
        return LN_OK;
    return ln_fail_at(key_or_value_place(op->source, "optype"), LN_INVALID,
                      "optype '%s' of arch '%s' should end in '_%s'", op->optype, op->arch,
                      op->arch);
}

// *variadic is the one met before, NULL if there is none.
static ln_status check_one_variadic(const ln_opdesc_tensor *t, const ln_opdesc_tensor **variadic)
{
    if (t->is_variadic != LN_DESC_TRUE)
        return LN_OK;
    if (*variadic)
        return ln_fail_at(t->source->place, LN_INVALID, "'%s' and '%s' cannot both be variadic",
                          (*variadic)->arg_name, t->arg_name);
    *variadic = t;
    return LN_OK;
}

// ---- Call form ----

static ln_status check_differ(const ln_opdesc_tensor *tensors, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(tensors[i].arg_name, tensors[j].arg_name) == 0)
                return ln_fail_at(key_or_value_place(tensors[i].source, "arg_name"), LN_INVALID,
                                  "arg_name '%s' is here a second time", tensors[i].arg_name);
    return LN_OK;
}

// Only the last of the real inputs, and the last output, may be variadic.
static ln_status check_call_tensors(const ln_opdesc_tensor *tensors, size_t count)
{
    LN_TRY(check_differ(tensors, count));
    for (size_t i = 0; i < count; i++) {
        const ln_opdesc_tensor *t = &tensors[i];
        LN_TRY(check_word(t->source, "mtype", t->mtype, mtypes, COUNT(mtypes)));
        bool is_last = i + 1 == count || tensors[i + 1].is_attribute == LN_DESC_TRUE;
        if (t->is_variadic == LN_DESC_TRUE && !is_last)
            return ln_fail_at(t->source->place, LN_INVALID,
                              "'%s' is variadic and should be the last one", t->arg_name);
        if (t->is_attribute != LN_DESC_TRUE && i > 0 && tensors[i - 1].is_attribute == LN_DESC_TRUE)
            return ln_fail_at(t->source->place, LN_INVALID,
                              "'%s' should stand before the attributes", t->arg_name);
    }
    return LN_OK;
}

static ln_status check_since(const ln_opdesc *op)
{
    double last = 0;
    for (const ln_value *v = op->since ? op->since->first : NULL; v; v = v->next) {
        if (v->kind != LN_VALUE_NUMBER || v->number <= last || v->number > 1000 ||
            v->number != (double)(int)v->number)
            return ln_fail_at(v->place, LN_INVALID, "'since' should be integers in rising order");
        last = v->number;
    }
    return LN_OK;
}

// `name` is an expression in other descriptions.
static ln_status check_function(const ln_opdesc *op, const char *key, const char *name)
{
    if (name && !ln_is_identifier(name))
        return ln_fail_at(key_or_value_place(op->source, key), LN_INVALID,
                          "'%s' of an operator with 'infer' is the name of a function", key);
    return LN_OK;
}

static ln_status check_call(const ln_opdesc *op)
{
    LN_TRY(check_optype(op));
    LN_TRY(check_include(op->include));
    LN_TRY(check_call_tensors(op->ins, op->in_count));
    LN_TRY(check_call_tensors(op->outs, op->out_count));
    for (size_t i = 0; i < op->in_count; i++)
        LN_TRY(check_same(op, i, "sametype", op->ins[i].sametype));
    for (size_t i = 0; i < op->out_count; i++) {
        const ln_opdesc_tensor *out = &op->outs[i];
        LN_TRY(check_placement(op, out));
        if (out->owner)
            LN_TRY(check_place_of(op, key_or_value_place(out->source, "owner"), "owner", out->owner,
                                  false));
        if (out->owner && op->out_count > 1)
            return ln_fail_at(out->source->place, LN_INVALID,
                              "'%s' has an 'owner', so it should be the only output",
                              out->arg_name);
    }
    for (size_t i = 0; i < op->param_count; i++) {
        const ln_opdesc_param *param = &op->params[i];
        LN_TRY(check_word(param->source, "ptype", param->ptype, ptypes, COUNT(ptypes)));
        if (is_number_ptype(param->ptype) && param->realtype)
            LN_TRY(check_word(param->source, "realtype", param->realtype, realtypes,
                              COUNT(realtypes)));
        LN_TRY(check_default(param));
    }
    LN_TRY(check_function(op, "calc_offset", op->calc_offset));
    LN_TRY(check_function(op, "macs", op->macs));
    LN_TRY(check_function(op, "cost", op->cost));
    LN_TRY(check_function(op, "commutes", op->commutes));
    if (op->prepare && !op->compute)
        return ln_fail_at(key_or_value_place(op->source, "prepare"), LN_INVALID,
                          "an operator with 'prepare' has 'compute'");
    if (op->workspace && !op->compute)
        return ln_fail_at(key_or_value_place(op->source, "workspace"), LN_INVALID,
                          "an operator with 'workspace' has 'compute'");
    if (op->run || op->static_run || op->custom || op->check || op->checks)
        return ln_fail_at(op->source->place, LN_INVALID,
                          "an operator with 'infer' has 'compute' instead of snippets");
    return check_since(op);
}

static ln_status check_op(ln_document *arena, const ln_opdesc *op)
{
    if (ln_opdesc_is_call(op))
        return check_call(op);
    LN_TRY(check_optype(op));
    LN_TRY(check_all_names(arena, op));
    LN_TRY(check_checks(op->checks));
    LN_TRY(check_include(op->include));
    const ln_opdesc_tensor *variadic = NULL;
    for (size_t i = 0; i < op->in_count; i++) {
        LN_TRY(check_in(op, i));
        LN_TRY(check_one_variadic(&op->ins[i], &variadic));
    }
    for (size_t i = 0; i < op->out_count; i++) {
        LN_TRY(check_out(op, &op->outs[i]));
        LN_TRY(check_one_variadic(&op->outs[i], &variadic));
    }
    for (size_t i = 0; i < op->param_count; i++)
        LN_TRY(check_param(&op->params[i]));
    if (op->rtol < 0)
        return ln_fail_at(op->rtol_value->place, LN_INVALID, "rtol cannot be negative");
    return LN_OK;
}

// Reads the objects of `array`, each `size` bytes; `source` is the first member of each struct.
static ln_status read_array(ln_document *arena, const ln_value *array, const field *fields,
                            size_t field_count, const char *what, bool is_relaxed, size_t size,
                            void *out_items, size_t *out_count)
{
    size_t count = array ? array->count : 0;
    char *items = ln_document_alloc(arena, count * size);
    if (!items)
        return LN_NO_MEMORY;
    memset(items, 0, count * size);
    size_t i = 0;
    for (const ln_value *item = array ? array->first : NULL; item; item = item->next, i++) {
        memcpy(items + i * size, &item, sizeof item);
        LN_TRY(read_fields(item, fields, field_count, what, is_relaxed, items + i * size));
    }
    memcpy(out_items, &items, sizeof items);
    *out_count = count;
    return LN_OK;
}

static bool is_among(const char *word, const char *const *known, size_t count)
{
    size_t i = 0;
    while (i < count && strcmp(known[i], word) != 0)
        i++;
    return i < count;
}

// LN_TYPES_<set> of lightnet/dtype.h and op/types.h, in small letters.
static const char *const type_sets[] = {
    "float", "signed",  "unsigned", "int",   "number", "float8", "small_int", "complex", "native",
    "any",   "element", "moved",    "index", "cast",   "byte",   "quant",     "scale"};

// Words that are neither types nor sets are macros of a header that the description includes.
static ln_status check_type_word(const ln_opdesc *op, const ln_opdesc_tensor *in, const char *text,
                                 size_t len)
{
    char word[64], name[64], small[64] = "";
    snprintf(word, sizeof word, "%.*s", (int)(len < 60 ? len : 60), text);
    snprintf(name, sizeof name, "TL_%.60s", word);
    if (strncmp(word, "LN_TYPES_", 9) == 0)
        for (size_t i = 9; i <= len && i < sizeof word; i++)
            small[i - 9] = (char)tolower((unsigned char)word[i]);
    bool is_dtype = strncmp(word, "TL_", 3) == 0,
         forgot_prefix = is_among(name, dtypes, COUNT(dtypes));
    if (is_among(word, dtypes, COUNT(dtypes)) || is_among(word, type_sets, COUNT(type_sets)) ||
        is_among(small, type_sets, COUNT(type_sets)) || strcmp(word, "LN_TYPE") == 0 ||
        (!is_dtype && !forgot_prefix && (op->include || op->file_include)))
        return LN_OK;

    ln_nearest nearest = ln_nearest_to(word);
    for (size_t i = 0; i < COUNT(dtypes); i++)
        ln_nearest_try(&nearest, dtypes[i]);
    for (size_t i = 0; i < COUNT(type_sets); i++)
        ln_nearest_try(&nearest, type_sets[i]);
    ln_place place = key_or_value_place(in->source, "types");
    const char *meant = forgot_prefix ? name : nearest.name;
    if (meant)
        return ln_fail_at(place, LN_INVALID,
                          "types of '%s': '%s' is not an element type; did you mean '%s'?",
                          in->arg_name, word, meant);
    char list[256] = "";
    for (size_t i = 0; i < COUNT(type_sets); i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), ", %s", type_sets[i]);
    return ln_fail_at(place, LN_INVALID,
                      "types of '%s': '%s' is not an element type such as TL_FLOAT, nor a set of "
                      "them%s",
                      in->arg_name, word, list);
}

// `types` as C has it: "number | TL_BOOL" is LN_TYPES_NUMBER | LN_TYPE(TL_BOOL).
static ln_status spell_out_types(ln_document *arena, const ln_opdesc *op, ln_opdesc_tensor *in)
{
    ln_text c = {0};
    bool is_type = false; // just after LN_TYPE
    for (const char *at = in->types; *at;) {
        size_t len = strspn(at, LETTERS "_0123456789"), others = strcspn(at + len, LETTERS);
        ln_status word_status =
            isalpha((unsigned char)*at) ? check_type_word(op, in, at, len) : LN_OK;
        if (word_status != LN_OK) {
            ln_text_deinit(&c);
            return word_status;
        }
        bool is_set = *at >= 'a' && *at <= 'z', is_dtype = !is_type && strncmp(at, "TL_", 3) == 0;
        is_type = len == strlen("LN_TYPE") && strncmp(at, "LN_TYPE", len) == 0;
        ln_text_puts(&c, is_set ? "LN_TYPES_" : is_dtype ? "LN_TYPE(" : "");
        for (size_t i = 0; i < len; i++)
            ln_text_printf(&c, "%c", is_set && at[i] >= 'a' && at[i] <= 'z' ? at[i] - 32 : at[i]);
        ln_text_printf(&c, "%s%.*s", is_dtype ? ")" : "", (int)others, at + len);
        at += len + others;
    }
    in->types = c.bytes ? ln_document_strdup(arena, c.bytes, c.len) : NULL;
    ln_status status = c.status;
    ln_text_deinit(&c);
    return status != LN_OK || in->types ? status : LN_NO_MEMORY;
}

// An example that is inherited becomes the operator's own by its name; for a variant, that of the
// operator which it computes.
static ln_status rename_example(ln_document *arena, ln_opdesc *op)
{
    const char *arguments = op->example ? strchr(op->example, '(') : NULL;
    size_t len = strlen(op->optype), arch_len = strlen(op->arch);
    if (!arguments || strncmp(op->example, op->optype, len) == 0)
        return LN_OK;
    if (len > arch_len && strcmp(op->optype + len - arch_len, op->arch) == 0)
        len -= arch_len + 1;
    ln_text own = {0};
    ln_text_printf(&own, "%.*s%s", (int)len, op->optype, arguments);
    op->example = own.bytes ? ln_document_strdup(arena, own.bytes, own.len) : NULL;
    ln_text_deinit(&own);
    return op->example ? LN_OK : LN_NO_MEMORY;
}

// What the name of an operator of ONNX says where its description does not: the domain, and that of
// a domain other than ai.onnx there is one form.
static ln_status derive_onnx(ln_document *arena, ln_opdesc *op)
{
    static const struct {
        const char *name, *prefix;
    } domains[] = {
#define D(constant, name, prefix, newest) {name, prefix},
#include "desc/onnx_domains.inc"
#undef D
    };
    size_t i = sizeof domains / sizeof domains[0] - 1;
    while (i > 0 && strncmp(op->optype, domains[i].prefix, strlen(domains[i].prefix)) != 0)
        i--;
    if (i == 0 || !op->infer)
        return LN_OK;
    if (!op->domain)
        op->domain = domains[i].name;
    if (op->since)
        return LN_OK;
    ln_value *since = ln_value_new(arena, LN_VALUE_ARRAY, op->source->place);
    if (!since)
        return LN_NO_MEMORY;
    op->since = since;
    return ln_value_append(arena, since, NULL, ln_value_new_number(arena, 1, since->place));
}

// Memory of what does not say its own: any for operators that only check, that of the arch else.
static void set_default_mtypes(ln_opdesc *op, const char *mtype)
{
    const char *arch_mtype = mtype ? mtype : "LN_MEM_CPU";
    bool is_none = strcmp(op->arch, "none") == 0;
    for (size_t i = 0; i < op->in_count + op->out_count; i++) {
        ln_opdesc_tensor *t = i < op->in_count ? &op->ins[i] : &op->outs[i - op->in_count];
        if (!t->mtype)
            t->mtype = is_none ? "LN_MEM_NONE" : arch_mtype;
    }
}

ln_status ln_opdesc_from_value(ln_document *arena, const ln_value *object, const char *mtype,
                               ln_opdesc **out_op)
{
    ln_opdesc *op = ln_document_alloc(arena, sizeof *op);
    if (!op)
        return LN_NO_MEMORY;
    *op = (ln_opdesc){.source = object};
    bool is_relaxed = ln_opdesc_is_only_base(object);
    LN_TRY(read_fields(object, op_fields, COUNT(op_fields), "an operator", is_relaxed, op));
    op->rtol = op->rtol_value ? op->rtol_value->number : 0;
    if (op->workspace && op->compute && strcmp(op->workspace, "compute") == 0)
        op->workspace = op->compute;
    op->step_cost = op->step_cost_value ? op->step_cost_value->number : 0;
    if (op->step_cost_value && !(op->step_cost > 0))
        return ln_fail_at(op->step_cost_value->place, LN_INVALID, "step_cost should be above 0");
    if (!op->optype)
        op->optype = object->key ? object->key : "";
    LN_TRY(derive_onnx(arena, op));
    if (!op->arch) // of a base
        op->arch = "none";
    LN_TRY(read_array(arena, op->extra_privs, priv_fields, COUNT(priv_fields),
                      "an element of 'extra_privs'", is_relaxed, sizeof *op->privs, &op->privs,
                      &op->priv_count));
    LN_TRY(read_array(arena, op->tensors_in, in_fields, COUNT(in_fields), "an input tensor",
                      is_relaxed, sizeof *op->ins, &op->ins, &op->in_count));
    LN_TRY(read_array(arena, op->tensors_out, out_fields, COUNT(out_fields), "an output tensor",
                      is_relaxed, sizeof *op->outs, &op->outs, &op->out_count));
    LN_TRY(read_array(arena, op->param_values, param_fields, COUNT(param_fields), "a parameter",
                      is_relaxed, sizeof *op->params, &op->params, &op->param_count));
    set_default_mtypes(op, mtype);
    LN_TRY(rename_example(arena, op));
    for (size_t i = 0; i < op->in_count; i++)
        if (op->ins[i].types)
            LN_TRY(spell_out_types(arena, op, &op->ins[i]));
    *out_op = op;
    return is_relaxed ? LN_OK : check_op(arena, op);
}

static bool is_of_realtype(const ln_opdesc_param *param, const char *realtype)
{
    return param->realtype && strcmp(param->realtype, realtype) == 0 && !param->from_func;
}

bool ln_opdesc_is_whole(const ln_opdesc_param *param)
{
    return is_of_realtype(param, "int");
}

const char *ln_opdesc_wholeness(const ln_opdesc_param *param)
{
    return is_of_realtype(param, "int")     ? "LN_WHOLE_INT"
           : is_of_realtype(param, "int64") ? "LN_WHOLE_ANY"
                                            : "LN_NOT_WHOLE";
}
