// SPDX-License-Identifier: Apache-2.0
// Compiled files of models with dynamic inputs: the model as it was read and how it is compiled, so
// that whoever reads the file has what the model itself gives.

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <lightnet/program.h>

#include "compile/instance.h"
#include "tests/api/model.h"
#include "tests/oom.h"

// With 1,024 columns the constants are many, and shapes have plans.
#define MODEL(columns)                                                                             \
    "input(| dst=x | dtype=TL_FLOAT, dims=[-1, 8, 8, 3], names=[\"batch\", \"\", \"\", \"\"]);\n"  \
    "create(| dst=w | dtype=TL_FLOAT, dims=[4, 3, 3, 3], from_file=true);\n"                       \
    "create(| dst=b | dtype=TL_FLOAT, dims=[4], from_file=true);\n"                                \
    "create(| dst=m | dtype=TL_FLOAT, dims=[256, " columns "], from_file=true);\n"                 \
    "transpose(src=x | dst=t | axes=[0, 3, 1, 2]);\n"                                              \
    "conv2d(src=t, weight=w, bias=b | dst=c | group=1, size=[3, 3], stride=[1, 1], "               \
    "padding=[1, 1, 1, 1], dilation=[1, 1], autopad=NOTSET);\n"                                    \
    "relu(src=c | dst=r |);\n"                                                                     \
    "Flatten(input=r | output=f | axis=1);\n"                                                      \
    "linear(src=f, weight=m | dst=y |);\n"

static const struct {
    const char *text;
    int columns;
} models[] = {{MODEL("8"), 8}, {MODEL("1024"), 1024}};

#define MODEL_COUNT (sizeof models / sizeof models[0])

static char folder[] = LN_BUILD_DIR "/dynamic-XXXXXX";

static const char *in_folder(const char *name)
{
    static char path[4][256];
    static int next;
    char *room = path[next++ % 4];
    snprintf(room, sizeof path[0], "%s/%s", folder, name);
    return room;
}

static void save_weights(const char *path, int columns)
{
    tl_tensor *w = tl_tensor_arange(-1, 107, 1, TL_FLOAT), *b = tl_tensor_arange(1, 5, 1, TL_FLOAT),
              *m = tl_tensor_arange(0, 256 * columns, 1, TL_FLOAT);
    CHECK_OK(tl_tensor_reshape_src(w, 4, (int[]){4, 3, 3, 3}));
    CHECK_OK(tl_tensor_reshape_src(m, 2, (int[]){256, columns}));
    for (int i = 0; i < m->len; i++)
        ((float *)m->data)[i] = (float)(i * 7919 % 1009) / 1009 - 0.5f;
    const ln_named_tensor tensors[] = {{"w", w}, {"b", b}, {"m", m}};
    CHECK_OK(ln_tensor_file_save(path, LN_TENSOR_FILE_SAFETENSORS, tensors, 3));
    tl_tensor_free_data_too(w);
    tl_tensor_free_data_too(b);
    tl_tensor_free_data_too(m);
}

static void begin(int columns)
{
    CHECK_OK(ln_arch_init());
    strcpy(folder + strlen(folder) - 6, "XXXXXX");
    CHECK_NOT_NULL(mkdtemp(folder));
    save_weights(in_folder("raw.safetensors"), columns);
}

