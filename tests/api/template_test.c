// SPDX-License-Identifier: Apache-2.0
// Models with dynamic dimensions are rewritten once for many shapes: a context that is reshaped
// computes what a fresh one of that shape does, bit for bit, by the same operators.

#include "tests/api/values.h"
#include "tests/oom.h"

#define CONSTANT(name, dims)                                                                       \
    "create(| dst=" name " | dtype=TL_FLOAT, dims=" dims ", ran=[-1, 1], data=[0], "               \
    "from_file=false);\n"

#define INDEX(name, value)                                                                         \
    "create(| dst=" name " | dtype=TL_INT64, dims=[1], ran=[0, 0], data=[" value "], "             \
    "from_file=false);\n"

// A product with a bias, of rows of 16.
#define LINEAR(src, dst)                                                                           \
    CONSTANT("w_" dst, "[16, 16]")                                                                 \
    CONSTANT("b_" dst, "[16]")                                                                     \
    "MatMul(A=" src ", B=w_" dst " | Y=m_" dst " |);\n"                                            \
    "Add(A=m_" dst ", B=b_" dst " | C=" dst " |);\n"

#define HEADS(src, dst, perm)                                                                      \
    "Reshape(data=" src ", shape=split | reshaped=r_" dst " |);\n"                                 \
    "Transpose(data=r_" dst " | transposed=" dst " | perm=" perm ");\n"

// As exported: shapes are computed, places are cut out of a table, four heads of four.
#define ENCODER                                                                                                         \
    "input(| dst=x | dtype=TL_FLOAT, dims=[-1, -1, 16], names=[\"batch\", \"seq\", \"\"]);\n"                           \
    "input(| dst=mask | dtype=TL_FLOAT, dims=[-1, -1], names=[\"batch\", \"seq\"]);\n" INDEX(                           \
        "zero", "0") INDEX("one", "1") INDEX("four", "4") INDEX("sixteen", "16")                                        \
        INDEX(                                                                                                          \
            "two",                                                                                                      \
            "2") "Shape(data=x | shape=s |);\n"                                                                         \
                 "Gather(data=s, indices=zero | output=batch | axis=0);\n"                                              \
                 "Gather(data=s, indices=one | output=seq | axis=0);\n"                                                 \
                 "Concat(inputs1=batch, inputs2=seq, inputs3=four, inputs4=four | concat_result=split "                 \
                 "| axis=0);\n"                                                                                         \
                 "Concat(inputs1=batch, inputs2=seq, inputs3=sixteen | concat_result=joined | axis=0);\n" CONSTANT(     \
                     "table",                                                                                           \
                     "[512, 16]") "Slice(data=table, starts=zero, ends=seq, axes=zero | output=places |);\n"            \
                                  "Add(A=x, B=places | C=h |);\n" LINEAR("h", "q") LINEAR(                              \
                                      "h", "k") LINEAR("h", "v") HEADS("q", "qh", "[0, 2, 1, 3]")                       \
                                      HEADS("k", "kh", "[0, 2, 3, 1]") HEADS(                                           \
                                          "v", "vh",                                                                    \
                                          "[0, 2, 1, 3]") "Unsqueeze(data=mask, axes=one | expanded=mask1 |);\n"        \
                                                          "Unsqueeze(data=mask1, axes=two | expanded=mask2 |);\n"       \
                                                          "MatMul(A=qh, B=kh | Y=u |);\n"                               \
                                                          "Add(A=u, B=mask2 | C=scores |);\n"                           \
                                                          "Softmax(input=scores | output=p | axis=-1);\n"               \
                                                          "MatMul(A=p, B=vh | Y=o |);\n"                                \
                                                          "Transpose(data=o | transposed=ot | perm=[0, 2, 1, 3]);\n"    \
                                                          "Reshape(data=ot, shape=joined | reshaped=rows |);\n" LINEAR( \
                                                              "rows", "y") "output(src=y | |);\n"

// One token, and what is known of those before.
#define DECODER                                                                                    \
    "input(| dst=q | dtype=TL_FLOAT, dims=[1, 4, 1, 8]);\n"                                        \
    "input(| dst=k | dtype=TL_FLOAT, dims=[1, 4, 1, 8]);\n"                                        \
    "input(| dst=past_k | dtype=TL_FLOAT, dims=[1, 4, -1, 8], names=[\"\", \"\", \"past\", "       \
    "\"\"]);\n"                                                                                    \
    "input(| dst=past_v | dtype=TL_FLOAT, dims=[1, 4, -1, 8], names=[\"\", \"\", \"past\", "       \
    "\"\"]);\n"                                                                                    \
    "Concat(inputs1=past_k, inputs2=k | concat_result=keys | axis=2);\n"                           \
    "Concat(inputs1=past_v, inputs2=k | concat_result=values | axis=2);\n"                         \
    "Transpose(data=keys | transposed=kt | perm=[0, 1, 3, 2]);\n"                                  \
    "MatMul(A=q, B=kt | Y=u |);\n"                                                                 \
    "Softmax(input=u | output=p | axis=-1);\n"                                                     \
    "MatMul(A=p, B=values | Y=o |);\n"                                                             \
    "Transpose(data=o | transposed=y | perm=[0, 2, 1, 3]);\n"                                      \
    "output(src=y | |);\n"                                                                         \
    "output(src=keys | |);\n"                                                                      \
    "output(src=values | |);\n"

