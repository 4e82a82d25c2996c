// SPDX-License-Identifier: Apache-2.0
// Plug-ins: what they bring, what refuses to be one, and that nothing of either stays.

#include <stdlib.h>
#include <unistd.h>

#include <lightnet/program.h>

#include "tests/api/model.h"

#define PLUGIN(name) LN_BUILD_DIR "/tests/plugins/slot_" name ".so"

typedef struct counts {
    size_t archs, ops, serializers;
} counts;

static counts count_all(void)
{
    return (counts){ln_arch_count(), ln_op_count(), ln_serializer_count()};
}

static void check_nothing_new(const counts *before)
{
    CHECK_EQ(ln_arch_count(), before->archs);
    CHECK_EQ(ln_op_count(), before->ops);
    CHECK_EQ(ln_serializer_count(), before->serializers);
    CHECK_EQ(ln_mem_type_from_str("LN_MEM_SLOT"), -1);
    CHECK_NULL(ln_op_find("act_slot"));
    CHECK_NULL(ln_plugin_find_at(0));
    CHECK_NULL(ln_plugin_of_arch("slot"));
}

static const char text[] = "input(| dst=x | dtype=TL_FLOAT, dims=[4]);\n"
                           "twice(src=x | dst=t |);\n"
                           "act(src=t | dst=a | act=relu);\n"
                           "elew(src1=a, src2=x | dst=s | elew_op=TL_SUM);\n"
                           "thrice(src=s | dst=y |);\n";

static void check_run(ln_context *ctx)
{
    const float x[4] = {-2, 1, 0, 5}, expected[4] = {-4, 6, 0, 30};
    float y[4];
    CHECK_OK(ln_context_set_data(ctx, "x", x));
    CHECK_OK(ln_context_run(ctx));
    CHECK_NOT_NULL(ln_context_get_data(ctx, "y", y));
    CHECK_MEM_EQ(y, expected, sizeof y);
}

TEST(a_plug_in_brings_one_of_everything_and_takes_it_away)
{
    CHECK_OK(ln_arch_init());
    counts before = count_all();
    for (int round = 0; round < 3; round++) {
        CHECK_OK(ln_plugin_load(PLUGIN("good")));
        CHECK_STR_EQ(ln_plugin_find_at(0)->name, "slot");
        CHECK_STR_EQ(ln_plugin_find_at(0)->doc, "one of everything");
        CHECK_NULL(ln_plugin_find_at(1));
        CHECK_STR_EQ(ln_plugin_path("slot"), PLUGIN("good"));
        CHECK_PTR_EQ(ln_plugin_of_arch("slot"), ln_plugin_find_at(0));
        CHECK_NULL(ln_plugin_of_arch("cpu"));
        CHECK_STR_EQ(ln_mem_type_title((ln_mem_type)ln_mem_type_from_str("LN_MEM_SLOT")),
                     "memory of slots");
        ln_context *ctx = ln_context_create();
        CHECK_FAILS(ln_context_init_mem(ctx, "SLOTS", 5, "a.slot"), LN_UNSUPPORTED);
        CHECK_MESSAGE("a.slot: slots are empty");
        ln_context_free(ctx);
        ctx = load_text(text, "slot");
        int group_ops = 0;
        const ln_op *op;
        LN_LIST_FOREACH (op, ctx->ops)
            group_ops += ln_streq(op->op_arg->arch, "slot");
        CHECK_EQ(group_ops, 2);
        check_run(ctx);
        close_context(ctx);
        CHECK_OK(ln_plugin_unload("slot"));
        check_nothing_new(&before);
    }
    CHECK_FAILS(ln_plugin_unload("slot"), LN_NOT_FOUND);
    ln_arch_cleanup();
}

TEST(what_is_in_use_is_not_unloaded)
{
    CHECK_OK(ln_arch_init());
    counts before = count_all();
    CHECK_OK(ln_plugin_load(PLUGIN("good")));
    ln_context *ctx = load_text(text, "slot");
    CHECK_FAILS(ln_plugin_unload("slot"), LN_STATE);
    CHECK_MESSAGE("plug-in 'slot'");
    CHECK_MESSAGE("in use");
    check_run(ctx); // it still has all that it needs
    ln_program *program;
    ln_session *session;
    CHECK_OK(ln_program_create(ctx, &program));
    close_context(ctx);
    CHECK_FAILS(ln_plugin_unload("slot"), LN_STATE);
    CHECK_OK(ln_session_create(program, &session));
    ln_program_release(program);
    CHECK_FAILS(ln_plugin_unload("slot"), LN_STATE);
    ln_session_free(session);
    CHECK_OK(ln_plugin_unload("slot"));
    check_nothing_new(&before);

    // An operator alone, without the arch.
    CHECK_OK(ln_plugin_load(PLUGIN("good")));
    ctx = open_text("input(| dst=x | dtype=TL_FLOAT, dims=[4]); twice(src=x | dst=y |);");
    CHECK_FAILS(ln_plugin_unload("slot"), LN_STATE);
    CHECK_MESSAGE("twice");
    close_context(ctx);
    CHECK_OK(ln_plugin_unload("slot"));
    ln_arch_cleanup();
}

