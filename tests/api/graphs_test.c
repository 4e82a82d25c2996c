// SPDX-License-Identifier: Apache-2.0
// Models with graphs: what runs in them, what they see, and that they end.

#include <pthread.h>

#include "tests/api/values.h"
#include "tests/oom.h"

#define IN(name)      "input(| dst=" name " | dtype=TL_FLOAT, dims=[], open=true);\n"
#define CAPTURE(name) "input(| dst=" name " | dtype=TL_FLOAT, dims=[], open=true, capture=true);\n"
#define OUT(name)     "output(src=" name " | |);\n"

// The state, which starts as x of any length, is doubled three times; then w is added once.
#define LOOP_MODEL                                                                                 \
    "input(| dst=x | dtype=TL_FLOAT, dims=[-1], names=[\"N\"]);\n"                                 \
    "create(| dst=n | dtype=TL_INT64, dims=[], ran=[0, 0], data=[3], from_file=false);\n"          \
    "create(| dst=w | dtype=TL_FLOAT, dims=[1], ran=[0, 0], data=[0.5], from_file=false);\n"       \
    "Loop(M=n, v_initial1=x, capture1=w | v_final_and_scan_outputs1=y | body=\"body\");\n" OUT(    \
        "y") "graph body {\n" IN("i") IN("go") IN("s")                                             \
        CAPTURE(                                                                                   \
            "w") "create(| dst=two | dtype=TL_INT64, dims=[], ran=[0, 0], data=[2], "              \
                 "from_file=false);\n"                                                             \
                 "Add(A=s, B=s | C=d |);\n"                                                        \
                 "Less(A=i, B=two | C=is_early |);\n"                                              \
                 "If(cond=is_early, capture1=d, capture2=w | outputs1=t | "                        \
                 "then_branch=\"early\", else_branch=\"late\");\n" OUT("go") OUT(                  \
                     "t") "}\n"                                                                    \
                          "graph early {\n" CAPTURE("d") "Identity(input=d | output=e |);\n" OUT(  \
                              "e") "}\n"                                                           \
                                   "graph late {\n" CAPTURE("d")                                   \
                                       CAPTURE("w") "Add(A=d, B=w | C=f |);\n" OUT("f") "}\n"

static ln_status set_floats(ln_context *ctx, const char *name, int len, const float *data)
{
    ln_object *object = ln_object_new_tensor(TL_FLOAT, 1, &len, NULL);
    if (!object)
        return ln_error_status();
    memcpy(ln_object_tensor(object)->data, data, (size_t)len * sizeof *data);
    ln_status status = ln_context_set_object(ctx, name, object);
    ln_object_release(object);
    return status;
}

static void check_loop(ln_context *ctx, float x)
{
    CHECK_OK(set_floats(ctx, "x", 2, (float[]){x, 0}));
    CHECK_OK(ln_context_run(ctx));
    check_numbers(ctx, "y", TL_FLOAT, 1, DIMS(2), NUMBERS((double)x * 8 + 0.5, 0.5));
}

TEST(graphs_nest_and_see_what_is_around_them)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_text(LOOP_MODEL, "cpu");
    check_loop(ctx, 1);
    check_loop(ctx, 2);
    close_run(ctx);
}

TEST(a_clone_has_graphs_of_its_own)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_text(LOOP_MODEL, "cpu"), *clone;
    CHECK_OK(ln_context_clone(ctx, &clone));
    CHECK(ln_context_find_graph(clone, "body") != ln_context_find_graph(ctx, "body"));
    check_loop(clone, 3);
    close_context(ctx);
    check_loop(clone, 4);
    close_run(clone);
}

typedef struct worker {
    ln_context *ctx;
    float x;
    float y;
    ln_status status;
} worker;

static void *work(void *argument)
{
    worker *w = argument;
    for (int round = 0; round < 50 && w->status == LN_OK; round++) {
        w->status = set_floats(w->ctx, "x", 1, &w->x);
        if (w->status == LN_OK)
            w->status = ln_context_run(w->ctx);
        ln_object *y;
        if (w->status == LN_OK)
            w->status = ln_context_get_object(w->ctx, "y", &y);
        if (w->status != LN_OK)
            break;
        w->y = *(const float *)ln_object_tensor(y)->data;
        ln_object_release(y);
    }
    return NULL;
}

