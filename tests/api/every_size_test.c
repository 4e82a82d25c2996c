// SPDX-License-Identifier: Apache-2.0
// A model with dynamic dimensions computes for each shape what the same model with these dimensions
// written into it does, bit for bit: that one has no template, no range and no plan but its own.
//
// Texts have `$h`, `$w`, .. where a dimension is dynamic, and the name of the symbol is the letter.

#include <lightnet/program.h>

#include "compile/instance.h"
#include "tests/api/values.h"
#include "tests/random.h"

#define MAX_SYMBOLS 3
#define MAX_TEXT    8192

#define CONSTANT(name, dims)                                                                       \
    "create(| dst=" name " | dtype=TL_FLOAT, dims=" dims ", ran=[-1, 1], data=[0], "               \
    "from_file=false);\n"

#define NUMBERS_OF(name, count, values)                                                            \
    "create(| dst=" name " | dtype=TL_INT64, dims=[" count "], ran=[0, 0], data=[" values "], "    \
    "from_file=false);\n"

#define LINE "input(| dst=x | dtype=TL_FLOAT, dims=[1, 4, $w], names=[\"\", \"\", \"w\"]);\n"
#define IMAGE                                                                                      \
    "input(| dst=x | dtype=TL_FLOAT, dims=[1, 4, $h, $w], names=[\"\", \"\", \"h\", \"w\"]);\n"
#define VOLUME                                                                                     \
    "input(| dst=x | dtype=TL_FLOAT, dims=[1, 4, $d, $h, $w], "                                    \
    "names=[\"\", \"\", \"d\", \"h\", \"w\"]);\n"

#define END "output(src=y | |);\n"

// In a text: with fixed dimensions some shapes have fewer operators, since sizes are equal by
// chance or so small that their constant is written. Templates have the general ones. Or others,
// since what outgrows the cache is computed in bands: in templates, if it does in the witness.
#define BY_CHANCE "// by chance\n"

// More shapes, and longer ranges, in the tests that take their time.
static bool is_long(void)
{
    const char *set = getenv("LN_EVERY_SIZE");
    return set && strcmp(set, "long") == 0;
}

// ---- Texts and sizes ----

typedef struct shape {
    int sizes[26]; // of symbols 'a' to 'z'
} shape;

// `text` with -1 for each symbol, or with its size where `at` is not NULL.
static const char *expand(const char *text, const shape *at, char out[MAX_TEXT])
{
    size_t used = 0;
    for (; *text; text++) {
        CHECK(used + 16 < MAX_TEXT);
        if (*text != '$')
            out[used++] = *text;
        else
            used += (size_t)sprintf(out + used, "%d", at ? at->sizes[*++text - 'a'] : -1);
        text += *text == '$'; // the letter after it
    }
    out[used] = '\0';
    return out;
}

// Small ones, even and odd, primes and powers of 2.
static shape choose_shape(test_random *random, int most)
{
    static const int sizes[] = {2, 3, 4, 5, 7, 8, 11, 13, 16, 17, 31, 32};
    shape at;
    for (int i = 0; i < 26; i++) {
        int size = sizes[test_random_below(random, sizeof sizes / sizeof sizes[0])];
        at.sizes[i] = test_random_below(random, 2) && size <= most
                          ? size
                          : 1 + (int)test_random_below(random, (size_t)most);
    }
    return at;
}

static void print_shape(const char *text, const shape *at)
{
    for (const char *s = text; (s = strchr(s, '$')); s++)
        print_message("%c=%d ", s[1], at->sizes[s[1] - 'a']);
}

// ---- Runs ----

static void fill(void *x, tl_dtype dtype, size_t count, size_t input)
{
    for (size_t k = 0; k < count && dtype == TL_FLOAT; k++)
        ((float *)x)[k] = (float)((k * 7 + input) % 23) / 23 - 0.4F;
    for (size_t k = 0; k < count && dtype == TL_UINT8; k++)
        ((uint8_t *)x)[k] = (uint8_t)(k * 37 + input);
}

static void fill_inputs(ln_context *ctx)
{
    const ln_tensor_entry *entry;
    for (size_t i = 0; (entry = ln_context_input(ctx, i)); i++) {
        void *x = malloc(tl_tensor_size(entry->tensor) + 1);
        CHECK_NOT_NULL(x);
        fill(x, entry->tensor->dtype, (size_t)entry->tensor->len, i);
        CHECK_OK(ln_context_set_data(ctx, entry->name, x));
        free(x);
    }
}

static char last_failure[512];

// The model with fixed dimensions, which has run; NULL: it takes no such shape.
static ln_context *run_fixed(const char *text, const shape *at)
{
    char fixed[MAX_TEXT];
    expand(text, at, fixed);
    ln_context *ctx = ln_context_create();
    CHECK_NOT_NULL(ctx);
    ln_status status = ln_context_init_mem(ctx, fixed, strlen(fixed), "fixed.net");
    if (status == LN_OK)
        status = ln_context_set_threads(ctx, 1);
    if (status == LN_OK)
        status = ln_context_compile(ctx, "cpu");
    if (status == LN_OK)
        status = ln_context_load(ctx, NULL);
    if (status == LN_OK)
        fill_inputs(ctx);
    if (status == LN_OK)
        status = ln_context_run(ctx);
    if (status != LN_OK) {
        snprintf(last_failure, sizeof last_failure, "%s", ln_error_message());
        ln_error_clear();
        close_context(ctx);
        return NULL;
    }
    return ctx;
}

static ln_context *open_dynamic(const char *text, const shape *at)
{
    char dynamic[MAX_TEXT];
    ln_context *ctx = open_text(expand(text, NULL, dynamic));
    CHECK_OK(ln_context_set_threads(ctx, 1));
    for (const char *s = text; at && (s = strchr(s, '$')); s++)
        CHECK_OK(ln_context_set_symbol(ctx, (char[]){s[1], '\0'}, at->sizes[s[1] - 'a']));
    return ctx;
}

