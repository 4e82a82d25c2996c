// SPDX-License-Identifier: Apache-2.0
// Both compiled forms of a model, with its weights beside it and without, compute its bits: views
// of constants, and weights of graphs.

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <lightnet/op_support.h>

#include "tests/api/values.h"

#define WEIGHT(name, dims)                                                                         \
    "create(| dst=" name " | dtype=TL_FLOAT, dims=" dims ", from_file=true);\n"
#define X       "input(| dst=x | dtype=TL_FLOAT, dims=[1, 4, 8, 8]);\n"
#define GO      "create(| dst=go | dtype=TL_BOOL, dims=[], data=[1]);\n"
#define OUT(t)  "output(src=" t " | |);\n"
#define CAPTURE "input(| dst=x | dtype=TL_FLOAT, dims=[], open=true, capture=true);\n"
#define IF                                                                                         \
    "If(cond=go, capture1=x | outputs1=y | then_branch=\"a\", else_branch=\"b\");\n"               \
    "graph b {\n" CAPTURE OUT("x") "}\n"

static const struct {
    const char *why;
    const char *model;  // x -> y
    const char *absent; // a tensor that is not in the stored file; NULL: none
} cases[] = {
    {"a slope is a view of the constant in the file",
     X WEIGHT("w", "[4, 4, 3, 3]") WEIGHT("b", "[4]") WEIGHT(
         "s",
         "[1, 4, 1, 1]") "conv2d(src=x, weight=w, bias=b | dst=c | size=[3, 3], padding=[1, 1, 1, 1]);\n"
                         "PRelu(X=c, slope=s | Y=y |);\n",
     "w"},
    {"only a graph has weights",
     X GO IF
     "graph a {\n" CAPTURE WEIGHT("s", "[1, 4, 1, 1]") "Add(A=x, B=s | C=z |);\n" OUT("z") "}\n",
     NULL},
    {"a graph reads the same weight as the model around it",
     X GO WEIGHT("s", "[1, 4, 1, 1]") "Mul(A=x, B=s | C=m |);\n"
                                      "If(cond=go, capture1=m | outputs1=y | then_branch=\"a\", "
                                      "else_branch=\"a\");\n"
                                      "graph a {\n"
                                      "input(| dst=m | dtype=TL_FLOAT, dims=[], open=true, "
                                      "capture=true);\n" WEIGHT(
                                          "s",
                                          "[1, 4, 1, 1]") "Add(A=m, B=s | C=z |);\n" OUT("z") "}\n",
     NULL},
    {"two graphs read one weight",
     X GO WEIGHT(
         "b",
         "[4]") "If(cond=go, capture1=x | outputs1=y | then_branch=\"a\", "
                "else_branch=\"b\");\n"
                "graph a {\n" CAPTURE WEIGHT("s", "[1, 4, 1, 1]") "Add(A=x, B=s | C=z |);\n" OUT(
                    "z") "}\n"
                         "graph b {\n" CAPTURE WEIGHT(
                             "s", "[1, 4, 1, 1]") "Mul(A=x, B=s | C=z |);\n" OUT("z") "}\n",
     NULL},
    {"what the model computes once is called as a weight of a graph",
     X GO WEIGHT("p", "[1, 4, 1, 1]") WEIGHT(
         "q",
         "[1, 4, 1, 1]") "elew(src1=p, src2=q | dst=s | elew_op=TL_MUL);\n"
                         "elew(src1=x, src2=s | dst=m | elew_op=TL_SUM);\n"
                         "If(cond=go, capture1=m | outputs1=y | then_branch=\"a\", else_branch=\"a\");\n"
                         "graph a {\ninput(| dst=m | dtype=TL_FLOAT, dims=[], open=true, capture=true);\n" WEIGHT(
                             "s", "[1, 4, 1, 1]") "Add(A=m, B=s | C=z |);\n" OUT("z") "}\n",
     NULL},
    {"a body of a loop has weights",
     X WEIGHT(
         "b",
         "[4]") "create(| dst=n | dtype=TL_INT64, dims=[], data=[3]);\n"
                "Loop(M=n, v_initial1=x | v_final_and_scan_outputs1=y | body=\"body\");\n"
                "graph body {\n"
                "input(| dst=i | dtype=TL_INT64, dims=[], open=true);\n"
                "input(| dst=c | dtype=TL_BOOL, dims=[], open=true);\n"
                "input(| dst=t | dtype=TL_FLOAT, dims=[], open=true);\n" WEIGHT("s", "[1, 4, 1, 1]")
                    WEIGHT(
                        "w",
                        "[4, 4, 3, 3]") "Conv(X=t, W=w | Y=v | pads=[1, 1, 1, 1], kernel_shape=[3, 3]);\n"
                                        "Add(A=v, B=s | C=z |);\n" OUT("c") OUT("z") "}\n",
     NULL},
};