#define PERCEPTRON                                                                                 \
    "input(| dst=x | dtype=TL_FLOAT, dims=[-1, 16], names=[\"rows\", \"\"]);\n" LINEAR(            \
        "x", "h") "Relu(X=h | Y=r |);\n" LINEAR("r", "y") "output(src=y | |);\n"

#define CONVOLUTIONS(dims, names)                                                                  \
    "input(| dst=x | dtype=TL_FLOAT, dims=" dims ", names=" names                                  \
    ");\n" CONSTANT("w", "[16, 8, 3, 3]") CONSTANT("b", "[16]")                                    \
        CONSTANT("v", "[16, 16, 3, 3]") "Conv(X=x, W=w, B=b | Y=c | pads=[1, 1, 1, 1]);\n"         \
                                        "Relu(X=c | Y=r |);\n"                                     \
                                        "Conv(X=r, W=v | Y=d | pads=[1, 1, 1, 1]);\n"              \
                                        "Add(A=d, B=r | C=e |);\n"                                 \
                                        "GlobalAveragePool(X=e | Y=y |);\n"                        \
                                        "output(src=y | |);\n"

// Algorithm `direct`, which is the default and not written.
#define DIRECT                                                                                            \
    "input(| dst=x | dtype=TL_FLOAT, dims=[1, 8, -1, -1], names=[\"\", \"\", \"h\", \"w\"]);\n" CONSTANT( \
        "w", "[16, 8, 3, 3]") "Conv(X=x, W=w | Y=y | pads=[1, 1, 1, 1], strides=[2, 2]);\n"               \
                              "output(src=y | |);\n"

// The mean of the first rows, `limit` if there are as many.
#define FIRST_ROWS(limit)                                                                          \
    "input(| dst=x | dtype=TL_FLOAT, dims=[-1, 4], names=[\"rows\", \"\"]);\n"                     \
    "Slice(data=x | output=first | axes=[0], starts=[0], ends=[" limit "], since=1);\n"            \
    "ReduceMean(data=first | reduced=y | axes=[0], keepdims=0, since=13);\n"                       \
    "output(src=y | |);\n"

// What is added follows from a comparison of the number of rows with 100.
#define BRANCH                                                                                            \
    "input(| dst=x | dtype=TL_FLOAT, dims=[-1, 4], names=[\"rows\", \"\"]);\n" INDEX("zero", "0")         \
        INDEX(                                                                                            \
            "many",                                                                                       \
            "100") "Shape(data=x | shape=s |);\n"                                                         \
                   "Gather(data=s, indices=zero | output=n | axis=0);\n"                                  \
                   "Less(A=n, B=many | C=is_less |);\n"                                                   \
                   "create(| dst=a | dtype=TL_FLOAT, dims=[1], ran=[0, 0], data=[3], from_file=false);\n" \
                   "create(| dst=b | dtype=TL_FLOAT, dims=[1], ran=[0, 0], data=[5], from_file=false);\n" \
                   "Where(condition=is_less, X=a, Y=b | output=c |);\n"                                   \
                   "Add(A=x, B=c | C=y |);\n"                                                             \
                   "output(src=y | |);\n"

// All but the first row, doubled: of two rows one is left.
#define SHORTER                                                                                    \
    "input(| dst=x | dtype=TL_FLOAT, dims=[-1, 4], names=[\"rows\", \"\"]);\n" CONSTANT(           \
        "w",                                                                                       \
        "[1, 4]") "Slice(data=x | output=rest | axes=[0], starts=[1], ends=[100000], since=1);\n"  \
                  "Mul(A=rest, B=w | C=y |);\n"                                                    \
                  "output(src=y | |);\n"

// Numbers of 0 to 19 rows are written into the model, those of more are computed when it is loaded.
#define ROW_NUMBERS                                                                                        \
    "input(| dst=x | dtype=TL_FLOAT, dims=[-1, 4], names=[\"rows\", \"\"]);\n" INDEX("zero", "0")          \
        INDEX(                                                                                             \
            "one",                                                                                         \
            "1") "create(| dst=limit | dtype=TL_INT64, dims=[], ran=[0, 0], data=[0], from_file=false);\n" \
                 "create(| dst=step | dtype=TL_INT64, dims=[], ran=[0, 0], data=[1], from_file=false);\n"  \
                 "Shape(data=x | shape=s |);\n"                                                            \
                 "Gather(data=s, indices=limit | output=n | axis=0);\n"                                    \
                 "Range(start=limit, limit=n, delta=step | output=numbers |);\n"                           \
                 "Cast(input=numbers | output=floats | to=1);\n"                                           \
                 "Unsqueeze(data=floats, axes=one | expanded=column |);\n"                                 \
                 "Mul(A=x, B=column | C=y |);\n"                                                           \
                 "output(src=y | |);\n"

