// SPDX-License-Identifier: Apache-2.0
// Runs every case of lightnet_cases.json, whatever its operation, dtypes and parameters are.
//
// A case has a kind and an operation; the table at the end says who runs it, and one that nobody
// knows is a failure. A tensor operation that is also an operator runs twice: as a routine and as a
// model. The file is not part of the project: without it the test is skipped.

#include <lightnet/lightnet.h>

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/text.h"
#include "base/value.h"
#include "tests/random.h"
#include "tests/test.h"

#define CASES_FILE LN_SOURCE_DIR "/../shared/cases/lightnet_cases.json"
#define MAX_BYTES  (256u << 20)

typedef struct test_case {
    const char *kind;
    const char *op;
    const ln_value *params;
    const ln_value *inputs;
    const ln_value *outputs;
    double tolerance;
    const ln_document *document;
} test_case;

// Why the case that runs now fails; the first reason stays.
static char reason[600];

static bool wrong(const char *fmt, ...) LN_PRINTF(1, 2);
static bool wrong(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    if (!reason[0])
        vsnprintf(reason, sizeof reason, fmt, args);
    va_end(args);
    return false;
}

static bool wrong_library(const char *what)
{
    return wrong("%s: %s", what, ln_error_message());
}

// ---- Reading values ----

static const ln_value *at(const ln_value *array, int index)
{
    const ln_value *v = array ? array->first : NULL;
    for (; v && index > 0; index--)
        v = v->next;
    return v;
}

static const char *text_of(const ln_value *object, const char *key)
{
    const ln_value *v = ln_value_get(object, key);
    return v && v->kind == LN_VALUE_STRING ? v->text : NULL;
}

static double number_of(const ln_value *v)
{
    if (!v)
        return 0;
    return v->kind == LN_VALUE_BOOL     ? v->boolean
           : v->kind == LN_VALUE_STRING ? strtod(v->text, NULL)
                                        : v->number;
}

static double number(const test_case *c, const char *key)
{
    return number_of(ln_value_get(c->params, key));
}

static int integer(const test_case *c, const char *key)
{
    return (int)number(c, key);
}

// The numbers of an array; at most `capacity`. Returns how many.
static int integers(const ln_value *array, int *out, int capacity)
{
    int count = 0;
    for (const ln_value *v = array ? array->first : NULL; v && count < capacity; v = v->next)
        out[count++] = (int)number_of(v);
    return count;
}

static tl_dtype dtype_of(const ln_value *object)
{
    return tl_dtype_from_str(text_of(object, "dtype"));
}

// Element `i` of `t` becomes `v`, rounded as the dtype rounds; 64-bit integers keep all digits.
static void set_element(tl_tensor *t, int i, const ln_value *v)
{
    void *p = tl_padd(t->data, i, tl_size_of(t->dtype));
    const char *digits = v->kind == LN_VALUE_NUMBER ? v->text : NULL;
    if (t->dtype == TL_INT64 && digits && !strpbrk(digits, ".eE"))
        *(int64_t *)p = strtoll(digits, NULL, 10);
    else if (t->dtype == TL_UINT64 && digits && !strpbrk(digits, ".eE"))
        *(uint64_t *)p = strtoull(digits, NULL, 10);
    else
        tl_convert(p, t->dtype, &(double){number_of(v)}, TL_DOUBLE);
}

// The tensor {dims, dtype, data}; NULL when there is none.
static tl_tensor *tensor_of(const ln_value *object)
{
    int dims[TL_MAXDIM];
    int ndim = integers(ln_value_get(object, "dims"), dims, TL_MAXDIM);
    tl_tensor *t = object ? tl_tensor_zeros(ndim, dims, dtype_of(object)) : NULL;
    const ln_value *data = ln_value_get(object, "data");
    const ln_value *v = data ? data->first : NULL;
    for (int i = 0; t && v && i < t->len; i++, v = v->next)
        set_element(t, i, v);
    return t;
}

static double element(const tl_tensor *t, int i)
{
    double value;
    tl_convert(&value, TL_DOUBLE, tl_padd(t->data, i, tl_size_of(t->dtype)), t->dtype);
    return value;
}

// ---- Comparing ----

static bool same_shape(const tl_tensor *got, const tl_tensor *expected)
{
    if (got->dtype != expected->dtype)
        return wrong("%s instead of %s", tl_dtype_name(got->dtype), tl_dtype_name(expected->dtype));
    if (!tl_tensor_issameshape(got, expected)) {
        char a[LN_SHAPE_TEXT_BYTES], b[LN_SHAPE_TEXT_BYTES];
        return wrong("shape %s instead of %s", ln_sprint_shape(a, sizeof a, got->ndim, got->dims),
                     ln_sprint_shape(b, sizeof b, expected->ndim, expected->dims));
    }
    return true;
}

static bool same_bytes(const tl_tensor *got, const void *data, const tl_tensor *expected,
                       double tolerance)
{
    tl_tensor *view = tl_tensor_create(NULL, got->ndim, got->dims, got->dtype);
    bool same = true;
    memcpy(&view->data, &data, sizeof data); // only read
    for (int i = 0; same && i < expected->len; i++) {
        double a = element(view, i), b = element(expected, i);
        bool exact = tl_cmp(tl_padd(data, i, tl_size_of(got->dtype)),
                            tl_padd(expected->data, i, tl_size_of(got->dtype)), got->dtype) == 0;
        if (!exact && !(fabs(a - b) <= tolerance))
            same = wrong("element %d is %.17g instead of %.17g", i, a, b);
    }
    tl_tensor_free(view);
    return same;
}

// Compares with output `index` of the case.
static bool expect_tensor(const test_case *c, int index, const tl_tensor *got)
{
    if (!got)
        return wrong_library("no result");
    const ln_value *output = at(c->outputs, index);
    tl_tensor *expected = tensor_of(output);
    if (!expected)
        return wrong("the case has no output %d", index);
    bool same = same_shape(got, expected) && same_bytes(got, got->data, expected, c->tolerance);
    tl_tensor_free_data_too(expected);
    return same;
}

static bool expect_number(const test_case *c, const char *key, double got)
{
    const ln_value *expected = ln_value_get(at(c->outputs, 0), key);
    if (!expected)
        return wrong("the case has no `%s`", key);
    if (number_of(expected) != got)
        return wrong("%s is %g instead of %g", key, got, number_of(expected));
    return true;
}

static bool expect_text(const char *got, const char *expected)
{
    if (!expected || strcmp(got, expected) != 0)
        return wrong("\"%s\" instead of \"%s\"", got, expected ? expected : "(none)");
    return true;
}

// ---- Tensor operations as routines: each once without dst and once with it ----