TEST(a_file_that_is_no_plug_in_is_refused_and_leaves_nothing)
{
    static const struct {
        const char *path;
        ln_status status;
        const char *message, *why;
    } rows[] = {
        {"no_such_file.so", LN_IO, "no_such_file.so", "there is none"},
        {LN_SOURCE_DIR "/CMakeLists.txt", LN_INVALID, "CMakeLists.txt", "it is text"},
        {LN_SOURCE_DIR, LN_INVALID, LN_SOURCE_DIR, "it is a folder"},
        {"", LN_INVALID, "empty", "it has no name"},
        {PLUGIN("no_symbol"), LN_INVALID, "lightnet_plugin", "the symbol is not there"},
        {PLUGIN("function"), LN_INVALID, "not a table", "the symbol is a function"},
        {PLUGIN("tiny"), LN_INVALID, "too few", "the symbol is a number"},
        {PLUGIN("other_version"), LN_UNSUPPORTED, "version 2", "it is of another version"},
        {PLUGIN("short"), LN_INVALID, "ln_plugin has", "the table ends early"},
        {PLUGIN("too_long"), LN_INVALID, "says that it has", "the table is not as long as it says"},
        {PLUGIN("longer"), LN_UNSUPPORTED, "newer LightNet", "the table says what is not known"},
        {PLUGIN("newer_host"), LN_UNSUPPORTED, "newer LightNet", "the host has fewer functions"},
        {PLUGIN("no_name"), LN_INVALID, "name", "the plug-in has no name"},
        {PLUGIN("no_open"), LN_INVALID, "`open`", "nothing opens it"},
        {PLUGIN("fails"), LN_IO, "plug-in 'slot': the cable of slot 7 is loose", "`open` fails"},
        {PLUGIN("fails_mute"), LN_IO, "plug-in 'slot': input or output failed", "without a word"},
        {PLUGIN("bad_rules"), LN_SYNTAX, "<rules of slot>:", "its rules are malformed"},
    };
    CHECK_OK(ln_arch_init());
    counts before = count_all();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CHECK_FAILS(ln_plugin_load(rows[i].path), rows[i].status);
        CHECK_MESSAGE(rows[i].message);
        check_nothing_new(&before);
    }
    CHECK_FAILS(ln_plugin_load(NULL), LN_INVALID);
    CHECK_OK(ln_plugin_load(PLUGIN("good"))); // none of them is in the way
    CHECK_OK(ln_plugin_unload("slot"));
    ln_arch_cleanup();
}

TEST(a_table_that_goes_on_with_zeros_is_taken)
{
    CHECK_OK(ln_arch_init());
    CHECK_OK(ln_plugin_load(PLUGIN("longer_of_0")));
    CHECK_OK(ln_plugin_unload("slot"));
    ln_arch_cleanup();
}

TEST(a_plug_in_is_loaded_once)
{
    CHECK_OK(ln_arch_init());
    CHECK_OK(ln_plugin_load(PLUGIN("good")));
    counts before = count_all();
    CHECK_FAILS(ln_plugin_load(PLUGIN("good")), LN_EXISTS);
    CHECK_MESSAGE("loaded already");
    CHECK_FAILS(ln_plugin_load(LN_BUILD_DIR "/tests/../tests/plugins/slot_good.so"), LN_EXISTS);
    CHECK_FAILS(ln_plugin_load(PLUGIN("other_file")), LN_EXISTS);
    CHECK_MESSAGE("'slot'");
    CHECK_EQ(ln_op_count(), before.ops);
    ln_context *ctx = load_text(text, "slot");
    check_run(ctx);
    close_context(ctx);
    CHECK_OK(ln_plugin_unload("slot"));
    ln_arch_cleanup();
}

