// SPDX-License-Identifier: Apache-2.0
// Models from before there was `input`: which `create` is one, and what it holds.

#include "tests/api/model.h"

#include <stdio.h>
#include <unistd.h>

#include "tests/oom.h"

#define CREATE(name, dims, ran, from_file)                                                         \
    "create(| dst=" name " | dtype=TL_FLOAT, dims=" dims ", ran=" ran ", data=[0], "               \
    "from_file=" from_file ");\n"

#define CONV(src, w, b, dst)                                                                       \
    "conv2d(src=" src ", weight=" w ", bias=" b " | dst=" dst " | group=1, size=[3, 3], "          \
    "stride=[1, 1], padding=[1, 1, 1, 1], dilation=[1, 1], autopad=NOTSET);\n"

// A detector: the picture and the anchors come from the program, the weights from a file.
#define DETECTOR                                                                                   \
    CREATE("input", "[1, 2, 4, 4]", "[0, 255]", "true")                                            \
    CREATE("w", "[4, 2, 3, 3]", "[-1, 1]", "true")                                                 \
    CREATE("b", "[4]", "[-1, 1]", "true")                                                          \
    CREATE("anchors", "[16, 4]", "[0, 100]", "true")                                               \
    CONV("input", "w", "b", "c")                                                                   \
    "transpose(src=c | dst=t | axes=[0, 2, 3, 1]);\n"                                              \
    "reshape(src=t | dst=delta | dims=[16, 4]);\n"                                                 \
    "transform_bboxSQD(src_delta=delta, src_anchor=anchors | dst=boxes | width=64, height=64, "    \
    "img_width=32, img_height=32, x_shift=0, y_shift=0);\n"

typedef struct sample {
    const char *why;
    const char *text;
    const char *inputs; // each with a space after it
} sample;

static const sample samples[] = {
    {"what is only put out is a constant of the model",
     CREATE("c", "[2]", "[0, 0]", "true") "output(src=c | |);\n", ""},
    {"a picture from the file is an input, weights and anchors are none", DETECTOR, "input "},
    {"a random picture is one, too",
     CREATE("x", "[1, 2, 4, 4]", "[0, 255]", "false") CREATE("w", "[2, 2, 3, 3]", "[-1, 1]", "true")
         CREATE("b", "[2]", "[0, 0]", "false") CONV("x", "w", "b", "y"),
     "x "},
    {"zeros are a bias where they are read as one, and an input where they are read as data",
     CREATE("x", "[1, 2, 4, 4]", "[0, 0]", "false") CREATE("w", "[2, 2, 3, 3]", "[-1, 1]", "false")
         CREATE("b", "[2]", "[0, 0]", "false") CONV("x", "w", "b", "y"),
     "x "},
    {"gammas, betas and moments of a batch norm are constants",
     CREATE("x", "[1, 2, 4, 4]", "[0, 255]", "true") CREATE("s", "[2]", "[0, 0]", "false")
         CREATE("o", "[2]", "[0, 0]", "false") CREATE("m", "[2]", "[0, 0]", "true") CREATE(
             "v", "[2]", "[0, 1]",
             "true") "batchnorm(src=x, scale=s, offset=o, mean=m, var=v | dst=y | epsilon=1e-3);\n",
     "x "},
    {"a weight that is moved and computed with before it is read as one is none",
     CREATE("x", "[1, 2, 4, 4]", "[0, 1]", "true") CREATE("u", "[2, 3, 3, 2]", "[-1, 1]", "true")
         CREATE("f", "[2, 2, 3, 3]", "[0, 1]", "true") CREATE(
             "b", "[2]", "[0, 0]",
             "false") "transpose(src=u | dst=v | axes=[0, 3, 1, 2]);\n"
                      "elew(src1=v, src2=f | dst=w | elew_op=TL_MUL);\n" CONV("x", "w", "b", "y"),
     "x "},
    {"a weight that is only printed beside it is none",
     CREATE("x", "[1, 2, 4, 4]", "[0, 1]", "true") CREATE("w", "[2, 2, 3, 3]", "[-1, 1]", "true")
         CREATE("b", "[2]", "[0, 0]", "false") "print(src=w | | msg=\"w:\");\n" CONV("x", "w", "b",
                                                                                     "y"),
     "x "},
    {"a picture that is moved first is one",
     CREATE("image", "[4, 4, 2]", "[0, 255]", "true") CREATE("w", "[2, 2, 3, 3]", "[-1, 1]", "true")
         CREATE("b", "[2]", "[0, 0]",
                "false") "transpose(src=image | dst=t | axes=[2, 0, 1]);\n"
                         "reshape(src=t | dst=x | dims=[1, 2, 4, 4]);\n" CONV("x", "w", "b", "y"),
     "image "},
    {"two pictures",
     CREATE("a", "[2]", "[0, 1]", "true")
         CREATE("b", "[2]", "[0, 0]", "false") "elew(src1=a, src2=b | dst=y | elew_op=TL_SUM);\n",
     "a b "},
    {"given numbers are a constant",
     CREATE(
         "x", "[2]", "[0, 1]",
         "true") "create(| dst=k | dtype=TL_FLOAT, dims=[2], ran=[0, 0], data=[0, 3], from_file=false);\n"
                 "elew(src1=x, src2=k | dst=y | elew_op=TL_SUM);\n",
     "x "},
    {"beside an `input` every create is a constant",
     "input(| dst=x | dtype=TL_FLOAT, dims=[2]);\n" CREATE(
         "k", "[2]", "[0, 1]", "true") "elew(src1=x, src2=k | dst=y | elew_op=TL_SUM);\n",
     "x "},
};