// ---- Shapes and numbers ----

typedef struct symbol_size {
    const char *name;
    int size;
} symbol_size;

// A READY context of `text` with the symbols bound; a name of NULL ends them.
static ln_context *open_bound(const char *text, const symbol_size *sizes)
{
    ln_context *ctx = open_text(text);
    CHECK_OK(ln_context_set_threads(ctx, 1));
    for (; sizes->name; sizes++)
        CHECK_OK(ln_context_set_symbol(ctx, sizes->name, sizes->size));
    return ctx;
}

// Reshapes `ctx` to what the inputs of `like` are bound to.
static void reshape_like(ln_context *ctx, const ln_context *like)
{
    ln_input_shape shapes[8];
    size_t count = 0;
    const ln_tensor_entry *entry;
    for (; (entry = ln_context_input(like, count)); count++) {
        CHECK(count < 8);
        shapes[count] = (ln_input_shape){
            .tname = entry->name, .ndim = entry->tensor->ndim, .dims = entry->tensor->dims};
    }
    CHECK_OK(ln_context_reshape(ctx, count, shapes));
}

static void fill_inputs(ln_context *ctx)
{
    const ln_tensor_entry *entry;
    for (size_t i = 0; (entry = ln_context_input(ctx, i)); i++) {
        size_t count = (size_t)entry->tensor->len;
        float *x = malloc((count + 1) * sizeof *x);
        CHECK_NOT_NULL(x);
        for (size_t k = 0; k < count; k++)
            x[k] = (float)((k * 7 + i) % 23) / 23 - 0.4F;
        CHECK_OK(ln_context_set_data(ctx, entry->name, x));
        free(x);
    }
}

static void check_same_text(const ln_context *a, const ln_context *b)
{
    char *x, *y;
    size_t x_len, y_len;
    CHECK_OK(ln_context_write(a, "il", &x, &x_len));
    CHECK_OK(ln_context_write(b, "il", &y, &y_len));
    if (x_len != y_len || memcmp(x, y, x_len) != 0)
        fail_msg("reshaped:\n%.*s\nfresh:\n%.*s", (int)x_len, x, (int)y_len, y);
    ln_free(x);
    ln_free(y);
}

static void check_same_outputs(ln_context *a, ln_context *b)
{
    const ln_tensor_entry *entry;
    CHECK(ln_context_output(a, 0));
    for (size_t i = 0; (entry = ln_context_output(a, i)); i++) {
        size_t size = ln_context_data_size(a, entry->name);
        CHECK_EQ(ln_context_data_size(b, entry->name), size);
        if (size > 0 && memcmp(ln_context_get_data(a, entry->name, NULL),
                               ln_context_get_data(b, entry->name, NULL), size) != 0)
            fail_msg("%s differs", entry->name);
    }
}

// Reshapes `ctx`, which is loaded, and compares it with a context that had no other shape.
static void check_like_fresh(ln_context *ctx, const char *text, const symbol_size *sizes)
{
    ln_context *fresh = open_bound(text, sizes);
    reshape_like(ctx, fresh);
    CHECK_OK(ln_context_compile(fresh, "cpu"));
    CHECK_OK(ln_context_load(fresh, NULL));
    check_same_text(ctx, fresh);
    fill_inputs(ctx);
    fill_inputs(fresh);
    CHECK_OK(ln_context_run(ctx));
    CHECK_OK(ln_context_run(fresh));
    check_same_outputs(ctx, fresh);
    CHECK(ln_context_check(ctx));
    close_context(fresh);
}

static const char encoder[] = ENCODER, decoder[] = DECODER, perceptron[] = PERCEPTRON;
static const char open_batch[] = CONVOLUTIONS("[-1, 8, 12, 12]", "[\"n\", \"\", \"\", \"\"]");
static const char open_image[] = CONVOLUTIONS("[1, 8, -1, -1]", "[\"\", \"\", \"h\", \"w\"]");
static const char first_20[] = FIRST_ROWS("20"), first_300[] = FIRST_ROWS("300"), branch[] = BRANCH,
                  shorter[] = SHORTER, direct[] = DIRECT;
static const char row_numbers[] = ROW_NUMBERS;

// A model with what its symbols are and how large they may be.
static const struct {
    const char *text;
    symbol_size most[3];
    bool has_template;
    const char *why;
} models[] = {
    {encoder, {{"batch", 5}, {"seq", 70}, {NULL, 0}}, true, "shapes are computed from shapes"},
    {decoder, {{"past", 600}, {NULL, 0}}, true, "a dimension is a sum"},
    {perceptron, {{"rows", 50}, {NULL, 0}}, true, "rows pass through"},
    {open_batch, {{"n", 6}, {NULL, 0}}, true, "the algorithm is chosen without the batch"},
    {open_image, {{"h", 60}, {"w", 60}, {NULL, 0}}, true, "the algorithm is chosen by sizes"},
    {direct, {{"h", 60}, {"w", 60}, {NULL, 0}}, true, "the default algorithm is chosen by sizes"},
    {first_20, {{"rows", 60}, {NULL, 0}}, false, "a limit below both witnesses"},
    {first_300, {{"rows", 600}, {NULL, 0}}, true, "a limit between the witnesses"},
    {branch, {{"rows", 200}, {NULL, 0}}, true, "a comparison, the same for both witnesses"},
    {shorter, {{"rows", 40}, {NULL, 0}}, true, "rows less one"},
    {row_numbers, {{"rows", 400}, {NULL, 0}}, true, "a row of numbers as long as the input"},
};