TEST(the_library_must_have_begun_and_its_end_unloads)
{
    CHECK_FAILS(ln_plugin_load(PLUGIN("good")), LN_STATE);
    CHECK_MESSAGE("ln_arch_init");
    CHECK_OK(ln_arch_init());
    CHECK_OK(ln_plugin_load(PLUGIN("good")));
    ln_arch_cleanup();
    CHECK_NULL(ln_plugin_find_at(0));
    CHECK_EQ(ln_mem_type_from_str("LN_MEM_SLOT"), -1);
    CHECK_OK(ln_arch_init());
    CHECK_NULL(ln_arch_find("slot"));
    CHECK_OK(ln_plugin_load(PLUGIN("good")));
    CHECK_OK(ln_plugin_unload("slot"));
    ln_arch_cleanup();
}

// A name without a folder is a file of the working folder: nothing is searched for.
TEST(no_folder_of_the_environment_is_searched)
{
    CHECK_OK(ln_arch_init());
    setenv("LD_LIBRARY_PATH", LN_BUILD_DIR "/tests/plugins", 1);
    char here[4096];
    CHECK_NOT_NULL(getcwd(here, sizeof here));
    CHECK_EQ(chdir("/"), 0);
    CHECK_FAILS(ln_plugin_load("slot_good.so"), LN_IO);
    CHECK_EQ(chdir(LN_BUILD_DIR "/tests/plugins"), 0);
    CHECK_OK(ln_plugin_load("slot_good.so"));
    CHECK_OK(ln_plugin_unload("slot"));
    CHECK_EQ(chdir(here), 0);
    ln_arch_cleanup();
}

// ---- Rules as text, without a plug-in ----

static ln_status run_nothing(void *priv, void *group, tl_tensor *const *addresses)
{
    (void)priv;
    (void)group;
    (void)addresses;
    return LN_OK;
}

static ln_status prepare_nothing(void *priv, const ln_list *ops, void **out_group)
{
    (void)priv;
    (void)ops;
    *out_group = NULL;
    return LN_OK;
}

TEST(rules_of_an_arch_are_checked_when_they_are_registered)
{
    static const struct {
        const char *rules, *place;
    } rows[] = {
        {"lower * => ", "<rules of bare>:1:"},
        {"lower act => act_bare\n\nrule r [exact]\n  y = no_such_type(x)\n"
         "  => y = act(x | act=\"relu\")\n",
         "<rules of bare>:4: rule 'r': there is no operator type 'no_such_type'"},
        {"rule r [exact]\n  y = act(x)\n  => y = act(x)\n", "<rules of bare>:1:6:"},
        {"lower act => act_bare\nlower act => act_bear",
         "<rules of bare>:2: there is no operator type 'act_bear'; did you mean 'act_bare'?"},
        {"lower * => *_bear", "<rules of bare>:1: there is no operator type that ends in '_bear'"},
        {"lower acts => act_bare", "<rules of bare>:1: there is no operator type 'acts'"},
    };
    static const char *const core_ops[] = {"act(*)", "elew(*)", NULL};
    CHECK_OK(ln_arch_init());
    ln_arch bare = {.arch_name = "bare",
                    .fallbacks = "ref",
                    .prepare = prepare_nothing,
                    .run = run_nothing,
                    .core_ops = core_ops};
    CHECK_FAILS(ln_rules_register("bare", "lower * => *_bare"), LN_NOT_FOUND);
    CHECK_OK(ln_arch_register(&bare));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CHECK(ln_rules_register("bare", rows[i].rules) != LN_OK);
        CHECK_MESSAGE(rows[i].place);
        CHECK_NULL(bare.rules);
    }
    CHECK_FAILS(ln_rules_register("cpu", "lower * => *_cpu"), LN_EXISTS);
    CHECK_FAILS(ln_rules_register("bare", NULL), LN_INVALID);
    CHECK_OK(ln_rules_register("bare", "lower * => *_bare"));
    CHECK_FAILS(ln_rules_register("bare", "lower * => *_bare"), LN_EXISTS);
    ln_context *ctx = open_text("input(| dst=x | dtype=TL_FLOAT, dims=[4]);\n"
                                "act(src=x | dst=y | act=relu);\n");
    CHECK_OK(ln_context_compile(ctx, "bare"));
    CHECK_NOT_NULL(ln_op_list_find_by_optype(ctx->ops, "act_bare"));
    close_context(ctx);
    CHECK_OK(ln_arch_unregister("bare"));
    CHECK_NULL(bare.rules);
    ln_arch_cleanup();
}

TEST_LIST(a_plug_in_brings_one_of_everything_and_takes_it_away, what_is_in_use_is_not_unloaded,
          a_file_that_is_no_plug_in_is_refused_and_leaves_nothing,
          a_table_that_goes_on_with_zeros_is_taken, a_plug_in_is_loaded_once,
          the_library_must_have_begun_and_its_end_unloads, no_folder_of_the_environment_is_searched,
          rules_of_an_arch_are_checked_when_they_are_registered)