// The model as it was read, dynamic and bound, on the arch that is the reference: no rewrite has
// touched it.
static void check_as_read(ln_context *fixed, const char *text, const shape *at)
{
    ln_optimize_options options = ln_optimize_options_default();
    options.stays_as_read = 1;
    ln_context *ctx = open_dynamic(text, at);
    CHECK_OK(ln_context_compile_with(ctx, "ref", &options));
    CHECK_OK(ln_context_load(ctx, NULL));
    fill_inputs(ctx);
    CHECK_OK(ln_context_run(ctx));
    const ln_tensor_entry *entry;
    for (size_t i = 0; (entry = ln_context_output(fixed, i)); i++) {
        ln_object *got, *expected;
        CHECK_OK(ln_context_get_object(fixed, entry->name, &got));
        CHECK_OK(ln_context_get_object(ctx, entry->name, &expected));
        const tl_tensor *a = ln_object_tensor(got), *b = ln_object_tensor(expected);
        CHECK_EQ(a->len, b->len);
        for (int k = 0; k < a->len && a->dtype == TL_FLOAT; k++)
            CHECK_NEAR(((const float *)a->data)[k], ((const float *)b->data)[k], 1e-4);
        ln_object_release(got);
        ln_object_release(expected);
    }
    close_context(ctx);
}

// The shapes that the inputs of `like` have.
static size_t list_shapes(const ln_context *like, ln_input_shape shapes[8])
{
    size_t count = 0;
    const ln_tensor_entry *entry;
    for (; (entry = ln_context_input(like, count)); count++) {
        CHECK(count < 8);
        shapes[count] = (ln_input_shape){
            .tname = entry->name, .ndim = entry->tensor->ndim, .dims = entry->tensor->dims};
    }
    return count;
}

typedef ln_status getter(void *of, const char *tname, ln_object **out_object);

static ln_status get_of_context(void *ctx, const char *tname, ln_object **out_object)
{
    return ln_context_get_object(ctx, tname, out_object);
}

static ln_status get_of_session(void *session, const char *tname, ln_object **out_object)
{
    return ln_session_get_object(session, tname, out_object);
}

// How a shape came to be run, for messages.
typedef struct origin {
    const char *name, *text;
    const shape *at;
} origin;

static bool has_same_value(const tl_tensor *a, const tl_tensor *b)
{
    if (a->dtype != b->dtype || a->ndim != b->ndim)
        return false;
    for (int d = 0; d < a->ndim; d++)
        if (a->dims[d] != b->dims[d])
            return false;
    return a->len == 0 || memcmp(a->data, b->data, tl_tensor_size(a)) == 0;
}

static void check_outputs(void *of, getter *get, ln_context *fixed, const origin *way)
{
    const ln_tensor_entry *entry;
    CHECK(ln_context_output(fixed, 0));
    for (size_t i = 0; (entry = ln_context_output(fixed, i)); i++) {
        ln_object *got, *expected;
        CHECK_OK(get(of, entry->name, &got));
        CHECK_OK(ln_context_get_object(fixed, entry->name, &expected));
        if (!has_same_value(ln_object_tensor(got), ln_object_tensor(expected))) {
            print_shape(way->text, way->at);
            fail_msg("%s, %s: not the value that it has with fixed dimensions in\n%s", way->name,
                     entry->name, way->text);
        }
        ln_object_release(got);
        ln_object_release(expected);
    }
}

static void check_same(ln_context *ctx, ln_context *fixed, const origin *way)
{
    fill_inputs(ctx);
    CHECK_OK(ln_context_run(ctx));
    check_outputs(ctx, get_of_context, fixed, way);
}

// ---- A model, for many shapes ----

static int compare_lines(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

// The operators but inputs, one a line and sorted, as they may have another order. Freed with free.
static char *list_ops(const ln_context *ctx)
{
    char *text, *lines[256];
    size_t len, count = 0;
    CHECK_OK(ln_context_write(ctx, "il", &text, &len));
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        CHECK(count < 256);
        if (strncmp(line, "input", 5) != 0)
            lines[count++] = line;
    }
    qsort(lines, count, sizeof *lines, compare_lines);
    char *ops = calloc(1, len + 2);
    CHECK_NOT_NULL(ops);
    for (size_t i = 0; i < count; i++)
        strcat(strcat(ops, lines[i]), "\n");
    ln_free(text);
    return ops;
}

// One of the two computes a convolution and its pooling in bands, the other one after the other:
// whether the image between them outgrows the cache is asked of the witness, and the bits are the
// same both ways.
static bool differ_in_bands(const char *got, const char *expected)
{
    static const char bands[] = "conv2d_maxpool_nhwc_cpu";
    return !strstr(got, bands) != !strstr(expected, bands);
}

static size_t banded_count; // comparisons of such pairs

static void check_same_ops(const ln_context *ctx, const ln_context *fixed, const origin *way)
{
    char *got = list_ops(ctx), *expected = list_ops(fixed);
    if (differ_in_bands(got, expected)) {
        banded_count++;
    } else if (strcmp(got, expected) != 0) {
        print_shape(way->text, way->at);
        fail_msg("%s:\n%swith fixed dimensions:\n%sof\n%s", way->name, got, expected, way->text);
    }
    free(got);
    free(expected);
}

static void check_reshaped(ln_context *ctx, ln_context *fixed, const char *text, const shape *at)
{
    ln_input_shape shapes[8];
    size_t count = list_shapes(fixed, shapes);
    CHECK_OK(ln_context_reshape(ctx, count, shapes));
    const origin way = {"reshaped", text, at};
    if (!strstr(text, BY_CHANCE))
        check_same_ops(ctx, fixed, &way);
    check_same(ctx, fixed, &way);
}

static void check_bound(ln_context *fixed, const char *text, const shape *at)
{
    ln_context *ctx = open_dynamic(text, at);
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    char *json;
    size_t len;
    CHECK_OK(ln_context_write(ctx, "ir", &json, &len));
    CHECK_OK(ln_context_load(ctx, NULL));
    check_same(ctx, fixed, &(origin){"bound", text, at});
    close_context(ctx);
    ctx = open_text(json);
    CHECK_OK(ln_context_load(ctx, NULL));
    check_same(ctx, fixed, &(origin){"written and read", text, at});
    close_context(ctx);
    ln_free(json);
}

// A clone of a reshaped context runs, and can be reshaped.
static void check_clone(const ln_context *ctx, ln_context *fixed, const origin *way)
{
    ln_context *clone;
    CHECK_OK(ln_context_clone(ctx, &clone));
    check_same(clone, fixed, way);
    check_reshaped(clone, fixed, way->text, way->at);
    close_context(clone);
}

