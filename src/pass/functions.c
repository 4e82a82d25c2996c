// SPDX-License-Identifier: Apache-2.0
// Arithmetic on numbers and arrays, and facts about tensors.

#include "pass/functions.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include <lightnet/convdim.h>
#include <lightnet/param.h>
#include <lightnet/util.h>

#include "ir/context.h"
#include "op/activation.h"
#include "tensor/elem.h"

#define FUNCTION(name)                                                                             \
    bool ln_function_##name(const ln_context *ctx, const ln_expr_value *args,                      \
                            double buffer[LN_RULE_MAX_ELEMENTS], ln_expr_value *out)
#define UNUSED() ((void)ctx, (void)buffer)

// ---- Results ----

static bool give(ln_expr_value *out, double number)
{
    *out = (ln_expr_value){.kind = LN_RULE_NUMBER, .number = number};
    return isfinite(number);
}

static bool give_array(ln_expr_value *out, const double *buffer, size_t count)
{
    *out = (ln_expr_value){.kind = LN_RULE_ARRAY, .numbers = buffer, .count = count};
    for (size_t i = 0; i < count; i++)
        if (!isfinite(buffer[i]))
            return false;
    return true;
}

// A number that counts or numbers something, below `limit`.
static bool to_index(double number, size_t limit, size_t *out_index)
{
    bool is_index = number >= 0 && number < (double)limit && number == floor(number);
    *out_index = is_index ? (size_t)number : 0;
    return is_index;
}

// ---- Element by element ----

static double element(const ln_expr_value *value, size_t i)
{
    return value->kind == LN_RULE_ARRAY ? value->numbers[i] : value->number;
}

static bool map(const ln_expr_value *a, double (*function)(double), double *buffer,
                ln_expr_value *out)
{
    if (a->kind == LN_RULE_NUMBER)
        return give(out, function(a->number));
    if (a->count > LN_RULE_MAX_ELEMENTS)
        return false;
    for (size_t i = 0; i < a->count; i++)
        buffer[i] = function(a->numbers[i]);
    return give_array(out, buffer, a->count);
}

static bool combine(const ln_expr_value *args, double (*function)(double, double), double *buffer,
                    ln_expr_value *out)
{
    const ln_expr_value *a = &args[0], *b = &args[1];
    if (a->kind == LN_RULE_NUMBER && b->kind == LN_RULE_NUMBER)
        return give(out, function(a->number, b->number));
    size_t count = a->kind == LN_RULE_ARRAY ? a->count : b->count;
    bool fits = b->kind == LN_RULE_NUMBER || b->count == count;
    if (!fits || count > LN_RULE_MAX_ELEMENTS)
        return false;
    for (size_t i = 0; i < count; i++)
        buffer[i] = function(element(a, i), element(b, i));
    return give_array(out, buffer, count);
}

static double add(double a, double b)
{
    return a + b;
}

static double sub(double a, double b)
{
    return a - b;
}

static double mul(double a, double b)
{
    return a * b;
}

static double divide(double a, double b)
{
    return b != 0 ? a / b : NAN;
}

static double negate(double a)
{
    return -a;
}

FUNCTION(add)
{
    UNUSED();
    return combine(args, add, buffer, out);
}

FUNCTION(sub)
{
    UNUSED();
    return combine(args, sub, buffer, out);
}

FUNCTION(mul)
{
    UNUSED();
    return combine(args, mul, buffer, out);
}

FUNCTION(div)
{
    UNUSED();
    return combine(args, divide, buffer, out);
}

FUNCTION(min)
{
    UNUSED();
    return combine(args, fmin, buffer, out);
}

FUNCTION(max)
{
    UNUSED();
    return combine(args, fmax, buffer, out);
}

FUNCTION(neg)
{
    UNUSED();
    return map(args, negate, buffer, out);
}

FUNCTION(factor)
{
    UNUSED();
    if (ln_streq(args[0].string, "TL_MUL"))
        return give(out, args[1].number);
    return ln_streq(args[0].string, "TL_DIV") && args[1].number != 0 &&
           give(out, 1 / args[1].number);
}

FUNCTION(floor)
{
    UNUSED();
    return map(args, floor, buffer, out);
}

// ---- Arrays ----

FUNCTION(at)
{
    UNUSED();
    size_t i;
    return to_index(args[1].number, args[0].count, &i) && give(out, args[0].numbers[i]);
}

FUNCTION(index)
{
    UNUSED();
    double i = args[0].number, count = args[1].number;
    double from_start = i < 0 ? i + count : i;
    return from_start >= 0 && from_start < count && from_start == floor(from_start) &&
           give(out, from_start);
}