TEST(clones_run_their_graphs_side_by_side)
{
    CHECK_OK(ln_arch_init());
    worker workers[2] = {{.ctx = load_text(LOOP_MODEL, "cpu"), .x = 1}, {.x = 2}};
    CHECK_OK(ln_context_clone(workers[0].ctx, &workers[1].ctx));
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
        CHECK_OK(workers[i].status);
        CHECK_NEAR(workers[i].y, workers[i].x * 8 + 0.5F, 0);
        close_context(workers[i].ctx);
    }
    ln_arch_cleanup();
}

TEST(a_compiled_file_keeps_graphs_and_open_tensors)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = open_text(LOOP_MODEL);
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    char *text, *again;
    size_t byte_count, again_byte_count;
    CHECK_OK(ln_context_write(ctx, "ir", &text, &byte_count));
    close_context(ctx);
    ctx = ln_context_create();
    CHECK_OK(ln_context_init_mem(ctx, text, byte_count, "model.json"));
    CHECK_EQ(ctx->state, LN_CONTEXT_PLANNED);
    CHECK_OK(ln_context_write(ctx, "ir", &again, &again_byte_count));
    CHECK_STR_EQ(again, text);
    ln_free(text);
    ln_free(again);
    CHECK_OK(ln_context_load(ctx, NULL));
    check_loop(ctx, 5);
    close_run(ctx);
}

TEST(a_graph_that_runs_itself_is_refused)
{
    const char *text = "create(| dst=c | dtype=TL_BOOL, dims=[], ran=[0, 0], data=[1], "
                       "from_file=false);\n"
                       "If(cond=c, capture1=c | outputs1=y | then_branch=\"a\", "
                       "else_branch=\"a\");\n"
                       "graph a {\n"
                       "input(| dst=c | dtype=TL_BOOL, dims=[], open=true, capture=true);\n"
                       "If(cond=c, capture1=c | outputs1=z | then_branch=\"a\", "
                       "else_branch=\"a\");\n" OUT("z") "}\n";
    check_fails(text, LN_INVALID, "its graph runs itself");
}

#define NESTED 200 // graphs, each in the one before it

TEST(graphs_nest_only_so_deep)
{
    static char text[NESTED * 512];
    size_t len = (size_t)snprintf(text, sizeof text,
                                  "create(| dst=c | dtype=TL_BOOL, dims=[], ran=[0, 0], data=[1], "
                                  "from_file=false);\n"
                                  "If(cond=c, capture1=c | outputs1=y | then_branch=\"g0\", "
                                  "else_branch=\"g0\");\n");
    for (int i = 0; i < NESTED; i++)
        len +=
            (size_t)snprintf(text + len, sizeof text - len,
                             "graph g%d {\n"
                             "input(| dst=c | dtype=TL_BOOL, dims=[], open=true, capture=true);\n"
                             "If(cond=c, capture1=c | outputs1=z%d | then_branch=\"g%d\", "
                             "else_branch=\"g%d\");\noutput(src=z%d | |);\n}\n",
                             i, i, i + 1, i + 1, i);
    len += (size_t)snprintf(text + len, sizeof text - len,
                            "graph g%d {\n"
                            "input(| dst=c | dtype=TL_BOOL, dims=[], open=true, capture=true);\n"
                            "output(src=c | |);\n}\n",
                            NESTED);
    CHECK(len < sizeof text - 1);
    check_fails(text, LN_LIMIT, "run inside each other");
}

TEST(an_input_of_a_graph_may_be_its_output)
{
    ln_context *ctx = run_text(
        "create(| dst=n | dtype=TL_INT64, dims=[], ran=[0, 0], data=[2], from_file=false);\n"
        "create(| dst=x | dtype=TL_FLOAT, dims=[2], ran=[0, 0], data=[7, 8], from_file=false);\n"
        "Loop(M=n, v_initial1=x | v_final_and_scan_outputs1=y, v_final_and_scan_outputs2=z | "
        "body=\"body\");\n"
        "graph body {\n" IN("i") IN("go") IN("s") OUT("go") OUT("s") OUT("s") "}\n");
    check_numbers(ctx, "y", TL_FLOAT, 1, DIMS(2), NUMBERS(7, 8));
    check_numbers(ctx, "z", TL_FLOAT, 2, DIMS(2, 2), NUMBERS(7, 8, 7, 8));
    close_run(ctx);
}