// The number of shapes that the model takes. The first that it does makes the template.
static size_t check_shapes(const char *text, test_random *random, size_t rounds, int most)
{
    size_t taken = 0;
    ln_context *ctx = NULL;
    for (size_t i = 0; i < rounds; i++) {
        shape at = choose_shape(random, most);
        ln_context *fixed = run_fixed(text, &at);
        if (!fixed)
            continue;
        if (taken == 0 || i == rounds - 1)
            check_bound(fixed, text, &at);
        if (taken == 0)
            check_as_read(fixed, text, &at);
        if (!ctx) {
            ctx = open_dynamic(text, &at);
            CHECK_OK(ln_context_compile(ctx, "cpu"));
            CHECK_OK(ln_context_load(ctx, NULL));
        }
        check_reshaped(ctx, fixed, text, &at);
        if (taken % 4 == 1)
            check_clone(ctx, fixed, &(origin){"cloned", text, &at});
        close_context(fixed);
        taken++;
    }
    if (ctx)
        close_context(ctx);
    return taken;
}

// ---- Windows ----

static const char *const modes[] = {"auto_pad=SAME_UPPER", "auto_pad=SAME_LOWER", "auto_pad=VALID",
                                    "pads=1"};

typedef struct window {
    int axis_count, size, stride, dilation;
    const char *mode, *more; // parameters
} window;

static void add_array(char *text, const char *name, int count, int value)
{
    text += strlen(text);
    text += sprintf(text, ", %s=[", name);
    for (int i = 0; i < count; i++)
        text += sprintf(text, "%s%d", i ? ", " : "", value);
    strcpy(text, "]");
}

static void add_params(char *text, const window *w)
{
    sprintf(text + strlen(text), "since=11%s", w->more);
    add_array(text, "kernel_shape", w->axis_count, w->size);
    add_array(text, "strides", w->axis_count, w->stride);
    if (w->dilation > 1)
        add_array(text, "dilations", w->axis_count, w->dilation);
    if (strncmp(w->mode, "pads=", 5) == 0)
        add_array(text, "pads", 2 * w->axis_count, w->size > 1 ? atoi(w->mode + 5) : 0);
    else
        sprintf(text + strlen(text), ", %s", w->mode);
    strcat(text, ");\n");
}

static void begin_window(char *text, const window *w)
{
    static const char *const inputs[] = {LINE, IMAGE, VOLUME};
    strcpy(text, inputs[w->axis_count - 1]);
}

static void add_weight(char *text, const char *name, int outs, int ins, const window *w)
{
    text += strlen(text);
    text += sprintf(text, "create(| dst=%s | dtype=TL_FLOAT, dims=[%d, %d", name, outs, ins);
    for (int i = 0; i < w->axis_count; i++)
        text += sprintf(text, ", %d", w->size);
    strcpy(text, "], ran=[-1, 1], data=[0], from_file=false);\n");
}

static void make_conv(char *text, const window *w)
{
    begin_window(text, w);
    add_weight(text, "k", 8, 4, w);
    strcat(text, "Conv(X=x, W=k | Y=y | ");
    add_params(text, w);
    strcat(text, END);
}

static void make_deconv(char *text, const window *w)
{
    begin_window(text, w);
    add_weight(text, "k", 4, 8, w);
    strcat(text, "ConvTranspose(X=x, W=k | Y=y | ");
    add_params(text, w);
    strcat(text, END);
}

// Between operators that have channels last in images; those of type ConvTranspose are the same for
// all sizes.
static void make_pool(char *text, const window *w, const char *type, const char *neighbour)
{
    const window one = {w->axis_count, 1, 1, 1, "pads=0", ""};
    begin_window(text, w);
    add_weight(text, "k", 4, 4, &one);
    sprintf(text + strlen(text), "%s(X=x, W=k | Y=c | ", neighbour);
    add_params(text, &one);
    sprintf(text + strlen(text), "%s(X=c | Y=p | ", type);
    add_params(text, w);
    sprintf(text + strlen(text), "%s(X=p, W=k | Y=y | ", neighbour);
    add_params(text, &one);
    strcat(text, END);
}

static void make_lone_pool(char *text, const window *w, const char *type, const char *dtype)
{
    begin_window(text, w);
    memcpy(strstr(text, "TL_FLOAT"), dtype, strlen("TL_FLOAT"));
    sprintf(text + strlen(text), "%s(X=x | Y=y | ", type);
    add_params(text, w);
    strcat(text, END);
}

static window choose_window(test_random *random)
{
    return (window){.axis_count = 1 + (int)test_random_below(random, 10) % 3,
                    .size = 1 + (int)test_random_below(random, 7),
                    .stride = 1 + (int)test_random_below(random, 4),
                    .dilation = test_random_below(random, 4) == 0 ? 2 : 1,
                    .mode = modes[test_random_below(random, 4)],
                    .more = ""};
}

TEST(windows_have_the_paddings_of_each_size)
{
    CHECK_OK(ln_arch_init());
    test_random random = test_random_start();
    size_t taken = 0;
    for (int i = 0; i < (is_long() ? 2000 : 60); i++) {
        char text[MAX_TEXT];
        window w = choose_window(&random);
        int most = w.axis_count == 3 ? 10 : 40;
        size_t kind = test_random_below(&random, 8);
        const char *type = kind % 2 ? "MaxPool" : "AveragePool";
        if (kind > 1 && test_random_below(&random, 3) == 0)
            w.more = ", ceil_mode=1";
        if (kind == 0)
            make_conv(text, &w);
        else if (kind == 1)
            make_deconv(text, &w);
        else if (kind == 2)
            make_lone_pool(text, &w, "MaxPool", "TL_UINT8");
        else if (kind == 3)
            make_lone_pool(text, &w, type, "TL_FLOAT");
        else
            make_pool(text, &w, type, kind < 6 ? "Conv" : "ConvTranspose");
        taken += check_shapes(text, &random, 5, most);
    }
    CHECK(taken > 100);
    printf("%zu plans differ in bands\n", banded_count);
    ln_arch_cleanup();
}

static void check_sizes(const char *text, int first, int count)
{
    ln_context *ctx = open_dynamic(text, &(shape){.sizes['w' - 'a'] = 24});
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    CHECK_OK(ln_context_load(ctx, NULL));
    for (int size = first; size < first + count; size++) {
        const shape at = {.sizes['w' - 'a'] = size};
        ln_context *fixed = run_fixed(text, &at);
        CHECK_NOT_NULL(fixed);
        check_reshaped(ctx, fixed, text, &at);
        close_context(fixed);
    }
    close_context(ctx);
}

