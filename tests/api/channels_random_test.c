// SPDX-License-Identifier: Apache-2.0
// Random networks of convolutions, concats, slices and sums of channels: `cpu` computes the same
// bits as the model as read on `ref`. Tensors are often read several times, by one operator or by
// several, where channels and sums are written in place.
//
// All numbers are small integers, so that sums are exact in any order.

#include <stdarg.h>

#include "tests/api/model.h"
#include "tests/random.h"

enum { TEXT_BYTES = 16384, MAX_TENSORS = 40, HEIGHT = 5, WIDTH = 6, MAX_CHANNELS = 24 };

typedef struct builder {
    char text[TEXT_BYTES];
    test_random source;
    int channels[MAX_TENSORS]; // of tensor t<i>, [1, channels, HEIGHT, WIDTH]
    int bounds[MAX_TENSORS];   // of the absolute values of its elements
    int count;
    int weight_count;
} builder;

static int any(builder *b, int n)
{
    return (int)test_random_below(&b->source, (uint64_t)n);
}

static void print_to(builder *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void print_to(builder *b, const char *format, ...)
{
    va_list args;
    size_t len = strlen(b->text);
    va_start(args, format);
    vsnprintf(b->text + len, sizeof b->text - len, format, args);
    va_end(args);
}

static int pick(builder *b)
{
    return any(b, 3) && b->count > 4 ? b->count - 1 - any(b, 4) : any(b, b->count);
}

static int pick_like(builder *b, int t)
{
    int i = pick(b);
    while (b->channels[i] != b->channels[t])
        i = (i + 1) % b->count;
    return i;
}

// Weights of -1, 0 and 1, few enough that no sum has more than 24 bits.
static void print_weights(builder *b, int outputs, int inputs, int size)
{
    print_to(b, "create(| dst=w%d | dtype=TL_FLOAT, dims=[%d, %d, %d, %d], data=[", b->weight_count,
             outputs, inputs, size, size);
    for (int i = 0; i < outputs * inputs * size * size; i++)
        print_to(b, "%s%d", i ? "," : "", any(b, 3) ? 0 : any(b, 3) - 1);
    print_to(b, "], ran=[0, 0]);\n");
}

static void add_conv(builder *b, int t, int n)
{
    int size = any(b, 2) ? 3 : 1, depthwise = any(b, 4) == 0, inputs = b->channels[t];
    int outputs = depthwise || any(b, 2) ? inputs : 1 + any(b, 8), has_addend = outputs == inputs;
    print_weights(b, outputs, depthwise ? 1 : inputs, size);
    print_to(b, "conv(src=t%d, weight=w%d | dst=%s%d | group=%d, padding=[%d, %d, %d, %d]%s);\n", t,
             b->weight_count, has_addend ? "c" : "t", n, depthwise ? inputs : 1, size / 2, size / 2,
             size / 2, size / 2, any(b, 2) ? "" : ", act=relu");
    b->weight_count++;
    b->channels[n] = outputs;
    b->bounds[n] = b->bounds[t] * size * size * (depthwise ? 1 : inputs);
    if (!has_addend)
        return;
    int u = any(b, 2) ? t : pick_like(b, t); // often what is convolved
    print_to(b, "elew(src1=c%d, src2=t%d | dst=t%d | elew_op=TL_SUM%s);\n", n, u, n,
             any(b, 2) ? "" : ", act=relu");
    b->bounds[n] += b->bounds[u];
}

static void add_concat(builder *b, int t, int n)
{
    int parts[3] = {t, any(b, 3) ? pick(b) : t, any(b, 3) ? pick(b) : t}, count = 2 + any(b, 2);
    b->channels[n] = b->bounds[n] = 0;
    for (int i = 0; i < count; i++) {
        b->channels[n] += b->channels[parts[i]];
        if (b->bounds[parts[i]] > b->bounds[n])
            b->bounds[n] = b->bounds[parts[i]];
    }
    if (b->channels[n] > MAX_CHANNELS)
        count = 0;
    print_to(b, count ? "concat(" : "act(src=t%d | dst=t%d | act=neg);\n", t, n);
    for (int i = 0; i < count; i++)
        print_to(b, "%ssrc%d=t%d", i ? ", " : "", i + 1, parts[i]);
    if (count) {
        print_to(b, " | dst=t%d | axis=1);\n", n);
        return;
    }
    b->channels[n] = b->channels[t];
    b->bounds[n] = b->bounds[t];
}

static void add_statement(builder *b)
{
    int t = pick(b), n = b->count, c = b->channels[t], len = 1 + any(b, c), u = pick_like(b, t);
    b->channels[n] = c;
    b->bounds[n] = b->bounds[t];
    int kind = any(b, 8);
    if (kind < 3 && (double)b->bounds[t] * 9 * c + b->bounds[u] > 1e6)
        kind = 7;
    switch (kind) {
    case 0:
    case 1:
    case 2: add_conv(b, t, n); break;
    case 3:
    case 4: add_concat(b, t, n); break;
    case 5:
        print_to(b, "slice(src=t%d | dst=t%d | axis=1, start=%d, len=%d);\n", t, n,
                 any(b, 2) ? c - len : 0, len);
        b->channels[n] = len;
        break;
    case 6:
        print_to(b,
                 "maxpool2d(src=t%d | dst=t%d | size=[3, 3], stride=[1, 1], padding=[1, 1, 1, 1], "
                 "autopad=NOTSET);\n",
                 t, n);
        break;
    default:
        print_to(b, "elew(src1=t%d, src2=t%d | dst=t%d | elew_op=TL_MAX);\n", t, u, n);
        b->bounds[n] = b->bounds[t] > b->bounds[u] ? b->bounds[t] : b->bounds[u];
    }
    b->count++;
}

static ln_context *load_as(const char *text, const char *target, int stays_as_read)
{
    ln_context *ctx = open_text(text);
    ln_optimize_options options = ln_optimize_options_default();
    options.stays_as_read = stays_as_read;
    options.avoids_winograd = !stays_as_read; // it rounds
    CHECK_OK(ln_context_compile_with(ctx, target, &options));
    CHECK_OK(ln_context_load(ctx, NULL));
    return ctx;
}

static void fill_inputs(ln_context *ctx)
{
    for (size_t k = 0; k < ln_context_input_count(ctx); k++) {
        const ln_tensor_entry *entry = ln_context_input(ctx, k);
        float data[MAX_CHANNELS * HEIGHT * WIDTH];
        if (entry->isstatic)
            continue;
        for (int i = 0; i < entry->tensor->len; i++)
            data[i] = (float)((i * 37 + entry->name[1] * 5) % 7 - 3);
        CHECK_OK(ln_context_set_data(ctx, entry->name, data));
    }
}

static size_t count_into(const ln_context *ctx)
{
    size_t count = 0;
    const ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops) {
        const ln_tensor_list_entry *in;
        LN_LIST_FOREACH (in, op->op_arg->tensors_in)
            count += strcmp(in->arg_name, "into") == 0 || strcmp(in->arg_name, "addend") == 0;
    }
    return count;
}