typedef struct operands {
    tl_tensor *in[4];
    tl_tensor *dst; // NULL at first, then what the routine made
    tl_tensor *arg;
} operands;

typedef tl_tensor *(*routine)(const test_case *c, operands *o);

static tl_tensor *call_clone(const test_case *c, operands *o)
{
    (void)c;
    return tl_tensor_clone(o->in[0]);
}

static tl_tensor *call_repeat(const test_case *c, operands *o)
{
    return tl_tensor_repeat(o->in[0], integer(c, "times"));
}

static tl_tensor *call_arange(const test_case *c, operands *o)
{
    (void)o;
    return tl_tensor_arange(number(c, "start"), number(c, "stop"), number(c, "step"),
                            dtype_of(c->params));
}

static tl_tensor *call_rearange(const test_case *c, operands *o)
{
    if (tl_tensor_rearange(o->in[0], number(c, "start"), number(c, "stop"), number(c, "step")))
        return NULL;
    return tl_tensor_clone(o->in[0]);
}

static tl_tensor *call_zeros(const test_case *c, operands *o)
{
    (void)o;
    int dims[TL_MAXDIM];
    int ndim = integers(ln_value_get(c->params, "dims"), dims, TL_MAXDIM);
    return tl_tensor_zeros(ndim, dims, dtype_of(c->params));
}

static tl_tensor *call_zeros_slice(const test_case *c, operands *o)
{
    return tl_tensor_zeros_slice(o->in[0], integer(c, "axis"), integer(c, "len"),
                                 dtype_of(c->params));
}

static tl_tensor *call_create_slice(const test_case *c, operands *o)
{
    tl_tensor *zeros = call_zeros_slice(c, o);
    if (!zeros)
        return NULL;
    tl_tensor *made = tl_tensor_create_slice(zeros->data, o->in[0], integer(c, "axis"),
                                             integer(c, "len"), dtype_of(c->params));
    tl_tensor_free(zeros);
    return made;
}

static tl_tensor *call_slice(const test_case *c, operands *o)
{
    return tl_tensor_slice(o->in[0], o->dst, integer(c, "axis"), integer(c, "start"),
                           integer(c, "len"));
}

static tl_tensor *call_slice_nocopy(const test_case *c, operands *o)
{
    return tl_tensor_slice_nocopy(o->in[0], o->dst, integer(c, "axis"), integer(c, "start"),
                                  integer(c, "len"));
}

static tl_tensor *call_concat(const test_case *c, operands *o)
{
    return tl_tensor_concat(o->in[0], o->in[1], o->dst, integer(c, "axis"));
}

static tl_tensor *call_reshape(const test_case *c, operands *o)
{
    int dims[TL_MAXDIM];
    int ndim = integers(ln_value_get(c->params, "dims"), dims, TL_MAXDIM);
    return tl_tensor_reshape(o->in[0], ndim, dims);
}

static tl_tensor *call_reshape_src(const test_case *c, operands *o)
{
    int dims[TL_MAXDIM];
    int ndim = integers(ln_value_get(c->params, "dims"), dims, TL_MAXDIM);
    return tl_tensor_reshape_src(o->in[0], ndim, dims) ? NULL : tl_tensor_clone(o->in[0]);
}

static tl_tensor *call_maxreduce(const test_case *c, operands *o)
{
    return tl_tensor_maxreduce(o->in[0], o->dst, o->arg, integer(c, "axis"));
}

static tl_tensor *call_elew(const test_case *c, operands *o)
{
    return tl_tensor_elew(o->in[0], o->in[1], o->dst,
                          tl_elew_op_from_str(text_of(c->params, "elew_op")));
}

static tl_tensor *call_elew_param(const test_case *c, operands *o)
{
    return tl_tensor_elew_param(o->in[0], number(c, "param"), o->dst,
                                tl_elew_op_from_str(text_of(c->params, "elew_op")));
}

static tl_tensor *call_dot_product(const test_case *c, operands *o)
{
    (void)c;
    return tl_tensor_dot_product(o->in[0], o->in[1], o->dst);
}

static tl_tensor *call_transpose(const test_case *c, operands *o)
{
    int axes[TL_MAXDIM] = {0};
    if (integers(ln_value_get(c->params, "axes"), axes, TL_MAXDIM) != o->in[0]->ndim)
        return NULL;
    return tl_tensor_transpose(o->in[0], o->dst, axes);
}

static tl_tensor *call_lrelu(const test_case *c, operands *o)
{
    return tl_tensor_lrelu(o->in[0], o->dst, (float)number(c, "negslope"));
}

static tl_tensor *call_convert(const test_case *c, operands *o)
{
    return tl_tensor_convert(o->in[0], o->dst, dtype_of(c->params));
}

static tl_tensor *call_resize(const test_case *c, operands *o)
{
    int dims[TL_MAXDIM] = {0};
    integers(ln_value_get(c->params, "dims"), dims, TL_MAXDIM);
    return tl_tensor_resize(o->in[0], o->dst, dims,
                            tl_resize_type_from_str(text_of(c->params, "mode")));
}

static tl_tensor *call_submean(const test_case *c, operands *o)
{
    double mean[3] = {0};
    const ln_value *means = ln_value_get(c->params, "mean");
    for (int i = 0; i < 3; i++)
        mean[i] = number_of(at(means, i));
    if (!o->dst) { // the dtype of the result is the case's to say
        tl_tensor *dst = tensor_of(at(c->outputs, 0));
        tl_tensor *result = tl_tensor_submean(o->in[0], dst, mean);
        if (!result)
            tl_tensor_free_data_too(dst);
        return result;
    }
    return tl_tensor_submean(o->in[0], o->dst, mean);
}

static tl_tensor *call_bbox(const test_case *c, operands *o)
{
    return tl_tensor_transform_bboxSQD(o->in[0], o->in[1], o->dst, integer(c, "width"),
                                       integer(c, "height"), integer(c, "img_width"),
                                       integer(c, "img_height"), integer(c, "x_shift"),
                                       integer(c, "y_shift"));
}

static tl_tensor *call_pick1d(const test_case *c, operands *o)
{
    int stride = ln_value_get(c->params, "stride") ? integer(c, "stride") : 1;
    int len = ln_value_get(c->params, "len") ? integer(c, "len") : o->in[1]->len;
    return tl_tensor_pick1d(o->in[0], o->in[1], o->dst, stride, len);
}

static tl_sort_dir direction(const test_case *c)
{
    const char *dir = text_of(c->params, "dir");
    return dir ? tl_sort_dir_from_str(dir) : TL_SORT_DIR_ASCENDING;
}

static tl_tensor *call_sort1d(const test_case *c, operands *o)
{
    return tl_tensor_sort1d(o->in[0], direction(c)) ? NULL : tl_tensor_clone(o->in[0]);
}

