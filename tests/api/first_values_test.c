// SPDX-License-Identifier: Apache-2.0
// Initializers that become inputs: runs use the elements that the model has for them until they are
// set, in whatever the model runs, and however many they are.

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <lightnet/program.h>

#include "tests/api/model.h"

#define MAX_LEN  1000
#define MAX_ROWS 3

static const int lens[] = {1, 16, 17, MAX_LEN};

static const tl_dtype dtypes[] = {TL_FLOAT, TL_INT64, TL_BOOL, TL_FLOAT16};

// Element `i` of the initializer, as bytes.
static void put_element(tl_dtype dtype, int i, unsigned char *to)
{
    const float f = (float)i * 0.5f - 3;
    const int64_t n = INT64_MAX - i; // not a double
    const tl_bool is_third = i % 3 == 0;
    const uint16_t half = (uint16_t)(0x3c01 + i);
    switch (dtype) {
    case TL_FLOAT: memcpy(to, &f, sizeof f); break;
    case TL_INT64: memcpy(to, &n, sizeof n); break;
    case TL_BOOL: memcpy(to, &is_third, sizeof is_third); break;
    default: memcpy(to, &half, sizeof half); break;
    }
}

// The first is number `from`.
static void put_elements(tl_dtype dtype, int len, int from, unsigned char *to)
{
    for (int i = 0; i < len; i++)
        put_element(dtype, from + i, to + (size_t)i * tl_size_of(dtype));
}

typedef struct form {
    tl_dtype dtype;
    int len;
    bool is_dynamic; // x has `n` rows
    int first, last; // numbers of rows that are tried; with one alone nothing is reshaped
    unsigned char elements[MAX_LEN * sizeof(int64_t)];
} form;

static size_t row_bytes(const form *f)
{
    return (size_t)f->len * tl_size_of(f->dtype);
}

// A READY context of y = b and, after it, x; b is an input that was an initializer.
static ln_context *open_form(const form *f)
{
    char text[512];
    const char *name = tl_dtype_name(f->dtype);
    snprintf(text, sizeof text,
             "input(| dst=x | dtype=%s, dims=[%d, %d], names=[\"n\", \"\"]);\n"
             "create(| dst=b | dtype=%s, dims=[1, %d], from_file=true);\n"
             "Concat(inputs1=b, inputs2=x | concat_result=y | axis=0);\noutput(src=y | |);\n",
             name, f->is_dynamic ? -1 : 1, f->len, name, f->len);
    ln_context *ctx = open_text(text);
    CHECK_OK(ln_context_carry(ctx, "b", f->dtype, 2, (int[]){1, f->len}, f->elements));
    CHECK_OK(ln_context_make_input(ctx, "b"));
    return ctx;
}

// `rows` rows of zeros.
static ln_object *make_x(const form *f, int rows)
{
    return ln_object_new_tensor(f->dtype, 2, (int[]){rows, f->len}, NULL);
}

static void check_first_row(const form *f, const tl_tensor *y, int rows, const void *row)
{
    CHECK_EQ(y->len, (rows + 1) * f->len);
    if (memcmp(y->data, row, row_bytes(f)) != 0)
        fail_msg("%s of %d elements: b is not what it should be", tl_dtype_name(f->dtype), f->len);
}

static void check_context(const form *f, ln_context *ctx, int rows, const void *row)
{
    ln_object *x = make_x(f, rows), *y;
    if (f->first < f->last && !ln_context_input_is_open(ctx, 0))
        CHECK_OK(ln_context_reshape(ctx, 1, &(ln_input_shape){"x", 2, (int[]){rows, f->len}}));
    CHECK_OK(ln_context_set_object(ctx, "x", x));
    CHECK_OK(ln_context_run(ctx));
    CHECK_OK(ln_context_get_object(ctx, "y", &y));
    check_first_row(f, ln_object_tensor(y), rows, row);
    ln_object_release(y);
    ln_object_release(x);
}

