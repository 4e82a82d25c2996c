// SPDX-License-Identifier: Apache-2.0
// Random stacks of convolutions: cpu gives what ref gives, and the same bits with any instruction
// set and any number of threads.

#include "tests/conv_models.h"

#include <math.h>

#include "arch/cpu/isa.h"

#include "tests/api/onnx_model.h"

#define MODELS 500

static unsigned next_of(void *user)
{
    return (unsigned)(test_random_next(user) >> 33);
}

// An output for each tensor that nobody reads, and those that the model names.
static void check_close(const ln_context *as_read, const ln_context *cpu, const char *text)
{
    const ln_tensor_entry *output;
    for (size_t o = 0; (output = ln_context_output(as_read, o)); o++) {
        const ln_tensor_entry *got = ln_tensor_table_find(cpu->tensor_table, output->name);
        CHECK_NOT_NULL(got);
        CHECK(tl_tensor_issameshape(output->tensor, got->tensor));
        const float *a = output->tensor->data, *b = got->tensor->data;
        double largest = 1;
        for (int i = 0; i < output->tensor->len; i++)
            largest = fabs((double)a[i]) > largest ? fabs((double)a[i]) : largest;
        for (int i = 0; i < output->tensor->len; i++) {
            if (!(fabs((double)a[i] - (double)b[i]) <= 1e-3 * largest)) {
                printf("%s\n'%s' element %d: %g and %g\n", text, output->name, i, (double)a[i],
                       (double)b[i]);
                CHECK(false);
            }
        }
    }
}

static void check_same_bits(const ln_context *a, const ln_context *b, const char *text)
{
    const ln_tensor_entry *output;
    for (size_t o = 0; (output = ln_context_output(a, o)); o++) {
        const ln_tensor_entry *got = ln_tensor_table_find(b->tensor_table, output->name);
        if (memcmp(output->tensor->data, got->tensor->data, tl_tensor_size(output->tensor)) != 0) {
            printf("%s\n'%s' has other bits\n", text, output->name);
            CHECK(false);
        }
    }
}

static ln_context *run_on(const char *text, const char *target, size_t threads)
{
    ln_context *ctx = open_text(text);
    if (compile_for(ctx, target) != LN_OK || ln_context_load(ctx, NULL) != LN_OK) {
        printf("%s\n%s: %s\n", text, target, ln_error_message());
        CHECK(false);
    }
    CHECK_OK(ln_context_set_threads(ctx, threads));
    onnx_fill(ctx, 1);
    CHECK_OK(ln_context_run(ctx));
    return ctx;
}

TEST(random_stacks_agree)
{
    test_random random = test_random_start();
    static conv_model model;
    model.next = next_of;
    model.user = &random;
    CHECK_OK(ln_arch_init());
    for (int i = 0; i < MODELS; i++) {
        conv_model_write(&model);
        ln_context *as_read = run_on(model.text, AS_READ, 1), *cpu = run_on(model.text, "cpu", 1);
        check_close(as_read, cpu, model.text);
        if (i % 4 == 0) {
            CHECK_OK(ln_cpu_isa_set("generic"));
            ln_context *other = run_on(model.text, "cpu", 3);
            CHECK_OK(ln_cpu_isa_set(NULL));
            check_same_bits(cpu, other, model.text);
            close_context(other);
        }
        close_context(as_read);
        close_context(cpu);
    }
    ln_arch_cleanup();
}

#define WEIGHTS(name, dims)                                                                        \
    "create(| dst=" name " | dtype=TL_FLOAT, dims=[" dims "], ran=[-1, 1]);\n"
#define START                                                                                      \
    "input(| dst=x | dtype=TL_FLOAT, dims=[2, 4, 5, 5]);\n" WEIGHTS("v", "3, 4, 1, 1")             \
        WEIGHTS("w", "5, 3, 1, 1") "Conv(X=x, W=v | Y=a |);\n"

TEST(stacks_that_were_wrong_agree)
{
    static const struct {
        const char *why, *text;
    } models[] = {
        {"a concat within another begins with what the other holds before",
         START WEIGHTS("z", "2, 8, 1, 1") WEIGHTS(
             "q",
             "2, 16, 1, 1") "Conv(X=a, W=w | Y=b |);\nConv(X=a, W=w | Y=f |);\n"
                            "Concat(inputs1=a, inputs2=f | concat_result=c | axis=1);\n"
                            "Concat(inputs1=b, inputs2=a, inputs3=c | concat_result=d | axis=1);\n"
                            "Conv(X=c, W=z | Y=y |);\nConv(X=d, W=q | Y=e |);\n"},
        {"a concat holds another twice",
         START "Conv(X=a, W=w | Y=b |);\n"
               "Concat(inputs1=a, inputs2=b | concat_result=c | axis=1);\n"
               "Concat(inputs1=c, inputs2=c | concat_result=d | axis=1);\nRelu(X=d | Y=y |);\n"},
        {"a concat holds a slice and what is made of it",
         START "slice(src=a | dst=s | axis=1, start=1, len=2);\n"
               "MaxPool(X=s | Y=p | kernel_shape=[1, 1]);\n"
               "Concat(inputs1=p, inputs2=s | concat_result=c | axis=1);\n"
               "AveragePool(X=c | Y=y | kernel_shape=[2, 2]);\n"},
    };
    CHECK_OK(ln_arch_init());
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        printf("%s\n", models[i].why);
        ln_context *as_read = run_on(models[i].text, AS_READ, 1),
                   *cpu = run_on(models[i].text, "cpu", 1);
        check_close(as_read, cpu, models[i].text);
        close_context(as_read);
        close_context(cpu);
    }
    ln_arch_cleanup();
}

TEST_LIST(random_stacks_agree, stacks_that_were_wrong_agree)