static tl_tensor *call_sort1d_by_key(const test_case *c, operands *o)
{
    if (tl_tensor_sort1d_by_key(o->in[0], o->in[1], direction(c)))
        return NULL;
    o->arg = tl_tensor_clone(o->in[1]);
    return tl_tensor_clone(o->in[0]);
}

static const struct {
    const char *op;
    routine call;
    bool takes_dst;
} routines[] = {
    {"clone", call_clone, false},
    {"repeat", call_repeat, false},
    {"arange", call_arange, false},
    {"rearange", call_rearange, false},
    {"zeros", call_zeros, false},
    {"zeros_slice", call_zeros_slice, false},
    {"create_slice", call_create_slice, false},
    {"slice", call_slice, true},
    {"slice_nocopy", call_slice_nocopy, true},
    {"concat", call_concat, true},
    {"reshape", call_reshape, false},
    {"reshape_src", call_reshape_src, false},
    {"maxreduce", call_maxreduce, true},
    {"maxreduce_arg", call_maxreduce, true},
    {"elew", call_elew, true},
    {"elew_param", call_elew_param, true},
    {"dot_product", call_dot_product, true},
    {"transpose", call_transpose, true},
    {"lrelu", call_lrelu, true},
    {"convert", call_convert, true},
    {"resize", call_resize, true},
    {"submean", call_submean, true},
    {"transform_bboxSQD", call_bbox, true},
    {"pick1d", call_pick1d, true},
    {"sort1d", call_sort1d, false},
    {"sort1d_by_key", call_sort1d_by_key, false},
};

static void free_result(tl_tensor *t)
{
    if (t && t->owner)
        tl_tensor_free(t);
    else
        tl_tensor_free_data_too(t);
}

static bool run_routine(const test_case *c, routine call, bool takes_dst)
{
    operands o = {0};
    for (int i = 0; i < 4; i++)
        o.in[i] = tensor_of(at(c->inputs, i));
    if (at(c->outputs, 1) && strncmp(c->op, "maxreduce", 9) == 0)
        o.arg = tensor_of(at(c->outputs, 1));
    if (o.arg)
        memset(o.arg->data, 0xff, tl_tensor_size(o.arg));
    tl_tensor *result = call(c, &o);
    bool same = expect_tensor(c, 0, result) && (!o.arg || expect_tensor(c, 1, o.arg));
    if (same && takes_dst) {
        if (!result->owner)
            memset(result->data, 0, tl_tensor_size(result));
        o.dst = result;
        same = (call(c, &o) == result || wrong_library("with a given dst")) &&
               expect_tensor(c, 0, result);
    }
    free_result(result);
    tl_tensor_free_data_too(o.arg);
    for (int i = 0; i < 4; i++)
        tl_tensor_free_data_too(o.in[i]);
    return same;
}

static bool run_detect(const test_case *c)
{
    tl_tensor *feature = tensor_of(at(c->inputs, 0)), *anchors = tensor_of(at(c->inputs, 1));
    static const char *const names[] = {"box_centers", "box_sizes", "boxes", "confs", "probs"};
    tl_tensor *outs[5] = {0};
    int index = 0;
    for (const ln_value *v = c->outputs->first; v; v = v->next, index++) {
        const char *name = text_of(v, "name");
        for (int i = 0; i < 5; i++)
            if (!outs[i] && (name ? ln_streq(name, names[i]) : i == index))
                outs[i] = tensor_of(v);
    }
    for (int i = 0; i < 5; i++)
        if (outs[i])
            memset(outs[i]->data, 0, tl_tensor_size(outs[i]));
    bool same =
        tl_tensor_detect_yolov3(feature, anchors, outs[0], outs[1], outs[2], outs[3], outs[4],
                                integer(c, "img_width"), integer(c, "img_height")) == LN_OK ||
        wrong_library("detect_yolov3");
    index = 0;
    for (const ln_value *v = c->outputs->first; v && same; v = v->next, index++) {
        const char *name = text_of(v, "name");
        for (int i = 0; i < 5 && same; i++)
            if (name ? ln_streq(name, names[i]) : i == index)
                same = expect_tensor(c, index, outs[i]);
    }
    for (int i = 0; i < 5; i++)
        tl_tensor_free_data_too(outs[i]);
    tl_tensor_free_data_too(feature);
    tl_tensor_free_data_too(anchors);
    return same;
}

// ---- Tensor operations as models ----

static void print_param(ln_text *text, const char *arg_name, const ln_value *value)
{
    ln_text_printf(text, "{\"arg_name\": \"%s\", \"value\": ", arg_name);
    ln_value_print(value, text);
    ln_text_puts(text, "}");
}

static const char *name_or(const ln_value *object, const char *name)
{
    const char *given = text_of(object, "name");
    return given ? given : name;
}

// The IR of the case: inputs become `create` operators.
static void print_model(ln_text *text, const test_case *c)
{
    ln_text_puts(text, "{\"ops\": [");
    for (const ln_value *v = c->inputs->first; v; v = v->next) {
        const char *name = name_or(v, "src");
        ln_text_printf(text,
                       "{\"name\": \"%s_op\", \"optype\": \"create\", \"tensors_in\": [], "
                       "\"tensors_out\": [{\"arg_name\": \"dst\", \"name\": \"%s\"}], "
                       "\"params\": [",
                       name, name);
        print_param(text, "dtype", ln_value_get(v, "dtype"));
        ln_text_puts(text, ", ");
        print_param(text, "dims", ln_value_get(v, "dims"));
        ln_text_puts(text, ", ");
        print_param(text, "data", ln_value_get(v, "data"));
        ln_text_puts(text, ", {\"arg_name\": \"ran\", \"value\": [0, 0]}, "
                           "{\"arg_name\": \"from_file\", \"value\": false}]}, ");
    }
    ln_text_printf(text, "{\"name\": \"op\", \"optype\": \"%s\", \"tensors_in\": [", c->op);
    for (const ln_value *v = c->inputs->first; v; v = v->next)
        ln_text_printf(text, "{\"arg_name\": \"%s\", \"name\": \"%s\"}%s", name_or(v, "src"),
                       name_or(v, "src"), v->next ? ", " : "");
    ln_text_puts(text, "], \"tensors_out\": [");
    for (const ln_value *v = c->outputs->first; v; v = v->next)
        ln_text_printf(text, "{\"arg_name\": \"%s\", \"name\": \"out_%s\"}%s", name_or(v, "dst"),
                       name_or(v, "dst"), v->next ? ", " : "");
    ln_text_puts(text, "], \"params\": [");
    for (const ln_value *v = c->params->first; v; v = v->next) {
        print_param(text, v->key, v);
        ln_text_puts(text, v->next ? ", " : "");
    }
    ln_text_puts(text, "]}]}");
}