enum { COUNT = 4 * 8 * 8 };

static char folder[] = LN_BUILD_DIR "/forms-XXXXXX";

static const char *const files[] = {"raw.safetensors", "c.json", "c.safetensors", "bare.json",
                                    "other.params"};

static const char *in_folder(const char *name)
{
    static char path[4][256];
    static int next;
    char *at = path[next++ % 4];
    snprintf(at, sizeof path[0], "%s/%s", folder, name);
    return at;
}

static void begin(void)
{
    CHECK_OK(ln_arch_init());
    strcpy(folder + strlen(folder) - 6, "XXXXXX");
    CHECK_NOT_NULL(mkdtemp(folder));
    static float numbers[144];
    for (int i = 0; i < 144; i++)
        numbers[i] = (float)(i * 37 % 29 - 14) / 16;
    tl_tensor *w = tl_tensor_create(numbers, 4, (int[]){4, 4, 3, 3}, TL_FLOAT),
              *b = tl_tensor_create(numbers + 3, 1, (int[]){4}, TL_FLOAT),
              *s = tl_tensor_create(numbers + 7, 4, (int[]){1, 4, 1, 1}, TL_FLOAT),
              *p = tl_tensor_create(numbers + 11, 4, (int[]){1, 4, 1, 1}, TL_FLOAT),
              *q = tl_tensor_create(numbers + 19, 4, (int[]){1, 4, 1, 1}, TL_FLOAT);
    static uint16_t halves[4] = {0x3c00, 0x4000, 0x4200, 0x4400};
    tl_tensor *h = tl_tensor_create(halves, 4, (int[]){1, 4, 1, 1}, TL_FLOAT16);
    const ln_named_tensor tensors[] = {{"w", w}, {"b", b}, {"s", s}, {"p", p}, {"q", q}, {"h", h}};
    CHECK_OK(
        ln_tensor_file_save(in_folder("raw.safetensors"), LN_TENSOR_FILE_SAFETENSORS, tensors, 6));
    for (int i = 0; i < 6; i++)
        tl_tensor_free((tl_tensor *)(uintptr_t)tensors[i].tensor);
}

static void end(void)
{
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        unlink(in_folder(files[i]));
    CHECK_EQ(rmdir(folder), 0);
    ln_arch_cleanup();
}

static void run(ln_context *ctx, float y[COUNT])
{
    float x[COUNT];
    for (int i = 0; i < COUNT; i++)
        x[i] = (float)(i % 13) - 6;
    CHECK_OK(ln_context_set_data(ctx, "x", x));
    CHECK_OK(ln_context_run(ctx));
    ln_object *object;
    CHECK_OK(ln_context_get_object(ctx, "y", &object));
    const tl_tensor *tensor = ln_object_tensor(object);
    CHECK_EQ(tensor->len, COUNT);
    memcpy(y, tensor->data, COUNT * sizeof *y);
    ln_object_release(object);
}

// Closes `ctx`.
static void check_same(ln_context *ctx, const char *datafile, const float expected[COUNT],
                       const char *why)
{
    float y[COUNT];
    CHECK_OK(ln_context_load(ctx, datafile));
    run(ctx, y);
    if (memcmp(y, expected, sizeof y) != 0)
        fail_msg("%s: y[0] is %g, not %g", why, (double)y[0], (double)expected[0]);
    close_context(ctx);
}

static ln_context *read_file(const char *name)
{
    ln_context *ctx = ln_context_create();
    CHECK_OK(ln_context_init(ctx, in_folder(name)));
    CHECK_EQ(ctx->state, LN_CONTEXT_PLANNED);
    return ctx;
}

static ln_context *compiled(const char *model, const char *attached)
{
    ln_context *ctx = open_text(model);
    if (attached)
        CHECK_OK(ln_context_carry_file(ctx, attached));
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    return ctx;
}

static void expect(const char *model, float y[COUNT])
{
    ln_context *ctx = compiled(model, NULL);
    CHECK_OK(ln_context_load(ctx, in_folder("raw.safetensors")));
    run(ctx, y);
    close_context(ctx);
}