#define MODEL_COUNT (sizeof models / sizeof models[0])

static unsigned next_random(unsigned *seed)
{
    *seed = *seed * 1664525U + 1013904223U;
    return *seed >> 8;
}

// Of each kind: 0, 1, 2, and anything.
static void choose_sizes(const symbol_size *most, unsigned *seed, symbol_size out[3])
{
    size_t i = 0;
    for (; most[i].name; i++) {
        unsigned kind = next_random(seed) % 8, any = next_random(seed);
        out[i] = (symbol_size){most[i].name, (int)(kind < 3 ? kind : any % (unsigned)most[i].size)};
    }
    out[i] = (symbol_size){NULL, 0};
}

TEST(any_row_of_shapes_gives_what_fresh_contexts_give)
{
    CHECK_OK(ln_arch_init());
    unsigned seed = 7;
    for (size_t m = 0; m < MODEL_COUNT; m++) {
        printf("%s\n", models[m].why);
        symbol_size sizes[3];
        choose_sizes(models[m].most, &seed, sizes);
        ln_context *ctx = open_bound(models[m].text, sizes);
        CHECK_OK(ln_context_compile(ctx, "cpu"));
        CHECK_OK(ln_context_load(ctx, NULL));
        for (int round = 0; round < 8; round++) {
            choose_sizes(models[m].most, &seed, sizes);
            check_like_fresh(ctx, models[m].text, sizes);
        }
        close_context(ctx);
    }
    ln_arch_cleanup();
}

// ---- Which models have a template ----

static void *count_resize(void *user, void *p, size_t size)
{
    ++*(size_t *)user;
    return realloc(p, size);
}

static void count_release(void *user, void *p)
{
    (void)user;
    free(p);
}

// Requests for memory of a new shape, and of the passes that it needs without a template.
typedef struct requests {
    size_t reshaping, rewriting;
} requests;

// Of shape `next`, in a context that was compiled for `first`, and that had shape `between` where
// that is not NULL.
static requests count_requests(const char *text, const ln_optimize_options *options,
                               const symbol_size *first, const symbol_size *between,
                               const symbol_size *next)
{
    requests count = {0};
    ln_context *ctx = open_bound(text, first), *like = open_bound(text, next), *plain;
    CHECK_OK(ln_context_compile_with(ctx, "cpu", options));
    CHECK_OK(ln_context_clone(like, &plain));
    if (between) {
        ln_context *other = open_bound(text, between);
        reshape_like(ctx, other);
        close_context(other);
    }
    ln_allocator_set(&(ln_allocator){count_resize, count_release, &count.reshaping});
    reshape_like(ctx, like);
    ln_allocator_set(&(ln_allocator){count_resize, count_release, &count.rewriting});
    CHECK_OK(ln_context_optimize_with(plain, "cpu", options));
    ln_allocator_set(NULL);
    close_context(plain);
    close_context(like);
    close_context(ctx);
    return count;
}

TEST(a_new_shape_of_a_template_is_not_compiled)
{
    CHECK_OK(ln_arch_init());
    for (size_t m = 0; m < MODEL_COUNT; m++) {
        symbol_size at[2][3] = {{{NULL, 0}}};
        for (size_t i = 0; models[m].most[i].name; i++) {
            at[0][i] = (symbol_size){models[m].most[i].name, 5};
            at[1][i] = (symbol_size){models[m].most[i].name, 9};
        }
        requests count = count_requests(models[m].text, NULL, at[0], NULL, at[1]);
        printf("%s: %zu requests, the passes have %zu\n", models[m].why, count.reshaping,
               count.rewriting);
        CHECK_EQ(count.reshaping < count.rewriting, models[m].has_template);
    }
    ln_arch_cleanup();
}

// A batch of 1 is a number, with a template for each sequence; other batches have another one.
TEST(a_size_of_one_has_a_template_of_its_own)
{
    CHECK_OK(ln_arch_init());
    const symbol_size one[] = {{"batch", 1}, {"seq", 5}, {NULL, 0}};
    const symbol_size one_next[] = {{"batch", 1}, {"seq", 9}, {NULL, 0}};
    const symbol_size many[] = {{"batch", 3}, {"seq", 5}, {NULL, 0}};
    const symbol_size many_next[] = {{"batch", 4}, {"seq", 9}, {NULL, 0}};
    requests count = count_requests(encoder, NULL, one, NULL, one_next);
    CHECK(count.reshaping < count.rewriting);
    count = count_requests(encoder, NULL, one, many, many_next);
    CHECK(count.reshaping < count.rewriting);
    count = count_requests(encoder, NULL, many, one, one_next);
    CHECK(count.reshaping < count.rewriting);
    ln_arch_cleanup();
}