static bool expect_outputs(const test_case *c, ln_context *ctx)
{
    int index = 0;
    for (const ln_value *v = c->outputs->first; v; v = v->next, index++) {
        char name[64];
        snprintf(name, sizeof name, "out_%s", name_or(v, "dst"));
        const ln_tensor_entry *entry = ln_tensor_table_find(ctx->tensor_table, name);
        const void *data = entry ? ln_context_get_data(ctx, name, NULL) : NULL;
        if (!data)
            return wrong_library(name);
        tl_tensor *expected = tensor_of(v);
        bool same = same_shape(entry->tensor, expected) &&
                    same_bytes(entry->tensor, data, expected, c->tolerance);
        tl_tensor_free_data_too(expected);
        if (!same)
            return false;
    }
    return true;
}

static bool run_as_model(const test_case *c, const char *target)
{
    ln_text text = {0};
    print_model(&text, c);
    ln_context *ctx = ln_context_create();
    bool same = (ln_context_init_mem(ctx, text.bytes, text.len, "case.json") == LN_OK &&
                 ln_context_compile(ctx, target) == LN_OK && ln_context_load(ctx, NULL) == LN_OK &&
                 ln_context_run(ctx) == LN_OK) ||
                wrong_library("as a model");
    same = same && expect_outputs(c, ctx);
    ln_context_cleanup(ctx);
    ln_context_free(ctx);
    ln_text_deinit(&text);
    return same;
}

static bool run_tensor_op(const test_case *c)
{
    bool known = false, same = true;
    for (size_t i = 0; i < sizeof routines / sizeof *routines; i++) {
        if (strcmp(routines[i].op, c->op) != 0)
            continue;
        known = true;
        same = run_routine(c, routines[i].call, routines[i].takes_dst);
    }
    if (strcmp(c->op, "detect_yolov3") == 0) {
        known = true;
        same = run_detect(c);
    }
    if (ln_op_find(c->op)) {
        known = true;
        same = same && run_as_model(c, "cpu") && run_as_model(c, "ref");
    }
    return known ? same : wrong("unknown operation");
}

// ---- Scalars ----

static bool run_scalar_convert(const test_case *c)
{
    tl_dtype dtype = dtype_of(c->params);
    tl_tensor *src = tensor_of(at(c->inputs, 0));
    tl_tensor *dst = tl_tensor_zeros(src->ndim, src->dims, dtype);
    bool same = true;
    for (int i = 0; i < src->len && same; i++)
        same = tl_convert(tl_padd(dst->data, i, tl_size_of(dtype)), dtype,
                          tl_padd(src->data, i, tl_size_of(src->dtype)), src->dtype) == LN_OK ||
               wrong_library("tl_convert");
    same = same && expect_tensor(c, 0, dst) && run_routine(c, call_convert, true);
    tl_tensor_free_data_too(src);
    tl_tensor_free_data_too(dst);
    return same;
}

static bool run_scalar_elew(const test_case *c)
{
    tl_tensor *s1 = tensor_of(at(c->inputs, 0)), *s2 = tensor_of(at(c->inputs, 1));
    tl_tensor *dst = tl_tensor_zeros(s1->ndim, s1->dims, s1->dtype);
    tl_elew_op op = tl_elew_op_from_str(text_of(c->params, "elew_op"));
    bool same =
        tl_elew(s1->data, s2->data, dst->data, op, s1->dtype) == LN_OK || wrong_library("tl_elew");
    same = same && expect_tensor(c, 0, dst) && run_routine(c, call_elew, true);
    test_case model = *c;
    model.op = "elew";
    same = same && run_as_model(&model, "cpu") && run_as_model(&model, "ref");
    tl_tensor_free_data_too(s1);
    tl_tensor_free_data_too(s2);
    tl_tensor_free_data_too(dst);
    return same;
}

// ---- Text ----

static bool run_print(const test_case *c)
{
    tl_tensor *t = tensor_of(at(c->inputs, 0));
    const char *fmt = text_of(c->params, "fmt");
    char *text;
    size_t size;
    FILE *fp = open_memstream(&text, &size);
    bool same = true;
    if (strcmp(c->op, "tensor_print") == 0) {
        same = tl_tensor_fprint(fp, t, fmt) == LN_OK || wrong_library("tl_tensor_fprint");
    } else {
        const char *default_fmt = text_of(c->params, "default_fmt");
        if (default_fmt)
            same = expect_text(tl_dtype_fmt(t->dtype), default_fmt);
        same = same && (tl_fprintf(fp, fmt, t->data, t->dtype) >= 0 || wrong_library("tl_fprintf"));
    }
    fclose(fp);
    same = same && expect_text(text, text_of(at(c->outputs, 0), "text"));
    free(text);
    tl_tensor_free_data_too(t);
    return same;
}

// Numbers of a text, between any of the separators; words that are no numbers are ignored.
static int read_numbers(const char *text, double *out, int capacity)
{
    char *copy = ln_strdup(text), *rest = copy, *word;
    int count = 0;
    while ((word = strtok_r(rest, " \t\r\n,;!|[](){}<>", &rest)) && count < capacity) {
        char *end;
        double value = strtod(word, &end);
        if (*end == '\0')
            out[count++] = value;
    }
    ln_free(copy);
    return count;
}