// The model carries its weights, or takes them from the data file.
TEST(a_stored_form_computes_the_same_bits)
{
    begin();
    for (size_t i = 0; i < 2 * sizeof cases / sizeof cases[0]; i++) {
        const char *model = cases[i / 2].model, *raw = in_folder("raw.safetensors");
        float y[COUNT];
        size_t count;
        expect(model, y);
        ln_context *ctx = compiled(model, i % 2 ? raw : NULL);
        CHECK_OK(ln_context_store(ctx, i % 2 ? NULL : raw, in_folder("c.safetensors"), &count));
        CHECK(count > 0);
        CHECK_OK(ln_context_print(ctx, in_folder("c.json")));
        check_same(ctx, NULL, y, cases[i / 2].why); // it goes on
        check_same(read_file("c.json"), NULL, y, cases[i / 2].why);
        ln_tensor_file *file;
        CHECK_OK(ln_tensor_file_open(in_folder("c.safetensors"), &file));
        if (cases[i / 2].absent)
            CHECK_EQ(ln_tensor_file_find(file, cases[i / 2].absent), -1);
        ln_tensor_file_close(file);
    }
    end();
}

TEST(a_form_without_weights_computes_the_same_bits)
{
    begin();
    for (size_t i = 0; i < 2 * sizeof cases / sizeof cases[0]; i++) {
        const char *model = cases[i / 2].model, *raw = in_folder("raw.safetensors");
        float y[COUNT];
        expect(model, y);
        ln_context *ctx = compiled(model, i % 2 ? raw : NULL);
        CHECK_OK(ln_context_print(ctx, in_folder("bare.json")));
        check_same(ctx, i % 2 ? NULL : raw, y, cases[i / 2].why); // it goes on
        check_same(read_file("bare.json"), raw, y, cases[i / 2].why);
    }
    end();
}

TEST(one_weight_of_two_types_is_not_stored)
{
    begin();
    ln_context *ctx = compiled(
        X GO WEIGHT(
            "h", "[1, 4, 1, 1]") "Mul(A=x, B=h | C=m |);\n"
                                 "If(cond=go, capture1=m | outputs1=y | then_branch=\"a\", "
                                 "else_branch=\"a\");\n"
                                 "graph a {\ninput(| dst=m | dtype=TL_FLOAT, dims=[], open=true, "
                                 "capture=true);\n"
                                 "create(| dst=h | dtype=TL_FLOAT16, dims=[1, 4, 1, 1], "
                                 "from_file=true);\n"
                                 "Cast(input=h | output=f | to=1);\n"
                                 "Add(A=m, B=f | C=z |);\n" OUT("z") "}\n",
        NULL);
    size_t count;
    CHECK_FAILS(
        ln_context_store(ctx, in_folder("raw.safetensors"), in_folder("c.safetensors"), &count),
        LN_UNSUPPORTED);
    CHECK_MESSAGE("give one of them another name");
    close_context(ctx);
    end();
}

// An operator of a program, not in call form: it is checked when the shape of its input is known.
static const ln_arg_info later_ins[] = {{.arg_name = "src", .mtype = LN_MEM_CPU},
                                        {.arg_name = NULL}};
static const ln_arg_info later_outs[] = {{.arg_name = "dst", .mtype = LN_MEM_CPU},
                                         {.arg_name = NULL}};
static const ln_param_info later_params[] = {{.arg_name = NULL}};
static const ln_op_info later_info = {
    .byte_count = sizeof(ln_op_info), .ins = later_ins, .outs = later_outs, .params = later_params};

static void define_later(ln_op_arg *arg)
{
    ln_tensor_entry *src = ln_op_check_ins(arg, later_ins) == LN_OK ? ln_op_in(arg, 0) : NULL;
    if (src)
        ln_op_out(arg, 0, src->tensor->ndim, src->tensor->dims, src->tensor->dtype, NULL);
}

static void run_later(ln_op_arg *arg)
{
    (void)arg;
}

TEST(a_form_whose_shapes_depend_on_weights_is_not_written_without_them)
{
    ln_op_arg args[] = {{.optype = "later", .arch = "none", .info = &later_info},
                        {.optype = "later_ref", .arch = "ref", .info = &later_info}};
    ln_op later = {.op_arg = &args[0], .pre_run = define_later, .post_run = ln_op_undo};
    ln_op later_ref = {
        .op_arg = &args[1], .pre_run = define_later, .run = run_later, .post_run = ln_op_undo};
    begin();
    CHECK_OK(ln_op_register(&later));
    CHECK_OK(ln_op_register(&later_ref));
    ln_context *ctx = open_text("input(| dst=x | dtype=TL_FLOAT, dims=[1, 4, 8, 8]);\n"
                                "create(| dst=d | dtype=TL_INT64, dims=[4], from_file=true);\n"
                                "Tile(input=x, repeats=d | output=r |);\n"
                                "later(src=r | dst=y |);\n");
    static const int64_t dims[] = {1, 2, 1, 1};
    CHECK_OK(ln_context_carry(ctx, "d", TL_INT64, 1, (int[]){4}, dims));
    CHECK_OK(ln_context_rerun_ops(ctx));
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    CHECK_FAILS(ln_context_print(ctx, in_folder("bare.json")), LN_UNSUPPORTED);
    CHECK_MESSAGE("store them beside it");
    close_context(ctx);
    end();
}