FUNCTION(sum)
{
    UNUSED();
    double sum = 0;
    for (size_t i = 0; i < args[0].count; i++)
        sum += args[0].numbers[i];
    return give(out, sum);
}

FUNCTION(product)
{
    UNUSED();
    double product = 1;
    for (size_t i = 0; i < args[0].count; i++)
        product *= args[0].numbers[i];
    return give(out, product);
}

FUNCTION(length)
{
    UNUSED();
    return give(out, (double)args[0].count);
}

FUNCTION(join)
{
    UNUSED();
    size_t first = args[0].count, second = args[1].count;
    if (first > LN_RULE_MAX_ELEMENTS || second > LN_RULE_MAX_ELEMENTS - first)
        return false;
    for (size_t i = 0; i < first + second; i++)
        buffer[i] = i < first ? args[0].numbers[i] : args[1].numbers[i - first];
    return give_array(out, buffer, first + second);
}

FUNCTION(part)
{
    UNUSED();
    size_t from, count;
    if (!to_index(args[1].number, args[0].count + 1, &from) ||
        !to_index(args[2].number, args[0].count - from + 1, &count) || count > LN_RULE_MAX_ELEMENTS)
        return false;
    for (size_t i = 0; i < count; i++)
        buffer[i] = args[0].numbers[from + i];
    return give_array(out, buffer, count);
}

FUNCTION(with)
{
    UNUSED();
    size_t index;
    if (args[0].count > LN_RULE_MAX_ELEMENTS || !to_index(args[1].number, args[0].count, &index))
        return false;
    for (size_t i = 0; i < args[0].count; i++)
        buffer[i] = i == index ? args[2].number : args[0].numbers[i];
    return give_array(out, buffer, args[0].count);
}

static bool copy_array(const ln_expr_value *array, double *buffer, ln_expr_value *out)
{
    if (array->count > LN_RULE_MAX_ELEMENTS)
        return false;
    for (size_t i = 0; i < array->count; i++)
        buffer[i] = array->numbers[i];
    return give_array(out, buffer, array->count);
}

FUNCTION(unless)
{
    UNUSED();
    bool differs = false;
    for (size_t i = 0; i < args[0].count; i++)
        differs = differs || args[0].numbers[i] != args[1].number;
    return differs ? copy_array(&args[0], buffer, out) : give_array(out, buffer, 0);
}

FUNCTION(otherwise)
{
    UNUSED();
    return copy_array(args[0].count > 0 ? &args[0] : &args[1], buffer, out);
}

FUNCTION(iota)
{
    UNUSED();
    size_t count;
    if (!to_index(args[0].number, LN_RULE_MAX_ELEMENTS + 1, &count))
        return false;
    for (size_t i = 0; i < count; i++)
        buffer[i] = (double)i;
    return give_array(out, buffer, count);
}

FUNCTION(pads)
{
    UNUSED();
    size_t count = args[1].count, ndim, axis;
    if (args[0].count != 2 * count || !to_index(args[2].number, TL_MAXDIM + 1, &ndim))
        return false;
    memset(buffer, 0, 2 * ndim * sizeof *buffer);
    for (size_t i = 0; i < count; i++) {
        double at = args[1].numbers[i];
        if (!to_index(at < 0 ? at + (double)ndim : at, ndim, &axis))
            return false;
        buffer[axis] = args[0].numbers[i];
        buffer[ndim + axis] = args[0].numbers[count + i];
    }
    return give_array(out, buffer, 2 * ndim);
}

FUNCTION(compose)
{
    UNUSED();
    size_t count = args[0].count;
    if (count != args[1].count || count > LN_RULE_MAX_ELEMENTS)
        return false;
    for (size_t i = 0; i < count; i++) {
        size_t axis;
        if (!to_index(args[1].numbers[i], count, &axis))
            return false;
        buffer[i] = args[0].numbers[axis];
    }
    return give_array(out, buffer, count);
}

FUNCTION(inverse)
{
    UNUSED();
    size_t count = args[0].count;
    if (count > LN_RULE_MAX_ELEMENTS)
        return false;
    for (size_t i = 0; i < count; i++)
        buffer[i] = NAN;
    for (size_t i = 0; i < count; i++) {
        size_t axis;
        if (!to_index(args[0].numbers[i], count, &axis))
            return false;
        buffer[axis] = (double)i;
    }
    return give_array(out, buffer, count); // an axis that is there twice leaves a NaN
}

