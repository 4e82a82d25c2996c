// SPDX-License-Identifier: Apache-2.0
// Models that others have made, with dynamic dimensions: for each shape a plan from a template
// computes what a compilation of just this shape does, bit for bit.
//
// The models are found in ../shared/conformance beside the repository; without them the test is
// skipped. It looks at a few; with LN_EVERY_SIZE=long at all.

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/api/values.h"
#include "tests/random.h"

#define FOLDER      LN_SOURCE_DIR "/../shared/conformance"
#define MAX_INPUTS  32
#define MAX_SYMBOLS 32

// Models of more bytes, and shapes of more work, take too long.
#define MAX_WORK 3e9

static bool is_long(void)
{
    const char *set = getenv("LN_EVERY_SIZE");
    return set && strcmp(set, "long") == 0;
}

// ---- Shapes ----

typedef struct shapes {
    ln_input_shape inputs[MAX_INPUTS];
    int dims[MAX_INPUTS][TL_MAXDIM];
    size_t count;
    char words[256]; // of the dynamic ones
} shapes;

static int choose_size(test_random *random)
{
    static const int sizes[] = {1,  1,  2,  3,  4,  5,  7,  8,  11, 16,
                                17, 20, 32, 33, 48, 64, 80, 96, 97, 128};
    return sizes[test_random_below(random, sizeof sizes / sizeof sizes[0])];
}

typedef struct symbols {
    const char *names[MAX_SYMBOLS];
    int sizes[MAX_SYMBOLS];
    size_t count;
} symbols;

static int size_of(symbols *s, const char *name, test_random *random)
{
    for (size_t i = 0; i < s->count && name && *name; i++)
        if (strcmp(s->names[i], name) == 0)
            return s->sizes[i];
    CHECK(s->count < MAX_SYMBOLS);
    bool has_original = name && strncmp(name, "was_", 4) == 0 && test_random_below(random, 2);
    s->names[s->count] = name && *name ? name : "?";
    s->sizes[s->count] = has_original ? atoi(name + 4) : choose_size(random);
    return s->sizes[s->count++];
}

static void choose_dims(const ln_op *op, shapes *out, symbols *s, test_random *random)
{
    const ln_param_entry *dims = ln_param_list_find(op->op_arg->params, "dims");
    const ln_param_entry *names = ln_param_list_find(op->op_arg->params, "names");
    for (int d = 0; d < dims->array_len; d++) {
        int *size = &out->dims[out->count][d];
        *size = dims->value_array_int[d];
        if (*size >= 0)
            continue;
        const char *name = names && d < names->array_len ? names->value_array_string[d] : NULL;
        *size = size_of(s, name, random);
        size_t used = strlen(out->words);
        snprintf(out->words + used, sizeof out->words - used, " %s=%d", name ? name : "?", *size);
    }
}

// false: the model has no dynamic dimensions, or inputs of any rank.
static bool choose_shapes(const ln_context *model, shapes *out, test_random *random)
{
    const ln_tensor_entry *input;
    symbols s = {.count = 0};
    *out = (shapes){.count = 0};
    for (size_t i = 0; (input = ln_context_input(model, i)); i++) {
        const ln_op *op = ln_op_table_find(model->op_table, input->creater);
        const ln_param_entry *dims = op ? ln_param_list_find(op->op_arg->params, "dims") : NULL;
        const ln_param_entry *any = op ? ln_param_list_find(op->op_arg->params, "open") : NULL;
        if (!dims || (any && any->value_bool) || i == MAX_INPUTS)
            return false;
        choose_dims(op, out, &s, random);
        out->inputs[out->count] = (ln_input_shape){
            .tname = input->name, .ndim = dims->array_len, .dims = out->dims[out->count]};
        out->count++;
    }
    return s.count > 0;
}

// ---- Runs ----

static void fill_inputs(ln_context *ctx)
{
    const ln_tensor_entry *input;
    for (size_t i = 0; (input = ln_context_input(ctx, i)); i++) {
        const tl_tensor *t = input->tensor;
        size_t seed = strlen(input->name) + (unsigned char)input->name[0]; // for any order
        char *x = calloc(1, tl_tensor_size(t) + 1);
        CHECK_NOT_NULL(x);
        for (int k = 0; k < t->len; k++) {
            size_t size = tl_size_of(t->dtype);
            if (t->dtype == TL_FLOAT)
                ((float *)x)[k] = (float)(((size_t)k * 7 + seed) % 23) / 23 - 0.4F;
            else if (t->dtype == TL_INT64 || t->dtype == TL_INT32 || t->dtype == TL_BOOL)
                x[(size_t)k * size] = (char)(k % 2);
            else if (size == 1)
                x[k] = (char)(k * 37);
        }
        CHECK_OK(ln_context_set_data(ctx, input->name, x));
        free(x);
    }
}