static void list_inputs(const ln_context *ctx, char *names, size_t size)
{
    names[0] = '\0';
    for (size_t i = 0; i < ln_context_input_count(ctx); i++) {
        size_t len = strlen(names);
        snprintf(names + len, size - len, "%s ", ln_context_input(ctx, i)->name);
    }
}

TEST(inputs_are_what_is_read_as_data)
{
    CHECK_OK(ln_arch_init());
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
        char names[256];
        ln_context *ctx = open_text(samples[i].text);
        list_inputs(ctx, names, sizeof names);
        if (strcmp(names, samples[i].inputs) != 0)
            printf("%s\n", samples[i].why);
        CHECK_STR_EQ(names, samples[i].inputs);
        CHECK_OK(ln_context_compile(ctx, "cpu"));
        list_inputs(ctx, names, sizeof names);
        CHECK_STR_EQ(names, samples[i].inputs);
        close_context(ctx);
    }
    ln_arch_cleanup();
}

// ---- Running ----

// Writes a .wts file of floats 1, 2, ... / 8 and returns its name.
static const char *write_weights(char *path, const char *const *names, const int *counts, int count)
{
    snprintf(path, 64, "old_inputs.%d.wts", (int)getpid());
    FILE *file = fopen(path, "w");
    CHECK_NOT_NULL(file);
    fprintf(file, "%d\n", count);
    for (int i = 0; i < count; i++) {
        fprintf(file, "%s 0 %d", names[i], counts[i]);
        for (int k = 0; k < counts[i]; k++) {
            float x = (float)(k + 1) / 8;
            unsigned bits;
            memcpy(&bits, &x, sizeof bits);
            fprintf(file, " %08x", bits);
        }
        fputs("\n", file);
    }
    fclose(file);
    return path;
}

static const char *const weight_names[] = {"w", "b", "anchors", "input"};
static const int weight_counts[] = {72, 4, 64, 32};

static ln_context *load_detector(const char *text, const char *weights)
{
    ln_context *ctx = open_text(text);
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    CHECK_OK(ln_context_load(ctx, weights));
    return ctx;
}

static void detect(ln_context *ctx, const float *picture, float *boxes)
{
    CHECK_OK(ln_context_set_data(ctx, "input", picture));
    CHECK_OK(ln_context_run(ctx));
    CHECK_NOT_NULL(ln_context_get_data(ctx, "boxes", boxes));
}

TEST(an_old_program_gives_pictures_and_the_work_is_done_in_the_run)
{
    // The same network as it is written today.
    char text[4096], path[64];
    snprintf(text, sizeof text, "input(| dst=input | dtype=TL_FLOAT, dims=[1, 2, 4, 4]);\n%s",
             strstr(&(DETECTOR)[1], "create("));

    CHECK_OK(ln_arch_init());
    const char *weights = write_weights(path, weight_names, weight_counts, 3);
    ln_context *old = load_detector(DETECTOR, weights), *today = load_detector(text, weights);
    CHECK_EQ(old->mem_sizes[LN_MEM_CPU], today->mem_sizes[LN_MEM_CPU]);
    CHECK_EQ(old->static_sizes[LN_MEM_CPU], today->static_sizes[LN_MEM_CPU]);
    CHECK(old->mem_sizes[LN_MEM_CPU] > old->static_sizes[LN_MEM_CPU]);

    float picture[32], got[64], wanted[64], before[64] = {0};
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 32; i++)
            picture[i] = (float)((i * 37 + round * 11) % 64) / 64;
        detect(old, picture, got);
        detect(today, picture, wanted);
        CHECK_MEM_EQ(got, wanted, sizeof got);
        CHECK(memcmp(got, before, sizeof got) != 0);
        memcpy(before, got, sizeof got);
    }
    close_context(old);
    close_context(today);
    ln_arch_cleanup();
    remove(path);
}

