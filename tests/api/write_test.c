// SPDX-License-Identifier: Apache-2.0
// A model writes files where the caller allows it, new ones only, and nowhere else.

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <lightnet/program.h>

#include "tests/api/model.h"

#define X             "input(| dst=x | dtype=TL_INT32, dims=[2]);\n"
#define FPRINT(file_) "fprint(src=x | | msg=\"x:\", file=\"" file_ "\");\n"
#define FLAG          "create(| dst=c | dtype=TL_BOOL, dims=[1], ran=[0, 0], data=[1], from_file=false);\n"
#define BRANCHES                                                                                   \
    "graph yes {\ncreate(| dst=a | dtype=TL_INT32, dims=[1], ran=[0, 0], data=[7], "               \
    "from_file=false);\nfprint(src=a | | msg=\"a:\", file=\"a.txt\");\noutput(src=a | |);\n}\n"    \
    "graph no {\ncreate(| dst=b | dtype=TL_INT32, dims=[1], ran=[0, 0], data=[8], "                \
    "from_file=false);\noutput(src=b | |);\n}\n"
#define CHOICE "If(cond=c | outputs1=y | then_branch=\"yes\", else_branch=\"no\");\n"

static char folder[512], path_buffer[1200];

static const char *in_folder(const char *name)
{
    snprintf(path_buffer, sizeof path_buffer, "%s/%s", folder, name);
    return path_buffer;
}

static void begin(void)
{
    CHECK_OK(ln_arch_init());
    strcpy(folder, LN_BUILD_DIR "/write_XXXXXX");
    CHECK_NOT_NULL(mkdtemp(folder));
    CHECK_EQ(mkdir(in_folder("inner"), 0777), 0);
}