// The pooling reads every second element of what another one has made, whose sizes are odd for the
// shapes that templates are made from.
static void make_second_pool(char *text, const window *w, const char *type)
{
    const window half = {.axis_count = w->axis_count,
                         .size = 2,
                         .stride = 2,
                         .dilation = 1,
                         .mode = "pads=0",
                         .more = ""};
    begin_window(text, w);
    add_weight(text, "k", 4, 4, &(window){w->axis_count, 1, 1, 1, "", ""});
    strcat(text, "ConvTranspose(X=x, W=k | Y=c |);\nMaxPool(X=c | Y=h | ");
    add_params(text, &half);
    sprintf(text + strlen(text), "%s(X=h | Y=p | ", type);
    add_params(text, w);
    strcat(text, "ConvTranspose(X=p, W=k | Y=y |);\n" END);
}

// Each remainder of each stride, for windows that no choice of an algorithm keeps from a template.
TEST(windows_have_the_paddings_of_each_remainder)
{
    CHECK_OK(ln_arch_init());
    for (int i = 0; i < 5 * 3 * 3; i++) {
        char text[MAX_TEXT];
        const char *type = i % 2 ? "MaxPool" : "AveragePool";
        const window w = {.axis_count = 1,
                          .size = 1 + i % 5,
                          .stride = 2 + i / 5 % 3,
                          .dilation = 1,
                          .mode = i / 15 < 2 ? modes[i / 15] : "pads=0",
                          .more = i / 15 < 2 ? "" : ", ceil_mode=1"};
        make_pool(text, &w, type, "ConvTranspose");
        check_sizes(text, 12, 2 * w.stride);
        make_second_pool(text, &w, type);
        check_sizes(text, 12, 4 * w.stride);
    }
    ln_arch_cleanup();
}

// ---- Models ----

#define ROWS "input(| dst=x | dtype=TL_FLOAT, dims=[$n, 8], names=[\"n\", \"\"]);\n"

#define TOKENS "input(| dst=x | dtype=TL_FLOAT, dims=[$b, $n, 8], names=[\"b\", \"n\", \"\"]);\n"

// clang-format off

// `s` is the shape of x, `i0` to `i8` are numbers.
#define SHAPE                          \
    NUMBERS_OF("i0", "1", "0")         \
    NUMBERS_OF("i1", "1", "1")         \
    NUMBERS_OF("i2", "1", "2")         \
    NUMBERS_OF("i3", "1", "3")         \
    NUMBERS_OF("i4", "1", "4")         \
    NUMBERS_OF("i8", "1", "8")         \
    "Shape(data=x | shape=s |);\n"

// Dimension `axis` of x.
#define SIZE(name, axis) "Gather(data=s, indices=" axis " | output=" name " | axis=0);\n"

#define BY(type, c, a, b) type "(A=" a ", B=" b " | C=" c " |);\n"
#define VECTOR2(name, a, b)                                                                        \
    "Concat(inputs1=" a ", inputs2=" b " | concat_result=" name " | axis=0);\n"
#define VECTOR3(name, a, b, c)                                                                     \
    "Concat(inputs1=" a ", inputs2=" b ", inputs3=" c " | concat_result=" name " | axis=0);\n"
#define VECTOR4(name, a, b, c, d)                                                                  \
    "Concat(inputs1=" a ", inputs2=" b ", inputs3=" c ", inputs4=" d " | concat_result=" name      \
    " | axis=0);\n"
#define SCALAR(name, from)      "Squeeze(data=" from " | squeezed=" name " |);\n"
#define RESHAPE(dst, src, dims) "Reshape(data=" src ", shape=" dims " | reshaped=" dst " |);\n"
#define SLICE(dst, src, from, to, axis, step)                                                      \
    "Slice(data=" src ", starts=" from ", ends=" to ", axes=" axis ", steps=" step                 \
    " | output=" dst " |);\n"
#define FLOATS_OF(name, count, values)                                                             \
    "create(| dst=" name " | dtype=TL_FLOAT, dims=[" count "], ran=[0, 0], data=[" values "], "    \
    "from_file=false);\n"

// Between convolutions that are the same for all sizes: images have channels last there.
#define BETWEEN(nodes)                            \
    IMAGE                                         \
    CONSTANT("k", "[4, 4, 1, 1]")                 \
    "ConvTranspose(X=x, W=k | Y=c |);\n"          \
    nodes                                         \
    "ConvTranspose(X=p, W=k | Y=y |);\n"          \
    END

#define RESIZE_BY(scale, mode, more)                                        \
    BETWEEN(FLOATS_OF("scales", "4", "1, 1, " scale ", " scale)             \
            "Resize(X=c, scales=scales | Y=p | mode=" mode ", " more ");\n")

#define GRU                                                                                      \
    "input(| dst=x | dtype=TL_FLOAT, dims=[$n, $b, 8], names=[\"n\", \"b\", \"\"]);\n"          \
    CONSTANT("w", "[1, 12, 8]")                                                                  \
    CONSTANT("r", "[1, 12, 4]")                                                                  \
    "GRU(X=x, W=w, R=r | Y=y | hidden_size=4);\n"                                                \
    END

#define HEADS(name, perm)                                                                        \
    CONSTANT("w" name, "[8, 8]")                                                                 \
    "MatMul(A=x, B=w" name " | Y=" name " |);\n"                                                 \
    RESHAPE(name "s", name, "split")                                                             \
    "Transpose(data=" name "s | transposed=" name "h | perm=" perm ");\n"

#define ATTENTION                                                       \
    TOKENS SHAPE                                                        \
    SIZE("b", "i0")                                                     \
    SIZE("n", "i1")                                                     \
    VECTOR4("split", "b", "n", "i2", "i4")                              \
    VECTOR3("joined", "b", "n", "i8")                                   \
    HEADS("q", "[0, 2, 1, 3]")                                          \
    HEADS("k", "[0, 2, 3, 1]")                                          \
    HEADS("v", "[0, 2, 1, 3]")                                          \
    "MatMul(A=qh, B=kh | Y=u |);\n"                                     \
    "Softmax(input=u | output=p | axis=-1);\n"                          \
    "MatMul(A=p, B=vh | Y=o |);\n"                                      \
    "Transpose(data=o | transposed=ot | perm=[0, 2, 1, 3]);\n"          \
    RESHAPE("y", "ot", "joined")                                        \
    END

