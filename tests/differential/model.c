// SPDX-License-Identifier: Apache-2.0
// Models as lists of operators: building, writing, parsing, checking.

#include "tests/differential/model.h"

#include <ctype.h>
#include <float.h>
#include <stdarg.h>
#include <string.h>

model *model_create(void)
{
    model *m = malloc(sizeof *m);
    if (m)
        model_clear(m);
    return m;
}

void model_destroy(model *m)
{
    free(m);
}

void model_clear(model *m)
{
    m->op_count = m->tensor_count = 0;
    m->arena_used = 1; // offset 0 is the empty text
    m->arena[0] = '\0';
    m->origin[0] = '\0';
    m->is_overflown = m->is_of_sizes = m->has_multiples = m->is_large = m->is_exact = false;
}

static int put_text(model *m, const char *text, size_t len)
{
    if ((size_t)m->arena_used + len + 1 > MODEL_ARENA) {
        m->is_overflown = true;
        return 0;
    }
    int at = m->arena_used;
    memcpy(m->arena + at, text, len);
    m->arena[at + (int)len] = '\0';
    m->arena_used += (int)len + 1;
    return at;
}

static void put_name(model *m, char *to, const char *from, size_t len)
{
    if (len >= MODEL_NAME) {
        m->is_overflown = true;
        len = MODEL_NAME - 1;
    }
    memcpy(to, from, len);
    to[len] = '\0';
}

static int add_tensor(model *m, const char *name)
{
    if (m->tensor_count == MODEL_TENSORS) {
        m->is_overflown = true;
        return -1;
    }
    model_tensor *t = &m->tensors[m->tensor_count];
    *t = (model_tensor){.dtype = TL_DTYPE_INVALID};
    if (name)
        put_name(m, t->name, name, strlen(name));
    else
        snprintf(t->name, sizeof t->name, "t%d", m->tensor_count);
    return m->tensor_count++;
}

model_op *model_add_op(model *m, const char *optype)
{
    if (m->op_count == MODEL_OPS) {
        m->is_overflown = true;
        m->op_count--; // the model is lost, but stays in its bounds
    }
    model_op *op = &m->ops[m->op_count++];
    op->in_count = op->out_count = op->param_count = 0;
    put_name(m, op->optype, optype, strlen(optype));
    return op;
}

static void add_arg(model *m, model_arg *args, int *count, const char *arg_name, int tensor)
{
    if (*count == MODEL_ARGS || tensor < 0) {
        m->is_overflown = true;
        return;
    }
    put_name(m, args[*count].arg_name, arg_name, strlen(arg_name));
    args[(*count)++].tensor = tensor;
}

void model_op_add_in(model *m, model_op *op, const char *arg_name, int tensor)
{
    add_arg(m, op->ins, &op->in_count, arg_name, tensor);
}

int model_op_add_out(model *m, model_op *op, const char *arg_name)
{
    int tensor = add_tensor(m, NULL);
    add_arg(m, op->outs, &op->out_count, arg_name, tensor);
    return tensor;
}

static model_param *find_param(const model_op *op, const char *arg_name)
{
    for (int i = 0; i < op->param_count; i++)
        if (strcmp(op->params[i].arg_name, arg_name) == 0)
            return (model_param *)(uintptr_t)&op->params[i];
    return NULL;
}

void model_op_set_param(model *m, model_op *op, const char *arg_name, const char *value)
{
    model_param *param = find_param(op, arg_name);
    if (!param && op->param_count == MODEL_PARAMS) {
        m->is_overflown = true;
        return;
    }
    if (!param) {
        param = &op->params[op->param_count++];
        put_name(m, param->arg_name, arg_name, strlen(arg_name));
    }
    param->value = put_text(m, value, strlen(value));
}

void model_op_drop_param(model_op *op, const char *arg_name)
{
    model_param *param = find_param(op, arg_name);
    if (param)
        *param = op->params[--op->param_count];
}

const char *model_op_param(const model *m, const model_op *op, const char *arg_name)
{
    const model_param *param = find_param(op, arg_name);
    return param ? m->arena + param->value : NULL;
}

int model_op_in(const model_op *op, const char *arg_name)
{
    for (int i = 0; i < op->in_count; i++)
        if (strcmp(op->ins[i].arg_name, arg_name) == 0)
            return op->ins[i].tensor;
    return -1;
}