// Sizes of 0 and of 1 are a class each, and 2 is in the one of all others: no class takes the
// template of another, whichever comes first.
TEST(each_class_of_sizes_has_its_template)
{
    static const struct {
        symbol_size first[3], between[3], next[3];
        const char *why;
    } cases[] = {
        // clang-format off
        {{{"batch", 0}, {"seq", 5}}, {{NULL, 0}},                {{"batch", 0}, {"seq", 9}}, "0"},
        {{{"batch", 0}, {"seq", 5}}, {{"batch", 3}, {"seq", 5}}, {{"batch", 4}, {"seq", 9}}, "more after 0"},
        {{{"batch", 3}, {"seq", 5}}, {{"batch", 0}, {"seq", 5}}, {{"batch", 0}, {"seq", 9}}, "0 after more"},
        {{{"batch", 0}, {"seq", 5}}, {{"batch", 1}, {"seq", 5}}, {{"batch", 1}, {"seq", 9}}, "1 after 0"},
        {{{"batch", 1}, {"seq", 5}}, {{"batch", 0}, {"seq", 5}}, {{"batch", 0}, {"seq", 9}}, "0 after 1"},
        {{{"batch", 2}, {"seq", 5}}, {{NULL, 0}},                {{"batch", 3}, {"seq", 9}}, "more after 2"},
        {{{"batch", 3}, {"seq", 5}}, {{NULL, 0}},                {{"batch", 2}, {"seq", 2}}, "2 after more"},
        // clang-format on
    };
    CHECK_OK(ln_arch_init());
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const symbol_size *between = cases[i].between[0].name ? cases[i].between : NULL;
        requests count = count_requests(encoder, NULL, cases[i].first, between, cases[i].next);
        if (count.reshaping >= count.rewriting)
            fail_msg("%s: %zu requests, the passes have %zu", cases[i].why, count.reshaping,
                     count.rewriting);
    }
    ln_arch_cleanup();
}

static void write_rules(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    CHECK_NOT_NULL(file);
    CHECK(fputs(text, file) >= 0);
    CHECK_EQ(fclose(file), 0);
}

// Two rules of which each holds for one witness: what they make has one name and differs in one
// thing, so that an instance of one list would be wrong where the other rule holds.
TEST(lists_that_differ_in_more_than_sizes_are_no_template)
{
    static const struct {
        const char *low, *high, *why;
    } cases[] = {
        // clang-format off
        {"y = Abs(x)", "y = Sqrt(x)", "a word"},
        {"y = act(x | act=\"clip\", alpha=0, beta=3)",
         "y = act(x | act=\"clip\", alpha=0, beta=6.5)", "a number"},
        {"y = act(x | act=\"elu\")", "y = act(x | act=\"elu\", alpha=2)", "a parameter that is absent"},
        {"y = Abs(x)", "y = softmax(x | axis=2)", "an operator"},
        {"y = Sub(x, z)", "y = Sub(z, x)", "the order of operands"},
        {"y = layernorm(x, z)", "y = layernorm(x, z, z)", "the number of operands"},
        {"y = Abs(x)", "b = Neg(x)\n     y = softmax(b | axis=2)", "the number of operators"},
        // clang-format on
    };
    static const char text[] =
        "input(| dst=x | dtype=TL_FLOAT, dims=[-1, -1, 16], names=[\"batch\", \"seq\", \"\"]);\n" //
        LINEAR("x", "a") "Relu(X=a | Y=y |);\noutput(src=y | |);\n";
    const char *path = LN_BUILD_DIR "/template_test.rules";
    ln_optimize_options options = ln_optimize_options_default();
    options.rule_files = &path;
    options.rule_file_count = 1;
    CHECK_OK(ln_arch_init());
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char rules[600];
        snprintf(rules, sizeof rules,
                 "rule low [rounds]\n  y = Relu(a)\n  a = Add(m, z)\n  m = MatMul(x, w)\n"
                 "  where dim(x, 0) < 20\n  => %s\n"
                 "rule high [rounds]\n  y = Relu(a)\n  a = Add(m, z)\n  m = MatMul(x, w)\n"
                 "  where dim(x, 0) >= 20\n  => %s\n",
                 cases[i].low, cases[i].high);
        write_rules(path, rules);
        ln_context *ctx = open_bound(text, (symbol_size[]){{"batch", 3}, {"seq", 5}, {NULL, 0}});
        CHECK_OK(ln_context_compile_with(ctx, "cpu", &options));
        for (int batch = 4; batch <= 30; batch += 26) {
            const symbol_size next[] = {{"batch", batch}, {"seq", 9}, {NULL, 0}};
            ln_context *like = open_bound(text, next);
            reshape_like(ctx, like);
            CHECK_OK(ln_context_optimize_with(like, "cpu", &options));
            print_message("%s, a batch of %d\n", cases[i].why, batch);
            check_same_text(ctx, like);
            close_context(like);
        }
        close_context(ctx);
    }
    ln_arch_cleanup();
}

