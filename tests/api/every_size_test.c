// SPDX-License-Identifier: Apache-2.0
// A model with dynamic dimensions computes for each shape what the same model with these dimensions
// written into it does, bit for bit: that one has no template, no range and no plan but its own.
//
// Texts have `$h`, `$w`, .. where a dimension is dynamic, and the name of the symbol is the letter.

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

static void fill_inputs(ln_context *ctx)
{
    const ln_tensor_entry *entry;
    for (size_t i = 0; (entry = ln_context_input(ctx, i)); i++) {
        size_t count = (size_t)entry->tensor->len;
        float *x = malloc((count + 1) * sizeof *x);
        CHECK_NOT_NULL(x);
        for (size_t k = 0; k < count && entry->tensor->dtype == TL_FLOAT; k++)
            x[k] = (float)((k * 7 + i) % 23) / 23 - 0.4F;
        for (size_t k = 0; k < count && entry->tensor->dtype == TL_UINT8; k++)
            ((uint8_t *)x)[k] = (uint8_t)(k * 37 + i);
        CHECK_OK(ln_context_set_data(ctx, entry->name, x));
        free(x);
    }
}

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
    if (status != LN_OK) {
        ln_error_clear();
        close_context(ctx);
        return NULL;
    }
    fill_inputs(ctx);
    CHECK_OK(ln_context_run(ctx));
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

static void check_same(ln_context *ctx, ln_context *fixed, const char *text, const shape *at,
                       const char *way)
{
    fill_inputs(ctx);
    CHECK_OK(ln_context_run(ctx));
    const ln_tensor_entry *entry;
    CHECK(ln_context_output(fixed, 0));
    for (size_t i = 0; (entry = ln_context_output(fixed, i)); i++) {
        size_t size = ln_context_data_size(fixed, entry->name);
        if (ln_context_data_size(ctx, entry->name) == size &&
            (size == 0 || memcmp(ln_context_get_data(ctx, entry->name, NULL),
                                 ln_context_get_data(fixed, entry->name, NULL), size) == 0))
            continue;
        print_shape(text, at);
        fail_msg("%s, %s: other numbers than with fixed dimensions in\n%s", way, entry->name, text);
    }
}

// ---- A model, for many shapes ----

static void check_reshaped(ln_context *ctx, ln_context *fixed, const char *text, const shape *at)
{
    ln_input_shape shapes[8];
    size_t count = list_shapes(fixed, shapes);
    CHECK_OK(ln_context_reshape(ctx, count, shapes));
    check_same(ctx, fixed, text, at, "reshaped");
}

static void check_bound(ln_context *fixed, const char *text, const shape *at)
{
    ln_context *ctx = open_dynamic(text, at);
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    char *json;
    size_t len;
    CHECK_OK(ln_context_write(ctx, "ir", &json, &len));
    CHECK_OK(ln_context_load(ctx, NULL));
    check_same(ctx, fixed, text, at, "bound");
    close_context(ctx);
    ctx = open_text(json);
    CHECK_OK(ln_context_load(ctx, NULL));
    check_same(ctx, fixed, text, at, "written and read");
    close_context(ctx);
    ln_free(json);
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
        if (!ctx) {
            ctx = open_dynamic(text, &at);
            CHECK_OK(ln_context_compile(ctx, "cpu"));
            CHECK_OK(ln_context_load(ctx, NULL));
        }
        check_reshaped(ctx, fixed, text, &at);
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
    for (int i = 0; i < 120; i++) {
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
    CHECK(taken > 200);
    ln_arch_cleanup();
}

// Each remainder of each stride, for windows that no choice of an algorithm keeps from a template.
TEST(windows_have_the_paddings_of_each_remainder)
{
    CHECK_OK(ln_arch_init());
    for (int i = 0; i < 5 * 3 * 3; i++) {
        char text[MAX_TEXT];
        const window w = {.axis_count = 1,
                          .size = 1 + i % 5,
                          .stride = 2 + i / 5 % 3,
                          .dilation = 1,
                          .mode = i / 15 < 2 ? modes[i / 15] : "pads=0",
                          .more = i / 15 < 2 ? "" : ", ceil_mode=1"};
        make_pool(text, &w, i % 2 ? "MaxPool" : "AveragePool", "ConvTranspose");
        ln_context *ctx = open_dynamic(text, &(shape){.sizes['w' - 'a'] = 24});
        CHECK_OK(ln_context_compile(ctx, "cpu"));
        CHECK_OK(ln_context_load(ctx, NULL));
        for (int size = 12; size < 12 + 2 * w.stride; size++) {
            const shape at = {.sizes['w' - 'a'] = size};
            ln_context *fixed = run_fixed(text, &at);
            CHECK_NOT_NULL(fixed);
            check_reshaped(ctx, fixed, text, &at);
            close_context(fixed);
        }
        close_context(ctx);
    }
    ln_arch_cleanup();
}

TEST_LIST(windows_have_the_paddings_of_each_size, windows_have_the_paddings_of_each_remainder)