// ---- Activations ----

FUNCTION(onnx_act)
{
    UNUSED();
    ln_activation meant;
    int number_count;
    if (!ln_activation_from_onnx(args[0].string, &meant, &number_count))
        return false;
    *out = (ln_expr_value){.kind = LN_RULE_STRING, .string = ln_act_name(meant.act)};
    return true;
}

FUNCTION(onnx_act_number)
{
    UNUSED();
    ln_activation meant;
    int number_count;
    size_t i;
    if (!to_index(args[2].number, 2, &i) ||
        !ln_activation_from_onnx(args[0].string, &meant, &number_count))
        return false;
    double usual = i == 0 ? meant.alpha : meant.beta;
    return give(out, i < args[1].count ? args[1].numbers[i] : usual);
}

// ---- Equations of two terms ----

typedef struct term {
    size_t count;
    char letters[TL_MAXDIM];
} term;

// Two terms and the output.
typedef term equation[3];

static bool has(const term *t, char letter)
{
    return memchr(t->letters, letter, t->count) != NULL;
}

// False: the equation has other terms, no output, a letter twice in a term, or anything but
// letters.
static bool read_equation(const char *text, equation e)
{
    size_t at = 0;
    memset(e, 0, sizeof(equation));
    for (; *text; text++) {
        const bool is_letter = (*text | 32) >= 'a' && (*text | 32) <= 'z';
        if (is_letter && e[at].count < TL_MAXDIM && !has(&e[at], *text))
            e[at].letters[e[at].count++] = *text;
        else if (at == 0 && *text == ',')
            at = 1;
        else if (at == 1 && *text == '-' && text[1] == '>')
            at = 2;
        else if (*text != ' ' && !(at == 2 && *text == '>' && text[-1] == '-'))
            return false;
    }
    return at == 2;
}

typedef enum role { BATCH, ROW, COLUMN, SUMMED, ROLES } role;

static role role_of(const equation e, char letter)
{
    static const role roles[] = {ROLES, ROLES, ROLES, SUMMED, ROLES, ROW, COLUMN, BATCH};
    return roles[has(&e[0], letter) | has(&e[1], letter) << 1 | has(&e[2], letter) << 2];
}

// Of the letters of a role, in the order of term `by`, the positions in term `in`.
static size_t add_positions(const equation e, role of, size_t by, size_t in, double *buffer,
                            size_t count)
{
    for (size_t i = 0; i < e[by].count; i++) {
        const char letter = e[by].letters[i];
        if (role_of(e, letter) == of)
            buffer[count++] =
                (double)((const char *)memchr(e[in].letters, letter, e[in].count) - e[in].letters);
    }
    return count;
}

FUNCTION(term_axes)
{
    equation e;
    size_t of;
    (void)ctx;
    if (!read_equation(args[0].string, e) || !to_index(args[1].number, 3, &of))
        return false;
    size_t count = add_positions(e, BATCH, 2, of, buffer, 0);
    if (of != 1)
        count = add_positions(e, ROW, 2, of, buffer, count);
    if (of != 2)
        count = add_positions(e, SUMMED, 0, of, buffer, count);
    if (of != 0)
        count = add_positions(e, COLUMN, 2, of, buffer, count);
    return count == e[of].count && give_array(out, buffer, count);
}

FUNCTION(letters)
{
    equation e;
    double positions[TL_MAXDIM];
    (void)ctx;
    if (!read_equation(args[0].string, e))
        return false;
    for (int i = BATCH; i < ROLES; i++)
        buffer[i] = (double)add_positions(e, (role)i, i == SUMMED ? 0 : 2, i == SUMMED ? 0 : 2,
                                          positions, 0);
    return give_array(out, buffer, ROLES);
}

// Integers, `count` of them or, for none, ones.
static bool to_ints(const ln_expr_value *arg, size_t count, int *out)
{
    if (arg->count != count && arg->count != 0)
        return false;
    for (size_t i = 0; i < count; i++) {
        size_t whole = 1;
        if (arg->count > 0 && !to_index(arg->numbers[i], INT_MAX, &whole))
            return false;
        out[i] = (int)whole;
    }
    return true;
}