// The first output of the body's two states and values to stack stands at its end again.
TEST(outputs_of_a_graph_keep_their_places_though_one_tensor_has_two)
{
    static const char text[] =
        "create(| dst=n | dtype=TL_INT64, dims=[], ran=[0, 0], data=[3], from_file=false);\n"
        "create(| dst=x | dtype=TL_INT64, dims=[], ran=[0, 0], data=[7], from_file=false);\n"
        "Loop(M=n, v_initial1=x | v_final_and_scan_outputs1=y, v_final_and_scan_outputs2=i, "
        "v_final_and_scan_outputs3=z | body=\"body\");\n"
        "graph body {\n"
        "input(| dst=i | dtype=TL_INT64, dims=[], open=true);\n" IN(
            "go") "input(| dst=s | dtype=TL_INT64, dims=[], open=true);\n"
                  "Add(A=s, B=s | C=d |);\n" OUT("go") OUT("d") OUT("i") OUT("d") "}\n";
    ln_context *ctx = run_text(text);
    check_numbers(ctx, "y", TL_INT64, 0, DIMS(), NUMBERS(56));
    check_numbers(ctx, "i", TL_INT64, 1, DIMS(3), NUMBERS(0, 1, 2));
    check_numbers(ctx, "z", TL_INT64, 1, DIMS(3), NUMBERS(14, 28, 56));
    close_run(ctx);
}

// The second sum goes, as the first one is the same; the graph knows it by its name.
TEST(what_a_graph_captures_keeps_its_name)
{
    static const char text[] =
        "input(| dst=x | dtype=TL_FLOAT, dims=[2]);\n"
        "create(| dst=n | dtype=TL_INT64, dims=[], ran=[0, 0], data=[3], from_file=false);\n"
        "elew(src1=x, src2=x | dst=a | elew_op=TL_SUM);\n"
        "elew(src1=x, src2=x | dst=b | elew_op=TL_SUM);\n"
        "Loop(M=n, v_initial1=a, capture1=b | v_final_and_scan_outputs1=y | body=\"body\");\n" OUT(
            "y") OUT("a") "graph body {\n" IN("i") IN("go") IN("s")
            CAPTURE("b") "Add(A=s, B=b | C=t |);\n" OUT("go") OUT("t") "}\n";
    CHECK_OK(ln_arch_init());
    for (int is_cpu = 0; is_cpu < 2; is_cpu++) {
        ln_context *ctx = load_text(text, is_cpu ? "cpu" : "ref");
        CHECK_OK(set_floats(ctx, "x", 2, (float[]){1, -2}));
        CHECK_OK(ln_context_run(ctx));
        check_numbers(ctx, "y", TL_FLOAT, 1, DIMS(2), NUMBERS(8, -16));
        close_context(ctx);
    }
    ln_arch_cleanup();
}

TEST(graphs_keep_no_values_after_their_run)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_text(
        "create(| dst=n | dtype=TL_INT64, dims=[], ran=[0, 0], data=[2], from_file=false);\n"
        "input(| dst=x | dtype=TL_FLOAT, dims=[1000]);\n"
        "Loop(M=n, v_initial1=x | v_final_and_scan_outputs1=y | body=\"body\");\n"
        "ReduceSum(data=y | reduced=z | keepdims=0);\n" OUT("z") "graph body {\n" IN("i") IN("go")
            IN("s") "Add(A=s, B=s | C=t |);\n" OUT("go") OUT("t") "}\n",
        "ref");
    float x[1000] = {7};
    CHECK_OK(ln_context_set_data(ctx, "x", x));
    CHECK_OK(ln_context_run(ctx));
    CHECK(ln_context_open_peak(ctx) >= 2 * 4000);
    CHECK(ln_meter_bytes(ctx->meter) - ctx->scratch_byte_count < 1000); // z alone
    check_numbers(ctx, "z", TL_FLOAT, 0, NULL, NUMBERS(28));
    close_run(ctx);
}