TEST(the_file_may_have_the_first_picture_and_must_have_the_weights)
{
    CHECK_OK(ln_arch_init());
    char path[64];
    const char *weights = write_weights(path, weight_names, weight_counts, 4);
    ln_context *ctx = load_detector(DETECTOR, weights), *clone;
    const float *picture = ln_context_get_data(ctx, "input", NULL);
    CHECK_NEAR(picture[0], 0.125, 0);
    CHECK_NEAR(picture[31], 4, 0);
    CHECK_OK(ln_context_clone(ctx, &clone));
    CHECK_NEAR(((const float *)ln_context_get_data(clone, "input", NULL))[31], 4, 0);
    CHECK(ln_context_get_data(clone, "input", NULL) != (const void *)picture);
    close_context(clone);
    ln_context_unload(ctx);

    weights = write_weights(path, weight_names, weight_counts, 3);
    CHECK_OK(ln_context_load(ctx, weights));
    CHECK_NEAR(((const float *)ln_context_get_data(ctx, "input", NULL))[31], 0, 0);
    ln_context_unload(ctx);

    weights = write_weights(path, weight_names, weight_counts, 2);
    CHECK_FAILS(ln_context_load(ctx, weights), LN_NOT_FOUND);
    CHECK_NOT_NULL(strstr(ln_error_message(), "'anchors' is missing"));
    close_context(ctx);
    ln_arch_cleanup();
    remove(path);
}

TEST(a_random_picture_is_the_same_as_that_of_a_create)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_text(CREATE("x", "[3]", "[0, 1]", "false") "forward(src=x | dst=z |);\n"
                                                                      "relu(src=z | dst=y |);\n",
                                "cpu");
    const float *x = ln_context_get_data(ctx, "x", NULL);
    CHECK_EQ(ln_context_input_count(ctx), 1);
    CHECK_NEAR(x[0], 0.20120828434354443, 1e-7);
    CHECK_NEAR(x[2], 0.6433236341750462, 1e-7);
    close_context(ctx);

    ctx = load_text("input(| dst=x | dtype=TL_INT32, dims=[3], data=[7, 8.5]);\n"
                    "forward(src=x | dst=y |);\n",
                    "ref");
    const int *whole = ln_context_get_data(ctx, "x", NULL);
    CHECK_EQ(whole[0], 7);
    CHECK_EQ(whole[1], 8);
    CHECK_EQ(whole[2], 0);
    close_context(ctx);
    ln_arch_cleanup();
}

TEST(a_wrong_range_of_a_first_value_is_refused)
{
    CHECK_OK(ln_arch_init());
    const char *const texts[] = {"input(| dst=x | dtype=TL_FLOAT, dims=[2], ran=[1, 0]);",
                                 "input(| dst=x | dtype=TL_FLOAT, dims=[2], ran=[1]);"};
    for (size_t i = 0; i < 2; i++) {
        ln_context *ctx = ln_context_create();
        CHECK_FAILS(ln_context_init_mem(ctx, texts[i], strlen(texts[i]), "x.net"), LN_INVALID);
        CHECK_NOT_NULL(strstr(ln_error_message(), "'ran'"));
        ln_context_free(ctx);
    }
    ln_arch_cleanup();
}

// ---- A model that was compiled with its constants ----

TEST(a_data_file_beside_stored_constants_gives_inputs_only)
{
    CHECK_OK(ln_arch_init());
    char path[64];
    const char *weights = write_weights(path, weight_names, weight_counts, 4);
    float picture[32] = {0.5F, 0.25F}, wanted[64], got[64];
    ln_context *ctx = load_detector(DETECTOR, weights);
    CHECK_OK(ln_context_set_data(ctx, "input", picture));
    CHECK_OK(ln_context_run(ctx));
    ln_context_get_data(ctx, "boxes", wanted);
    close_context(ctx);
    ctx = open_text(DETECTOR);
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    size_t count;
    CHECK_OK(ln_context_store(ctx, weights, "old_inputs.safetensors", &count));
    CHECK(count > 0);
    CHECK_OK(ln_context_print(ctx, "old_inputs.json"));
    close_context(ctx);

    ctx = ln_context_create();
    CHECK_OK(ln_context_init(ctx, "old_inputs.json"));
    CHECK_OK(ln_context_load(ctx, weights));
    CHECK_NEAR(((const float *)ln_context_get_data(ctx, "input", NULL))[31], 4, 0);
    detect(ctx, picture, got);
    CHECK_MEM_EQ(got, wanted, sizeof got);
    close_context(ctx);
    ln_arch_cleanup();
    remove(path);
    remove("old_inputs.json");
    remove("old_inputs.safetensors");
}

