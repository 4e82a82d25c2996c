// SPDX-License-Identifier: Apache-2.0
// What a program asks for by its place stays there: inputs and outputs of a model are the same
// ones, in the same order, when it is compiled, loaded and made a program, whatever rules and
// passes do.

#define _GNU_SOURCE // asprintf

#include <glob.h>
#include <lightnet/lightnet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/test.h"

// The names of both ends, on a line each.
static char *list_ends(const ln_context *ctx)
{
    char *list = NULL, *longer;
    CHECK(asprintf(&list, "%zu inputs", ln_context_input_count(ctx)) > 0);
    for (size_t i = 0; ln_context_input_name(ctx, i); i++, list = longer) {
        CHECK(asprintf(&longer, "%s %s", list, ln_context_input_name(ctx, i)) > 0);
        free(list);
    }
    CHECK(asprintf(&longer, "%s, %zu outputs", list, ln_context_output_count(ctx)) > 0);
    free(list);
    list = longer;
    for (size_t i = 0; ln_context_output_name(ctx, i); i++, list = longer) {
        CHECK(asprintf(&longer, "%s %s", list, ln_context_output_name(ctx, i)) > 0);
        free(list);
    }
    return list;
}

static bool is_same(const ln_context *ctx, const char *before, const char *path, const char *when)
{
    char *now = list_ends(ctx);
    bool same = strcmp(now, before) == 0;
    if (!same)
        fprintf(stderr, "%s, %s:\n    %s\nas read:\n    %s\n", path, when, now, before);
    free(now);
    return same;
}

// Whether the file was read and compiled, and its ends stayed; models of rules that need more than
// a file say so when they are read.
static bool stays(const char *path, const char *target, size_t *compiled_count)
{
    ln_context *ctx = ln_context_create();
    bool same = true;
    if (ln_context_init(ctx, path) == LN_OK) {
        char *before = list_ends(ctx);
        if (ln_context_compile(ctx, target) == LN_OK) {
            ++*compiled_count;
            same = is_same(ctx, before, path, "compiled");
            if (ln_context_load(ctx, NULL) == LN_OK)
                same = is_same(ctx, before, path, "loaded") && same;
        }
        free(before);
    }
    ln_context_free(ctx);
    return same;
}

TEST(inputs_and_outputs_stay_where_they_are)
{
    CHECK_OK(ln_arch_init());
    static const char *const patterns[] = {"tests/il/rules/*.net", "tests/il/passes/*.net",
                                           "tests/differential/found/*.net", "examples/*.net"};
    size_t changed = 0, compiled = 0, count = 0;
    for (size_t p = 0; p < sizeof patterns / sizeof patterns[0]; p++) {
        char pattern[1024];
        glob_t files;
        snprintf(pattern, sizeof pattern, "%s/%s", LN_SOURCE_DIR, patterns[p]);
        CHECK_EQ(glob(pattern, 0, NULL, &files), 0);
        for (size_t i = 0; i < files.gl_pathc; i++, count++)
            changed += !stays(files.gl_pathv[i], "cpu", &compiled) +
                       !stays(files.gl_pathv[i], "ref", &compiled);
        globfree(&files);
    }
    print_message("%zu files, compiled %zu times\n", count, compiled);
    CHECK_EQ(changed, 0);
    CHECK(compiled > count);
    ln_arch_cleanup();
}

TEST(a_tensor_that_is_two_outputs_has_both_places)
{
    static const char text[] =
        "input(| dst=x | dtype=TL_FLOAT, dims=[2]);\n"
        "relu(src=x | dst=a |);\nelew(src1=x, src2=x | dst=b | elew_op=TL_SUM);\n"
        "output(src=a | |);\noutput(src=b | |);\noutput(src=a | |);\n"
        "output(src=x | |);\noutput(src=b | |);\n";
    CHECK_OK(ln_arch_init());
    for (int is_as_read = 0; is_as_read < 2; is_as_read++) {
        ln_context *ctx = ln_context_create();
        CHECK_OK(ln_context_init_mem(ctx, text, strlen(text), "text"));
        const ln_optimize_options options = {.stays_as_read = is_as_read};
        CHECK_OK(ln_context_compile_with(ctx, is_as_read ? "ref" : "cpu", &options));
        char *ends = list_ends(ctx);
        CHECK_STR_EQ(ends, "1 inputs x, 5 outputs a b a x b");
        free(ends);
        ln_context_free(ctx);
    }
    ln_arch_cleanup();
}

TEST_LIST(a_tensor_that_is_two_outputs_has_both_places, inputs_and_outputs_stay_where_they_are)