static const struct {
    const char *text, *why;
} models[] = {
    {ATTENTION,
     "attention, with shapes that are computed"},
    {GRU,
     "a step for each row"},
    {TOKENS
     CONSTANT("w", "[8, 4]")
     "Einsum(Inputs1=x, Inputs2=w, Inputs3=x | Output=y | "
     "equation=\"bnd,de,bmd->bnme\");\n"
     END,
     "labels of any length"},
    // ---- Cutting
    {ROWS
     "Split(input=x | outputs1=y, outputs2=z, outputs3=v | axis=0, num_outputs=3);\n"
     END
     "output(src=z | |);\noutput(src=v | |);\n",
     "the last part is what is left"},
    {ROWS SHAPE
     SIZE("n", "i0")
     BY("Div", "half", "n", "i2")
     BY("Sub", "rest", "n", "half")
     VECTOR2("parts", "half", "rest")
     "Split(input=x, split=parts | outputs1=y, outputs2=z | axis=0);\n"
     END
     "output(src=z | |);\n",
     "halves, of which one is larger"},
    {ROWS SHAPE
     NUMBERS_OF("big", "1", "1000000")
     NUMBERS_OF("minus", "1", "-7")
     SLICE("y", "x", "minus", "big", "i0", "i1")
     END,
     "the last 7 rows"},
    {BY_CHANCE ROWS SHAPE
     NUMBERS_OF("minus", "1", "-5")
     NUMBERS_OF("ten", "1", "10")
     SLICE("a", "x", "i0", "ten", "i0", "i1")
     SLICE("y", "a", "i0", "minus", "i0", "i1")
     END,
     "without the last 5 of the first 10"},
    {ROWS SHAPE
     NUMBERS_OF("big", "1", "1000000")
     SLICE("y", "x", "i0", "big", "i0", "i2")
     END,
     "each second row"},
    {ROWS SHAPE
     NUMBERS_OF("big", "1", "1000000")
     SLICE("y", "x", "i1", "big", "i0", "i3")
     END,
     "each third row but the first"},
    {ROWS SHAPE
     NUMBERS_OF("start", "1", "-2")
     NUMBERS_OF("end", "1", "-1000000")
     NUMBERS_OF("step", "1", "-2")
     SLICE("y", "x", "start", "end", "i0", "step")
     END,
     "backwards"},
    {ROWS SHAPE
     SIZE("n", "i0")
     BY("Div", "half", "n", "i2")
     SLICE("a", "x", "i0", "half", "i0", "i1")
     NUMBERS_OF("big", "1", "1000000")
     SLICE("c", "x", "half", "big", "i0", "i1")
     "Concat(inputs1=c, inputs2=a | concat_result=y | axis=0);\n"
     END,
     "halves change places"},
    {ROWS
     "Concat(inputs1=x, inputs2=x | concat_result=c | axis=0);\n"
     SHAPE
     SIZE("n", "i0")
     SLICE("y", "c", "i0", "n", "i0", "i1")
     END,
     "a part of a concatenation"},
    {ROWS SHAPE
     SIZE("n", "i0")
     BY("Sub", "at", "n", "i3")
     "Gather(data=x, indices=at | output=y | axis=0);\n"
     END,
     "a row from the end"},
    {ROWS
     NUMBERS_OF("at", "2", "-1, 0")
     "Gather(data=x, indices=at | output=y | axis=0);\n"
     END,
     "the last row and the first"},
    // ---- Numbers from sizes
    {ROWS SHAPE
     SIZE("n", "i0")
     BY("Mod", "over", "n", "i4")
     BY("Sub", "missing", "i4", "over")
     BY("Mod", "pad", "missing", "i4")
     VECTOR4("pads", "i0", "i0", "pad", "i0")
     "Pad(data=x, pads=pads | output=y | mode=constant);\n"
     END,
     "padded to a multiple of 4"},
    {ROWS SHAPE
     SIZE("n", "i0")
     BY("Mod", "over", "n", "i4")
     BY("Sub", "missing", "i4", "over")
     BY("Mod", "pad", "missing", "i4")
     VECTOR4("pads", "i0", "i0", "pad", "i0")
     "Pad(data=x, pads=pads | output=p | mode=constant);\n"
     NUMBERS_OF("groups", "3", "-1, 4, 8")
     RESHAPE("g", "p", "groups")
     "ReduceMean(data=g | reduced=y | axes=[1], keepdims=0, since=13);\n"
     END,
     "means of groups of 4, of which the last is padded"},
    {BY_CHANCE ROWS SHAPE
     SIZE("n", "i0")
     BY("Div", "a", "n", "i3")
     BY("Mul", "c", "a", "i3")
     SLICE("h", "x", "i0", "c", "i0", "i1")
     VECTOR3("dims", "a", "i3", "i8")
     RESHAPE("y", "h", "dims")
     END,
     "as many groups of 3 as there are"},
    {BY_CHANCE ROWS SHAPE
     SIZE("n", "i0")
     "Cast(input=n | output=f | to=1);\n"
     "Sqrt(X=f | Y=r |);\n"
     "Floor(X=r | Y=d |);\n"
     "Cast(input=d | output=side | to=7);\n"
     BY("Mul", "square", "side", "side")
     SLICE("h", "x", "i0", "square", "i0", "i1")
     VECTOR3("dims", "side", "side", "i8")
     RESHAPE("y", "h", "dims")
     END,
     "a square of rows"},
    {BY_CHANCE ROWS SHAPE
     SIZE("n", "i0")
     NUMBERS_OF("ten", "1", "10")
     "Min(data_01=n, data_02=ten | min=m |);\n"
     SLICE("y", "x", "i0", "m", "i0", "i1")
     END,
     "the first 10 rows, or all"},
    {ROWS SHAPE
     SIZE("n", "i0")
     "Mod(A=n, B=i2 | C=odd |);\n"
     "Cast(input=odd | output=f | to=1);\n"
     "Mul(A=x, B=f | C=y |);\n"
     END,
     "a factor that says whether the number of rows is odd"},
    {ROWS SHAPE
     SIZE("n", "i0")
     "Mod(A=n, B=i2 | C=odd |);\n"
     BY("Equal", "is", "odd", "i1")
     FLOATS_OF("a", "1", "3")
     FLOATS_OF("c", "1", "5")
     "Where(condition=is, X=a, Y=c | output=f |);\n"
     "Add(A=x, B=f | C=y |);\n"
     END,
     "a choice by oddness"},
    {ROWS SHAPE
     SIZE("n", "i0")
     SCALAR("m", "n")
     SCALAR("zero", "i0")
     SCALAR("two", "i2")
     "Range(start=zero, limit=m, delta=two | output=r |);\n"
     "Gather(data=x, indices=r | output=y | axis=0);\n"
     END,
     "a range with a step"},
    {ROWS SHAPE
     SIZE("n", "i0")
     VECTOR2("times", "i3", "i1")
     "Tile(input=x, repeats=times | output=t |);\n"
     BY("Mul", "m", "n", "i3")
     VECTOR2("dims", "m", "i8")
     RESHAPE("y", "t", "dims")
     END,
     "three times the rows"},
    {ROWS SHAPE
     SIZE("n", "i0")
     CONSTANT("one", "[1, 8]")
     VECTOR2("dims", "n", "i8")
     "Expand(input=one, shape=dims | output=e |);\n"
     BY("Mul", "y", "x", "e")
     END,
     "a row that is repeated"},
    {ROWS SHAPE
     SIZE("n", "i0")
     BY("Div", "half", "n", "i2")
     "TopK(X=x, K=half | Values=v, Indices=i | axis=0);\n"
     "output(src=v | |);\noutput(src=i | |);\n",
     "the larger half"},
    {BY_CHANCE ROWS SHAPE
     SIZE("n", "i0")
     NUMBERS_OF("at", "3", "0, 1, -1")
     SCALAR("depth", "n")
     FLOATS_OF("values", "2", "0, 1")
     "OneHot(indices=at, depth=depth, values=values | output=o | axis=-1);\n"
     "MatMul(A=o, B=x | Y=y |);\n"
     END,
     "rows by numbers from either end"},
    {ROWS
     "Transpose(data=x | transposed=t | perm=[1, 0]);\n"
     "MatMul(A=x, B=t | Y=m |);\n"
     "Trilu(input=m | output=u | upper=0);\n"
     "MatMul(A=u, B=x | Y=y |);\n"
     END,
     "a triangle"},
    {ROWS
     NUMBERS_OF("axis", "1", "0")
     "CumSum(x=x, axis=axis | y=y |);\n"
     END,
     "sums"},
    {ROWS
     CONSTANT("table", "[64, 8]")
     SHAPE
     SIZE("n", "i0")
     SLICE("t", "table", "i0", "n", "i0", "i1")
     BY("Add", "y", "x", "t")
     END,
     "positions from a table"},
    // ---- Images
    {RESIZE_BY("2", "\"nearest\"", "nearest_mode=floor, coordinate_transformation_mode=asymmetric"),
     "twice as large"},
    {RESIZE_BY("1.5", "\"nearest\"", "nearest_mode=floor"),
     "by a half larger: whole for even sizes"},
    {RESIZE_BY("1.25", "\"linear\"", "coordinate_transformation_mode=half_pixel"),
     "whole for multiples of 4"},
    {BETWEEN("MaxPool(X=c | Y=m | kernel_shape=[5, 5], strides=[5, 5]);\n"
             FLOATS_OF("scales", "4", "1, 1, 1.5, 1.5")
             "Resize(X=m, scales=scales | Y=p | mode=\"linear\");\n"),
     "by a half larger, after a pooling that leaves even sizes to the shapes of templates"},
    {RESIZE_BY("0.5", "\"linear\"", "coordinate_transformation_mode=align_corners"),
     "half as large"},
    {RESIZE_BY("0.6", "\"linear\"", "coordinate_transformation_mode=asymmetric"),
     "never quite whole"},
    {RESIZE_BY("1.75", "\"cubic\"", "coordinate_transformation_mode=pytorch_half_pixel"),
     "with a filter"},
    {BETWEEN("MaxPool(X=c | Y=m | kernel_shape=[2, 2], strides=[2, 2]);\n"
             "Shape(data=c | shape=s |);\n"
             "Resize(X=m, sizes=s | Y=u | mode=\"nearest\", nearest_mode=floor, "
             "coordinate_transformation_mode=asymmetric);\n"
             BY("Add", "p", "u", "c")),
     "smaller, and up to the size that was"},
    {BETWEEN("AveragePool(X=c | Y=m | kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1);\n"
             "GlobalAveragePool(X=m | Y=g |);\n"
             BY("Mul", "p", "g", "c")),
     "a pooling whose shape nobody sees outside"},
    {BETWEEN("Pad(data=c | output=d | pads=[0, 0, 1, 2, 0, 0, 0, 3], mode=reflect, since=2);\n"
             "LRN(X=d | Y=p | size=3);\n"),
     "mirrored at the ends"},
    {IMAGE SHAPE
     SIZE("h", "i2")
     SIZE("w", "i3")
     BY("Div", "hh", "h", "i2")
     BY("Div", "ww", "w", "i2")
     BY("Mul", "he", "hh", "i2")
     BY("Mul", "we", "ww", "i2")
     SLICE("c", "x", "i0", "he", "i2", "i1")
     SLICE("d", "c", "i0", "we", "i3", "i1")
     "SpaceToDepth(input=d | output=y | blocksize=2);\n"
     END,
     "blocks of 2 x 2, without what is over"},
    {LINE
     CONSTANT("k", "[4, 4, 3]")
     CONSTANT("one", "[1, 4, 1]")
     "Conv(X=x, W=k | Y=c | pads=[1, 1]);\n"
     "Shape(data=c | shape=dims |);\n"
     "Expand(input=one, shape=dims | output=e |);\n"
     BY("Add", "y", "c", "e")
     END,
     "a constant as long as a line of a convolution"},
    {"input(| dst=x | dtype=TL_FLOAT, dims=[$b, 4, 9, 9], names=[\"b\", \"\", \"\", \"\"]);\n"
     CONSTANT("k", "[8, 4, 3, 3]")
     "Conv(X=x, W=k | Y=c | auto_pad=SAME_UPPER, strides=[2, 2]);\n"
     "Relu(X=c | Y=r |);\n"
     "MaxPool(X=r | Y=p | kernel_shape=[2, 2], strides=[2, 2], auto_pad=SAME_LOWER);\n"
     "GlobalAveragePool(X=p | Y=y |);\n"
     END,
     "images in a batch"},
    {IMAGE
     CONSTANT("k", "[4, 4, 3, 3]")
     "ConvTranspose(X=x, W=k | Y=y | strides=[2, 2], "
     "pads=[1, 1, 1, 1], output_padding=[1, 1]);\n"
     END,
     "exactly twice"},
    {IMAGE
     CONSTANT("k", "[4, 4, 4, 4]")
     "ConvTranspose(X=x, W=k | Y=y | strides=[3, 3], auto_pad=SAME_LOWER);\n"
     END,
     "exactly three times"},
    {IMAGE
     CONSTANT("k", "[4, 4, 5, 5]")
     "ConvTranspose(X=x, W=k | Y=y | strides=[2, 2], output_shape=[33, 34]);\n"
     END,
     "an output that is given"},
    {IMAGE
     CONSTANT("k", "[8, 4, 3, 3]")
     FLOATS_OF("scale", "1", "0.05")
     "DynamicQuantizeLinear(x=x | y=q, y_scale=qs, y_zero_point=qz |);\n"
     "create(| dst=zero | dtype=TL_UINT8, dims=[1], ran=[0, 0], data=[128], from_file=false);\n"
     "QuantizeLinear(x=k, y_scale=scale, y_zero_point=zero | y=kq |);\n"
     "ConvInteger(x=q, w=kq, x_zero_point=qz, w_zero_point=zero | y=i | auto_pad=SAME_UPPER, "
     "strides=[2, 2]);\n"
     "Cast(input=i | output=f | to=1);\n"
     "Mul(A=f, B=scale | C=y |);\n"
     END,
     "a convolution of bytes, which has but one algorithm"},
};

