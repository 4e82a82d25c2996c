// SPDX-License-Identifier: Apache-2.0
// Changes the texts of parameters, whose numbers are read and written again.

#include "tests/differential/changes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/differential/draw.h"

#define MAX_NUMBERS 64

// The numbers of a parameter's text.
typedef struct numbers {
    double at[MAX_NUMBERS];
    int count;
    bool is_array;
} numbers;

// False for words, and for what has too many numbers.
static bool read_numbers(const char *text, numbers *n)
{
    n->count = 0;
    n->is_array = *text == '[';
    text += n->is_array;
    while (*text && *text != ']') {
        char *end;
        if (n->count == MAX_NUMBERS)
            return false;
        n->at[n->count++] = strtod(text, &end);
        if (end == text)
            return false;
        text = end + strspn(end, ", ");
    }
    return n->count > 0;
}

static void write_numbers(model *m, model_op *op, const char *arg_name, const numbers *n)
{
    char text[MAX_NUMBERS * 24 + 4] = "";
    size_t used = n->is_array ? (size_t)snprintf(text, sizeof text, "[") : 0;
    for (int i = 0; i < n->count; i++)
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "%s%.9g", i ? ", " : "", n->at[i]);
    if (n->is_array)
        snprintf(text + used, sizeof text - used, "]");
    model_op_set_param(m, op, arg_name, text);
}

static bool is_leaf(const model *m, const model_op *op)
{
    return op->out_count == 1 && m->tensors[op->outs[0].tensor].is_leaf;
}

static bool read_param(const model *m, const model_op *op, const char *arg_name, numbers *n)
{
    const char *text = model_op_param(m, op, arg_name);
    return text && read_numbers(text, n);
}

// ---- Sizes ----

static int draw_dim(const model *m, test_random *random)
{
    int found = 1, count = 0;
    for (int i = 0; i < m->op_count; i++) {
        numbers n;
        if (!is_leaf(m, &m->ops[i]) || !read_param(m, &m->ops[i], "dims", &n))
            continue;
        for (int d = 0; d < n.count; d++)
            if (n.at[d] > 1 && test_random_below(random, (size_t)++count) == 0)
                found = (int)n.at[d];
    }
    return found;
}

// What says the new shape of a reshape, and by which parameter; NULL: a tensor that is computed.
static model_op *find_shape(model *m, model_op *op, const char **out_param)
{
    *out_param = "dims";
    if (strcmp(op->optype, "reshape") == 0)
        return op;
    const int shape = strcmp(op->optype, "Reshape") == 0 ? model_op_in(op, "shape") : -1;
    const int maker = shape >= 0 && m->tensors[shape].is_leaf ? model_maker(m, shape) : -1;
    *out_param = "data";
    return maker >= 0 ? &m->ops[maker] : NULL;
}

// Makes the shape one of as many elements, by one of its dimensions, if that can be.
static void fit_shape(model *m, model_op *op, const char *arg_name, double len)
{
    numbers n;
    double product = 1;
    if (!read_param(m, op, arg_name, &n))
        return;
    for (int d = 0; d < n.count; d++)
        product *= n.at[d];
    for (int d = n.count - 1; d >= 0 && product > 0 && product != len; d--) {
        const double rest = product / n.at[d];
        if (fmod(len, rest) != 0)
            continue;
        n.at[d] = len / rest;
        write_numbers(m, op, arg_name, &n);
        return;
    }
}

// Reshapes that fitted other sizes.
static void fit_reshapes(model *m)
{
    for (int i = 0; i < m->op_count; i++) {
        const char *arg_name;
        model_op *says = find_shape(m, &m->ops[i], &arg_name);
        if (!says || m->ops[i].in_count == 0)
            continue;
        const int count = m->op_count;
        m->op_count = i; // what is before it
        const bool is_known = model_check(m);
        m->op_count = count;
        if (!is_known)
            return;
        fit_shape(m, says, arg_name,
                  (double)model_element_count(&m->tensors[m->ops[i].ins[0].tensor]));
    }
}

static void exchange_size(model *m, int from, int to)
{
    for (int i = 0; i < m->op_count && from != to; i++) {
        numbers n;
        model_op *op = &m->ops[i];
        if (!read_param(m, op, "dims", &n))
            continue;
        for (int d = 0; d < n.count; d++)
            n.at[d] = n.at[d] == from ? to : n.at[d];
        write_numbers(m, op, "dims", &n);
    }
    if (from != to)
        fit_reshapes(m);
}

void change_sizes(model *m, test_random *random)
{
    const int from = draw_dim(m, random), to = draw_dim(m, random);
    exchange_size(m, from, to);
}

// A leaf that has elements along one axis only, and an operator that reads it; false: none.
static bool draw_row(const model *m, test_random *random, int *out_leaf, int *out_reader)
{
    int count = 0;
    for (int i = 0; i < m->op_count; i++)
        for (int k = 0; k < m->ops[i].in_count; k++) {
            const int t = m->ops[i].ins[k].tensor, maker = model_maker(m, t);
            const model_tensor *x = &m->tensors[t];
            int longer = 0;
            for (int d = 0; d < x->ndim; d++)
                longer += x->dims[d] > 1;
            if (!x->is_leaf || maker < 0 || longer != 1 ||
                test_random_below(random, (size_t)++count) != 0)
                continue;
            *out_leaf = maker;
            *out_reader = i;
        }
    return count > 0;
}