static const tl_tensor *find_output(const ln_context *ctx, const char *name)
{
    const ln_tensor_entry *output;
    for (size_t i = 0; (output = ln_context_output(ctx, i)); i++)
        if (strcmp(output->name, name) == 0)
            return output->tensor;
    fail_msg("'%s' is not an output", name);
    return NULL;
}

static void check_same(ln_context *a, ln_context *b, const char *text)
{
    CHECK_EQ(ln_context_output_count(a), ln_context_output_count(b));
    for (size_t k = 0; k < ln_context_output_count(a); k++) {
        const tl_tensor *s = ln_context_output(a, k)->tensor;
        const tl_tensor *t = find_output(b, ln_context_output(a, k)->name);
        const float *x = s->data, *y = t->data;
        CHECK_EQ(s->len, t->len);
        for (int i = 0; i < s->len; i++)
            if (!(x[i] == y[i]))
                fail_msg("element %d of '%s' is %g instead of %g:\n%s", i,
                         ln_context_output(a, k)->name, (double)x[i], (double)y[i], text);
    }
}

TEST(random_channels_are_exact)
{
    enum { MODELS = 150 };
    static builder b;
    size_t into_count = 0;
    CHECK_OK(ln_arch_init());
    b.source = test_random_start();
    for (int m = 0; m < MODELS; m++) {
        snprintf(b.text, sizeof b.text,
                 "input(| dst=t0 | dtype=TL_FLOAT, dims=[1, 6, %d, %d]);\n"
                 "input(| dst=t1 | dtype=TL_FLOAT, dims=[1, 3, %d, %d]);\n",
                 HEIGHT, WIDTH, HEIGHT, WIDTH);
        b.channels[0] = 6;
        b.channels[1] = 3;
        b.bounds[0] = b.bounds[1] = 3;
        b.count = 2;
        b.weight_count = 0;
        int wanted = 4 + any(&b, 14);
        while (b.count < wanted && strlen(b.text) < TEXT_BYTES / 2)
            add_statement(&b);
        ln_context *cpu = load_as(b.text, "cpu", 0), *read = load_as(b.text, "ref", 1);
        into_count += count_into(cpu);
        fill_inputs(cpu);
        fill_inputs(read);
        for (int run = 0; run < 2; run++) {
            CHECK_OK(ln_context_run(cpu));
            CHECK_OK(ln_context_run(read));
            check_same(cpu, read, b.text);
        }
        close_context(read);
        close_context(cpu);
    }
    print_message("%d models, %zu operands to extend or to add\n", MODELS, into_count);
    CHECK(into_count > MODELS / 2);
    ln_arch_cleanup();
}

TEST_LIST(random_channels_are_exact)
