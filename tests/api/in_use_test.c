// SPDX-License-Identifier: Apache-2.0
// What is in use is not unregistered: archs, operators, memory and serializers.

#include <pthread.h>
#include <stdatomic.h>

#include <lightnet/program.h>

#include "tests/api/box_device.h"

// A model that a target with `box` leaves to others.
static const char no_box_text[] = "input(| dst=x | dtype=TL_FLOAT, dims=[2]);\n"
                                  "softmax(src=x | dst=y | axis=0);\n";

static void check_in_use(const char *why)
{
    CHECK_FAILS(ln_arch_unregister("box"), LN_STATE);
    CHECK_MESSAGE("box");
    CHECK_MESSAGE(why);
    CHECK_NOT_NULL(ln_arch_find("box"));
}

TEST(an_arch_whose_operators_a_context_has_stays)
{
    CHECK_OK(ln_arch_init());
    ln_arch box = box_of(five);
    CHECK_OK(ln_arch_register(&box));
    ln_context *ctx = load_text(box_text, "box");
    check_in_use("conv_box (1)");
    CHECK_MESSAGE("5 operators");
    CHECK_FAILS(ln_op_unregister("act_box"), LN_STATE);
    CHECK_MESSAGE("act_box");
    CHECK_FAILS(ln_arch_unregister("none"), LN_STATE);
    CHECK_FAILS(ln_arch_unregister("ref"), LN_STATE); // which computes what others refuse
    ln_context *clone;
    CHECK_OK(ln_context_clone(ctx, &clone));
    close_context(ctx);
    check_in_use("operators");
    float y[12];
    run_once(clone, "x", y);
    close_context(clone);
    CHECK_OK(ln_arch_unregister("box"));
    ln_arch_cleanup();
}

TEST(an_arch_of_a_target_stays_without_operators_too)
{
    CHECK_OK(ln_arch_init());
    ln_arch box = box_of(five);
    CHECK_OK(ln_arch_register(&box));
    ln_context *ctx = open_text(no_box_text);
    CHECK_OK(ln_context_compile(ctx, "box,cpu"));
    check_in_use("target of 1 context");
    CHECK_FAILS(ln_op_unregister("act_box"), LN_STATE); // for another shape
    CHECK_MESSAGE("arch 'box', the target of 1 context");
    ln_context_cleanup(ctx); // the model, with what it was compiled for
    CHECK_OK(ln_op_unregister("act_box"));
    CHECK_OK(ln_arch_unregister("box"));
    close_context(ctx);
    ln_arch_cleanup();
}

TEST(programs_and_sessions_keep_what_they_run_on)
{
    CHECK_OK(ln_arch_init());
    ln_arch box = box_of(five);
    CHECK_OK(ln_arch_register(&box));
    ln_context *ctx = load_text(box_text, "box");
    ln_program *program;
    CHECK_OK(ln_program_create(ctx, &program));
    close_context(ctx);
    check_in_use("operators");
    ln_session *session;
    CHECK_OK(ln_session_create(program, &session));
    ln_program_release(program);
    check_in_use("operators");
    float x[32] = {1}, y[12];
    CHECK_OK(ln_session_set_data(session, "x", x, sizeof x));
    CHECK_OK(ln_session_run(session));
    CHECK_OK(ln_session_get_data(session, "y", y, sizeof y));
    ln_session_free(session);
    CHECK_OK(ln_arch_unregister("box"));
    ln_arch_cleanup();
}

TEST(a_program_of_dynamic_shapes_keeps_its_target)
{
    static const char text[] = "input(| dst=x | dtype=TL_FLOAT, dims=[-1, 2], names=[n, \"\"]);\n"
                               "softmax(src=x | dst=y | axis=1);\n";
    CHECK_OK(ln_arch_init());
    ln_arch box = box_of(five);
    CHECK_OK(ln_arch_register(&box));
    ln_context *ctx = open_text(text);
    CHECK_OK(ln_context_compile(ctx, "box,cpu"));
    CHECK_OK(ln_context_load(ctx, NULL));
    ln_program *program;
    CHECK_OK(ln_program_create(ctx, &program));
    close_context(ctx);
    check_in_use("target of");
    ln_program_release(program);
    CHECK_OK(ln_arch_unregister("box"));
    ln_arch_cleanup();
}

TEST(an_operator_outside_of_a_context_keeps_its_type)
{
    CHECK_OK(ln_arch_init());
    ln_arch box = box_of(five);
    CHECK_OK(ln_arch_register(&box));
    ln_op *op = ln_op_create_from_proto(ln_op_find("act_box"), "a", NULL, NULL, NULL, NULL);
    ln_op *copy = ln_op_copy(op);
    check_in_use("act_box (2)");
    ln_op_free_lists_too(copy);
    check_in_use("act_box (1)");
    ln_op_free(op);
    CHECK_OK(ln_arch_unregister("box"));
    ln_arch_cleanup();
}