TEST(all_graphs_together_stay_within_the_limit_of_memory)
{
    CHECK_OK(ln_arch_init());
    const char *text =
        "create(| dst=c | dtype=TL_BOOL, dims=[], ran=[0, 0], data=[1], from_file=false);\n"
        "If(cond=c | outputs1=y | then_branch=\"a\", else_branch=\"b\");\n"
        "graph a {\ncreate(| dst=p | dtype=TL_FLOAT, dims=[100000], ran=[0, 1], data=[0], "
        "from_file=false);\n" OUT(
            "p") "}\n"
                 "graph b {\ncreate(| dst=q | dtype=TL_FLOAT, dims=[100000], ran=[0, 1], data=[0], "
                 "from_file=false);\n" OUT("q") "}\n";
    ln_context *ctx = ln_context_create();
    ln_limits limits = ln_limits_default();
    limits.memory_byte_count = 500000;
    ln_context_set_limits(ctx, &limits);
    CHECK_OK(ln_context_init_mem(ctx, text, strlen(text), "model.net"));
    CHECK_FAILS(ln_context_compile(ctx, "ref"), LN_LIMIT);
    CHECK_MESSAGE("together with its graphs");
    CHECK_EQ(ctx->state, LN_CONTEXT_READY);
    limits.memory_byte_count = 2000000;
    ln_context_set_limits(ctx, &limits);
    CHECK_OK(ln_context_compile(ctx, "ref"));
    CHECK_OK(ln_context_load(ctx, NULL));
    CHECK_OK(ln_context_run(ctx));
    close_run(ctx);
}

// An operator that runs a graph, on constants, so that it is computed once. It makes tensor r.
typedef struct runner_op {
    const char *op;   // takes the name of its graph, twice
    const char *ins;  // of its graph
    const char *outs; // of its graph, which has another operator's r
    const char *leaf; // a graph without such an operator
    double from_leaf; // r of the operator on its leaf
    double scale;     // r of the operator on another one's r
    double offset;
} runner_op;

static const runner_op runner_ops[] = {
    {"create(| dst=c | dtype=TL_BOOL, dims=[], data=[1]);\n"
     "If(cond=c | outputs1=r | then_branch=\"%s\", else_branch=\"%s\");\n",
     "", OUT("r"), "create(| dst=k | dtype=TL_FLOAT, dims=[1], data=[3]);\n" OUT("k"), 3, 1, 0},
    {"create(| dst=n | dtype=TL_INT64, dims=[], data=[2]);\n"
     "create(| dst=s0 | dtype=TL_FLOAT, dims=[1], data=[1]);\n"
     "Loop(M=n, v_initial1=s0 | v_final_and_scan_outputs1=r | body=\"%s\");\n",
     IN("i") IN("go") IN("s"), "Add(A=s, B=r | C=d |);\n" OUT("go") OUT("d"),
     IN("i") IN("go") IN("s") "Add(A=s, B=s | C=d |);\n" OUT("go") OUT("d"), 4, 2, 1},
    {"create(| dst=s0 | dtype=TL_FLOAT, dims=[1], data=[0]);\n"
     "create(| dst=xs | dtype=TL_FLOAT, dims=[3, 1], data=[1, 2, 3]);\n"
     "Scan(initial_state_and_scan_inputs1=s0, initial_state_and_scan_inputs2=xs | "
     "final_state_and_scan_outputs1=r | body=\"%s\", num_scan_inputs=1);\n",
     IN("s") IN("x"), "Add(A=s, B=x | C=d |);\nAdd(A=d, B=r | C=e |);\n" OUT("e"),
     IN("s") IN("x") "Add(A=s, B=x | C=d |);\n" OUT("d"), 6, 3, 6},
};

static size_t add_runner(char *text, size_t size, const runner_op *op, const char *graph)
{
    return (size_t)snprintf(text, size, op->op, graph, graph);
}