static void check_run(const form *f, ln_session *session, int rows, const void *row)
{
    ln_object *x = make_x(f, rows), *y;
    CHECK_OK(ln_session_set_object(session, "x", x));
    CHECK_OK(ln_session_run(session));
    CHECK_OK(ln_session_get_object(session, "y", &y));
    check_first_row(f, ln_object_tensor(y), rows, row);
    ln_object_release(y);
    ln_object_release(x);
}

// The first value is there, can be replaced, and comes back.
static void check_session(const form *f, ln_program *program)
{
    static const unsigned char zeros[sizeof f->elements];
    ln_session *session;
    CHECK_OK(ln_session_create(program, &session));
    for (int rows = f->first; rows <= f->last; rows++) {
        check_run(f, session, rows, f->elements);
        CHECK_OK(ln_session_set_data(session, "b", zeros, row_bytes(f)));
        check_run(f, session, rows, zeros);
        CHECK_OK(ln_session_reset_input(session, "b"));
        check_run(f, session, rows, f->elements);
    }
    ln_session_free(session);
}

// The context, LOADED, its clone, and a program of it.
static void check_all(const form *f, ln_context *ctx)
{
    ln_context *clone;
    ln_program *program;
    CHECK_OK(ln_context_clone(ctx, &clone));
    for (int rows = f->first; rows <= f->last; rows++) {
        check_context(f, ctx, rows, f->elements);
        check_context(f, clone, f->first + f->last - rows, f->elements);
    }
    CHECK_OK(ln_program_create(clone, &program));
    close_context(clone);
    check_session(f, program);
    ln_program_release(program);
}

static void each_form(bool is_dynamic, void (*check)(const form *))
{
    CHECK_OK(ln_arch_init());
    static form f;
    for (size_t d = 0; d < sizeof dtypes / sizeof dtypes[0]; d++)
        for (size_t k = 0; k < sizeof lens / sizeof lens[0]; k++) {
            f = (form){.dtype = dtypes[d],
                       .len = lens[k],
                       .is_dynamic = is_dynamic,
                       .first = 1,
                       .last = is_dynamic ? MAX_ROWS : 1};
            put_elements(f.dtype, f.len, 0, f.elements);
            check(&f);
        }
    ln_arch_cleanup();
}

static void load_and_check(const form *f, ln_context *ctx, const char *target)
{
    CHECK_OK(compile_for(ctx, target));
    CHECK_OK(ln_context_load(ctx, NULL));
    check_all(f, ctx);
    close_context(ctx);
}

// ---- The ways to a loaded model ----

static void check_plain(const form *f)
{
    static const char *const targets[] = {"cpu", "ref", AS_READ};
    for (size_t i = 0; i < 3; i++)
        load_and_check(f, open_form(f), targets[i]);
}

TEST(an_initializer_is_the_first_value_of_its_input)
{
    each_form(false, check_plain);
}

TEST(so_it_is_where_others_have_dynamic_dimensions)
{
    each_form(true, check_plain);
}

static void check_both_named(const form *f)
{
    ln_context *ctx = open_form(f);
    CHECK_OK(ln_context_set_inputs(ctx, 1, (const char *const[]){"x"})); // a constant again
    CHECK_OK(ln_context_set_inputs(ctx, 2, (const char *const[]){"b", "x"}));
    load_and_check(f, ctx, "cpu");
}

TEST(so_it_is_where_all_inputs_are_named)
{
    each_form(false, check_both_named);
}

static void check_bound(const form *f)
{
    ln_context *ctx = open_form(f);
    CHECK_OK(ln_context_set_symbol(ctx, "n", 2));
    load_and_check(f, ctx, "cpu");
}

TEST(so_it_is_in_a_bound_model)
{
    each_form(true, check_bound);
}

static void check_ranged(const form *f)
{
    ln_context *ctx = open_form(f);
    CHECK_OK(ln_context_set_range(ctx, "n", 1, MAX_ROWS));
    load_and_check(f, ctx, "cpu");
}