// clang-format on

TEST(models_have_the_numbers_of_each_size)
{
    CHECK_OK(ln_arch_init());
    test_random random = test_random_start();
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        size_t taken = check_shapes(models[i].text, &random, is_long() ? 100 : 6, 40);
        if (taken == 0)
            fail_msg("%s: %zu shapes (%s)", models[i].why, taken, last_failure);
    }
    ln_arch_cleanup();
}

// ---- Algorithms ----

#define WEIGHT(name, dims)                                                                         \
    "create(| dst=" name " | dtype=TL_FLOAT, dims=" dims ", ran=[-0.1, 0.1], data=[0], "           \
    "from_file=false);\n"
#define CONV(dst, src, weight, more) "Conv(X=" src ", W=" weight " | Y=" dst " | " more ");\n"
#define SAME_3                       "pads=[1, 1, 1, 1]"
#define HALF                         "strides=[2, 2], " SAME_3

// clang-format off

static const struct {
    const char *text;
    int most;
    const char *why;
} chosen[] = {
    {IMAGE
     WEIGHT("one", "[32, 4, 1, 1]") WEIGHT("k", "[32, 32, 3, 3]") WEIGHT("l", "[64, 32, 3, 3]")
     CONV("a", "x", "one", "") CONV("b", "a", "k", SAME_3) "Relu(X=b | Y=c |);\n"
     CONV("y", "c", "l", SAME_3)
     END,
     90, "Winograd's algorithms"},
    {"input(| dst=x | dtype=TL_FLOAT, dims=[1, 4, $h, 24], names=[\"\", \"\", \"h\", \"\"]);\n"
     WEIGHT("one", "[32, 4, 1, 1]") WEIGHT("k", "[32, 32, 3, 3]")
     CONV("a", "x", "one", "") CONV("y", "a", "k", SAME_3)
     END,
     90, "Winograd's algorithms, by the height alone"},
    {BY_CHANCE IMAGE
     WEIGHT("one", "[32, 4, 1, 1]") WEIGHT("l", "[64, 32, 3, 3]")
     CONV("a", "x", "one", "") CONV("d", "a", "l", SAME_3)
     "MaxPool(X=d | Y=y | kernel_shape=[2, 2], strides=[2, 2]);\n"
     END,
     90, "a pooling in bands of an image that outgrows the cache, or does not"},
    {IMAGE
     WEIGHT("one", "[32, 4, 1, 1]") WEIGHT("k", "[2, 32, 3, 3]") WEIGHT("l", "[3, 32, 1, 1]")
     CONV("a", "x", "one", "") CONV("y", "a", "k", SAME_3) CONV("z", "a", "l", "")
     END "output(src=z | |);\n",
     20, "few outputs"},
    {IMAGE
     WEIGHT("one", "[32, 4, 1, 1]") WEIGHT("k", "[32, 32, 3, 3]")
     CONV("a", "x", "one", "") CONV("y", "a", "k", SAME_3)
     "MaxPool(X=a | Y=h | kernel_shape=[4, 4], strides=[4, 4]);\n" CONV("z", "h", "k", SAME_3)
     END "output(src=z | |);\n",
     60, "the same weights for images of two sizes"},
    {VOLUME
     WEIGHT("one", "[32, 4, 1, 1, 1]") WEIGHT("k", "[32, 32, 3, 3, 3]")
     CONV("a", "x", "one", "") CONV("y", "a", "k", "pads=[1, 1, 1, 1, 1, 1]")
     END,
     24, "planes of volumes"},
    {IMAGE
     WEIGHT("one", "[32, 4, 1, 1]") WEIGHT("k", "[32, 32, 3, 3]")
     FLOATS_OF("scales", "4", "1, 1, 2, 2")
     CONV("a", "x", "one", "") CONV("b", "a", "k", HALF) CONV("c", "b", "k", HALF)
     "Resize(X=c, scales=scales | Y=d | mode=\"nearest\");\n"
     "Add(A=b, B=d | C=e |);\n" CONV("y", "e", "k", SAME_3)
     END,
     72, "a half and a quarter that meet again: multiples of four only"},
    {BY_CHANCE IMAGE
     WEIGHT("one", "[96, 4, 1, 1]") WEIGHT("d", "[96, 1, 3, 3]") WEIGHT("p", "[24, 96, 1, 1]")
     CONV("a", "x", "one", "") CONV("b", "a", "d", SAME_3 ", group=96") CONV("y", "b", "p", "")
     END,
     90, "bands of an image that outgrows the cache, or does not"},
};