int model_reader_count(const model *m, int tensor)
{
    int count = 0;
    for (int i = 0; i < m->op_count; i++)
        for (int k = 0; k < m->ops[i].in_count; k++)
            count += m->ops[i].ins[k].tensor == tensor;
    return count;
}

int model_maker(const model *m, int tensor)
{
    for (int i = 0; i < m->op_count; i++)
        for (int k = 0; k < m->ops[i].out_count; k++)
            if (m->ops[i].outs[k].tensor == tensor)
                return i;
    return -1;
}

size_t model_element_count(const model_tensor *t)
{
    size_t count = 1;
    for (int d = 0; d < t->ndim; d++)
        count *= (size_t)t->dims[d];
    return count;
}

// ---- Leaves ----

static double uniform(test_random *random, double low, double high)
{
    return low + (high - low) * (double)test_random_below(random, 1 << 20) / (1 << 20);
}

// The last ones are so large that sums and products of them are infinite in TL_FLOAT.
static double extreme(test_random *random, bool is_huge)
{
    static const double numbers[] = {0,      -0.0,  1,       -1,       1e-25,     1e-40,
                                     -1e-40, 1e-30, FLT_MIN, INFINITY, -INFINITY, NAN,
                                     6,      1e25,  1e30,    -1e30,    FLT_MAX,   -FLT_MAX};
    return numbers[test_random_below(random, is_huge ? 18 : 13)];
}

static double near_zero(test_random *random)
{
    static const double numbers[] = {0, 0, -0.0, -0.0, -0.0, 1, -1, 0.5, -0.5, 2, -2, NAN};
    return numbers[test_random_below(random, sizeof numbers / sizeof numbers[0])];
}

static double element(test_random *random, const leaf *l)
{
    if (l->fill == FILL_SAME)
        return l->low;
    if (l->fill == FILL_ZEROS)
        return near_zero(random);
    if (l->fill == FILL_EXTREMES && test_random_below(random, 4) == 0)
        return extreme(random, l->is_huge);
    if (l->fill == FILL_UNIFORM && l->low < 0 && test_random_below(random, 32) == 0)
        return test_random_below(random, 2) ? 0 : -0.0;
    double x = uniform(random, l->low, l->high);
    switch (l->fill) {
    case FILL_INTEGERS: return floor(x + 0.5);
    case FILL_HALVES: return floor(x) + 0.5;
    case FILL_POWERS: return test_random_below(random, 2) ? pow(10, x) : -pow(10, x);
    default: return x;
    }
}

// As IL and JSON have numbers.
static int print_number(char *to, size_t len, double x)
{
    if (isnan(x))
        return snprintf(to, len, "\"nan\"");
    if (isinf(x))
        return snprintf(to, len, x > 0 ? "\"inf\"" : "\"-inf\"");
    return snprintf(to, len, "%.9g", x);
}

void model_fill_leaf(model *m, model_op *op, test_random *random, const leaf *l)
{
    static char text[1 << 16];
    int len = snprintf(text, sizeof text, "[");
    size_t count = 1;
    for (int d = 0; d < l->ndim; d++) {
        len += snprintf(text + len, sizeof text - (size_t)len, "%s%d", d ? ", " : "", l->dims[d]);
        count *= (size_t)l->dims[d];
    }
    snprintf(text + len, sizeof text - (size_t)len, "]");
    model_op_set_param(m, op, "dtype", tl_dtype_name(l->dtype));
    model_op_set_param(m, op, "dims", text);

    len = snprintf(text, sizeof text, "[");
    // Elements that are not stated are 0.
    if (l->fill == FILL_SAME && !l->is_input && count > 1 && test_random_below(random, 12) == 0)
        count = 1 + test_random_below(random, count - 1);
    for (size_t i = 0; i < count && (size_t)len + 32 < sizeof text; i++) {
        len += snprintf(text + len, sizeof text - (size_t)len, i ? ", " : "");
        len += print_number(text + len, sizeof text - (size_t)len, element(random, l));
    }
    if (count == 0)
        len += snprintf(text + len, sizeof text - (size_t)len, "0");
    snprintf(text + len, sizeof text - (size_t)len, "]");
    if (!l->is_input)
        model_op_set_param(m, op, "ran", "[0, 0]");
    else
        model_op_drop_param(op, "ran");
    model_op_set_param(m, op, "data", text);
    if (!l->is_input)
        model_op_set_param(m, op, "from_file", "false");
    else
        model_op_drop_param(op, "from_file");
}