// Rows of all batches in one: a number that no tensor of the model as read has.
TEST(a_product_of_two_sizes_is_a_number_of_a_template)
{
    static const char rule[] =
        "rule flat [rounds]\n  y = Relu(a)\n  a = Neg(x)\n  where rank(x) == 3\n"
        "  => rows = reshape(x | dims=[dim(x, 0) * dim(x, 1), dim(x, 2)])\n"
        "     minus = Neg(rows)\n"
        "     y = reshape(minus | dims=dims(y))\n";
    static const char text[] = "input(| dst=x | dtype=TL_FLOAT, dims=[-1, -1, 16], "
                               "names=[\"batch\", \"seq\", \"\"]);\n"
                               "Neg(X=x | Y=a |);\nRelu(X=a | Y=y |);\noutput(src=y | |);\n";
    const char *path = LN_BUILD_DIR "/template_test.rules";
    write_rules(path, rule);
    CHECK_OK(ln_arch_init());
    ln_optimize_options options = ln_optimize_options_default();
    options.rule_files = &path;
    options.rule_file_count = 1;
    const symbol_size first[] = {{"batch", 3}, {"seq", 5}, {NULL, 0}};
    const symbol_size next[] = {{"batch", 4}, {"seq", 9}, {NULL, 0}};
    requests count = count_requests(text, &options, first, NULL, next);
    CHECK(count.reshaping < count.rewriting);
    ln_arch_cleanup();
}

// ---- Algorithms ----

static bool has_winograd(const char *text, const ln_optimize_options *options, int size)
{
    ln_context *ctx = open_bound(text, (symbol_size[]){{"h", 8}, {"w", 8}, {NULL, 0}});
    ln_context *like = open_bound(text, (symbol_size[]){{"h", size}, {"w", size}, {NULL, 0}});
    char *il;
    size_t len;
    CHECK_OK(ln_context_compile_with(ctx, "cpu", options));
    reshape_like(ctx, like);
    CHECK_OK(ln_context_write(ctx, "il", &il, &len));
    bool has = strstr(il, "winograd") != NULL;
    ln_free(il);
    close_context(ctx);
    close_context(like);
    return has;
}

TEST(algorithms_that_are_avoided_are_for_new_shapes_too)
{
    CHECK_OK(ln_arch_init());
    ln_optimize_options options = ln_optimize_options_default();
    CHECK(has_winograd(open_image, &options, 60));
    options.avoids_winograd = 1;
    CHECK(!has_winograd(open_image, &options, 60));
    const symbol_size first[] = {{"h", 8}, {"w", 8}, {NULL, 0}};
    const symbol_size next[] = {{"h", 60}, {"w", 50}, {NULL, 0}};
    requests count = count_requests(open_image, &options, first, NULL, next);
    CHECK(count.reshaping < count.rewriting);
    ln_arch_cleanup();
}

// A half and a quarter meet again, as in a network that finds things: the sizes of the usual
// witnesses are refused.
TEST(images_that_meet_again_have_a_template_for_multiples)
{
    static const char text[] =
        "input(| dst=x | dtype=TL_FLOAT, dims=[-1, 8, -1, -1], names=[\"n\", \"\", \"h\", "
        "\"w\"]);\n"                  //
        CONSTANT("k", "[8, 8, 3, 3]") //
        "create(| dst=scales | dtype=TL_FLOAT, dims=[4], ran=[0, 0], data=[1, 1, 2, 2], "
        "from_file=false);\n"
        "Conv(X=x, W=k | Y=b | pads=[1, 1, 1, 1], strides=[2, 2]);\n"
        "Conv(X=b, W=k | Y=c | pads=[1, 1, 1, 1], strides=[2, 2]);\n"
        "Resize(X=c, scales=scales | Y=d | mode=\"nearest\");\n"
        "Add(A=b, B=d | C=e |);\n"
        "Conv(X=e, W=k | Y=y | pads=[1, 1, 1, 1]);\n"
        "output(src=y | |);\n";
    static const struct {
        int first_n, first_w, n, h, w; // first_h is 32
        bool has_template;
    } cases[] = {
        {1, 64, 1, 64, 96, true},  {1, 64, 1, 96, 32, true}, {1, 64, 1, 64, 36, false},
        {1, 64, 1, 40, 32, false}, {3, 64, 5, 96, 32, true}, // the batch may be any
        {1, 1, 1, 96, 1, true},    {1, 1, 1, 40, 1, false},  // and what is 1 stays so
    };
    CHECK_OK(ln_arch_init());
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const symbol_size first[] = {
            {"n", cases[i].first_n}, {"h", 32}, {"w", cases[i].first_w}, {NULL, 0}};
        const symbol_size next[] = {
            {"n", cases[i].n}, {"h", cases[i].h}, {"w", cases[i].w}, {NULL, 0}};
        requests count = count_requests(text, NULL, first, NULL, next);
        CHECK_EQ(count.reshaping < count.rewriting, cases[i].has_template);
        ln_context *ctx = open_bound(text, first);
        CHECK_OK(ln_context_compile(ctx, "cpu"));
        CHECK_OK(ln_context_load(ctx, NULL));
        check_like_fresh(ctx, text, next);
        close_context(ctx);
    }
    ln_arch_cleanup();
}