static int want_all(void *user, const ln_firing *firing)
{
    (void)user;
    (void)firing;
    return 1;
}

// Who chooses among rewrites has them for one shape: no template.
static ln_status compile_alone(ln_context *ctx)
{
    ln_optimize_options options = ln_optimize_options_default();
    options.wants_firing = want_all;
    return ln_context_compile_with(ctx, "cpu", &options);
}

static ln_status run(ln_context *ctx)
{
    LN_TRY(ln_context_load(ctx, NULL));
    for (size_t i = 0; ln_context_input(ctx, i); i++)
        if (ln_context_input_is_open(ctx, i))
            return LN_UNSUPPORTED; // a sequence, say
    fill_inputs(ctx);
    return ln_context_run(ctx);
}

// NULL: the model does not take these shapes.
static ln_context *run_alone(const ln_context *model, const shapes *at)
{
    ln_context *ctx;
    CHECK_OK(ln_context_clone(model, &ctx));
    ln_status status = ln_context_reshape(ctx, at->count, at->inputs);
    if (status == LN_OK)
        status = compile_alone(ctx);
    if (status == LN_OK)
        status = run(ctx);
    if (status == LN_OK)
        return ctx;
    ln_error_clear();
    close_context(ctx);
    return NULL;
}

static bool has_same_value(const tl_tensor *a, const tl_tensor *b)
{
    if (a->dtype != b->dtype || a->len != b->len)
        return false;
    return a->dtype == TL_STRING || a->len == 0 || memcmp(a->data, b->data, tl_tensor_size(a)) == 0;
}

static void check_outputs(ln_context *ctx, ln_context *alone, const char *path, const shapes *at)
{
    const ln_tensor_entry *entry;
    for (size_t i = 0; (entry = ln_context_output(alone, i)); i++) {
        ln_object *got, *expected;
        CHECK_OK(ln_context_get_object(ctx, entry->name, &got));
        CHECK_OK(ln_context_get_object(alone, entry->name, &expected));
        const tl_tensor *a = ln_object_tensor(got), *b = ln_object_tensor(expected);
        if (a && b && !has_same_value(a, b))
            fail_msg("%s, %s: other numbers from a template with%s", path, entry->name, at->words);
        ln_object_release(got);
        ln_object_release(expected);
    }
}

static bool is_too_much(const ln_context *model, const shapes *at)
{
    ln_context *ctx;
    CHECK_OK(ln_context_clone(model, &ctx));
    ln_limits limits = ln_limits_default();
    limits.work = MAX_WORK;
    CHECK_OK(ln_context_set_limits(ctx, &limits));
    ln_status status = ln_context_reshape(ctx, at->count, at->inputs);
    if (status == LN_OK)
        status = ln_context_compile(ctx, "cpu");
    ln_error_clear();
    close_context(ctx);
    return status != LN_OK;
}

// One context that gets all shapes. Takes the model over.
static size_t check_model(ln_context *model, const char *path, test_random *random, int rounds)
{
    ln_context *ctx = NULL;
    shapes at;
    size_t taken = 0;
    bool is_dynamic = choose_shapes(model, &at, random);
    for (int round = 0; round < rounds && is_dynamic; round++) {
        choose_shapes(model, &at, random);
        ln_context *alone = is_too_much(model, &at) ? NULL : run_alone(model, &at);
        if (!alone)
            continue;
        if (!ctx) {
            CHECK_OK(ln_context_clone(model, &ctx));
            CHECK_OK(ln_context_reshape(ctx, at.count, at.inputs));
            CHECK_OK(ln_context_compile(ctx, "cpu"));
            CHECK_OK(ln_context_load(ctx, NULL));
        }
        CHECK_OK(ln_context_reshape(ctx, at.count, at.inputs));
        fill_inputs(ctx);
        CHECK_OK(ln_context_run(ctx));
        check_outputs(ctx, alone, path, &at);
        close_context(alone);
        taken++;
    }
    if (ctx)
        close_context(ctx);
    close_context(model);
    return taken;
}

// ---- Fixed dimensions made dynamic ----