// ---- By name ----

TEST(inputs_are_chosen_by_name)
{
    CHECK_OK(ln_arch_init());
    char names[128];
    const char *const both[] = {"anchors", "input"}, *const computed[] = {"c"};
    const char *const unknown[] = {"image"};
    ln_context *ctx = open_text(DETECTOR);
    CHECK_OK(ln_context_set_inputs(ctx, 2, both));
    list_inputs(ctx, names, sizeof names);
    CHECK_STR_EQ(names, "input anchors ");
    CHECK_FAILS(ln_context_set_inputs(ctx, 1, computed), LN_INVALID);
    CHECK_NOT_NULL(strstr(ln_error_message(), "'c' is computed by operator"));
    CHECK_FAILS(ln_context_set_inputs(ctx, 1, unknown), LN_NOT_FOUND);
    list_inputs(ctx, names, sizeof names);
    CHECK_STR_EQ(names, "input anchors ");
    CHECK_OK(ln_context_set_inputs(ctx, 0, NULL));
    CHECK_EQ(ln_context_input_count(ctx), 0);
    CHECK_OK(ln_context_set_inputs(ctx, 1, both));
    list_inputs(ctx, names, sizeof names);
    CHECK_STR_EQ(names, "anchors ");
    CHECK(ln_context_check(ctx));
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    CHECK_FAILS(ln_context_set_inputs(ctx, 2, both), LN_STATE);
    close_context(ctx);

    ctx = open_text("input(| dst=x | dtype=TL_FLOAT, dims=[2]);\n" CREATE(
        "k", "[2]", "[0, 1]", "true") "elew(src1=x, src2=k | dst=y | elew_op=TL_SUM);\n");
    CHECK_FAILS(ln_context_set_inputs(ctx, 1, (const char *const[]){"k"}), LN_INVALID);
    CHECK_NOT_NULL(strstr(ln_error_message(), "'x' has no value of its own"));
    CHECK_OK(ln_context_set_inputs(ctx, 2, (const char *const[]){"k", "x"}));
    CHECK_EQ(ln_context_input_count(ctx), 2);
    close_context(ctx);
    ln_arch_cleanup();
}

// Folding the variance asks for constants.
TEST(a_choice_that_an_operator_refuses_changes_nothing)
{
    CHECK_OK(ln_arch_init());
    char names[128];
    ln_context *ctx = open_text(
        CREATE("x", "[1, 2, 4, 4]", "[0, 1]", "true")                                       //
        CREATE("w", "[2, 2, 3, 3]", "[-1, 1]", "true") CREATE("s", "[2]", "[1, 2]", "true") //
        CREATE("v", "[2]", "[1, 2]", "true")                                                //
        CREATE("b", "[2]", "[0, 0]",
               "false") "bn_fold_weight(weight=w, scale=s, var=v | dst=f | epsilon=1e-3);\n" //
        CONV("x", "f", "b", "y"));
    CHECK_FAILS(ln_context_set_inputs(ctx, 2, (const char *const[]){"x", "w"}), LN_INVALID);
    list_inputs(ctx, names, sizeof names);
    CHECK_STR_EQ(names, "x ");
    CHECK(ln_context_check(ctx));
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    close_context(ctx);
    ln_arch_cleanup();
}

TEST(reading_and_choosing_survive_refused_memory)
{
    CHECK_OK(ln_arch_init());
    OOM_SWEEP(n)
    {
        ln_context *ctx = ln_context_create();
        if (!ctx)
            continue;
        if (ln_context_init_mem(ctx, DETECTOR, strlen(DETECTOR), "x.net") == LN_OK)
            ln_context_set_inputs(ctx, 2, (const char *const[]){"anchors", "input"});
        close_context(ctx);
    }
    ln_arch_cleanup();
}

TEST_LIST(inputs_are_what_is_read_as_data,
          an_old_program_gives_pictures_and_the_work_is_done_in_the_run,
          the_file_may_have_the_first_picture_and_must_have_the_weights,
          a_random_picture_is_the_same_as_that_of_a_create,
          a_wrong_range_of_a_first_value_is_refused,
          a_data_file_beside_stored_constants_gives_inputs_only, inputs_are_chosen_by_name,
          a_choice_that_an_operator_refuses_changes_nothing,
          reading_and_choosing_survive_refused_memory)