// As some exporters write it: each unknown dimension has the same name.
TEST(sizes_of_one_name_that_differ_have_a_template)
{
    static const char text[] = CONVOLUTIONS("[1, 8, -1, -1]", "[\"\", \"\", \"?\", \"?\"]");
    CHECK_OK(ln_arch_init());
    ln_context *ctx = open_text(text), *like = open_text(text), *fresh = open_text(text);
    const int first[] = {1, 8, 16, 16}, other[] = {1, 8, 24, 16}, next[] = {1, 8, 9, 40};
    CHECK_OK(ln_context_set_shape(ctx, "x", 4, first));
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    CHECK_OK(ln_context_reshape(ctx, 1, &(ln_input_shape){.tname = "x", .ndim = 4, .dims = other}));
    size_t reshaping = 0, rewriting = 0;
    ln_allocator_set(&(ln_allocator){count_resize, count_release, &reshaping});
    CHECK_OK(ln_context_reshape(ctx, 1, &(ln_input_shape){.tname = "x", .ndim = 4, .dims = next}));
    ln_allocator_set(NULL);
    CHECK_OK(ln_context_set_shape(like, "x", 4, next));
    ln_allocator_set(&(ln_allocator){count_resize, count_release, &rewriting});
    CHECK_OK(ln_context_optimize_with(like, "cpu", NULL));
    ln_allocator_set(NULL);
    CHECK(reshaping < rewriting);
    CHECK_OK(ln_context_set_shape(fresh, "x", 4, next));
    CHECK_OK(ln_context_compile(fresh, "cpu"));
    check_same_text(ctx, fresh);
    close_context(fresh);
    close_context(like);
    close_context(ctx);
    ln_arch_cleanup();
}

// Of the witnesses one is larger than the cache, the other one not.
TEST(images_about_as_large_as_the_cache_have_a_template)
{
    static const char text[] =
        "input(| dst=x | dtype=TL_FLOAT, dims=[1, 8, -1, -1], names=[\"\", \"\", \"h\", \"w\"]);\n" //
        CONSTANT("k", "[8, 8, 2, 2]")  //
        CONSTANT("e", "[48, 8, 1, 1]") //
        CONSTANT("d", "[48, 1, 3, 3]") //
        CONSTANT("p", "[8, 48, 1, 1]") //
        "Conv(X=x, W=k | Y=s | strides=[4, 4]);\n"
        "Conv(X=s, W=e | Y=a |);\n"
        "Conv(X=a, W=d | Y=b | pads=[1, 1, 1, 1], group=48);\n"
        "Conv(X=b, W=p | Y=y |);\n"
        "output(src=y | |);\n";
    CHECK_OK(ln_arch_init());
    const symbol_size first[] = {{"h", 32}, {"w", 64}, {NULL, 0}};
    const symbol_size next[] = {{"h", 400}, {"w", 300}, {NULL, 0}};
    requests count = count_requests(text, NULL, first, NULL, next);
    CHECK(count.reshaping < count.rewriting);
    ln_arch_cleanup();
}

// ---- What a template must not decide ----

// Row i is i.
static void check_mean(ln_context *ctx, int rows, int limit)
{
    float x[4000];
    for (int k = 0; k < 4 * rows; k++)
        x[k] = (float)(k / 4);
    ln_input_shape shape = {.tname = "x", .ndim = 2, .dims = DIMS(rows, 4)};
    CHECK_OK(ln_context_reshape(ctx, 1, &shape));
    CHECK_OK(ln_context_set_data(ctx, "x", x));
    CHECK_OK(ln_context_run(ctx));
    double mean = (double)((rows < limit ? rows : limit) - 1) / 2;
    CHECK_NEAR(((const float *)ln_context_get_data(ctx, "y", NULL))[3], mean, 1e-3);
}

TEST(a_limit_that_some_shapes_reach_holds_for_them)
{
    CHECK_OK(ln_arch_init());
    const char *const texts[] = {first_20, first_300};
    const int limits[] = {20, 300}, rows[] = {5, 1000, 250, 301, 2, 20, 19, 21};
    for (size_t t = 0; t < 2; t++) {
        ln_context *ctx = open_bound(texts[t], (symbol_size[]){{"rows", 10}, {NULL, 0}});
        CHECK_OK(ln_context_compile(ctx, "cpu"));
        CHECK_OK(ln_context_load(ctx, NULL));
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
            check_mean(ctx, rows[i], limits[t]);
        close_context(ctx);
    }
    ln_arch_cleanup();
}

// 3 is added to fewer than 100 rows, 5 to others.
TEST(a_comparison_of_sizes_is_made_for_each_shape)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = open_bound(branch, (symbol_size[]){{"rows", 10}, {NULL, 0}});
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    CHECK_OK(ln_context_load(ctx, NULL));
    const int rows[] = {120, 99, 100, 2, 5000, 1, 10};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ln_input_shape shape = {.tname = "x", .ndim = 2, .dims = DIMS(rows[i], 4)};
        CHECK_OK(ln_context_reshape(ctx, 1, &shape));
        static const float x[20000];
        CHECK_OK(ln_context_set_data(ctx, "x", x));
        CHECK_OK(ln_context_run(ctx));
        CHECK_NEAR(((const float *)ln_context_get_data(ctx, "y", NULL))[3], rows[i] < 100 ? 3 : 5,
                   0);
    }
    close_context(ctx);
    ln_arch_cleanup();
}