// clang-format on

TEST(algorithms_are_those_of_each_size)
{
    CHECK_OK(ln_arch_init());
    test_random random = test_random_start();
    for (size_t i = 0; i < sizeof chosen / sizeof chosen[0]; i++) {
        size_t taken = check_shapes(chosen[i].text, &random, is_long() ? 200 : 16, chosen[i].most);
        if (taken == 0)
            fail_msg("%s: %zu shapes (%s)", chosen[i].why, taken, last_failure);
    }
    ln_arch_cleanup();
}

// ---- Models that are never bound ----

// What makes a plan for each shape worth it.
#define BULK CONSTANT("bulk", "[66000]") "output(src=bulk | |);\n"

static ln_object *input_of(const ln_context *fixed, size_t index)
{
    const tl_tensor *like = ln_context_input(fixed, index)->tensor;
    ln_object *x = ln_object_new_tensor(like->dtype, like->ndim, like->dims, NULL);
    CHECK_NOT_NULL(x);
    fill(ln_object_tensor(x)->data, like->dtype, (size_t)like->len, index);
    return x;
}

static void check_followed(ln_context *ctx, ln_session *session, ln_context *fixed,
                           const char *text, const shape *at)
{
    for (size_t i = 0; ln_context_input(fixed, i); i++) {
        const char *name = ln_context_input(fixed, i)->name;
        ln_object *x = input_of(fixed, i);
        CHECK_OK(ln_context_set_object(ctx, name, x));
        CHECK_OK(ln_session_set_object(session, name, x));
        ln_object_release(x);
    }
    CHECK(ln_plans_follow(ctx));
    CHECK_OK(ln_context_run(ctx));
    check_outputs(ctx, get_of_context, fixed, &(origin){"followed", text, at});
    CHECK_OK(ln_session_run(session));
    check_outputs(session, get_of_session, fixed, &(origin){"followed by a session", text, at});
}