static void check_constant(const char *text, double expected)
{
    static const char *const targets[] = {"ref", "cpu"};
    for (int t = 0; t < 2; t++) {
        ln_context *ctx = load_text(text, targets[t]);
        CHECK_OK(ln_context_run(ctx));
        check_numbers(ctx, "r", TL_FLOAT, 1, DIMS(1), NUMBERS(expected));
        close_context(ctx);
    }
}

// Names of graphs vary, since they are kept by the hashes of these.
TEST(what_a_graph_computes_once_may_run_graphs_inside_it)
{
    static const char *const names[] = {"a", "q", "body", "then", "x1"};
    const size_t kinds = sizeof runner_ops / sizeof runner_ops[0];
    CHECK_OK(ln_arch_init());
    for (size_t k = 0; k < kinds * kinds * 5; k++) {
        const runner_op *outer = &runner_ops[k % kinds], *inner = &runner_ops[k / kinds % kinds];
        const char *name = names[k / kinds / kinds];
        char text[4096], leaf[32], graph[32];
        snprintf(leaf, sizeof leaf, "%s_leaf", name);
        snprintf(graph, sizeof graph, "%s_graph", name);
        size_t len = add_runner(text, sizeof text, outer, graph);
        len += (size_t)snprintf(text + len, sizeof text - len, "graph %s {\n%s", graph, outer->ins);
        len += add_runner(text + len, sizeof text - len, inner, leaf);
        len += (size_t)snprintf(text + len, sizeof text - len, "%s}\ngraph %s {\n%s}\n",
                                outer->outs, leaf, inner->leaf);
        CHECK(len < sizeof text);
        check_constant(text, outer->scale * inner->from_leaf + outer->offset);
    }
    ln_arch_cleanup();
}

TEST(what_is_computed_once_nests)
{
    CHECK_OK(ln_arch_init());
    for (int depth = 2; depth <= 9; depth++) {
        char text[8192], name[32];
        size_t len = add_runner(text, sizeof text, &runner_ops[0], "g1");
        for (int i = 1; i < depth; i++) {
            snprintf(name, sizeof name, "g%d", i + 1);
            len += (size_t)snprintf(text + len, sizeof text - len, "graph g%d {\n", i);
            len += add_runner(text + len, sizeof text - len, &runner_ops[0], name);
            len += (size_t)snprintf(text + len, sizeof text - len, "output(src=r | |);\n}\n");
        }
        len += (size_t)snprintf(text + len, sizeof text - len, "graph g%d {\n%s}\n", depth,
                                runner_ops[0].leaf);
        CHECK(len < sizeof text);
        check_constant(text, 3);
    }
    ln_arch_cleanup();
}

static ln_status try_all(ln_context *ctx)
{
    static const char text[] = LOOP_MODEL;
    LN_TRY(ln_context_init_mem(ctx, text, sizeof text - 1, "model.net"));
    LN_TRY(ln_context_compile(ctx, "ref"));
    LN_TRY(ln_context_load(ctx, NULL));
    LN_TRY(set_floats(ctx, "x", 2, (float[]){1, 2}));
    return ln_context_run(ctx);
}

TEST(running_out_of_memory_ends_in_an_error_wherever_it_does)
{
    CHECK_OK(ln_arch_init());
    OOM_SWEEP(n)
    {
        ln_context *ctx = ln_context_create();
        if (!ctx)
            continue;
        ln_status status = try_all(ctx);
        if (status != LN_OK)
            CHECK_EQ(status, LN_NO_MEMORY);
        ln_context_free(ctx);
    }
    ln_arch_cleanup();
}

TEST_LIST(graphs_nest_and_see_what_is_around_them, a_clone_has_graphs_of_its_own,
          clones_run_their_graphs_side_by_side, a_compiled_file_keeps_graphs_and_open_tensors,
          a_graph_that_runs_itself_is_refused, graphs_nest_only_so_deep,
          an_input_of_a_graph_may_be_its_output,
          outputs_of_a_graph_keep_their_places_though_one_tensor_has_two,
          what_a_graph_captures_keeps_its_name, graphs_keep_no_values_after_their_run,
          all_graphs_together_stay_within_the_limit_of_memory,
          what_a_graph_computes_once_may_run_graphs_inside_it, what_is_computed_once_nests,
          running_out_of_memory_ends_in_an_error_wherever_it_does)