int model_add_leaf(model *m, test_random *random, const leaf *l)
{
    model_op *op = model_add_op(m, l->is_input ? "input" : "create");
    int tensor = model_op_add_out(m, op, "dst");
    if (tensor < 0)
        return -1;
    model_tensor *t = &m->tensors[tensor];
    t->dtype = l->dtype;
    t->ndim = l->ndim;
    memcpy(t->dims, l->dims, sizeof t->dims);
    t->is_leaf = true;
    t->is_input = l->is_input;
    model_fill_leaf(m, op, random, l);
    return tensor;
}

// ---- Writing ----

typedef struct writer {
    char *text;
    size_t len, size;
} writer;

static void put(writer *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void put(writer *w, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int len = w->text ? vsnprintf(w->text + w->len, w->size - w->len, fmt, args) : 0;
    va_end(args);
    if (!w->text || w->len + (size_t)len < w->size) {
        w->len += (size_t)len;
        return;
    }
    char *text = realloc(w->text, w->size = 2 * w->size + (size_t)len);
    if (!text) {
        free(w->text);
        w->text = NULL;
        return;
    }
    w->text = text;
    va_start(args, fmt);
    w->len += (size_t)vsnprintf(w->text + w->len, w->size - w->len, fmt, args);
    va_end(args);
}

static void put_args(writer *w, const model *m, const model_arg *args, int count)
{
    for (int i = 0; i < count; i++)
        put(w, "%s%s=%s", i ? ", " : "", args[i].arg_name, m->tensors[args[i].tensor].name);
}

static void put_params(writer *w, const model *m, const model_op *op)
{
    for (int p = 0; p < op->param_count; p++)
        put(w, "%s%s=%s", p ? ", " : "", op->params[p].arg_name, m->arena + op->params[p].value);
    put(w, ");\n");
}

static void put_op(writer *w, const model *m, const model_op *op)
{
    put(w, "%s(", op->optype);
    put_args(w, m, op->ins, op->in_count);
    put(w, " | ");
    put_args(w, m, op->outs, op->out_count);
    put(w, " | ");
    put_params(w, m, op);
}

static bool is_output(const model *m, int t)
{
    return !m->tensors[t].is_leaf && model_maker(m, t) >= 0 && model_reader_count(m, t) == 0;
}

char *model_write(const model *m)
{
    writer w = {.text = malloc(4096), .size = 4096};
    for (int i = 0; i < m->op_count; i++)
        put_op(&w, m, &m->ops[i]);
    for (int t = 0; t < m->tensor_count; t++)
        if (is_output(m, t))
            put(&w, "output(src=%s | |);\n", m->tensors[t].name);
    return w.text;
}

static bool is_input_op(const model_op *op)
{
    return strcmp(op->optype, "input") == 0;
}

// The outputs of a body, whose first one stands at its end again: outputs of graphs are taken by
// their places, whatever tensors they are.
static void put_outputs_of_body(writer *w, const model *m, const char *prefix)
{
    int first = -1;
    for (int t = 0; t < m->tensor_count; t++) {
        if (!is_output(m, t))
            continue;
        first = first < 0 ? t : first;
        put(w, "output(src=%s%s | |);\n", prefix, m->tensors[t].name);
    }
    put(w, "output(src=%s%s | |);\n", prefix, m->tensors[first].name);
}

char *model_write_in_branch(const model *m)
{
    writer w = {.text = malloc(4096), .size = 4096};
    for (int i = 0; i < m->op_count; i++)
        if (is_input_op(&m->ops[i]))
            put_op(&w, m, &m->ops[i]);
    put(&w, "input( | dst=is_taken | dtype=TL_BOOL, dims=[1], data=[1]);\nIf(cond=is_taken");
    for (int i = 0, number = 1; i < m->op_count; i++)
        if (is_input_op(&m->ops[i]))
            put(&w, ", capture%d=%s", number++, m->tensors[m->ops[i].outs[0].tensor].name);
    put(&w, " | ");
    int number = 1;
    for (int t = 0; t < m->tensor_count; t++)
        if (is_output(m, t))
            put(&w, "outputs%d=of_%s, ", number++, m->tensors[t].name);
    put(&w, "outputs%d=first_again | then_branch=\"taken\", else_branch=\"other\");\n", number);
    for (int t = 0; t < m->tensor_count; t++)
        if (is_output(m, t))
            put(&w, "output(src=of_%s | |);\n", m->tensors[t].name);
    put(&w, "graph taken {\n");
    for (int i = 0; i < m->op_count; i++) {
        const model_op *op = &m->ops[i];
        if (is_input_op(op))
            put(&w, "input( | dst=%s | dtype=%s, dims=%s, capture=true);\n",
                m->tensors[op->outs[0].tensor].name, model_op_param(m, op, "dtype"),
                model_op_param(m, op, "dims"));
        else
            put_op(&w, m, op);
    }
    put_outputs_of_body(&w, m, "");
    put(&w, "}\ngraph other {\n");
    for (int t = 0; t < m->tensor_count; t++)
        if (is_output(m, t))
            put(&w, "create( | dst=no_%s | dtype=%s, dims=[], data=[0]);\n", m->tensors[t].name,
                tl_dtype_name(m->tensors[t].dtype));
    put_outputs_of_body(&w, m, "no_");
    put(&w, "}\n");
    return w.text;
}

// Each output is a state that the body does not read: only its type and shape matter.
static void put_states(writer *w, const model *m)
{
    for (int t = 0; t < m->tensor_count; t++) {
        if (!is_output(m, t))
            continue;
        const model_tensor *tensor = &m->tensors[t];
        put(w, "zeros( | dst=first_%s | dtype=%s, dims=[", tensor->name,
            tl_dtype_name(tensor->dtype));
        for (int d = 0; d < tensor->ndim; d++)
            put(w, "%s%d", d ? ", " : "", tensor->dims[d]);
        put(w, "]);\n");
    }
}

static void put_loop(writer *w, const model *m)
{
    put(w, "Loop(M=trips");
    for (int t = 0, number = 1; t < m->tensor_count; t++)
        if (is_output(m, t))
            put(w, ", v_initial%d=first_%s", number++, m->tensors[t].name);
    for (int i = 0, number = 1; i < m->op_count; i++)
        if (is_input_op(&m->ops[i]))
            put(w, ", capture%d=%s", number++, m->tensors[m->ops[i].outs[0].tensor].name);
    put(w, " | ");
    int number = 1;
    for (int t = 0; t < m->tensor_count; t++)
        if (is_output(m, t))
            put(w, "v_final_and_scan_outputs%d=of_%s, ", number++, m->tensors[t].name);
    put(w, "v_final_and_scan_outputs%d=firsts | body=\"body\");\n", number);
}

// Results of all trips are joined along one more axis.
static bool can_be_joined(const model *m)
{
    for (int t = 0; t < m->tensor_count; t++)
        if (is_output(m, t) && m->tensors[t].ndim == MODEL_RANK)
            return false;
    return true;
}

char *model_write_in_loop(const model *m, int trip_count)
{
    if (!can_be_joined(m))
        return NULL;
    writer w = {.text = malloc(4096), .size = 4096};
    for (int i = 0; i < m->op_count; i++)
        if (is_input_op(&m->ops[i]))
            put_op(&w, m, &m->ops[i]);
    put(&w, "create( | dst=trips | dtype=TL_INT64, dims=[], data=[%d]);\n", trip_count);
    put_states(&w, m);
    put_loop(&w, m);
    for (int t = 0; t < m->tensor_count; t++)
        if (is_output(m, t))
            put(&w, "output(src=of_%s | |);\n", m->tensors[t].name);
    put(&w, "graph body {\ninput( | dst=trip | dtype=TL_INT64, dims=[]);\n"
            "input( | dst=goes_on | dtype=TL_BOOL, dims=[]);\n");
    for (int t = 0; t < m->tensor_count; t++)
        if (is_output(m, t))
            put(&w, "input( | dst=state_%s | dtype=%s, dims=[], open=true);\n", m->tensors[t].name,
                tl_dtype_name(m->tensors[t].dtype));
    for (int i = 0; i < m->op_count; i++) {
        const model_op *op = &m->ops[i];
        if (is_input_op(op))
            put(&w, "input( | dst=%s | dtype=%s, dims=%s, capture=true);\n",
                m->tensors[op->outs[0].tensor].name, model_op_param(m, op, "dtype"),
                model_op_param(m, op, "dims"));
        else
            put_op(&w, m, op);
    }
    put(&w, "output(src=goes_on | |);\n");
    put_outputs_of_body(&w, m, "");
    put(&w, "}\n");
    return w.text;
}

// The model's inputs with other names, and each of them `count` times in a row.
static void put_rows(writer *w, const model *m, int count)
{
    for (int i = 0; i < m->op_count; i++) {
        if (!is_input_op(&m->ops[i]))
            continue;
        const model_tensor *t = &m->tensors[m->ops[i].outs[0].tensor];
        put(w, "input( | dst=one_%s | ", t->name);
        put_params(w, m, &m->ops[i]);
        put(w, "reshape(src=one_%s | dst=row_%s | dims=[1", t->name, t->name);
        for (int d = 0; d < t->ndim; d++)
            put(w, ", %d", t->dims[d]);
        put(w, "]);\nconcat(src1=row_%s", t->name);
        for (int k = 2; k <= count; k++)
            put(w, ", src%d=row_%s", k, t->name);
        put(w, " | dst=rows_%s | axis=0);\n", t->name);
    }
}

static void put_scan(writer *w, const model *m)
{
    int number = 0, input_count = 0;
    put(w, "Scan(");
    for (int t = 0; t < m->tensor_count; t++)
        if (is_output(m, t))
            put(w, "initial_state_and_scan_inputs%d=first_%s, ", ++number, m->tensors[t].name);
    for (int i = 0; i < m->op_count; i++)
        if (is_input_op(&m->ops[i]))
            put(w, "%sinitial_state_and_scan_inputs%d=rows_%s", input_count++ ? ", " : "", ++number,
                m->tensors[m->ops[i].outs[0].tensor].name);
    put(w, " | ");
    number = 0;
    for (int t = 0; t < m->tensor_count; t++)
        if (is_output(m, t)) {
            put(w, "%sfinal_state_and_scan_outputs%d=of_%s", number ? ", " : "", number + 1,
                m->tensors[t].name);
            number++;
        }
    put(w, " | body=\"body\", num_scan_inputs=%d);\n", input_count);
}

char *model_write_in_scan(const model *m, int trip_count)
{
    bool has_inputs = false;
    for (int i = 0; i < m->op_count; i++)
        if (is_input_op(&m->ops[i])) {
            has_inputs = true;
            if (m->tensors[m->ops[i].outs[0].tensor].ndim == MODEL_RANK ||
                !model_op_param(m, &m->ops[i], "data"))
                return NULL;
        }
    if (!has_inputs || !can_be_joined(m))
        return NULL;
    writer w = {.text = malloc(4096), .size = 4096};
    put_rows(&w, m, trip_count);
    put_states(&w, m);
    put_scan(&w, m);
    for (int t = 0; t < m->tensor_count; t++)
        if (is_output(m, t))
            put(&w, "output(src=of_%s | |);\n", m->tensors[t].name);
    put(&w, "graph body {\n");
    for (int t = 0; t < m->tensor_count; t++)
        if (is_output(m, t))
            put(&w, "input( | dst=state_%s | dtype=%s, dims=[], open=true);\n", m->tensors[t].name,
                tl_dtype_name(m->tensors[t].dtype));
    for (int i = 0; i < m->op_count; i++)
        if (is_input_op(&m->ops[i]))
            put(&w, "input( | dst=%s | dtype=%s, dims=%s);\n",
                m->tensors[m->ops[i].outs[0].tensor].name, model_op_param(m, &m->ops[i], "dtype"),
                model_op_param(m, &m->ops[i], "dims"));
    for (int i = 0; i < m->op_count; i++)
        if (!is_input_op(&m->ops[i]))
            put_op(&w, m, &m->ops[i]);
    for (int t = 0; t < m->tensor_count; t++)
        if (is_output(m, t))
            put(&w, "output(src=%s | |);\n", m->tensors[t].name);
    put(&w, "}\n");
    return w.text;
}

// ---- Parsing ----

typedef struct reader {
    model *m;
    const char *at;
    bool is_wrong;
} reader;

static void skip_blanks(reader *r)
{
    for (;;) {
        while (isspace((unsigned char)*r->at))
            r->at++;
        if (r->at[0] != '/' || r->at[1] != '/')
            return;
        while (*r->at && *r->at != '\n')
            r->at++;
    }
}

static bool take(reader *r, char c)
{
    skip_blanks(r);
    if (*r->at != c)
        return false;
    r->at++;
    return true;
}

static size_t word(reader *r, const char **out_start)
{
    skip_blanks(r);
    *out_start = r->at;
    while (isalnum((unsigned char)*r->at) || strchr("_.-/", *r->at)) {
        if (!*r->at)
            break;
        r->at++;
    }
    if (r->at == *out_start)
        r->is_wrong = true;
    return (size_t)(r->at - *out_start);
}

static int tensor_named(model *m, const char *name)
{
    for (int t = 0; t < m->tensor_count; t++)
        if (strcmp(m->tensors[t].name, name) == 0)
            return t;
    return add_tensor(m, name);
}

static void parse_args(reader *r, model_arg *args, int *count)
{
    char arg_name[MODEL_NAME], name[MODEL_NAME];
    const char *start;
    for (skip_blanks(r); *r->at != '|' && !r->is_wrong; skip_blanks(r)) {
        size_t len = word(r, &start);
        put_name(r->m, arg_name, start, len);
        r->is_wrong = r->is_wrong || !take(r, '=');
        len = word(r, &start);
        put_name(r->m, name, start, len);
        add_arg(r->m, args, count, arg_name, tensor_named(r->m, name));
        if (!take(r, ','))
            break;
    }
    r->is_wrong = r->is_wrong || !take(r, '|');
}

// A value ends at a comma or bracket outside of its own brackets and strings.
static void parse_params(reader *r, model_op *op)
{
    char arg_name[MODEL_NAME];
    const char *start;
    for (skip_blanks(r); *r->at != ')' && !r->is_wrong; skip_blanks(r)) {
        size_t len = word(r, &start);
        put_name(r->m, arg_name, start, len);
        r->is_wrong = r->is_wrong || !take(r, '=');
        skip_blanks(r);
        start = r->at;
        int depth = 0;
        bool is_quoted = false;
        for (; *r->at; r->at++) {
            if (*r->at == '"')
                is_quoted = !is_quoted;
            if (!is_quoted && depth == 0 && (*r->at == ',' || *r->at == ')'))
                break;
            depth += !is_quoted && *r->at == '[';
            depth -= !is_quoted && *r->at == ']';
        }
        if (op->param_count == MODEL_PARAMS) {
            r->is_wrong = true;
            return;
        }
        model_param *param = &op->params[op->param_count++];
        put_name(r->m, param->arg_name, arg_name, strlen(arg_name));
        param->value = put_text(r->m, start, (size_t)(r->at - start));
        if (!take(r, ','))
            break;
    }
    r->is_wrong = r->is_wrong || !take(r, ')');
}

bool model_parse(model *m, const char *text)
{
    model_clear(m);
    reader r = {.m = m, .at = text};
    for (skip_blanks(&r); *r.at && !r.is_wrong && !m->is_overflown; skip_blanks(&r)) {
        const char *start;
        size_t len = word(&r, &start);
        if (take(&r, ':'))
            len = word(&r, &start);
        char optype[MODEL_NAME];
        put_name(m, optype, start, len);
        model_op *op = model_add_op(m, optype);
        r.is_wrong = r.is_wrong || !take(&r, '(');
        parse_args(&r, op->ins, &op->in_count);
        parse_args(&r, op->outs, &op->out_count);
        parse_params(&r, op);
        (void)take(&r, ';');
        if (strcmp(optype, "output") == 0) { // written anew
            m->op_count--;
            continue;
        }
        bool is_input = strcmp(optype, "input") == 0;
        for (int i = 0; i < op->out_count; i++) {
            m->tensors[op->outs[i].tensor].is_input = is_input;
            m->tensors[op->outs[i].tensor].is_leaf = is_input || strcmp(optype, "create") == 0;
        }
    }
    return !r.is_wrong && !m->is_overflown;
}

// ---- Checking ----

bool model_check(model *m)
{
    if (m->is_overflown)
        return false;
    char *text = model_write(m);
    ln_context *ctx = ln_context_create();
    bool is_taken =
        text && ctx && ln_context_init_mem(ctx, text, strlen(text), "model.net") == LN_OK;
    for (int i = 0; is_taken && i < m->tensor_count; i++) {
        model_tensor *t = &m->tensors[i];
        if (model_maker(m, i) < 0)
            continue;
        t->dtype = ln_context_tensor_dtype(ctx, t->name);
        t->ndim = ln_context_tensor_rank(ctx, t->name);
        is_taken = t->ndim >= 0 && t->ndim <= MODEL_RANK;
        for (int d = 0; is_taken && d < t->ndim; d++) {
            t->dims[d] = (int)ln_context_tensor_dim(ctx, t->name, d);
            is_taken = t->dims[d] >= 0;
        }
        is_taken = is_taken && model_element_count(t) <= (m->is_large ? 400000 : 20000);
    }
    ln_context_free(ctx);
    free(text);
    return is_taken;
}