TEST(memory_of_a_device_stays_while_something_is_there)
{
    CHECK_OK(ln_arch_init());
    ln_arch box = box_with_memory();
    CHECK_OK(ln_arch_register(&box));
    CHECK_FAILS(ln_mem_type_register(LN_MEM_DPU, NULL), LN_STATE); // the arch has it
    CHECK_MESSAGE("DPU memory");
    ln_arch beside = {.arch_name = "beside", .mem_type = LN_MEM_DPU};
    CHECK_OK(ln_arch_register(&beside));
    check_in_use("DPU memory");
    CHECK_OK(ln_arch_unregister("beside"));
    ln_context *ctx = load_text(box_text_alone, "box");
    check_in_use("operators");
    close_context(ctx);
    CHECK_OK(ln_arch_unregister("box"));
    CHECK_OK(ln_mem_type_register(LN_MEM_DPU, NULL));
    ln_arch_cleanup();
}

TEST(an_added_memory_type_stays_while_an_arch_has_it)
{
    CHECK_OK(ln_arch_init());
    ln_arch box = box_with_memory();
    ln_mem_type mtype;
    CHECK_OK(ln_mem_type_add("LN_MEM_BOX", "the box", box.mem_info, &mtype));
    CHECK_OK(ln_mem_type_register_copy(mtype, LN_MEM_CPU, memmove));
    CHECK_OK(ln_mem_type_register_copy(LN_MEM_CPU, mtype, memmove));
    box.mem_type = mtype;
    box.mem_info = NULL;
    CHECK_OK(ln_arch_register(&box));
    ln_context *ctx = load_text(box_text_alone, "box");
    CHECK(ctx->mem_sizes[mtype] > 0);
    float expected[12], y[12];
    ln_context *as_read = load_text(box_text_alone, AS_READ);
    run_once(as_read, "c", expected);
    close_context(as_read);
    run_once(ctx, "c", y);
    CHECK_MEM_EQ(y, expected, sizeof y);
    close_context(ctx);
    CHECK_FAILS(ln_mem_type_remove(mtype), LN_STATE);
    CHECK_MESSAGE("the box");
    CHECK_OK(ln_arch_unregister("box"));
    CHECK_OK(ln_mem_type_remove(mtype));
    ln_arch_cleanup();
}

// ---- Serializers ----

static ln_status unregister_itself(ln_serializer *serializer, ln_context *ctx,
                                   const ln_op_source *source, void *user)
{
    (void)ctx;
    CHECK_FAILS(ln_serializer_unregister(serializer->name), LN_STATE);
    CHECK_FAILS(ln_serializer_unregister_op_loader(serializer, source->optype, 0), LN_STATE);
    ++*(int *)user;
    ln_op_source relu = *source;
    relu.optype = "relu";
    return ln_serializer_add_op(serializer, ctx, &relu);
}

TEST(a_serializer_stays_while_it_reads)
{
    CHECK_OK(ln_arch_init());
    int calls = 0;
    ln_serializer *il = ln_serializer_find("il");
    CHECK_OK(ln_serializer_register_op_loader(il, "my_relu", 0, unregister_itself, &calls));
    ln_context *ctx =
        open_text("input(| dst=x | dtype=TL_FLOAT, dims=[2]); my_relu(src=x | dst=y |);");
    CHECK_EQ(calls, 1);
    close_context(ctx);
    CHECK_OK(ln_serializer_unregister_op_loader(il, "my_relu", 0));
    CHECK_OK(ln_serializer_unregister("il"));
    ln_arch_cleanup();
}

// ---- Threads ----

static atomic_bool is_over;
static atomic_int compiled_count;

static void *compile_again_and_again(void *text)
{
    while (!atomic_load(&is_over)) {
        ln_context *ctx = ln_context_create();
        bool is_there = ln_context_init_mem(ctx, text, strlen(text), "m.net") == LN_OK &&
                        ln_context_compile(ctx, "box") == LN_OK &&
                        ln_context_load(ctx, NULL) == LN_OK;
        float x[48] = {1};
        if (is_there && ln_context_set_data(ctx, "x", x) == LN_OK && ln_context_run(ctx) == LN_OK)
            atomic_fetch_add(&compiled_count, 1);
        close_context(ctx);
    }
    return NULL;
}

// Between a compilation that finds the arch, and one that does not, there is none that loses it.
TEST(archs_come_and_go_while_others_compile)
{
    enum { THREADS = 3 };
    CHECK_OK(ln_arch_init());
    ln_arch box = box_of(five);
    pthread_t threads[THREADS];
    atomic_store(&is_over, false);
    CHECK_OK(ln_arch_register(&box));
    for (int i = 0; i < THREADS; i++)
        CHECK_EQ(
            pthread_create(&threads[i], NULL, compile_again_and_again, (void *)(uintptr_t)box_text),
            0);
    int gone = 0, refused = 0;
    while (atomic_load(&compiled_count) < 100 && gone + refused < 2000000) {
        ln_status status = ln_arch_unregister("box");
        gone += status == LN_OK;
        refused += status == LN_STATE;
        if (status == LN_OK)
            CHECK_OK(ln_arch_register(&box));
    }
    atomic_store(&is_over, true);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK(gone + refused > 0);
    CHECK_OK(ln_arch_unregister("box"));
    ln_arch_cleanup();
}

TEST_LIST(an_arch_whose_operators_a_context_has_stays,
          an_arch_of_a_target_stays_without_operators_too,
          programs_and_sessions_keep_what_they_run_on, a_program_of_dynamic_shapes_keeps_its_target,
          an_operator_outside_of_a_context_keeps_its_type,
          memory_of_a_device_stays_while_something_is_there,
          an_added_memory_type_stays_while_an_arch_has_it, a_serializer_stays_while_it_reads,
          archs_come_and_go_while_others_compile)