// A text of numbers becomes one array of a .wts file, which reads back.
static bool run_genwts(const test_case *c)
{
    enum { CAPACITY = 4096 };
    static double numbers[CAPACITY];
    const char *file = text_of(c->params, "file");
    int len = read_numbers(text_of(at(c->inputs, 0), "text"), numbers, CAPACITY);
    char name[LN_MAX_NAME_LEN];
    snprintf(name, sizeof name, "%.*s",
             (int)strspn(file, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"),
             file);
    tl_tensor *doubles = tl_tensor_create(numbers, 1, &len, TL_DOUBLE);
    tl_tensor *t = tl_tensor_convert(doubles, NULL, integer(c, "type") == 0 ? TL_FLOAT : TL_INT8);
    char *text = NULL;
    size_t size = 0;
    FILE *fp = open_memstream(&text, &size);
    ln_named_tensor named = {name, t};
    bool same = ln_tensor_file_write(fp, LN_TENSOR_FILE_WTS, &named, 1) == LN_OK ||
                wrong_library("ln_tensor_file_write");
    fclose(fp);
    same = same && expect_text(text, text_of(at(c->outputs, 0), "text"));
    ln_tensor_file *reader = NULL;
    same = same && (ln_tensor_file_open_mem(text, size, &reader) == LN_OK || wrong_library("open"));
    const tl_tensor *read = reader ? ln_tensor_file_tensor(reader, 0) : NULL;
    same = same && (read || wrong_library("read")) && same_shape(read, t) &&
           same_bytes(read, read->data, t, 0);
    ln_tensor_file_close(reader);
    free(text);
    tl_tensor_free_data_too(t);
    tl_tensor_free(doubles);
    return same;
}

static bool run_text_format(const test_case *c)
{
    if (strcmp(c->op, "tensor_print") == 0 || strcmp(c->op, "element_print") == 0)
        return run_print(c);
    if (strcmp(c->op, "genwts") == 0)
        return run_genwts(c);
    return wrong("unknown operation");
}

// ---- Utilities ----

static bool run_autopadding(const test_case *c)
{
    int in[LN_MAXDIM] = {0}, size[LN_MAXDIM], stride[LN_MAXDIM], dilation[LN_MAXDIM];
    int out[LN_MAXDIM], output_padding[LN_MAXDIM], padding[2 * LN_MAXDIM] = {0};
    int axis_count = integers(ln_value_get(c->params, "spatial_dims"), in, LN_MAXDIM);
    integers(ln_value_get(c->params, "size"), size, LN_MAXDIM);
    integers(ln_value_get(c->params, "stride"), stride, LN_MAXDIM);
    integers(ln_value_get(c->params, "dilation"), dilation, LN_MAXDIM);
    const char *mode = text_of(c->params, "mode");
    ln_status status;
    if (strcmp(c->op, "autopadding_conv") == 0) {
        status = ln_autopadding_conv(padding, in, size, stride, dilation, axis_count, mode);
    } else {
        int outs = integers(ln_value_get(c->params, "output_dims"), out, LN_MAXDIM);
        int pads = integers(ln_value_get(c->params, "output_padding"), output_padding, LN_MAXDIM);
        status = ln_autopadding_deconv(padding, in, outs ? out : NULL, size, stride,
                                       pads ? output_padding : NULL, dilation, axis_count, mode);
    }
    if (status != LN_OK)
        return wrong_library("autopadding");
    int index = 0;
    const ln_value *expected = ln_value_get(at(c->outputs, 0), "padding_tlbr");
    for (const ln_value *v = expected ? expected->first : NULL; v; v = v->next, index++)
        if (index >= 2 * axis_count || (int)v->number != padding[index])
            return wrong("padding %d is %d instead of %g", index, padding[index], v->number);
    return index == 2 * axis_count || wrong("%d paddings", index);
}

static bool run_msg_create(const test_case *c)
{
    static const char *const levels[] = {
        "LN_MSG_ERROR", "LN_MSG_ERROR_SYS", "LN_MSG_INTER_ERROR", "LN_MSG_INTER_ERROR_SYS",
        "LN_MSG_WARN",  "LN_MSG_WARN_SYS",  "LN_MSG_INTER_WARN",  "LN_MSG_INTER_WARN_SYS",
        "LN_MSG_DEBUG", "LN_MSG_INFO",
    };
    int level = 0;
    while (level < LN_MSG_LEVEL_SIZE && !ln_streq(levels[level], text_of(c->params, "level")))
        level++;
    const char *fmt = text_of(c->params, "fmt");
    const ln_value *args = ln_value_get(c->params, "args");
    const char *error = text_of(c->params, "errno");
    if (error && strcmp(error, "ENOENT") != 0)
        return wrong("unknown errno %s", error);
    ln_msg *msg;
    errno = error ? ENOENT : 0;
    if (!args || args->count == 0)
        msg = ln_msg_create((ln_msg_level)level, "%s", fmt);
    else if (args->count == 3 && strcmp(fmt, "test error %s, %d, %.2f") == 0)
        msg = ln_msg_create((ln_msg_level)level, "test error %s, %d, %.2f", at(args, 0)->text,
                            (int)number_of(at(args, 1)), number_of(at(args, 2)));
    else
        return wrong("unknown arguments");
    if (!msg)
        return wrong_library("ln_msg_create");
    char expected[LN_MAXLINE];
    const char *value = text_of(at(c->outputs, 0), "value");
    const char *hole = value ? strstr(value, "<strerror(ENOENT)>") : NULL;
    snprintf(expected, sizeof expected, "%.*s%s", value ? (int)(hole ? hole - value : INT_MAX) : 0,
             value ? value : "", hole ? strerror(ENOENT) : "");
    bool same = expect_text(msg->text, expected);
    ln_msg_free(msg);
    return same;
}

static bool run_util(const test_case *c)
{
    const ln_value *p = c->params;
    if (strcmp(c->op, "autopadding_conv") == 0 || strcmp(c->op, "autopadding_deconv") == 0)
        return run_autopadding(c);
    if (strcmp(c->op, "msg_create") == 0)
        return run_msg_create(c);
    if (strcmp(c->op, "suffixed") == 0)
        return expect_number(c, "value", ln_suffixed(text_of(p, "s"), text_of(p, "suffix")));
    if (strcmp(c->op, "is_prefix_plus_digit") == 0)
        return expect_number(c, "value",
                             ln_is_prefix_plus_digit(text_of(p, "str"), text_of(p, "prefix")));
    if (strcmp(c->op, "next_multiple_power2") == 0)
        return expect_number(c, "value",
                             ln_next_multiple_power2(integer(c, "n"), integer(c, "power2")));
    if (strcmp(c->op, "streq") == 0)
        return expect_number(c, "value", ln_streq(text_of(p, "s1"), text_of(p, "s2")));
    if (strcmp(c->op, "digit_num") == 0)
        return expect_number(c, "value", ln_digit_num((int64_t)number(c, "num")));
    if (strcmp(c->op, "output_dim_conv") == 0)
        return expect_number(c, "value",
                             ln_output_dim_conv(integer(c, "in"), integer(c, "size"),
                                                integer(c, "stride"), integer(c, "pad_begin"),
                                                integer(c, "pad_end"), integer(c, "dilation")));
    return wrong("unknown operation");
}

// ---- Memory ----

static bool run_mem_pool_trace(const test_case *c)
{
    ln_mem_pool *pool = ln_mem_pool_create((size_t)number(c, "size"), (size_t)number(c, "align"));
    if (!pool)
        return wrong_library("ln_mem_pool_create");
    bool same = true;
    int step_index = 0;
    const ln_value *trace = ln_value_get(at(c->outputs, 0), "trace");
    for (const ln_value *step = trace->first; step && same; step = step->next, step_index++) {
        const char *what = step->first->text;
        size_t argument = (size_t)number_of(at(step, 1));
        if (strcmp(what, "alloc") == 0) {
            size_t address = ln_mem_pool_alloc(pool, argument);
            same = address == (size_t)number_of(at(step, 2)) ||
                   wrong("step %d: address %zu", step_index, address);
        } else if (strcmp(what, "free") == 0) {
            same = ln_mem_pool_exist(pool, argument) == 1 || wrong("step %d", step_index);
            same = same && (ln_mem_pool_dealloc(pool, argument) == LN_OK || wrong_library("free"));
        } else if (strcmp(what, "exist") == 0) {
            same = ln_mem_pool_exist(pool, argument) == (int)number_of(at(step, 2)) ||
                   wrong("step %d", step_index);
        } else {
            same = wrong("unknown step %s", what);
        }
    }
    ln_mem_pool_free(pool);
    return same;
}

// The plan of a model that another case has: the case's own offsets are another planner's.
static bool run_mem_plan(const test_case *c)
{
    const char *net = text_of(c->params, "net");
    const ln_value *ir = NULL;
    for (const ln_value *v = ln_document_root((ln_document *)(uintptr_t)c->document)->first; v;
         v = v->next) {
        const char *source = text_of(v, "source");
        const ln_value *found = ln_value_get(at(ln_value_get(v, "inputs"), 0), "ir");
        if (found && source && ln_suffixed(source, net))
            ir = found;
    }
    if (!ir)
        return true; // nothing to plan
    ln_text text = {0};
    ln_value_print(ir, &text);
    ln_context *ctx = ln_context_create();
    ln_plan *plan = NULL;
    bool same = (ln_context_init_mem(ctx, text.bytes, text.len, net) == LN_OK &&
                 ln_context_compile(ctx, "cpu") == LN_OK &&
                 ln_context_plan_create(ctx, &plan) == LN_OK && ln_plan_check(plan) == LN_OK) ||
                wrong_library("plan");
    const ln_value *offsets = ln_value_get(at(c->outputs, 0), "offsets");
    for (const ln_value *v = offsets ? offsets->first : NULL; v && same; v = v->next) {
        const ln_tensor_entry *entry = ln_tensor_table_find(ctx->tensor_table, v->key);
        same = (entry && entry->offset > 0) || wrong("tensor '%s' has no offset", v->key);
    }
    ln_context_plan_free(plan);
    ln_context_cleanup(ctx);
    ln_context_free(ctx);
    ln_text_deinit(&text);
    return same;
}

static bool run_mem_pool(const test_case *c)
{
    if (strcmp(c->op, "mem_pool") == 0)
        return run_mem_pool_trace(c);
    if (strcmp(c->op, "mem_plan") == 0)
        return run_mem_plan(c);
    return wrong("unknown operation");
}

// ---- Graphs: node i has the data i ----

static int compare_integers(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static bool expect_degrees(const test_case *c, ln_graph_node **nodes)
{
    static const char *const keys[] = {"indegree", "outdegree"};
    for (int k = 0; k < 2; k++) {
        const ln_value *expected = ln_value_get(at(c->outputs, 0), keys[k]);
        int i = 0;
        for (const ln_value *v = expected ? expected->first : NULL; v; v = v->next, i++) {
            size_t got = k == 0 ? nodes[i]->indegree : nodes[i]->outdegree;
            if (got != (size_t)v->number)
                return wrong("%s of node %d is %zu", keys[k], i, got);
        }
    }
    return true;
}

// `nodes` in the order of `expected`, NULL: whatever.
static bool expect_order(const ln_list *nodes, const ln_value *expected)
{
    if (!expected)
        return true;
    const ln_list *l = nodes;
    for (const ln_value *v = expected->first; v; v = v->next, l = l->next) {
        const ln_graph_node *node = l ? l->data : NULL;
        if (!node || *(int *)node->data != (int)v->number)
            return wrong("%d where %g should be", node ? *(int *)node->data : -1, v->number);
    }
    return !l || wrong("too many nodes");
}

static bool expect_layers(ln_list *layers, const ln_value *expected)
{
    const ln_list *l = layers;
    for (const ln_value *v = expected ? expected->first : NULL; v; v = v->next, l = l->next)
        if (!l || !expect_order(l->data, v))
            return wrong("fewer layers");
    return true;
}

static bool run_graph_op(const test_case *c, ln_graph *graph, ln_graph_node **nodes)
{
    const ln_value *output = at(c->outputs, 0);
    if (strcmp(c->op, "graph_num_outlier") == 0)
        return expect_number(c, "return", ln_graph_num_outlier(graph));
    if (strcmp(c->op, "graph_degrees") == 0)
        return expect_degrees(c, nodes);
    ln_list *result = NULL;
    if (strcmp(c->op, "graph_dft_after_prev") == 0) {
        bool same = expect_number(c, "return", ln_graph_dft_after_prev(graph, &result)) &&
                    expect_order(result, ln_value_get(output, "order"));
        ln_list_free(result);
        return same;
    }
    if (strcmp(c->op, "graph_topsort") == 0) {
        bool same = expect_number(c, "return", ln_graph_topsort(graph, &result)) &&
                    expect_layers(result, ln_value_get(output, "layers"));
        ln_graph_free_topsortlist(result);
        return same;
    }
    return wrong("unknown operation");
}

static bool run_graph(const test_case *c)
{
    enum { CAPACITY = 1000 };
    static int data[CAPACITY], edge;
    static ln_graph_node *nodes[CAPACITY];
    int count = integer(c, "nodes");
    if (count < 0 || count > CAPACITY)
        return wrong("%d nodes", count);
    ln_graph *graph = ln_graph_create(compare_integers, NULL);
    for (int i = 0; i < count; i++) {
        data[i] = i;
        nodes[i] = ln_graph_add(graph, &data[i]);
    }
    const ln_value *edges = ln_value_get(c->params, "edges");
    for (const ln_value *v = edges ? edges->first : NULL; v; v = v->next)
        ln_graph_link(graph, &(int){(int)number_of(at(v, 0))}, &(int){(int)number_of(at(v, 1))},
                      &edge);
    bool same = run_graph_op(c, graph, nodes);
    ln_graph_free(graph);
    return same;
}

// ---- Containers ----

static bool run_hash_step(ln_hash *hash, const ln_value *step)
{
    const char *what = step->first->text;
    const void *key = (const void *)(intptr_t)number_of(at(step, 1));
    const ln_value *last = at(step, (int)step->count - 1);
    if (strcmp(what, "insert") == 0) {
        const char *name = at(step, 2)->text;
        char *value = strstr(name, "(same pointer)") ? ln_hash_find(hash, key) : ln_strdup(name);
        return ln_hash_insert(hash, key, value) == (int)number_of(last) || wrong("insert %s", name);
    }
    if (strcmp(what, "find") == 0) {
        const char *found = ln_hash_find(hash, key);
        if (last->kind == LN_VALUE_NULL)
            return !found || wrong("found %s", found);
        return expect_text(found ? found : "(null)", last->text);
    }
    if (strcmp(what, "remove") == 0)
        return ln_hash_remove(hash, key) == (int)number_of(last) || wrong("remove");
    if (strcmp(what, "size") == 0)
        return ln_hash_size(hash) == (int)number_of(last) || wrong("size %d", ln_hash_size(hash));
    return wrong("unknown step %s", what);
}

static bool run_hash(const test_case *c)
{
    if (!ln_streq(text_of(c->params, "keys"), "direct"))
        return wrong("unknown keys");
    ln_hash *hash =
        ln_hash_create_full(ln_direct_hash, ln_direct_cmp, NULL, ln_free,
                            integer(c, "init_capacity"), (float)number(c, "load_factor"));
    if (!hash)
        return wrong_library("ln_hash_create_full");
    const ln_value *trace = ln_value_get(at(c->outputs, 0), "trace");
    bool same = true;
    for (const ln_value *step = trace->first; step && same; step = step->next)
        same = run_hash_step(hash, step);
    ln_hash_free(hash);
    return same;
}

static void free_nothing(void *p)
{
    (void)p;
}

static bool list_is(ln_list *list, const ln_value *numbers)
{
    for (const ln_value *v = numbers->first; v; v = v->next, list = list->next)
        if (!list || (size_t)list->data != (size_t)v->number)
            return false;
    return !list;
}

// What the case says about lists, by its first words.
static bool list_fact(const char *fact, ln_list **list, const ln_value *init)
{
    ln_list foreign = {0};
    void *missing = (void *)(intptr_t)1000;
    int len = ln_list_length(*list);
    if (ln_streqn(fact, "position(", 9))
        return ln_list_position(*list, (*list)->next) == 1 &&
               ln_list_position(*list, &foreign) == -1 && ln_list_position(*list, NULL) == -1;
    if (ln_streqn(fact, "index(missing)", 14))
        return ln_list_index(*list, missing) == -1 &&
               ln_list_index_custom(*list, missing, ln_direct_cmp) == -1;
    if (ln_streqn(fact, "length(NULL)", 12))
        return ln_list_length(NULL) == 0;
    if (ln_streqn(fact, "remove of a missing", 19)) {
        *list = ln_list_remove(*list, missing);
        *list = ln_list_remove_custom(*list, missing, ln_direct_cmp);
        return list_is(*list, init);
    }
    if (ln_streqn(fact, "remove_nth(-1)", 14)) {
        *list = ln_list_remove_nth(*list, -1);
        *list = ln_list_remove_nth(*list, len + 1);
        return list_is(*list, init);
    }
    if (ln_streqn(fact, "nth_data past", 13))
        return !ln_list_nth_data(*list, len) && !ln_list_nth_data(*list, -1);
    if (ln_streqn(fact, "insert_nth with", 15)) {
        *list = ln_list_insert_nth(*list, missing, -1);
        *list = ln_list_insert_nth(*list, missing, len + 1);
        bool appended =
            ln_list_nth_data(*list, len) == missing && ln_list_nth_data(*list, len + 1) == missing;
        *list = ln_list_remove_nth(ln_list_remove_nth(*list, len), len);
        return appended;
    }
    if (ln_streqn(fact, "from_array_size_t(NULL", 22))
        return !ln_list_from_array_size_t(NULL, 0);
    if (ln_streqn(fact, "remove_all_custom_deep", 22)) {
        *list = ln_list_append(ln_list_prepend(*list, missing), missing);
        *list = ln_list_remove_all_custom_deep(*list, missing, ln_direct_cmp, free_nothing);
        return list_is(*list, init);
    }
    return wrong("unknown fact: %s", fact);
}

static bool run_list(const test_case *c)
{
    const ln_value *init = ln_value_get(c->params, "init");
    ln_list *list = NULL;
    for (const ln_value *v = init->first; v; v = v->next)
        list = ln_list_append(list, (void *)(intptr_t)v->number);
    bool same = true;
    const ln_value *facts = ln_value_get(at(c->outputs, 0), "facts");
    for (const ln_value *v = facts->first; v && same; v = v->next)
        same = list_fact(v->text, &list, init) || wrong("not so: %s", v->text);
    ln_list_free(list);
    return same;
}

// First in, last out; or first out.
static bool run_stack_or_queue(const test_case *c)
{
    const ln_value *init = ln_value_get(c->params, "init");
    bool is_queue = strcmp(c->op, "queue") == 0, same = true;
    ln_stack *stack = ln_stack_create();
    ln_queue *queue = ln_queue_create();
    intptr_t count = 0;
    for (const ln_value *v = init ? init->first : NULL; v; v = v->next, count++) {
        stack = ln_stack_push(stack, (void *)count);
        queue = ln_queue_enqueue(queue, (void *)count);
    }
    for (intptr_t i = 0; i < count && same; i++)
        same = is_queue ? ln_queue_dequeue(queue) == (void *)i
                        : ln_stack_pop(stack) == (void *)(count - 1 - i);
    ln_stack_free(stack);
    ln_queue_free(queue);
    return same || wrong("wrong order");
}

static bool run_container(const test_case *c)
{
    if (strcmp(c->op, "hash") == 0)
        return run_hash(c);
    if (strcmp(c->op, "list") == 0)
        return run_list(c);
    if (strcmp(c->op, "stack") == 0 || strcmp(c->op, "queue") == 0)
        return run_stack_or_queue(c);
    return wrong("unknown operation");
}

// ---- Properties: sorting and picking of random numbers ----

static tl_tensor *random_tensor(const test_case *c, int len, tl_dtype dtype)
{
    tl_tensor *given = c->inputs && at(c->inputs, 0) && ln_value_get(at(c->inputs, 0), "data")
                           ? tensor_of(at(c->inputs, 0))
                           : NULL;
    if (given)
        return given;
    tl_tensor *t = tl_tensor_zeros(1, &len, dtype);
    test_random random = {.state = 1};
    for (int i = 0; i < len; i++) {
        double value = (double)(test_random_next(&random) % 100000) - 50000;
        tl_convert(tl_padd(t->data, i, tl_size_of(dtype)), dtype, &value, TL_DOUBLE);
    }
    return t;
}

static bool is_sorted(const tl_tensor *t, tl_sort_dir dir)
{
    for (int i = 1; i < t->len; i++) {
        int order = tl_cmp(tl_padd(t->data, i - 1, tl_size_of(t->dtype)),
                           tl_padd(t->data, i, tl_size_of(t->dtype)), t->dtype);
        if (dir == TL_SORT_DIR_ASCENDING ? order > 0 : order < 0)
            return wrong("elements %d and %d are in the wrong order", i - 1, i);
    }
    return true;
}

static bool check_sort(const tl_tensor *src, tl_sort_dir dir)
{
    tl_tensor *key = tl_tensor_clone(src);
    bool same =
        (tl_tensor_sort1d(key, dir) == LN_OK || wrong_library("sort1d")) && is_sorted(key, dir);
    tl_tensor_free_data_too(key);

    key = tl_tensor_clone(src);
    tl_tensor *val = tl_tensor_arange(0, src->len, 1, TL_INT32);
    same = same && (tl_tensor_sort1d_by_key(key, val, dir) == LN_OK || wrong_library("by_key")) &&
           is_sorted(key, dir);
    // Values that followed their keys pick the sorted keys out of the unsorted ones.
    tl_tensor *picked = tl_tensor_pick1d(src, val, NULL, 1, src->len);
    same = same && (picked || wrong_library("pick1d")) &&
           (memcmp(picked->data, key->data, tl_tensor_size(key)) == 0 || wrong("values are lost"));
    tl_tensor_free_data_too(picked);
    tl_tensor_free_data_too(val);
    tl_tensor_free_data_too(key);
    return same;
}

static bool run_property(const test_case *c)
{
    if (!strstr(c->op, "sort1d") && !strstr(c->op, "pick1d"))
        return wrong("unknown operation");
    const ln_value *n = ln_value_get(c->params, "n");
    int len = n ? (int)n->number : 65536;
    const char *name = text_of(c->params, "dtype");
    tl_tensor *src = random_tensor(c, len, name ? tl_dtype_from_str(name) : TL_INT32);
    bool same = check_sort(src, TL_SORT_DIR_ASCENDING) && check_sort(src, TL_SORT_DIR_DESCENDING);
    tl_tensor_free_data_too(src);
    return same;
}

// ---- Whole models ----

static bool run_ir(const test_case *c, const char *target, const ln_text *ir)
{
    char path[] = LN_BUILD_DIR "/lightnet_stdout_XXXXXX";
    fflush(stdout);
    int saved = dup(STDOUT_FILENO), file = mkstemp(path);
    dup2(file, STDOUT_FILENO);
    ln_context *ctx = ln_context_create();
    bool same = (ln_context_init_mem(ctx, ir->bytes, ir->len, "case.json") == LN_OK &&
                 ln_context_compile(ctx, target) == LN_OK && ln_context_load(ctx, NULL) == LN_OK &&
                 ln_context_run(ctx) == LN_OK) ||
                wrong_library(target);
    fflush(stdout);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    close(file);
    char *text = NULL;
    size_t len;
    same = same && (ln_text_read_file(path, MAX_BYTES, &text, &len) == LN_OK || wrong("stdout")) &&
           expect_text(text, text_of(at(c->outputs, 0), "stdout"));
    ln_free(text);
    remove(path);
    ln_context_cleanup(ctx);
    ln_context_free(ctx);
    return same;
}

static bool run_end_to_end(const test_case *c)
{
    if (strcmp(c->op, "run_model") != 0)
        return wrong("unknown operation");
    ln_text ir = {0};
    ln_value_print(ln_value_get(at(c->inputs, 0), "ir"), &ir);
    bool same = run_ir(c, text_of(c->params, "target"), &ir) && run_ir(c, "ref", &ir);
    ln_text_deinit(&ir);
    return same;
}

// ---- All ----

static const struct {
    const char *kind;
    bool (*run)(const test_case *c);
} kinds[] = {
    {"tensor_op", run_tensor_op},
    {"scalar_convert", run_scalar_convert},
    {"scalar_elew", run_scalar_elew},
    {"text_format", run_text_format},
    {"util", run_util},
    {"mem_pool", run_mem_pool},
    {"graph", run_graph},
    {"container", run_container},
    {"property", run_property},
    {"end_to_end", run_end_to_end},
};

enum { KIND_COUNT = sizeof kinds / sizeof *kinds };

static int run_all(const ln_document *document)
{
    int passed[KIND_COUNT] = {0}, total[KIND_COUNT] = {0}, failures = 0;
    for (const ln_value *v = ln_document_root((ln_document *)(uintptr_t)document)->first; v;
         v = v->next) {
        test_case c = {
            .kind = text_of(v, "kind"),
            .op = text_of(v, "op"),
            .params = ln_value_get(v, "params"),
            .inputs = ln_value_get(v, "inputs"),
            .outputs = ln_value_get(v, "outputs"),
            .tolerance = number_of(ln_value_get(v, "tol")),
            .document = document,
        };
        int k = 0;
        while (k < KIND_COUNT && !ln_streq(kinds[k].kind, c.kind))
            k++;
        reason[0] = '\0';
        bool same = k < KIND_COUNT && c.op ? kinds[k].run(&c) : wrong("unknown kind");
        if (k < KIND_COUNT) {
            total[k]++;
            passed[k] += same;
        }
        if (!same) {
            failures++;
            print_message("%s: %s\n", text_of(v, "id"), reason);
        }
    }
    for (int k = 0; k < KIND_COUNT; k++)
        print_message("%-14s %3d of %3d\n", kinds[k].kind, passed[k], total[k]);
    return failures;
}

TEST(every_case_gives_what_it_says)
{
    char *text;
    size_t len;
    if (access(CASES_FILE, R_OK) != 0)
        SKIP("no " CASES_FILE);
    CHECK_OK(ln_arch_init());
    CHECK_OK(ln_text_read_file(CASES_FILE, MAX_BYTES, &text, &len));
    ln_document *document;
    CHECK_OK(ln_document_parse(text, len, "lightnet_cases.json", LN_DIALECT_JSON, &document));
    CHECK_EQ(run_all(document), 0);
    ln_document_destroy(document);
    ln_free(text);
    ln_arch_cleanup();
}

// The operations of which the file shows no case.
TEST(properties_hold_without_a_case)
{
    static const tl_dtype dtypes[] = {TL_INT32, TL_FLOAT, TL_INT8, TL_UINT64, TL_DOUBLE};
    ln_value nothing = {.kind = LN_VALUE_OBJECT};
    test_case c = {.op = "sort1d", .params = &nothing};
    reason[0] = '\0';
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
        tl_tensor *src = random_tensor(&c, 65536, dtypes[i]);
        if (!check_sort(src, TL_SORT_DIR_ASCENDING) || !check_sort(src, TL_SORT_DIR_DESCENDING))
            fail_msg("%s: %s", tl_dtype_name(dtypes[i]), reason);
        tl_tensor_free_data_too(src);
    }
}

TEST_LIST(every_case_gives_what_it_says, properties_hold_without_a_case)