FUNCTION(autopad)
{
    UNUSED();
    enum { MAX_AXES = TL_MAXDIM - 2 };
    int windows[3][MAX_AXES], in[MAX_AXES], padding[2 * MAX_AXES];
    size_t count = args[1].count;
    if (count > MAX_AXES || args[0].count != count + 2)
        return false;
    const ln_expr_value spatial = {.numbers = args[0].numbers + 2, .count = count};
    for (size_t i = 0; i < 3; i++)
        if (!to_ints(&args[1 + i], count, windows[i]))
            return false;
    if (!to_ints(&spatial, count, in) ||
        ln_autopadding_conv(padding, in, windows[0], windows[1], windows[2], (int)count,
                            args[4].string) != LN_OK)
        return false;
    for (size_t i = 0; i < 2 * count; i++)
        buffer[i] = padding[i];
    return give_array(out, buffer, 2 * count);
}

// ---- Tensors ----

// None while the shape is open.
static const tl_tensor *find_tensor(const ln_context *ctx, const ln_expr_value *arg, size_t i)
{
    const ln_tensor_entry *entry =
        i < arg->count ? ln_tensor_table_find(ctx->tensor_table, arg->tensors[i]) : NULL;
    return entry && !entry->is_open ? entry->tensor : NULL;
}

FUNCTION(dtype)
{
    UNUSED();
    const tl_tensor *tensor = find_tensor(ctx, &args[0], 0);
    *out = (ln_expr_value){.kind = LN_RULE_STRING,
                           .string = tensor ? tl_dtype_name(tensor->dtype) : NULL};
    return tensor != NULL;
}

FUNCTION(dims)
{
    UNUSED();
    const tl_tensor *tensor = find_tensor(ctx, &args[0], 0);
    if (!tensor || tensor->ndim > LN_RULE_MAX_ELEMENTS)
        return false;
    for (int i = 0; i < tensor->ndim; i++)
        buffer[i] = tensor->dims[i];
    return give_array(out, buffer, (size_t)tensor->ndim);
}

FUNCTION(dim)
{
    UNUSED();
    const tl_tensor *tensor = find_tensor(ctx, &args[0], 0);
    size_t axis;
    return tensor && to_index(args[1].number, (size_t)tensor->ndim, &axis) &&
           give(out, tensor->dims[axis]);
}

FUNCTION(rank)
{
    UNUSED();
    const tl_tensor *tensor = find_tensor(ctx, &args[0], 0);
    return tensor && give(out, tensor->ndim);
}

FUNCTION(size)
{
    UNUSED();
    const tl_tensor *tensor = find_tensor(ctx, &args[0], 0);
    return tensor && give(out, (double)tensor->len);
}

FUNCTION(count)
{
    UNUSED();
    return give(out, (double)args[0].count);
}

// Over the first `count` tensors.
static bool give_total(const ln_context *ctx, const ln_expr_value *tensors, size_t count,
                       double number, ln_expr_value *out)
{
    double total = 0;
    for (size_t i = 0; i < count; i++) {
        const tl_tensor *tensor = find_tensor(ctx, tensors, i);
        size_t axis;
        if (!tensor || !to_index(number, (size_t)tensor->ndim, &axis))
            return false;
        total += tensor->dims[axis];
    }
    return give(out, total);
}

FUNCTION(total)
{
    UNUSED();
    return give_total(ctx, &args[0], args[0].count, args[1].number, out);
}

FUNCTION(offset)
{
    UNUSED();
    size_t i = 0;
    while (i < args[0].count && !ln_streq(args[0].tensors[i], args[1].tensors[0]))
        i++;
    return i < args[0].count && give_total(ctx, &args[0], i, args[2].number, out);
}

// ---- Known elements ----

// Whether `create` fills a tensor with one number, as its description alone says.
static bool find_data(const ln_op_arg *op_arg, const tl_tensor *tensor, double *out_number)
{
    const ln_param_entry *data = ln_param_list_find(op_arg->params, "data");
    const ln_param_entry *from_file = ln_param_list_find(op_arg->params, "from_file");
    const ln_param_entry *ran = ln_param_list_find(op_arg->params, "ran");
    bool is_random = ran && (ran->array_len != 2 || ran->value_array_double[0] != 0 ||
                             ran->value_array_double[1] != 0);
    if ((data && data->type != LN_PARAM_ARRAY_NUMBER) || is_random || tensor->len < 1 ||
        (from_file && from_file->value_bool))
        return false;
    int given = data ? data->array_len : 0; // the elements after them are 0
    double first = given > 0 ? data->value_array_double[0] : 0;
    for (int i = 0; i < given && i < tensor->len; i++)
        if (data->value_array_double[i] != first)
            return false;
    if (given < tensor->len && first != 0)
        return false;
    // What the element is, once it is of the tensor's type.
    unsigned char converted[16];
    return fabs(first) < 9007199254740992.0 &&
           tl_convert(converted, tensor->dtype, &first, TL_DOUBLE) == LN_OK &&
           tl_convert(out_number, TL_DOUBLE, converted, tensor->dtype) == LN_OK;
}