// Witnesses have larger sizes than anybody asked for.
TEST(limits_are_those_of_the_shapes_that_are_asked_for)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = open_bound(perceptron, (symbol_size[]){{"rows", 2}, {NULL, 0}});
    ln_limits limits = ln_limits_default();
    limits.memory_byte_count = 16384;
    limits.work = 1e5;
    ln_context_set_limits(ctx, &limits);
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    CHECK_OK(ln_context_load(ctx, NULL));
    ln_input_shape larger = {.tname = "x", .ndim = 2, .dims = DIMS(3, 16)};
    CHECK_OK(ln_context_reshape(ctx, 1, &larger));
    larger.dims = DIMS(100000, 16);
    CHECK_FAILS(ln_context_reshape(ctx, 1, &larger), LN_LIMIT);
    close_context(ctx);
    ln_arch_cleanup();
}

// Without a template too: what is compiled for a shape has the limits that its context has by then.
TEST(limits_hold_for_shapes_without_a_template)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = open_bound(direct, (symbol_size[]){{"h", 8}, {"w", 8}, {NULL, 0}});
    ln_limits limits = ln_limits_default();
    limits.memory_byte_count = 65536;
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    CHECK_OK(ln_context_set_limits(ctx, &limits));
    ln_input_shape larger = {.tname = "x", .ndim = 4, .dims = DIMS(1, 8, 9, 10)};
    CHECK_OK(ln_context_reshape(ctx, 1, &larger));
    larger.dims = DIMS(1, 8, 100, 100);
    CHECK_FAILS(ln_context_reshape(ctx, 1, &larger), LN_LIMIT);
    close_context(ctx);
    ln_arch_cleanup();
}

static void count_firing(void *user, const ln_firing *firing)
{
    (void)firing;
    ++*(size_t *)user;
}

TEST(who_listens_to_a_compilation_hears_each_rewrite_once)
{
    CHECK_OK(ln_arch_init());
    const symbol_size sizes[] = {{"batch", 3}, {"seq", 9}, {NULL, 0}};
    size_t heard = 0, expected = 0;
    ln_optimize_options options = ln_optimize_options_default();
    options.on_firing = count_firing;
    options.user = &expected;
    ln_context *plain = open_bound(encoder, sizes);
    CHECK_OK(ln_context_optimize_with(plain, "cpu", &options));
    options.user = &heard;
    ln_context *told = open_bound(encoder, sizes), *alone = open_bound(encoder, sizes);
    CHECK_OK(ln_context_compile_with(told, "cpu", &options));
    CHECK_OK(ln_context_compile(alone, "cpu"));
    CHECK(expected > 0);
    CHECK_EQ(heard, expected);
    check_same_text(told, alone);
    close_context(alone);
    close_context(told);
    close_context(plain);
    ln_arch_cleanup();
}

TEST(running_out_of_memory_leaves_a_context_that_can_be_freed)
{
    CHECK_OK(ln_arch_init());
    OOM_SWEEP(n)
    {
        ln_context *ctx = ln_context_create();
        if (!ctx)
            continue;
        ln_status status = ln_context_init_mem(ctx, shorter, sizeof shorter - 1, "model.net");
        if (status == LN_OK)
            status = ln_context_set_symbol(ctx, "rows", 5);
        if (status == LN_OK)
            status = ln_context_compile(ctx, "cpu");
        if (status == LN_OK) {
            ln_input_shape shape = {.tname = "x", .ndim = 2, .dims = DIMS(9, 4)};
            (void)ln_context_reshape(ctx, 1, &shape);
            CHECK(ctx->state == LN_CONTEXT_PLANNED);
        }
        ln_context_free(ctx);
    }
    ln_arch_cleanup();
}

TEST_LIST(any_row_of_shapes_gives_what_fresh_contexts_give,
          a_new_shape_of_a_template_is_not_compiled, a_size_of_one_has_a_template_of_its_own,
          each_class_of_sizes_has_its_template,
          lists_that_differ_in_more_than_sizes_are_no_template,
          a_product_of_two_sizes_is_a_number_of_a_template,
          algorithms_that_are_avoided_are_for_new_shapes_too,
          images_that_meet_again_have_a_template_for_multiples,
          sizes_of_one_name_that_differ_have_a_template,
          images_about_as_large_as_the_cache_have_a_template,
          a_limit_that_some_shapes_reach_holds_for_them,
          a_comparison_of_sizes_is_made_for_each_shape,
          limits_are_those_of_the_shapes_that_are_asked_for,
          limits_hold_for_shapes_without_a_template,
          who_listens_to_a_compilation_hears_each_rewrite_once,
          running_out_of_memory_leaves_a_context_that_can_be_freed)
