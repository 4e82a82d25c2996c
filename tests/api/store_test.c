// SPDX-License-Identifier: Apache-2.0
// Models that are compiled with what they compute once, in a file beside them.

#include "tests/api/model.h"
#include "tests/oom.h"

#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

// s and v are folded into w; m is read as it is, in two ways; the shape of r is a short constant.
static const char model[] =
    "input(| dst=x | dtype=TL_FLOAT, dims=[1, 3, 8, 8]);\n"
    "create(| dst=w | dtype=TL_FLOAT, dims=[4, 3, 3, 3], from_file=true);\n"
    "create(| dst=b | dtype=TL_FLOAT, dims=[4], from_file=true);\n"
    "create(| dst=v | dtype=TL_FLOAT, dims=[4], ran=[1, 2], data=[0]);\n"
    "create(| dst=m | dtype=TL_FLOAT, dims=[4, 64], from_file=true);\n"
    "conv2d(src=x, weight=w, bias=b | dst=c | group=1, size=[3, 3], stride=[1, 1], "
    "padding=[1, 1, 1, 1], dilation=[1, 1], autopad=NOTSET);\n"
    "batchnorm(src=c, scale=v, offset=b, mean=b, var=v | dst=n | epsilon=1e-5);\n"
    "reshape(src=n | dst=r | dims=[4, 64]);\n"
    "elew(src1=r, src2=m | dst=y | elew_op=TL_SUM);\n"
    "reshape(src=m | dst=k | dims=[2, 128]);\n"
    "print(src=k | | msg=\"\");\n";

#define COUNT 256 // elements of y

static char folder[] = LN_BUILD_DIR "/store-XXXXXX";

static const char *in_folder(const char *name)
{
    static char path[4][256];
    static int next;
    char *room = path[next++ % 4];
    snprintf(room, sizeof path[0], "%s/%s", folder, name);
    return room;
}

static void save_tensors(const char *path, int len_of_m)
{
    tl_tensor *w = tl_tensor_arange(-1, 107, 1, TL_FLOAT), *b = tl_tensor_arange(1, 5, 1, TL_FLOAT),
              *m = tl_tensor_arange(0, len_of_m, 1, TL_FLOAT);
    CHECK_OK(tl_tensor_reshape_src(w, 4, (int[]){4, 3, 3, 3}));
    CHECK_OK(tl_tensor_reshape_src(m, 2, (int[]){4, len_of_m / 4}));
    const ln_named_tensor tensors[] = {{"w", w}, {"b", b}, {"m", m}};
    CHECK_OK(ln_tensor_file_save(path, LN_TENSOR_FILE_SAFETENSORS, tensors, 3));
    tl_tensor_free_data_too(w);
    tl_tensor_free_data_too(b);
    tl_tensor_free_data_too(m);
}

static void begin(void)
{
    CHECK_OK(ln_arch_init());
    strcpy(folder + strlen(folder) - 6, "XXXXXX");
    CHECK_NOT_NULL(mkdtemp(folder));
    save_tensors(in_folder("raw.safetensors"), 256);
}