// Fails if there are other files than these.
static void end(void)
{
    static const char *const names[] = {"out.txt", "a.txt", "inner/out.txt", "link", "inner"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        remove(in_folder(names[i]));
    CHECK_EQ(rmdir(folder), 0);
    ln_arch_cleanup();
}

static bool is_there(const char *name)
{
    return access(in_folder(name), F_OK) == 0;
}

static const char *text_of(const char *name)
{
    static char text[4096];
    FILE *file = fopen(in_folder(name), "r");
    CHECK_NOT_NULL(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

static void write_file(const char *name, const char *text)
{
    FILE *file = fopen(in_folder(name), "w");
    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static ln_context *compiled(const char *text, const char *target)
{
    ln_context *ctx = open_text(text);
    CHECK_OK(ln_context_compile(ctx, target));
    return ctx;
}

// The same model, by way of its compiled form.
static ln_context *read_again(ln_context *ctx)
{
    char *text;
    size_t byte_count;
    CHECK_OK(ln_context_write(ctx, "ir", &text, &byte_count));
    ln_context *again = ln_context_create();
    CHECK_OK(ln_context_init_mem(again, text, byte_count, "model.json"));
    CHECK_EQ(again->state, LN_CONTEXT_PLANNED);
    ln_free(text);
    return again;
}

TEST(without_permission_a_model_is_read_and_compiled_but_not_loaded)
{
    static const struct {
        const char *model, *why;
    } rows[] = {
        {X FPRINT("out.txt"), "an operator of the model"},
        {FLAG CHOICE BRANCHES, "an operator of a branch, run while loading"},
        {"input(| dst=c | dtype=TL_BOOL, dims=[1]);\n" CHOICE BRANCHES,
         "one of a branch, run later"},
        {FLAG "fprint(src=c | | msg=\"c:\", file=\"out.txt\");\n", "one that reads a constant"},
    };
    static const char *const targets[] = {"ref", "cpu"};
    begin();
    CHECK_EQ(chdir(folder), 0);
    for (size_t i = 0; i < 2 * sizeof rows / sizeof rows[0]; i++) {
        print_message("%s\n", rows[i / 2].why);
        ln_context *ctx = compiled(rows[i / 2].model, targets[i % 2]);
        ln_context *again = read_again(ctx);
        CHECK_FAILS(ln_context_load(ctx, NULL), LN_INVALID);
        CHECK_MESSAGE("--allow-write=DIR, or with ln_context_allow_write");
        CHECK_FAILS(ln_context_load(again, NULL), LN_INVALID);
        CHECK_MESSAGE("which nothing allows");
        CHECK_EQ(ctx->state, LN_CONTEXT_PLANNED);
        // A permission that is taken back is none.
        CHECK_OK(ln_context_allow_write(ctx, folder));
        CHECK_OK(ln_context_allow_write(ctx, NULL));
        CHECK_FAILS(ln_context_load(ctx, NULL), LN_INVALID);
        close_context(ctx);
        close_context(again);
    }
    CHECK(!is_there("out.txt") && !is_there("a.txt"));
    CHECK_EQ(chdir("/"), 0);
    end();
}

TEST(each_run_appends_in_clones_and_later_loads_too)
{
    begin();
    ln_context *ctx = compiled(X FPRINT("./inner/out.txt"), "cpu"), *clone;
    CHECK_OK(ln_context_allow_write(ctx, folder));
    CHECK(!is_there("inner/out.txt"));
    CHECK_OK(ln_context_load(ctx, NULL));
    CHECK_STR_EQ(text_of("inner/out.txt"), "");
    CHECK_OK(ln_context_set_data(ctx, "x", (int32_t[]){1, 2}));
    CHECK_OK(ln_context_run(ctx));
    CHECK_OK(ln_context_clone(ctx, &clone));
    CHECK_OK(ln_context_set_data(clone, "x", (int32_t[]){3, 4}));
    CHECK_OK(ln_context_run(clone));
    CHECK_STR_EQ(text_of("inner/out.txt"), "x:\n[1 2]\nx:\n[3 4]\n");
    CHECK_FAILS(ln_context_allow_write(ctx, NULL), LN_STATE);
    ln_context_unload(ctx);
    CHECK_OK(ln_context_load(ctx, NULL));
    CHECK_OK(ln_context_set_data(ctx, "x", (int32_t[]){5, 6}));
    CHECK_OK(ln_context_run(ctx));
    close_context(ctx);
    CHECK_OK(ln_context_run(clone)); // keeps the file open
    CHECK_STR_EQ(text_of("inner/out.txt"), "x:\n[1 2]\nx:\n[3 4]\nx:\n[5 6]\nx:\n[3 4]\n");
    struct stat info;
    CHECK_EQ(stat(in_folder("inner/out.txt"), &info), 0);
    CHECK_EQ(info.st_mode & 0111, 0);
    close_context(clone);
    end();
}

TEST(branches_write_where_their_model_may)
{
    begin();
    ln_context *ctx =
        compiled("input(| dst=c | dtype=TL_BOOL, dims=[1]);\n" CHOICE BRANCHES, "cpu");
    CHECK_OK(ln_context_allow_write(ctx, folder));
    CHECK_OK(ln_context_load(ctx, NULL));
    CHECK_OK(ln_context_set_data(ctx, "c", &(ln_bool){0}));
    CHECK_OK(ln_context_run(ctx));
    CHECK_STR_EQ(text_of("a.txt"), "");
    CHECK_OK(ln_context_set_data(ctx, "c", &(ln_bool){1}));
    CHECK_OK(ln_context_run(ctx));
    CHECK_STR_EQ(text_of("a.txt"), "a:\n[7]\n");
    CHECK_FAILS(ln_context_allow_write(ln_context_find_graph(ctx, "yes"), folder), LN_INVALID);
    close_context(ctx);
    end();
}

TEST(a_new_shape_goes_on_with_the_file)
{
    begin();
    ln_context *ctx = compiled("input(| dst=v | dtype=TL_FLOAT, dims=[-1], names=[n]);\n"
                               "Abs(X=v | Y=y |);\n" X FPRINT("out.txt"),
                               "ref");
    CHECK_OK(ln_context_allow_write(ctx, folder));
    CHECK_OK(ln_context_load(ctx, NULL));
    for (int n = 1; n <= 3; n++) {
        const ln_input_shape shape = {.tname = "v", .ndim = 1, .dims = &n};
        CHECK_OK(ln_context_reshape(ctx, 1, &shape));
        CHECK_OK(ln_context_set_data(ctx, "x", (int32_t[]){n, 0}));
        CHECK_OK(ln_context_run(ctx));
    }
    CHECK_STR_EQ(text_of("out.txt"), "x:\n[1 0]\nx:\n[2 0]\nx:\n[3 0]\n");
    close_context(ctx);
    end();
}

TEST(what_is_there_is_never_written)
{
    static const char *const names[] = {"out.txt", "link", "inner"};
    begin();
    write_file("out.txt", "untouched");
    static char target[1200];
    strcpy(target, in_folder("nothing_yet"));
    CHECK_EQ(symlink(target, in_folder("link")), 0);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char text[256];
        snprintf(text, sizeof text, X "fprint(src=x | | msg=\"x:\", file=\"%s\");\n", names[i]);
        ln_context *ctx = compiled(text, "ref");
        CHECK_OK(ln_context_allow_write(ctx, folder));
        CHECK_FAILS(ln_context_load(ctx, NULL), LN_EXISTS);
        CHECK_MESSAGE("is there already");
        close_context(ctx);
    }
    CHECK_STR_EQ(text_of("out.txt"), "untouched");
    CHECK(!is_there("nothing_yet"));
    CHECK_EQ(link(in_folder("out.txt"), strcat(strcpy(target, folder), "/a.txt")), 0);
    ln_context *ctx = compiled(X FPRINT("a.txt"), "ref");
    CHECK_OK(ln_context_allow_write(ctx, folder));
    CHECK_FAILS(ln_context_load(ctx, NULL), LN_EXISTS);
    CHECK_FAILS(ln_context_allow_write(ctx, in_folder("missing")), LN_IO);
    CHECK_FAILS(ln_context_allow_write(ctx, in_folder("out.txt")), LN_IO);
    CHECK_FAILS(ln_context_allow_write(NULL, folder), LN_INVALID);
    close_context(ctx);
    end();
}

TEST(the_number_of_files_is_limited)
{
    begin();
    static char text[65 * 64];
    strcpy(text, X);
    for (int i = 0; i < 65; i++)
        snprintf(text + strlen(text), 64, "fprint(src=x | | msg=\"\", file=\"f%d\");\n", i);
    ln_context *ctx = compiled(text, "ref");
    CHECK_OK(ln_context_allow_write(ctx, folder));
    CHECK_FAILS(ln_context_load(ctx, NULL), LN_LIMIT);
    CHECK_MESSAGE("more than 64 files");
    close_context(ctx);
    for (int i = 0; i < 64; i++) {
        char name[16];
        snprintf(name, sizeof name, "f%d", i);
        CHECK_EQ(unlink(in_folder(name)), 0);
    }
    end();
}

TEST(storing_constants_writes_nothing_else)
{
    begin();
    tl_tensor *w = tl_tensor_arange(0, 2, 1, TL_INT32);
    const ln_named_tensor tensor = {"x", w};
    CHECK_OK(ln_tensor_file_save(in_folder("out.txt"), LN_TENSOR_FILE_SAFETENSORS, &tensor, 1));
    tl_tensor_free_data_too(w);
    ln_context *ctx = compiled(
        "create(| dst=x | dtype=TL_INT32, dims=[2], from_file=true);\n" FPRINT("inner/out.txt"),
        "ref");
    static char weights[1200];
    strcpy(weights, in_folder("out.txt"));
    size_t count;
    CHECK_OK(ln_context_store(ctx, weights, in_folder("a.txt"), &count));
    CHECK(!is_there("inner/out.txt"));
    CHECK_FAILS(ln_context_load(ctx, weights), LN_INVALID);
    close_context(ctx);
    end();
}

// What may be written belongs to the context that a session is a clone of.
TEST(sessions_of_a_model_that_writes_write_too)
{
    begin();
    ln_context *ctx = compiled(X FPRINT("out.txt"), "ref");
    CHECK_OK(ln_context_allow_write(ctx, folder));
    CHECK_OK(ln_context_load(ctx, NULL));
    ln_program *program;
    CHECK_OK(ln_program_create(ctx, &program));
    CHECK(!ln_program_is_fixed(program));
    close_context(ctx);
    for (int i = 0; i < 2; i++) {
        ln_session *session;
        CHECK_OK(ln_session_create(program, &session));
        CHECK_OK(ln_session_set_data(session, "x", (int32_t[]){i + 3, i + 5}, 8));
        CHECK_OK(ln_session_run(session));
        ln_session_free(session);
    }
    ln_program_release(program);
    CHECK_STR_EQ(text_of("out.txt"), "x:\n[3 5]\nx:\n[4 6]\n");
    end();
}

TEST_LIST(sessions_of_a_model_that_writes_write_too,
          without_permission_a_model_is_read_and_compiled_but_not_loaded,
          each_run_appends_in_clones_and_later_loads_too, branches_write_where_their_model_may,
          a_new_shape_goes_on_with_the_file, what_is_there_is_never_written,
          the_number_of_files_is_limited, storing_constants_writes_nothing_else)