// Equal sizes become one symbol, of which the original size is the first to be tried.
static void make_dims_dynamic(const char *line, char **at)
{
    const char *dims = strstr(line, "dims=["), *end = dims ? strchr(dims, ']') : NULL;
    int sizes[TL_MAXDIM], count = 0;
    for (const char *s = dims ? dims + strlen("dims=[") : NULL; s && s < end; count++) {
        CHECK(count < TL_MAXDIM);
        sizes[count] = (int)strtol(s, (char **)(uintptr_t)&s, 10);
        s += strspn(s, ", ");
    }
    *at += sprintf(*at, "%.*sdims=[", (int)(dims ? dims - line : 0), line);
    for (int i = 0; i < count; i++)
        *at += sprintf(*at, "%s%d", i ? ", " : "", sizes[i] > 1 ? -1 : sizes[i]);
    *at += sprintf(*at, "], names=[");
    for (int i = 0; i < count; i++)
        *at += sprintf(*at, sizes[i] > 1 ? "%s\"was_%d\"" : "%s\"\"", i ? ", " : "", sizes[i]);
    *at += sprintf(*at, "%s\n", end);
}

// NULL: it cannot be.
static ln_context *open_dynamic(const char *path)
{
    ln_context *fixed = ln_context_create(), *dynamic = NULL;
    char *text = NULL, *changed = NULL;
    size_t len;
    CHECK_NOT_NULL(fixed);
    if (ln_context_init(fixed, path) != LN_OK ||
        ln_context_write(fixed, "il", &text, &len) != LN_OK)
        goto done;
    if (strstr(text, "from_file=true"))
        goto done; // a constant that text cannot hold
    changed = malloc(len + 16384);
    CHECK_NOT_NULL(changed);
    char *at = changed;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        CHECK((size_t)(at - changed) < len + 8192);
        if (strstr(line, " input(") && strstr(line, "dims=["))
            make_dims_dynamic(line, &at);
        else
            at += sprintf(at, "%s\n", line);
    }
    dynamic = ln_context_create();
    CHECK_NOT_NULL(dynamic);
    if (ln_context_init_mem(dynamic, changed, (size_t)(at - changed), "dynamic.net") != LN_OK) {
        ln_context_free(dynamic);
        dynamic = NULL;
    }
done:
    ln_error_clear();
    free(changed);
    ln_free(text);
    close_context(fixed);
    return dynamic;
}

TEST(cases_of_operators_have_the_numbers_of_each_size)
{
    glob_t found = {0};
    (void)glob(FOLDER "/onnx/node/*/*.onnx", 0, NULL, &found);
    if (found.gl_pathc == 0) {
        print_message("SKIPPED: there are no models in " FOLDER "\n");
        globfree(&found);
        skip();
    }
    CHECK_OK(ln_arch_init());
    test_random random = test_random_start();
    size_t taken = 0, model_count = 0;
    for (size_t i = 0; i < found.gl_pathc; i += is_long() ? 1 : 40) {
        ln_context *model = open_dynamic(found.gl_pathv[i]);
        size_t count =
            model ? check_model(model, found.gl_pathv[i], &random, is_long() ? 12 : 4) : 0;
        taken += count;
        model_count += count > 0;
    }
    printf("%zu cases, %zu shapes\n", model_count, taken);
    CHECK(model_count > 10);
    globfree(&found);
    ln_arch_cleanup();
}

// ---- Models with dynamic dimensions ----

static size_t check_file(const char *path, test_random *random, int rounds)
{
    ln_context *model = ln_context_create();
    CHECK_NOT_NULL(model);
    if (ln_context_init(model, path) != LN_OK) {
        ln_error_clear();
        close_context(model);
        return 0;
    }
    size_t taken = check_model(model, path, random, rounds);
    if (taken > 0)
        printf("%s: %zu of %d shapes\n", path + strlen(FOLDER) + 1, taken, rounds);
    return taken;
}

static void find_models(glob_t *found)
{
    static const char *const patterns[] = {FOLDER "/models/*/*.onnx", FOLDER "/onnx/*/*/*.onnx",
                                           FOLDER "/onnx/*/*.onnx"};
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++)
        (void)glob(patterns[i], i > 0 ? GLOB_APPEND : 0, NULL, found);
}

TEST(models_of_others_have_the_numbers_of_each_size)
{
    glob_t found = {0};
    find_models(&found);
    if (found.gl_pathc == 0) {
        print_message("SKIPPED: there are no models in " FOLDER "\n");
        globfree(&found);
        skip();
    }
    CHECK_OK(ln_arch_init());
    test_random random = test_random_start();
    size_t taken = 0, model_count = 0;
    for (size_t i = 0; i < found.gl_pathc && (is_long() || model_count < 5); i++) {
        size_t count = check_file(found.gl_pathv[i], &random, is_long() ? 40 : 4);
        taken += count;
        model_count += count > 0;
    }
    printf("%zu models, %zu shapes\n", model_count, taken);
    CHECK(model_count > 0);
    globfree(&found);
    ln_arch_cleanup();
}

TEST_LIST(cases_of_operators_have_the_numbers_of_each_size,
          models_of_others_have_the_numbers_of_each_size)