// Elements that were found while the model was planned.
static bool find_known(const ln_context *ctx, const char *tensor, double *numbers,
                       size_t *out_count)
{
    const ln_tensor_entry *entry = ln_tensor_table_find(ctx->tensor_table, tensor);
    *out_count = 0;
    if (!entry || !entry->known || entry->is_input || entry->is_open ||
        entry->tensor->len > LN_RULE_MAX_ELEMENTS ||
        !((LN_TYPES_NUMBER | LN_TYPE(TL_BOOL)) >> entry->tensor->dtype & 1))
        return false;
    const tl_tensor *t = entry->tensor;
    tl_tensor shown = {.dtype = t->dtype, .len = t->len, .data = (void *)(uintptr_t)entry->known};
    for (int i = 0; i < t->len; i++)
        numbers[i] = ln_elem_real(&shown, (size_t)i);
    *out_count = (size_t)t->len;
    return true;
}

static bool find_known_fill(const ln_context *ctx, const char *tensor, double *out_number)
{
    double numbers[LN_RULE_MAX_ELEMENTS];
    size_t count;
    if (!find_known(ctx, tensor, numbers, &count) || count == 0)
        return false;
    for (size_t i = 1; i < count; i++)
        if (numbers[i] != numbers[0] || !signbit(numbers[i]) != !signbit(numbers[0]))
            return false;
    *out_number = numbers[0];
    return true;
}

#define MAX_VIEWS 8
bool ln_find_fill(const ln_context *ctx, const char *tensor, double *out_number)
{
    *out_number = 0;
    if (find_known_fill(ctx, tensor, out_number))
        return true;
    for (int i = 0; i < MAX_VIEWS; i++) {
        const ln_tensor_entry *entry = ln_tensor_table_find(ctx->tensor_table, tensor);
        const ln_op *op =
            entry && entry->creater ? ln_op_table_find(ctx->op_table, entry->creater) : NULL;
        if (!op)
            return false;
        if (ln_op_is_type(op->op_arg, "zeros"))
            return true;
        if (entry->owner) {
            tensor = entry->owner;
            continue;
        }
        return ln_op_is_type(op->op_arg, "create") && !ln_op_is_input(op->op_arg) &&
               find_data(op->op_arg, entry->tensor, out_number);
    }
    return false;
}

FUNCTION(fill)
{
    UNUSED();
    double number;
    return args[0].count == 1 && ln_find_fill(ctx, args[0].tensors[0], &number) &&
           give(out, number);
}

FUNCTION(values)
{
    size_t count;
    return args[0].count == 1 && find_known(ctx, args[0].tensors[0], buffer, &count) &&
           give_array(out, buffer, count);
}

FUNCTION(values_or)
{
    size_t count;
    if (args[0].count == 1 && find_known(ctx, args[0].tensors[0], buffer, &count))
        return give_array(out, buffer, count);
    if (args[1].count > LN_RULE_MAX_ELEMENTS)
        return false;
    for (size_t i = 0; i < args[1].count; i++)
        buffer[i] = args[1].numbers[i];
    return give_array(out, buffer, args[1].count);
}

// ---- Calling ----

static bool fits(char letter, const ln_expr_value *arg)
{
    switch (letter) {
    case 'n': return arg->kind == LN_RULE_NUMBER;
    case 'a': return arg->kind == LN_RULE_ARRAY;
    case 's': return arg->kind == LN_RULE_STRING;
    case 'v': return arg->kind == LN_RULE_NUMBER || arg->kind == LN_RULE_ARRAY;
    case 't': return arg->kind == LN_RULE_NAME && arg->count == 1;
    default: return arg->kind == LN_RULE_NAME;
    }
}

bool ln_function_call(const ln_context *ctx, ln_rule_function function, const ln_expr_value *args,
                      double buffer[LN_RULE_MAX_ELEMENTS], ln_expr_value *out)
{
    static bool (*const functions[])(const ln_context *, const ln_expr_value *, double *,
                                     ln_expr_value *) = {
#define F(name, signature, sign, meaning) ln_function_##name,
#include "desc/rule_functions.inc"
#undef F
    };
    const char *signature = ln_rule_function_signature(function);
    for (size_t i = 0; signature[i] != '>'; i++)
        if (!fits(signature[i], &args[i]))
            return false;
    return functions[function](ctx, args, buffer, out);
}