TEST(runs_that_follow_their_inputs_have_the_numbers_of_each_size)
{
    CHECK_OK(ln_arch_init());
    test_random random = test_random_start();
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        char text[MAX_TEXT], dynamic[MAX_TEXT];
        snprintf(text, sizeof text, "%s%s", models[i].text, BULK);
        ln_context *ctx = load_text(expand(text, NULL, dynamic), "cpu");
        CHECK_OK(ln_context_set_threads(ctx, 1));
        ln_program *program;
        ln_session *session;
        CHECK_OK(ln_program_create(ctx, &program));
        CHECK_OK(ln_session_create(program, &session));
        for (int round = 0; round < (is_long() ? 60 : 4); round++) {
            shape at = choose_shape(&random, 40);
            ln_context *fixed = run_fixed(text, &at);
            if (!fixed)
                continue;
            check_followed(ctx, session, fixed, text, &at);
            close_context(fixed);
        }
        ln_session_free(session);
        ln_program_release(program);
        close_context(ctx);
    }
    ln_arch_cleanup();
}

// ---- Ranges ----

// Of all symbols; a model that takes no size of 5, 6 or 7 has none.
static ln_context *open_range(const char *text, int from, int to)
{
    ln_context *ctx = open_dynamic(text, NULL);
    for (const char *s = text; (s = strchr(s, '$')); s++)
        CHECK_OK(ln_context_set_range(ctx, (char[]){s[1], '\0'}, from, to));
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    CHECK_OK(ln_context_load(ctx, NULL));
    return ctx;
}

static bool takes(const char *text, int size)
{
    shape at;
    for (int i = 0; i < 26; i++)
        at.sizes[i] = size;
    ln_context *ctx = run_fixed(text, &at);
    if (ctx)
        close_context(ctx);
    return ctx != NULL;
}

static void check_range(const char *text, test_random *random, int length, int rounds)
{
    int from = 1;
    while (!takes(text, from))
        from++;
    ln_context *ctx = open_range(text, from, from + length - 1);
    size_t peak = ln_context_range_peak_bytes(ctx, LN_MEM_CPU);
    for (int round = 0; round < rounds; round++) {
        shape at = choose_shape(random, length);
        for (int i = 0; i < 26; i++)
            at.sizes[i] += from - 1;
        ln_context *fixed = run_fixed(text, &at);
        CHECK_NOT_NULL(fixed);
        check_reshaped(ctx, fixed, text, &at);
        CHECK(ln_context_check(ctx));
        CHECK(ln_context_peak_bytes(ctx, LN_MEM_CPU) <= peak);
        close_context(fixed);
    }
    close_context(ctx);
}

TEST(ranges_have_the_numbers_of_each_size)
{
    CHECK_OK(ln_arch_init());
    test_random random = test_random_start();
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++)
        check_range(models[i].text, &random, is_long() ? 32 : 7, is_long() ? 60 : 5);
    ln_arch_cleanup();
}

// What SAME cuts off depends on the sizes then, and no rule recomputes it: refused by name, while a
// compilation of those sizes, or with sizes as they come, has the numbers.
TEST(stated_outputs_of_deconv2d_need_stated_sizes)
{
#define DECONV2D(dims, outputs) "input(| dst=x | dtype=TL_FLOAT, dims=" dims ");\n" LAYER(outputs)
#define DECONV2D_OF_DATA                                                                           \
    "input(| dst=flat | dtype=TL_FLOAT, dims=[75]);\ninput(| dst=shape | dtype=TL_INT64, "         \
    "dims=[4]);\nReshape(data=flat, shape=shape | reshaped=x |);\n" LAYER("[0, 0, 9, 9]")
#define LAYER(outputs)                                                                             \
    "create(| dst=w | dtype=TL_FLOAT, dims=[3, 4, 3, 3], ran=[-1, 1]);\n"                          \
    "create(| dst=b | dtype=TL_FLOAT, dims=[4], ran=[-1, 1]);\n"                                   \
    "deconv2d(src=x, weight=w, bias=b | dst=y | size=[3, 3], stride=[2, 2], "                      \
    "autopad=SAME_UPPER, output_dims=" outputs ");\n"
    static const struct {
        const char *text;
        ln_status status;
        const char *remedy;
    } cases[] = {
        {DECONV2D("[1, 3, -1, -1]", "[0, 0, 9, 9]"), LN_UNSUPPORTED, "give those of the inputs"},
        {DECONV2D("[1, 3, -1, 5]", "[0, 0, 9, 0]"), LN_UNSUPPORTED, "give those of the inputs"},
        {DECONV2D_OF_DATA, LN_UNSUPPORTED, "they depend on data"},
        {DECONV2D("[1, 3, 5, 5]", "[0, 0, 9, 9]"), LN_OK, NULL},
        {DECONV2D("[1, 3, -1, -1]", "[0, 0, 0, 0]"), LN_OK, NULL},
    };
    CHECK_OK(ln_arch_init());
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ln_context *ctx = ln_context_create();
        CHECK_NOT_NULL(ctx);
        CHECK_OK(ln_context_init_mem(ctx, cases[i].text, strlen(cases[i].text), "d.net"));
        ln_status status = ln_context_compile(ctx, "cpu");
        if (status != cases[i].status || (status && (!strstr(ln_error_message(), "'deconv2d0'") ||
                                                     !strstr(ln_error_message(), cases[i].remedy))))
            fail_msg("%s: %s in\n%s", ln_status_name(status), status ? ln_error_message() : "",
                     cases[i].text);
        ln_context_free(ctx);
    }
    ln_arch_cleanup();
#undef DECONV2D
#undef DECONV2D_OF_DATA
#undef LAYER
}

TEST_LIST(stated_outputs_of_deconv2d_need_stated_sizes, windows_have_the_paddings_of_each_size,
          windows_have_the_paddings_of_each_remainder, models_have_the_numbers_of_each_size,
          algorithms_are_those_of_each_size,
          runs_that_follow_their_inputs_have_the_numbers_of_each_size,
          ranges_have_the_numbers_of_each_size)
