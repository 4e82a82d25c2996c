// SPDX-License-Identifier: Apache-2.0
// A program of the first LightNet, linked with liblightnet-classic. Calls whose failure would end
// it are made in a child.

#include <lightnet/compat.h>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/test.h"

static const char model[] =
    "create(| dst=image | dtype=TL_FLOAT, dims=[2, 2], ran=[0, 255], data=[0], from_file=true);\n"
    "create(| dst=k | dtype=TL_FLOAT, dims=[2, 2], ran=[0, 0], data=[1, 2, 3, 4], "
    "from_file=false);\n"
    "elew(src1=image, src2=k | dst=sum | elew_op=TL_SUM);\n"
    "lrelu(src=sum | dst=y | negslope=0.5);\n";

static void write_model(const char *path)
{
    FILE *file = fopen(path, "w");
    CHECK_NOT_NULL(file);
    fputs(model, file);
    fclose(file);
}

TEST(a_program_of_old_compiles_loads_and_runs)
{
    char *argv[] = {"demo", "-o", "!", "-Wno-inter", "classic.net", NULL};
    float pixels[4] = {9, -4, -4, 0}, y[4];
    double seconds = -1;
    write_model("classic.net");

    ln_option *option = ln_option_create(5, argv);
    ln_arch_init();
    ln_msg_init(option);
    ln_context *ctx = ln_context_create();
    ln_context_init(ctx, ln_option_get_source(option));
    ln_context_compile(ctx, ln_option_get_target(option), ln_option_get_datafile(option));
    if (!ln_streq(ln_option_get_outfile(option), "!"))
        ln_context_print(ctx, ln_option_get_outfile(option));
    ln_context_load(ctx, ln_option_get_datafile(option));
    CHECK_EQ(ln_context_data_size(ctx, "image"), sizeof pixels);
    ln_context_set_data(ctx, "image", pixels);
    LN_TIMEIT_START
    ln_context_run(ctx);
    LN_TIMEIT_END(&seconds);
    ln_context_get_data(ctx, "y", y);
    ln_context_set_param(ctx, "lrelu0", "negslope", 0.25);
    ln_context_run(ctx);
    CHECK_NEAR(((float *)ln_context_get_data(ctx, "y", NULL))[1], -0.5, 0);
    ln_context_unload(ctx);
    ln_context_cleanup(ctx);
    ln_context_free(ctx);

    ctx = ln_context_create();
    ln_context_init(ctx, "classic.net");
    ln_context_compile(ctx, "ref"); // as documented
    ln_context_cleanup(ctx);
    ln_context_free(ctx);
    ln_msg_cleanup();
    ln_arch_cleanup();
    ln_option_free(option);

    CHECK(seconds >= 0);
    CHECK_NEAR(y[0], 10, 0);
    CHECK_NEAR(y[1], -1, 0);
    CHECK_NEAR(y[2], -0.5, 0);
    CHECK_NEAR(y[3], 4, 0);
    remove("classic.net");
}

TEST(options_are_those_of_the_old_command_line)
{
    char *all[] = {"x",  "-target", "ref", "--outf=o.json", "-f", "d.wts", "-d",
                   "-w", "-c",      "-",   "more",          NULL};
    ln_option *o = (ln_option_create)(11, all);
    CHECK_NOT_NULL(o);
    CHECK_STR_EQ(ln_option_get_source(o), "-");
    CHECK_STR_EQ(ln_option_get_target(o), "ref");
    CHECK_STR_EQ(ln_option_get_outfile(o), "o.json");
    CHECK_STR_EQ(ln_option_get_datafile(o), "d.wts");
    CHECK(ln_option_get_compile(o) && !ln_option_get_run(o));
    CHECK(ln_option_get_debug(o) && !ln_option_get_Wwarn(o) && ln_option_get_Winter(o));
    ln_option_free(o);

    o = (ln_option_create)(2, (char *[]){"x", "a.net", NULL});
    CHECK_NOT_NULL(o);
    CHECK_STR_EQ(ln_option_get_target(o), "cpu");
    CHECK_STR_EQ(ln_option_get_outfile(o), "out.json");
    CHECK_NULL(ln_option_get_datafile(o));
    CHECK(ln_option_get_compile(o) && ln_option_get_run(o) && ln_option_get_Wwarn(o));
    ln_option_free(o);

    o = (ln_option_create)(2, (char *[]){"x", "-h", NULL});
    CHECK(o && o->help);
    ln_option_free(o);

    static const struct {
        const char *why;
        char *argv[3];
        int argc;
    } wrong[] = {{"no input file", {"x"}, 1},
                 {"unknown option --nonsense", {"x", "--nonsense"}, 2},
                 {"option -o needs a value", {"x", "a.net", "-o"}, 3}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        CHECK_NULL((ln_option_create)(wrong[i].argc, (char **)(uintptr_t)wrong[i].argv));
        CHECK_MESSAGE(wrong[i].why);
    }
    char version[20];
    CHECK_STR_EQ(ln_option_sprint_version(version), "lightnet " LN_VERSION);
}

// What a child writes to standard error, and its exit code.
static int watch(void (*body)(void), char *text, size_t size)
{
    int ends[2], code = 0;
    CHECK_EQ(pipe(ends), 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        dup2(ends[1], 2);
        body();
        _exit(0);
    }
    close(ends[1]);
    size_t len = 0;
    ssize_t count;
    while (len + 1 < size && (count = read(ends[0], text + len, size - 1 - len)) > 0)
        len += (size_t)count;
    text[len] = '\0';
    close(ends[0]);
    waitpid(child, &code, 0);
    return WIFEXITED(code) ? WEXITSTATUS(code) : -1;
}

static void read_what_is_missing(void)
{
    ln_arch_init();
    ln_context_init(ln_context_create(), "missing.net");
    fputs("still here\n", stderr);
}

static void emit_some(void)
{
    ln_option option = {.Wwarn = LN_TRUE};
    ln_msg_init(NULL);
    ln_msg_warn("unseen");
    ln_msg_init(&option);
    for (int i = 0; i < 3; i++)
        ln_msg_emit_once(LN_MSG_WARN, "seen %d", i);
    ln_msg_inter_warn("unseen");
    ln_msg_debug("unseen");
    ln_msg *msg = ln_msg_create(LN_MSG_WARN, "made");
    fprintf(stderr, "err_str: %s\n", msg->err_str);
    ln_msg_free(msg);
    ln_msg_cleanup();
    ln_msg_warn("unseen");
}

TEST(a_failure_ends_the_program_with_its_message)
{
    char text[512];
    CHECK_EQ(watch(read_what_is_missing, text, sizeof text), 1);
    CHECK_NOT_NULL(strstr(text, "error: "));
    CHECK_NOT_NULL(strstr(text, "missing.net"));
    CHECK_NULL(strstr(text, "still here"));
}

TEST(messages_are_shown_as_the_options_say)
{
    char text[512];
    CHECK_EQ(watch(emit_some, text, sizeof text), 0);
    CHECK_STR_EQ(text, "warning: seen 0\nerr_str: made\n");
}

TEST(tensorlight_has_its_names)
{
    tl_bool_t yes = TL_TRUE;
    void *block = tl_alloc(4);
    CHECK(yes);
    CHECK_NOT_NULL(block);
    tl_free(block);
}

TEST_LIST(a_program_of_old_compiles_loads_and_runs, options_are_those_of_the_old_command_line,
          a_failure_ends_the_program_with_its_message, messages_are_shown_as_the_options_say,
          tensorlight_has_its_names)