static void end(void)
{
    static const char *const names[] = {"raw.safetensors", "c.json", "c.safetensors", "d.json"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        unlink(in_folder(names[i]));
    CHECK_EQ(rmdir(folder), 0);
    ln_arch_cleanup();
}

static ln_context *compiled(const char *text)
{
    ln_context *ctx = open_text(text);
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    return ctx;
}

static ln_context *read_file(const char *name, const char *datafile)
{
    ln_context *ctx = ln_context_create();
    CHECK_OK(ln_context_init(ctx, in_folder(name)));
    CHECK_EQ(ctx->state, LN_CONTEXT_PLANNED);
    CHECK_OK(ln_context_load(ctx, datafile));
    return ctx;
}

static tl_tensor *make_x(int batch)
{
    tl_tensor *x = tl_tensor_zeros(4, (int[]){batch, 8, 8, 3}, TL_FLOAT);
    CHECK_NOT_NULL(x);
    for (int i = 0; i < x->len; i++)
        ((float *)x->data)[i] = (float)(i % 13) / 7 - 1;
    return x;
}

// The values of y, of `count` elements; freed with ln_free.
static float *run(ln_context *ctx, int batch, size_t *out_count)
{
    tl_tensor *x = make_x(batch);
    ln_object *given = ln_object_copy_tensor(x, NULL), *made;
    CHECK_NOT_NULL(given);
    CHECK_OK(ln_context_set_object(ctx, "x", given));
    CHECK_OK(ln_context_run(ctx));
    CHECK_OK(ln_context_get_object(ctx, "y", &made));
    const tl_tensor *y = ln_object_tensor(made);
    CHECK_EQ(y->dims[0], batch);
    float *values = ln_alloc(tl_tensor_size(y));
    CHECK_NOT_NULL(values);
    memcpy(values, y->data, tl_tensor_size(y));
    *out_count = (size_t)y->len;
    ln_object_release(made);
    ln_object_release(given);
    tl_tensor_free_data_too(x);
    return values;
}

static void check_same(ln_context *a, ln_context *b)
{
    for (int batch = 1; batch <= 5; batch++) {
        size_t of_a, of_b;
        float *y = run(a, batch, &of_a), *z = run(b, batch, &of_b);
        CHECK_EQ(of_a, of_b);
        CHECK_MEM_EQ(y, z, of_a * sizeof *y);
        ln_free(y);
        ln_free(z);
    }
}

// Against the model as it was read and bound, whose convolution and product are the reference's.
static void check_right(ln_context *ctx, const char *text)
{
    ln_context *as_read = open_text(text);
    CHECK_OK(ln_context_set_shape(as_read, "x", 4, (int[]){3, 8, 8, 3}));
    CHECK_OK(compile_for(as_read, AS_READ));
    CHECK_OK(ln_context_load(as_read, in_folder("raw.safetensors")));
    tl_tensor *x = make_x(3);
    CHECK_OK(ln_context_set_data(as_read, "x", x->data));
    CHECK_OK(ln_context_run(as_read));
    size_t count;
    float *y = run(ctx, 3, &count), *right = ln_alloc(count * sizeof *right);
    CHECK_NOT_NULL(right);
    CHECK_NOT_NULL(ln_context_get_data(as_read, "y", right));
    for (size_t i = 0; i < count; i++)
        CHECK_NEAR(y[i], right[i], 1e-5 * (1000 + (right[i] < 0 ? -right[i] : right[i])));
    ln_free(y);
    ln_free(right);
    tl_tensor_free_data_too(x);
    close_context(as_read);
}

TEST(a_stored_model_gives_what_the_model_gives)
{
    for (size_t i = 0; i < MODEL_COUNT; i++) {
        begin(models[i].columns);
        ln_context *raw = compiled(models[i].text), *ctx = compiled(models[i].text);
        size_t count;
        CHECK_OK(ln_context_load(raw, in_folder("raw.safetensors")));
        CHECK(ln_plans_follow(raw));
        CHECK_OK(ln_context_store(ctx, in_folder("raw.safetensors"), in_folder("c.safetensors"),
                                  &count));
        CHECK_EQ(count, 3);
        CHECK_EQ(ctx->state, LN_CONTEXT_PLANNED);
        CHECK_OK(ln_context_print(ctx, in_folder("c.json")));
        CHECK_OK(ln_context_load(ctx, NULL)); // it goes on with the weights that it has stored
        check_same(raw, ctx);
        close_context(ctx);
        ctx = read_file("c.json", NULL);
        CHECK(ln_plans_follow(ctx));
        check_same(raw, ctx);
        check_right(ctx, models[i].text);
        close_context(ctx);
        // The data file that it was stored with may be given again.
        ctx = read_file("c.json", in_folder("raw.safetensors"));
        check_same(raw, ctx);
        close_context(ctx);
        close_context(raw);
        end();
    }
}

TEST(without_weights_it_takes_them_from_a_data_file)
{
    begin(models[1].columns);
    ln_context *raw = compiled(models[1].text);
    CHECK_OK(ln_context_print(raw, in_folder("c.json")));
    CHECK_OK(ln_context_load(raw, in_folder("raw.safetensors")));
    ln_context *ctx = read_file("c.json", in_folder("raw.safetensors"));
    check_same(raw, ctx);
    close_context(ctx);
    // Of a model that brings them as well.
    ctx = open_text(models[1].text);
    CHECK_OK(ln_context_carry_file(ctx, in_folder("raw.safetensors")));
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    CHECK_OK(ln_context_print(ctx, in_folder("d.json")));
    close_context(ctx);
    ctx = read_file("d.json", in_folder("raw.safetensors"));
    check_same(raw, ctx);
    close_context(ctx);
    close_context(raw);
    end();
}

// The text of the file, at *out_json.
static void write_text(const ln_context *ctx, char **out_json)
{
    size_t len;
    CHECK_OK(ln_context_write(ctx, "ir", out_json, &len));
}

// Each option by itself, and as it is read again.
TEST(the_file_says_how_it_is_compiled)
{
    CHECK_OK(ln_arch_init());
    static const char *const names[] = {"[\n    ]",
                                        "[\"keeps_tensors\"]",
                                        "[\"freezes_constants\"]",
                                        "[\"avoids_winograd\"]",
                                        "[\"keeps_halves\"]",
                                        "[\"stays_as_read\"]"};
    for (int i = 0; i < 6; i++) {
        ln_optimize_options options = ln_optimize_options_default();
        options.keeps_tensors = i == 1;
        options.freezes_constants = i == 2;
        options.avoids_winograd = i == 3;
        options.keeps_halves = i == 4;
        options.stays_as_read = i == 5;
        ln_context *ctx = open_text(models[0].text), *again = ln_context_create();
        CHECK_OK(ln_context_compile_with(ctx, i == 5 ? "ref" : "cpu", &options));
        char *json, wanted[64];
        write_text(ctx, &json);
        snprintf(wanted, sizeof wanted, "\"dynamic\": %s", names[i]);
        CHECK_NOT_NULL(strstr(json, wanted));
        CHECK_NULL(strstr(json, "\"memory\""));
        CHECK_NULL(strstr(json, "\"offset\""));
        CHECK_OK(ln_context_init_mem(again, json, strlen(json), "c.json"));
        CHECK_EQ(again->plan_reuse, ctx->plan_reuse);
        CHECK_EQ(ln_list_length(again->ops), ln_list_length(ctx->ops));
        char *same;
        write_text(again, &same);
        CHECK_STR_EQ(same, json);
        ln_free(same);
        ln_free(json);
        close_context(again);
        close_context(ctx);
    }
    ln_arch_cleanup();
}

// Bound shapes have a plan, and so has what is not compiled alike for any shape.
TEST(a_plan_that_does_not_follow_from_the_file_is_in_it)
{
    CHECK_OK(ln_arch_init());
    for (int i = 0; i < 2; i++) {
        ln_optimize_options options = ln_optimize_options_default();
        options.firing_limit = i == 0 ? SIZE_MAX : 0;
        ln_context *ctx = open_text(models[0].text);
        if (i == 0)
            CHECK_OK(ln_context_set_symbol(ctx, "batch", 2));
        CHECK_OK(ln_context_compile_with(ctx, "cpu,ref", &options));
        char *json;
        write_text(ctx, &json);
        CHECK_NULL(strstr(json, "\"dynamic\""));
        CHECK_NOT_NULL(strstr(json, "\"memory\""));
        ln_free(json);
        close_context(ctx);
    }
    ln_arch_cleanup();
}

// y for a batch of a reshaped context.
static void check_batch(ln_context *ctx, int batch, ln_context *raw)
{
    size_t count;
    tl_tensor *x = make_x(batch);
    const ln_input_shape shape = {"x", 4, x->dims};
    CHECK_OK(ln_context_reshape(ctx, 1, &shape));
    CHECK_OK(ln_context_set_data(ctx, "x", x->data));
    CHECK_OK(ln_context_run(ctx));
    float *want = run(raw, batch, &count), *y = ln_alloc(count * sizeof *y);
    CHECK_NOT_NULL(y);
    CHECK_NOT_NULL(ln_context_get_data(ctx, "y", y));
    CHECK_MEM_EQ(y, want, count * sizeof *y);
    ln_free(y);
    ln_free(want);
    tl_tensor_free_data_too(x);
}

// A choice by a value of the run, as networks with two sampling rates have: the state that both
// branches read comes from outside, their products have weights of their own, and one has a row
// more. What is in branches is packed as elsewhere.
#define BRANCHES                                                                                   \
    "input(| dst=x | dtype=TL_FLOAT, dims=[-1, 64], names=[\"rows\", \"\"]);\n"                    \
    "input(| dst=limit | dtype=TL_FLOAT, dims=[1]);\n"                                             \
    "create(| dst=w | dtype=TL_FLOAT, dims=[64, 1100], ran=[-1, 1]);\n"                            \
    "create(| dst=axes | dtype=TL_INT64, dims=[2], ran=[0, 0], data=[0, 1]);\n"                    \
    "MatMul(A=x, B=w | Y=m |);\n"                                                                  \
    "Relu(X=m | Y=s |);\n"                                                                         \
    "ReduceMean(data=x, axes=axes | reduced=mean | keepdims=0);\n"                                 \
    "Less(A=mean, B=limit | C=c |);\n"                                                             \
    "If(cond=c, capture1=s, capture2=x | outputs1=t | then_branch=\"low\", "                       \
    "else_branch=\"high\");\n"                                                                     \
    "Tanh(input=t | output=y |);\n"                                                                \
    "output(src=y | |);\n"                                                                         \
    "graph low {\n"                                                                                \
    "input(| dst=s | dtype=TL_FLOAT, dims=[], open=true, capture=true);\n"                         \
    "create(| dst=u | dtype=TL_FLOAT, dims=[1100, 24], ran=[-0.01, 0.01]);\n"                      \
    "MatMul(A=s, B=u | Y=p |);\n"                                                                  \
    "Relu(X=p | Y=q |);\n"                                                                         \
    "output(src=q | |);\n}\n"                                                                      \
    "graph high {\n"                                                                               \
    "input(| dst=x | dtype=TL_FLOAT, dims=[], open=true, capture=true);\n"                         \
    "create(| dst=v | dtype=TL_FLOAT, dims=[64, 24], ran=[-0.1, 0.1]);\n"                          \
    "create(| dst=row | dtype=TL_FLOAT, dims=[1, 24], ran=[-1, 1]);\n"                             \
    "MatMul(A=x, B=v | Y=p |);\n"                                                                  \
    "Concat(inputs1=p, inputs2=row | concat_result=q | axis=0);\n"                                 \
    "output(src=q | |);\n}\n"

static ln_object *run_branches(ln_context *ctx, int rows, float limit)
{
    ln_object *x = ln_object_new_tensor(TL_FLOAT, 2, (int[]){rows, 64}, NULL), *y;
    CHECK_NOT_NULL(x);
    float *to = ln_object_tensor(x)->data;
    for (int i = 0; i < rows * 64; i++)
        to[i] = (float)((i * 31 + rows) % 17 - 8) / 16;
    CHECK_OK(ln_context_set_object(ctx, "x", x));
    CHECK_OK(ln_context_set_data(ctx, "limit", &limit));
    CHECK_OK(ln_context_run(ctx));
    CHECK_OK(ln_context_get_object(ctx, "y", &y));
    ln_object_release(x);
    return y;
}

TEST(a_file_of_a_model_with_branches_gives_what_the_model_gives)
{
    CHECK_OK(ln_arch_init());
    strcpy(folder + strlen(folder) - 6, "XXXXXX");
    CHECK_NOT_NULL(mkdtemp(folder));
    ln_context *ctx = compiled(BRANCHES), *as_read = load_text(BRANCHES, AS_READ);
    CHECK_OK(ln_context_print(ctx, in_folder("c.json")));
    CHECK_OK(ln_context_load(ctx, NULL));
    ln_context *file = read_file("c.json", NULL);
    for (int i = 0; i < 24; i++) {
        int rows = 1 + i * 5 % 12;
        float limit = i % 3 == 0 ? -10.0F : 10.0F; // else_branch, then_branch
        ln_object *right = run_branches(as_read, rows, limit);
        ln_object *y = run_branches(file, rows, limit), *direct = run_branches(ctx, rows, limit);
        const tl_tensor *t = ln_object_tensor(y), *r = ln_object_tensor(right);
        CHECK_EQ(r->dims[0], rows + (i % 3 == 0));
        CHECK_EQ(t->dims[0], r->dims[0]);
        CHECK_EQ(t->len, r->len);
        for (int k = 0; k < t->len; k++)
            CHECK_NEAR(((float *)t->data)[k], ((float *)r->data)[k], 2e-5);
        CHECK_EQ(ln_object_tensor(direct)->len, t->len);
        CHECK_MEM_EQ(ln_object_tensor(direct)->data, t->data, tl_tensor_size(t));
        ln_object_release(right);
        ln_object_release(direct);
        ln_object_release(y);
    }
    close_context(file);
    close_context(as_read);
    close_context(ctx);
    end();
}

TEST(ranges_are_in_the_file)
{
    begin(models[1].columns);
    ln_context *raw = compiled(models[1].text), *ctx = open_text(models[1].text);
    size_t count;
    CHECK_OK(ln_context_load(raw, in_folder("raw.safetensors")));
    CHECK_OK(ln_context_set_range(ctx, "batch", 2, 5));
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    CHECK_OK(
        ln_context_store(ctx, in_folder("raw.safetensors"), in_folder("c.safetensors"), &count));
    CHECK_EQ(count, 3);
    CHECK_OK(ln_context_print(ctx, in_folder("c.json")));
    ln_context *again = read_file("c.json", NULL);
    CHECK_OK(ln_context_load(ctx, NULL));
    CHECK_STR_EQ(ln_context_range_worst(again), "batch=5");
    CHECK(ln_context_range_peak_bytes(again, LN_MEM_CPU) > 0);
    for (int batch = 2; batch <= 5; batch++) {
        check_batch(again, batch, raw);
        check_batch(ctx, batch, raw);
    }
    const ln_input_shape shape = {"x", 4, (const int[]){6, 8, 8, 3}};
    CHECK_FAILS(ln_context_reshape(again, 1, &shape), LN_INVALID);
    CHECK_MESSAGE("compiled for 2 to 5");
    char *json, *same;
    write_text(ctx, &json);
    write_text(again, &same);
    CHECK_STR_EQ(same, json);
    CHECK_NOT_NULL(strstr(json, "{\"name\": \"batch\", \"dims\": [2, 5]}"));
    CHECK_NOT_NULL(strstr(json, "{\"name\": \"x\", \"dims\": [5, 8, 8, 3]}"));
    ln_free(same);
    ln_free(json);
    close_context(again);
    close_context(ctx);
    close_context(raw);
    end();
}

// Freed with free.
static char *edited(const char *json, const char *from, const char *to)
{
    const char *at = strstr(json, from);
    CHECK_NOT_NULL(at);
    char *text = malloc(strlen(json) + strlen(to) + 1);
    CHECK_NOT_NULL(text);
    sprintf(text, "%.*s%s%s", (int)(at - json), json, to, at + strlen(from));
    return text;
}

#define AT_DYNAMIC "\"dynamic\": [\n    ]"

TEST(what_a_file_may_not_say_is_refused_with_its_place)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = compiled(models[0].text);
    char *json;
    write_text(ctx, &json);
    close_context(ctx);
    static const struct {
        const char *from, *to;
        ln_status status;
        const char *message;
    } cases[] = {
        {"\"dynamic\": [\n    ]", "\"dynamic\": true", LN_SYNTAX,
         "c.json:5:16: \"dynamic\" must be"},
        {"\"dynamic\": [\n    ]", "\"dynamic\": [\"x\"]", LN_UNSUPPORTED,
         "c.json:5:17: \"dynamic\" has"},
        {"\"dynamic\": [\n    ]", "\"dynamic\": [1]", LN_UNSUPPORTED, "compile the model again"},
        {"\"dynamic\": [\n    ]", "\"dynamic\": [\"stays_as_read\"]", LN_INVALID, ""},
        {"\"target\": \"cpu\"", "\"target\": \"none such\"", LN_NOT_FOUND, "none such"},
        {"\"dynamic\": [\n    ],", "", LN_SYNTAX, "\"memory\" is missing"},
        {AT_DYNAMIC, AT_DYNAMIC ", \"shapes\": 1", LN_SYNTAX, "\"shapes\" must be an array"},
        {AT_DYNAMIC, AT_DYNAMIC ", \"shapes\": [1]", LN_SYNTAX, "expected an object with \"name\""},
        {AT_DYNAMIC, AT_DYNAMIC ", \"shapes\": [{\"name\": \"x\", \"dims\": [1.5]}]", LN_SYNTAX,
         "a dimension is an integer"},
        {AT_DYNAMIC, AT_DYNAMIC ", \"shapes\": [{\"name\": \"x\", \"dims\": [2, 2]}]", LN_INVALID,
         "'x'"},
        {AT_DYNAMIC, AT_DYNAMIC ", \"shapes\": [{\"name\": \"q\", \"dims\": [2]}]", LN_NOT_FOUND,
         "'q'"},
        {AT_DYNAMIC, AT_DYNAMIC ", \"ranges\": [{\"name\": \"batch\", \"dims\": [2]}]", LN_SYNTAX,
         "a range has 2"},
        {AT_DYNAMIC, AT_DYNAMIC ", \"ranges\": [{\"name\": \"batch\", \"dims\": [3, 2]}]",
         LN_INVALID, "not 3 to 2"},
        {AT_DYNAMIC, AT_DYNAMIC ", \"ranges\": [{\"name\": \"none\", \"dims\": [1, 2]}]",
         LN_NOT_FOUND, "'none'"},
        {AT_DYNAMIC, AT_DYNAMIC ", \"ranges\": [0, 0, 0, 0, 0]", LN_LIMIT, "over the limit of 4"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *text = edited(json, cases[i].from, cases[i].to);
        ctx = ln_context_create();
        CHECK_FAILS(ln_context_init_mem(ctx, text, strlen(text), "c.json"), cases[i].status);
        CHECK_MESSAGE(cases[i].message);
        CHECK_EQ(ctx->state, LN_CONTEXT_EMPTY);
        close_context(ctx);
        free(text);
    }
    ln_free(json);
    ln_arch_cleanup();
}

TEST(every_allocation_may_fail)
{
    begin(models[0].columns);
    OOM_SWEEP(n)
    {
        ln_context *ctx = ln_context_create();
        const char *text = models[0].text;
        ln_status status =
            ctx ? ln_context_init_mem(ctx, text, strlen(text), "m.net") : LN_NO_MEMORY;
        if (status == LN_OK)
            status = ln_context_compile(ctx, "cpu");
        size_t count;
        if (status == LN_OK)
            status = ln_context_store(ctx, in_folder("raw.safetensors"), in_folder("c.safetensors"),
                                      &count);
        if (status == LN_OK)
            status = ln_context_print(ctx, in_folder("c.json"));
        CHECK(status == LN_OK || status == LN_NO_MEMORY);
        ln_context_free(ctx);
    }
    OOM_SWEEP(k)
    {
        ln_context *ctx = ln_context_create();
        ln_status status = ctx ? ln_context_init(ctx, in_folder("c.json")) : LN_NO_MEMORY;
        if (status == LN_OK)
            status = ln_context_load(ctx, NULL);
        CHECK(status == LN_OK || status == LN_NO_MEMORY);
        ln_context_free(ctx);
    }
    end();
}

TEST_LIST(a_file_of_a_model_with_branches_gives_what_the_model_gives,
          a_stored_model_gives_what_the_model_gives, without_weights_it_takes_them_from_a_data_file,
          the_file_says_how_it_is_compiled, a_plan_that_does_not_follow_from_the_file_is_in_it,
          ranges_are_in_the_file, what_a_file_may_not_say_is_refused_with_its_place,
          every_allocation_may_fail)