TEST(so_it_is_in_a_range)
{
    each_form(true, check_ranged);
}

static void check_reshaped(const form *f)
{
    ln_context *ctx = open_form(f);
    CHECK_OK(ln_context_set_symbol(ctx, "n", 1));
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    CHECK_OK(ln_context_load(ctx, NULL));
    for (int rows = MAX_ROWS; rows > 0; rows--)
        check_context(f, ctx, rows, f->elements);
    close_context(ctx);
}

TEST(so_it_is_after_reshaping)
{
    each_form(true, check_reshaped);
}

// ---- Files ----

static char folder[] = LN_BUILD_DIR "/first-XXXXXX";

static void make_folder(void)
{
    strcpy(folder + strlen(folder) - 6, "XXXXXX");
    CHECK_NOT_NULL(mkdtemp(folder));
}

// `ctx`, compiled, as it is read from the files that it is stored in.
static ln_context *read_stored(ln_context *ctx)
{
    char text[256], weights[256];
    size_t count;
    snprintf(text, sizeof text, "%s/m.json", folder);
    snprintf(weights, sizeof weights, "%s/m.safetensors", folder);
    CHECK_OK(ln_context_store(ctx, NULL, weights, &count));
    CHECK_EQ(count, 1);
    CHECK_OK(ln_context_print(ctx, text));
    close_context(ctx);
    ctx = ln_context_create();
    CHECK_OK(ln_context_init(ctx, text));
    if (ln_context_get_state(ctx) == LN_CONTEXT_READY)
        CHECK_OK(ln_context_compile(ctx, "cpu"));
    CHECK_OK(ln_context_load(ctx, NULL));
    CHECK_EQ(unlink(text), 0);
    CHECK_EQ(unlink(weights), 0);
    return ctx;
}

static void store_and_check(const form *f, ln_context *ctx)
{
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    ctx = read_stored(ctx);
    check_all(f, ctx);
    close_context(ctx);
}

static void check_stored(const form *f)
{
    store_and_check(f, open_form(f));
    if (!f->is_dynamic)
        return;
    ln_context *ranged = open_form(f), *bound = open_form(f);
    form fixed = *f;
    fixed.first = fixed.last = 2;
    CHECK_OK(ln_context_set_range(ranged, "n", 1, MAX_ROWS));
    CHECK_OK(ln_context_set_symbol(bound, "n", 2));
    store_and_check(f, ranged);
    store_and_check(&fixed, bound);
}

TEST(compiled_files_have_first_values)
{
    make_folder();
    each_form(false, check_stored);
    each_form(true, check_stored);
    CHECK_EQ(rmdir(folder), 0);
}

static void check_data_file(const form *f)
{
    static unsigned char others[sizeof f->elements];
    char path[256];
    tl_tensor given = {
        .dtype = f->dtype, .ndim = 2, .dims = (int[]){1, f->len}, .len = f->len, .data = others};
    ln_context *ctx = open_form(f);
    put_elements(f->dtype, f->len, 1, others);
    snprintf(path, sizeof path, "%s/b.safetensors", folder);
    CHECK_OK(
        ln_tensor_file_save(path, LN_TENSOR_FILE_SAFETENSORS, &(ln_named_tensor){"b", &given}, 1));
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    CHECK_OK(ln_context_load(ctx, path));
    check_context(f, ctx, 1, others);
    close_context(ctx);
    CHECK_EQ(unlink(path), 0);
}

TEST(a_data_file_has_precedence)
{
    make_folder();
    each_form(false, check_data_file);
    CHECK_EQ(rmdir(folder), 0);
}

TEST_LIST(an_initializer_is_the_first_value_of_its_input,
          so_it_is_where_others_have_dynamic_dimensions, so_it_is_where_all_inputs_are_named,
          so_it_is_in_a_bound_model, so_it_is_in_a_range, so_it_is_after_reshaping,
          compiled_files_have_first_values, a_data_file_has_precedence)