static void end(void)
{
    static const char *const names[] = {"raw.safetensors", "c.json", "c.safetensors", "link",
                                        "d.json"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        unlink(in_folder(names[i]));
    CHECK_EQ(rmdir(folder), 0);
    ln_arch_cleanup();
}

static ln_context *compiled(void)
{
    ln_context *ctx = open_text(model);
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    return ctx;
}

// c.json and c.safetensors.
static void store(void)
{
    ln_context *ctx = compiled();
    size_t count;
    CHECK_OK(
        ln_context_store(ctx, in_folder("raw.safetensors"), in_folder("c.safetensors"), &count));
    CHECK(count >= 2);
    CHECK_OK(ln_context_print(ctx, in_folder("c.json")));
    close_context(ctx);
}

static ln_context *read_stored(const char *name)
{
    ln_context *ctx = ln_context_create();
    CHECK_OK(ln_context_init(ctx, in_folder(name)));
    CHECK_OK(ln_context_load(ctx, NULL));
    return ctx;
}

static void run(ln_context *ctx, float y[COUNT])
{
    float x[192];
    for (int i = 0; i < 192; i++)
        x[i] = (float)(i % 13) - 6;
    CHECK_OK(ln_context_set_data(ctx, "x", x));
    CHECK_OK(ln_context_run(ctx));
    CHECK_NOT_NULL(ln_context_get_data(ctx, "y", y));
}

static void check_same(ln_context *a, ln_context *b)
{
    float y[COUNT], z[COUNT];
    run(a, y);
    run(b, z);
    CHECK_MEM_EQ(y, z, sizeof y);
}

// Every constant from the file is in it.
static void check_in_place(const ln_context *ctx)
{
    size_t count = 0, cursor = 0;
    void *value;
    while (ln_hash_next(ctx->tensor_table, &cursor, NULL, &value)) {
        const ln_tensor_entry *entry = value;
        if (!entry->attached)
            continue;
        CHECK_PTR_EQ(entry->tensor->data, entry->attached);
        CHECK_EQ((uintptr_t)entry->attached % 16, 0);
        count++;
    }
    CHECK(count >= 2);
}

TEST(what_is_computed_once_is_stored_and_used_in_place)
{
    begin();
    store();
    ln_context *raw = compiled(), *stored = read_stored("c.json"), *clone;
    CHECK_OK(ln_context_load(raw, in_folder("raw.safetensors")));
    check_same(raw, stored);
    CHECK_NULL(ln_tensor_table_find(stored->tensor_table, "w"));
    CHECK_NULL(ln_tensor_table_find(stored->tensor_table, "v"));
    check_in_place(stored);
    CHECK_EQ(stored->load_sizes[LN_MEM_CPU], 0);
    CHECK_EQ(stored->static_sizes[LN_MEM_CPU], LN_MEM_ALIGN);
    CHECK_OK(ln_context_clone(stored, &clone));
    check_in_place(clone);
    close_context(stored);
    check_same(raw, clone);
    close_context(clone);
    close_context(raw);
    end();
}

TEST(the_context_that_was_stored_goes_on)
{
    begin();
    ln_context *raw = compiled(), *ctx = compiled();
    size_t count;
    CHECK_OK(
        ln_context_store(ctx, in_folder("raw.safetensors"), in_folder("c.safetensors"), &count));
    CHECK_EQ(ctx->state, LN_CONTEXT_PLANNED);
    CHECK_EQ(ln_context_check(ctx), 1);
    CHECK_OK(ln_context_load(ctx, NULL));
    CHECK_OK(ln_context_load(raw, in_folder("raw.safetensors")));
    check_same(raw, ctx);
    CHECK_FAILS(ln_context_store(ctx, NULL, in_folder("c.safetensors"), &count), LN_STATE);
    close_context(ctx);
    close_context(raw);
    end();
}

TEST(without_weights_nothing_is_stored)
{
    begin();
    ln_context *ctx = compiled();
    size_t count = 7;
    CHECK_OK(ln_context_store(ctx, NULL, in_folder("c.safetensors"), &count));
    CHECK_EQ(count, 0);
    CHECK_EQ(access(in_folder("c.safetensors"), F_OK), -1);
    CHECK_EQ(ctx->state, LN_CONTEXT_PLANNED);
    CHECK_FAILS(ln_context_store(ctx, in_folder("nothing"), in_folder("c.safetensors"), &count),
                LN_IO);
    CHECK_EQ(ctx->state, LN_CONTEXT_PLANNED);
    close_context(ctx);
    end();
}

static char *read_text(const char *path)
{
    static char text[1 << 16];
    FILE *fp = fopen(path, "r");
    CHECK_NOT_NULL(fp);
    size_t len = fread(text, 1, sizeof text - 1, fp);
    text[len] = '\0';
    fclose(fp);
    return text;
}

// d.json is c.json with `from` replaced by `to`.
static void write_edited(const char *from, const char *to)
{
    char *text = read_text(in_folder("c.json")), *at = strstr(text, from);
    CHECK_NOT_NULL(at);
    FILE *fp = fopen(in_folder("d.json"), "w");
    CHECK_NOT_NULL(fp);
    fprintf(fp, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    fclose(fp);
}

static void check_refused(ln_status status, const char *message)
{
    ln_context *ctx = ln_context_create();
    CHECK_FAILS(ln_context_init(ctx, in_folder("d.json")), status);
    CHECK_MESSAGE(message);
    close_context(ctx);
}

TEST(the_name_of_the_weights_leads_nowhere_else)
{
    static const struct {
        const char *name;
        ln_status status;
        const char *message;
    } cases[] = {
        {"../raw.safetensors", LN_INVALID, "without another folder"},
        {"/etc/passwd", LN_INVALID, "without another folder"},
        {"..", LN_INVALID, "without another folder"},
        {"nothing.safetensors", LN_IO, "No such file"},
        {"link", LN_IO, "symbolic link"},
        {"c.json", LN_UNSUPPORTED, ""},
        {"raw.safetensors", LN_NOT_FOUND, "is missing"},
    };
    begin();
    store();
    CHECK_EQ(symlink("c.safetensors", in_folder("link")), 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        write_edited("c.safetensors", cases[i].name);
        ln_context *ctx = ln_context_create();
        ln_status status = ln_context_init(ctx, in_folder("d.json"));
        CHECK(status != LN_OK);
        if (cases[i].message[0]) {
            CHECK_EQ(status, cases[i].status);
            CHECK_MESSAGE(cases[i].message);
        }
        CHECK_EQ(ctx->state, LN_CONTEXT_EMPTY);
        close_context(ctx);
    }
    unlink(in_folder("link"));
    CHECK_EQ(link(in_folder("c.safetensors"), in_folder("link")), 0);
    write_edited("c.safetensors", "link");
    check_refused(LN_IO, "hard link");
    const char *text = read_text(in_folder("c.json"));
    ln_context *ctx = ln_context_create();
    CHECK_FAILS(ln_context_init_mem(ctx, text, strlen(text), "c.json"), LN_INVALID);
    CHECK_MESSAGE("read from memory");
    close_context(ctx);
    end();
}

// ---- A compiled model in memory ----

// The stored weights at `to`, of `capacity` bytes.
static size_t read_weights(unsigned char *to, size_t capacity)
{
    FILE *fp = fopen(in_folder("c.safetensors"), "rb");
    CHECK_NOT_NULL(fp);
    size_t len = fread(to, 1, capacity, fp);
    CHECK(len > 0 && len < capacity);
    fclose(fp);
    return len;
}

// A context before it reads c.json from memory; NULL: no folder, no file.
static ln_context *context_with(const char *given_folder, const void *file, size_t byte_count)
{
    ln_context *ctx = ln_context_create();
    CHECK_OK(ln_context_set_folder(ctx, given_folder));
    if (file)
        CHECK_OK(ln_context_add_file(ctx, "c.safetensors", file, byte_count));
    return ctx;
}

static ln_status read_mem(ln_context *ctx)
{
    const char *text = read_text(in_folder("c.json"));
    return ln_context_init_mem(ctx, text, strlen(text), "c.json");
}

static void check_read_from_memory(ln_context *raw, ln_context *ctx)
{
    ln_context *clone;
    CHECK_OK(read_mem(ctx));
    CHECK_OK(ln_context_load(ctx, NULL));
    check_same(raw, ctx);
    CHECK_OK(ln_context_clone(ctx, &clone));
    close_context(ctx);
    check_same(raw, clone);
    close_context(clone);
}

static void check_not_read(ln_context *ctx, ln_status status, const char *message)
{
    CHECK_FAILS(read_mem(ctx), status);
    CHECK_MESSAGE(message);
    CHECK_EQ(ctx->state, LN_CONTEXT_EMPTY);
    close_context(ctx);
}

static _Alignas(64) unsigned char weights[1 << 16];

TEST(weights_of_a_model_in_memory_are_where_the_caller_says)
{
    begin();
    store();
    ln_context *raw = compiled();
    CHECK_OK(ln_context_load(raw, in_folder("raw.safetensors")));
    check_read_from_memory(raw, context_with(folder, NULL, 0));
    for (size_t step = 0; step < 9; step++) { // also where elements are not aligned
        size_t count = read_weights(weights + step, sizeof weights - step);
        check_read_from_memory(raw, context_with(NULL, weights + step, count));
    }
    size_t count = read_weights(weights, sizeof weights);
    check_read_from_memory(raw, context_with("/nowhere", weights, count));
    check_not_read(context_with(NULL, NULL, 0), LN_INVALID,
                   "of a model that was read from memory; give the file (ln_context_add_file)");
    check_not_read(context_with(LN_BUILD_DIR, NULL, 0), LN_IO, "c.safetensors");
    check_not_read(context_with(NULL, weights, count / 2), LN_SYNTAX, "c.safetensors: byte");
    check_not_read(context_with(NULL, weights, 0), LN_UNSUPPORTED, "c.safetensors: neither");
    close_context(raw);
    end();
}

TEST(given_weights_have_precedence_for_files_but_not_what_is_stored)
{
    begin();
    store();
    ln_context *ctx = context_with(NULL, "{}", 2);
    CHECK(ln_context_init(ctx, in_folder("c.json")) != LN_OK);
    CHECK_OK(ln_context_init_mem(ctx, model, strlen(model), "m.net"));
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    size_t count;
    CHECK_OK(
        ln_context_store(ctx, in_folder("raw.safetensors"), in_folder("c.safetensors"), &count));
    close_context(ctx);
    end();
}

TEST(weights_of_another_model_are_refused)
{
    begin();
    store();
    // m is not what the text says.
    ln_tensor_file *file;
    CHECK_OK(ln_tensor_file_open(in_folder("c.safetensors"), &file));
    ln_named_tensor tensors[8];
    size_t count = (size_t)ln_tensor_file_count(file);
    CHECK(count <= 8);
    tl_tensor *other = tl_tensor_arange(0, 64, 1, TL_FLOAT);
    for (size_t i = 0; i < count; i++) {
        const char *name = ln_tensor_file_name(file, (int)i);
        tensors[i] = (ln_named_tensor){
            name, strcmp(name, "m") == 0 ? other : ln_tensor_file_tensor(file, (int)i)};
    }
    CHECK_OK(ln_tensor_file_save(in_folder("link"), LN_TENSOR_FILE_SAFETENSORS, tensors, count));
    ln_tensor_file_close(file);
    tl_tensor_free_data_too(other);
    write_edited("c.safetensors", "link");
    ln_context *ctx = ln_context_create();
    ln_status status = ln_context_init(ctx, in_folder("d.json"));
    if (status == LN_OK)
        status = ln_context_load(ctx, NULL);
    CHECK_EQ(status, LN_INVALID);
    close_context(ctx);
    end();
}

TEST(every_allocation_may_fail)
{
    begin();
    OOM_SWEEP(n)
    {
        ln_context *ctx = ln_context_create();
        ln_status status =
            ctx ? ln_context_init_mem(ctx, model, strlen(model), "m.net") : LN_NO_MEMORY;
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

// Of three weights from a file one is attached.
TEST(with_some_weights_alone_nothing_is_stored)
{
    begin();
    static const float b[4] = {1, 2, 3, 4};
    ln_context *ctx = open_text(model);
    CHECK_OK(ln_context_carry(ctx, "b", TL_FLOAT, 1, (const int[]){4}, b));
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    size_t count = 7;
    CHECK_OK(ln_context_store(ctx, NULL, in_folder("c.safetensors"), &count));
    CHECK_EQ(count, 0);
    CHECK_EQ(access(in_folder("c.safetensors"), F_OK), -1);
    CHECK_EQ(ctx->state, LN_CONTEXT_PLANNED);
    close_context(ctx);
    end();
}

TEST_LIST(with_some_weights_alone_nothing_is_stored,
          what_is_computed_once_is_stored_and_used_in_place, the_context_that_was_stored_goes_on,
          without_weights_nothing_is_stored, the_name_of_the_weights_leads_nowhere_else,
          weights_of_a_model_in_memory_are_where_the_caller_says,
          given_weights_have_precedence_for_files_but_not_what_is_stored,
          weights_of_another_model_are_refused, every_allocation_may_fail)