void change_row(model *m, test_random *random)
{
    int row, reader;
    if (!draw_row(m, random, &row, &reader))
        return;
    const model_tensor *x = &m->tensors[m->ops[row].outs[0].tensor];
    const model_tensor *y = &m->tensors[m->ops[reader].outs[0].tensor];
    if (y->ndim == 0 || y->ndim > MODEL_RANK)
        return;
    const int len = (int)model_element_count(x),
              axis = (int)test_random_below(random, (size_t)y->ndim), size = y->dims[axis],
              left_out = (int)test_random_below(random, (size_t)axis + 1);
    numbers n = {.is_array = true, .count = y->ndim - left_out};
    for (int d = 0; d < n.count; d++)
        n.at[d] = d + left_out == axis ? len : 1;
    write_numbers(m, &m->ops[row], "dims", &n);
    if (size > 1)
        exchange_size(m, size, len);
}

// A leaf of two axes or more; NULL: none was drawn.
static model_op *draw_leaf(model *m, test_random *random, numbers *dims)
{
    model_op *found = NULL;
    numbers n;
    int count = 0;
    for (int i = 0; i < m->op_count; i++)
        if (is_leaf(m, &m->ops[i]) && read_param(m, &m->ops[i], "dims", &n) && n.count >= 2 &&
            test_random_below(random, (size_t)++count) == 0) {
            found = &m->ops[i];
            *dims = n;
        }
    return found;
}

void change_axes(model *m, test_random *random)
{
    numbers n;
    model_op *op = draw_leaf(m, random, &n);
    if (!op)
        return;
    const size_t a = test_random_below(random, (size_t)n.count),
                 b = test_random_below(random, (size_t)n.count);
    const double kept = n.at[a];
    n.at[a] = n.at[b];
    n.at[b] = kept;
    write_numbers(m, op, "dims", &n);
}

// ---- Numbers ----

static double moved(test_random *random, double x)
{
    switch (test_random_below(random, 8)) {
    case 0: return x + 1;
    case 1: return x - 1;
    case 2: return 2 * x;
    case 3: return x / 2;
    case 4: return 0;
    case 5: return 1;
    default: return -x;
    }
}

// Parameters of leaves but their elements say what the other ones are.
static bool may_change(const model *m, const model_op *op, const char *arg_name)
{
    return is_leaf(m, op) ? strcmp(arg_name, "data") == 0 : strcmp(arg_name, "since") != 0;
}

// [-1] becomes [-1, -2]: one axis more, as a parameter or as a constant.
static bool add_number(model *m, model_op *op, const char *arg_name, numbers *n)
{
    numbers dims;
    const bool is_constant = is_leaf(m, op);
    if (!n->is_array || n->count == 0 || n->count > 4 ||
        (is_constant && (!read_param(m, op, "dims", &dims) || dims.count != 1)))
        return false;
    n->at[n->count] = n->at[n->count - 1] + (n->at[n->count - 1] > 0 ? 1 : -1);
    n->count++;
    write_numbers(m, op, arg_name, n);
    if (is_constant) {
        dims.at[0]++;
        write_numbers(m, op, "dims", &dims);
    }
    return true;
}

void add_axis(model *m, test_random *random)
{
    model_op *found = NULL;
    const char *name = NULL;
    int count = 0;
    for (int i = 0; i < m->op_count; i++) {
        model_op *op = &m->ops[i];
        const tl_dtype dtype = m->tensors[op->outs[0].tensor].dtype;
        const bool is_list = is_leaf(m, op) && (dtype == TL_INT64 || dtype == TL_INT32);
        if ((is_list || model_op_param(m, op, "axes")) &&
            test_random_below(random, (size_t)++count) == 0) {
            found = op;
            name = is_list ? "data" : "axes";
        }
    }
    numbers n;
    if (found && read_param(m, found, name, &n))
        (void)add_number(m, found, name, &n);
}

void change_number(model *m, test_random *random)
{
    for (int tries = 0; tries < 20; tries++) {
        model_op *op = &m->ops[test_random_below(random, (size_t)m->op_count)];
        if (op->param_count == 0)
            continue;
        const model_param *param = &op->params[test_random_below(random, (size_t)op->param_count)];
        const char *text = m->arena + param->value;
        numbers n;
        if (!may_change(m, op, param->arg_name))
            continue;
        if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0) {
            model_op_set_param(m, op, param->arg_name, *text == 't' ? "false" : "true");
            return;
        }
        if (!read_numbers(text, &n))
            continue;
        const size_t at = test_random_below(random, (size_t)n.count);
        if (chance(random, 15) && add_number(m, op, param->arg_name, &n))
            return;
        if (n.count > 1 && chance(random, 25)) { // the last one goes, or neighbours change places
            const size_t next = (at + 1) % (size_t)n.count;
            const double kept = n.at[at];
            n.at[at] = n.at[next];
            n.at[next] = kept;
            n.count -= is_leaf(m, op) && chance(random, 50);
        } else
            n.at[at] = moved(random, n.at[at]);
        write_numbers(m, op, param->arg_name, &n);
        return;
    }
}

void change_numbers(model *m, test_random *random)
{
    static const char *const names[] = {"alpha", "beta", "data", "value", "negslope"};
    const bool divides = chance(random, 25);
    for (int i = 0; i < m->op_count; i++)
        for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
            numbers n;
            if (!read_param(m, &m->ops[i], names[k], &n) || n.count != 1 || n.at[0] == 0 ||
                !chance(random, 50))
                continue;
            n.at[0] = divides ? 1 / n.at[0] : -n.at[0];
            write_numbers(m, &m->ops[i], names[k], &n);
        }
}