// other.params: raw.safetensors with `changed` instead of one element of s, and more tensors or
// fewer.
static void save_other(float changed, bool has_own, bool has_more)
{
    ln_tensor_file *file;
    CHECK_OK(ln_tensor_file_open(in_folder("raw.safetensors"), &file));
    ln_named_tensor tensors[8];
    size_t count = 0;
    tl_tensor *s = NULL;
    for (int i = 0; i < ln_tensor_file_count(file) && has_own; i++) {
        const char *name = ln_tensor_file_name(file, i);
        tensors[count++] = (ln_named_tensor){name, ln_tensor_file_tensor(file, i)};
        if (strcmp(name, "s") != 0)
            continue;
        s = tl_tensor_clone(tensors[count - 1].tensor);
        ((float *)s->data)[2] = changed;
        tensors[count - 1].tensor = s;
    }
    tl_tensor *more = tl_tensor_arange(0, 3, 1, TL_FLOAT);
    if (has_more)
        tensors[count++] = (ln_named_tensor){"more", more};
    CHECK_OK(ln_tensor_file_save(in_folder("other.params"), LN_TENSOR_FILE_PARAMS, tensors, count));
    tl_tensor_free_data_too(s);
    tl_tensor_free_data_too(more);
    ln_tensor_file_close(file);
}

static float third_of_s(void)
{
    ln_tensor_file *file;
    CHECK_OK(ln_tensor_file_open(in_folder("raw.safetensors"), &file));
    const tl_tensor *s = ln_tensor_file_tensor(file, ln_tensor_file_find(file, "s"));
    float element = ((const float *)s->data)[2];
    ln_tensor_file_close(file);
    return element;
}

static const struct {
    const char *why;
    bool is_changed;
    bool has_own;
    bool has_more;
    ln_status stored;    // of a compiled form that was stored
    ln_status carrying;  // of a model that brings its data
    const char *message; // of the first failure
} given[] = {
    {"the same tensors in another format", false, true, false, LN_OK, LN_OK, NULL},
    {"another element", true, true, false, LN_INVALID, LN_INVALID,
     "is not the data file that the model was compiled with"},
    {"more tensors", false, true, true, LN_INVALID, LN_OK, "is not the data file"},
    {"other tensors", false, false, true, LN_INVALID, LN_INVALID, "is not the data file"},
};

TEST(a_data_file_given_again_has_to_say_the_same)
{
    begin();
    char raw[256];
    strcpy(raw, in_folder("raw.safetensors"));
    const char *model = cases[0].model;
    float y[COUNT];
    size_t count;
    expect(model, y);
    ln_context *ctx = compiled(model, NULL);
    CHECK_OK(ln_context_store(ctx, raw, in_folder("c.safetensors"), &count));
    CHECK_OK(ln_context_print(ctx, in_folder("c.json")));
    check_same(ctx, raw, y, "it goes on");
    check_same(read_file("c.json"), raw, y, "it is the same file");
    for (size_t i = 0; i < sizeof given / sizeof given[0]; i++) {
        save_other(given[i].is_changed ? 77 : third_of_s(), given[i].has_own, given[i].has_more);
        ctx = read_file("c.json");
        if (ln_context_load(ctx, in_folder("other.params")) != given[i].stored)
            fail_msg("%s: %s", given[i].why, ln_error_message());
        if (given[i].message)
            CHECK_MESSAGE(given[i].message);
        close_context(ctx);
        ctx = compiled(model, raw);
        if (ln_context_load(ctx, in_folder("other.params")) != given[i].carrying)
            fail_msg("%s, of a model that brings its data: %s", given[i].why, ln_error_message());
        close_context(ctx);
    }
    end();
}

TEST_LIST(a_stored_form_computes_the_same_bits, a_form_without_weights_computes_the_same_bits,
          one_weight_of_two_types_is_not_stored,
          a_form_whose_shapes_depend_on_weights_is_not_written_without_them,
          a_data_file_given_again_has_to_say_the_same)
