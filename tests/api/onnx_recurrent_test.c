// SPDX-License-Identifier: Apache-2.0
// RNN, GRU and LSTM with one unit and activations that keep numbers whole, so that each result can
// be had by hand.

#include "tests/api/onnx_outputs.h"

// Three steps of one sequence, and a unit that adds twice the input, its state, and 1.5.
#define STEPS F32("x", "[3, 1, 1]", "[1, 2, 3]")
#define UNIT                                                                                       \
    F32("w", "[1, 1, 1]", "[2]")                                                                   \
    F32("r", "[1, 1, 1]", "[1]") F32("b", "[1, 2]", "[1, 0.5]")
#define TWO_UNITS                                                                                  \
    F32("w", "[2, 1, 1]", "[2, 2]")                                                                \
    F32("r", "[2, 1, 1]", "[1, 1]") F32("b", "[2, 2]", "[1, 0.5, 1, 0.5]")

TEST(a_step_adds_input_state_and_both_biases)
{
    static const onnx_output cases[] = {
        {"forward",
         STEPS UNIT "RNN(X=x, W=w, R=r, B=b | Y=y | activations=[Relu]);",
         "3x1x1x1",
         {3.5, 9, 16.5}},
        {"last state",
         STEPS UNIT "RNN(X=x, W=w, R=r, B=b | Y_h=y | activations=[Relu]);",
         "1x1x1",
         {16.5}},
        {"from the end",
         STEPS UNIT "RNN(X=x, W=w, R=r, B=b | Y=y | activations=[Relu], direction=reverse);",
         "3x1x1x1",
         {16.5, 13, 7.5}},
        {"the last state is that of the first step",
         STEPS UNIT "RNN(X=x, W=w, R=r, B=b | Y_h=y | activations=[Relu], direction=reverse);",
         "1x1x1",
         {16.5}},
        {"no bias",
         STEPS UNIT "RNN(X=x, W=w, R=r | Y=y | activations=[relu]);",
         "3x1x1x1",
         {2, 6, 12}},
        {"a state to start from",
         STEPS UNIT F32("h", "[1, 1, 1]",
                        "[10]") "RNN(X=x, W=w, R=r, initial_h=h | Y=y | activations=[Relu]);",
         "3x1x1x1",
         {12, 16, 22}},
        {"tanh by itself",
         F32("x", "[1, 1, 1]", "[0.25]") UNIT "RNN(X=x, W=w, R=r | Y=y |);",
         "1x1x1x1",
         {0.46211715726}},
    };
    CHECK_OUTPUTS(cases);
}

TEST(two_directions_lie_side_by_side)
{
    static const onnx_output cases[] = {
        {"directions before the batch",
         STEPS TWO_UNITS "RNN(X=x, W=w, R=r, B=b | Y=y | activations=[Relu, Relu], "
                         "direction=bidirectional);",
         "3x2x1x1",
         {3.5, 16.5, 9, 13, 16.5, 7.5}},
        {"batch first",
         F32("x", "[1, 3, 1]", "[1, 2, 3]") TWO_UNITS
         "RNN(X=x, W=w, R=r, B=b | Y=y | activations=[Relu, Relu], direction=bidirectional, "
         "layout=1);",
         "1x3x2x1",
         {3.5, 16.5, 9, 13, 16.5, 7.5}},
        {"states, batch first",
         F32("x", "[2, 1, 1]", "[1, 2]") TWO_UNITS F32(
             "h", "[2, 2, 1]",
             "[1, 2, 3, 4]") "RNN(X=x, W=w, R=r, initial_h=h | Y_h=y | activations=[Relu, Relu], "
                             "direction=bidirectional, layout=1);",
         "2x2x1",
         {3, 4, 7, 8}},
    };
    CHECK_OUTPUTS(cases);
}

TEST(sequences_end_where_they_say)
{
    static const onnx_output cases[] = {
        {"zeros behind the end",
         STEPS UNIT I32(
             "n", "[1]",
             "[2]") "RNN(X=x, W=w, R=r, B=b, sequence_lens=n | Y=y | activations=[Relu]);",
         "3x1x1x1",
         {3.5, 9, 0}},
        {"backwards from the end",
         STEPS UNIT I32(
             "n", "[1]",
             "[2]") "RNN(X=x, W=w, R=r, B=b, sequence_lens=n | Y=y | activations=[Relu], direction=reverse);",
         "3x1x1x1",
         {9, 5.5, 0}},
        {"state at the end",
         STEPS UNIT I32(
             "n", "[1]",
             "[2]") "RNN(X=x, W=w, R=r, B=b, sequence_lens=n | Y_h=y | activations=[Relu]);",
         "1x1x1",
         {9}},
        {"without steps the state stays",
         STEPS UNIT I32("n", "[1]", "[0]") F32(
             "h", "[1, 1, 1]", "[7]") "RNN(X=x, W=w, R=r, sequence_lens=n, initial_h=h | Y_h=y |);",
         "1x1x1",
         {7}},
    };
    CHECK_OUTPUTS(cases);
}

// One step with input 1, state 2, weights z 0.5, r 0.25, h 1, and a recurrent bias of 4 at h.
#define GRU_STEP                                                                                   \
    F32("x", "[1, 1, 1]", "[1]")                                                                   \
    F32("w", "[1, 3, 1]", "[0.5, 0.25, 1]")                                                        \
    F32("r", "[1, 3, 1]", "[0, 0, 1]")                                                             \
    F32("b", "[1, 6]", "[0, 0, 0, 0, 0, 4]") F32("h", "[1, 1, 1]", "[2]")

TEST(the_reset_gate_acts_before_or_behind_the_weights)
{
    static const onnx_output cases[] = {
        {"before: (1 - 0.5) * (1 + 0.25 * 2 + 4) + 0.5 * 2",
         GRU_STEP "GRU(X=x, W=w, R=r, B=b, initial_h=h | Y_h=y | activations=[Affine, Affine]);",
         "1x1x1",
         {3.75}},
        {"behind: (1 - 0.5) * (1 + 0.25 * (2 + 4)) + 0.5 * 2",
         GRU_STEP "GRU(X=x, W=w, R=r, B=b, initial_h=h | Y_h=y | activations=[Affine, Affine], "
                  "linear_before_reset=1);",
         "1x1x1",
         {2.25}},
    };
    CHECK_OUTPUTS(cases);
}

// One step with input 1, state 0, cell 2, and gates i, o, f, c of 0.5, 0.25, 0.125, 3.
#define LSTM_STEP                                                                                  \
    F32("x", "[1, 1, 1]", "[1]")                                                                   \
    F32("w", "[1, 4, 1]", "[0.5, 0.25, 0.125, 3]")                                                 \
    F32("r", "[1, 4, 1]", "[1, 1, 1, 1]")                                                          \
    F32("h", "[1, 1, 1]", "[0]") F32("c", "[1, 1, 1]", "[2]") F32("p", "[1, 3]", "[1, 1, 1]")
#define LSTM_LINEAR "activations=[Affine, Affine, Affine]"

TEST(gates_may_look_at_the_cell)
{
    static const onnx_output cases[] = {
        {"no peepholes: c = 0.125 * 2 + 0.5 * 3, h = 0.25 * c",
         LSTM_STEP "LSTM(X=x, W=w, R=r, initial_h=h, initial_c=c | Y_h=y | " LSTM_LINEAR ");",
         "1x1x1",
         {0.4375}},
        {"peepholes: i 2.5, f 2.125, c 11.75, o 12",
         LSTM_STEP "LSTM(X=x, W=w, R=r, initial_h=h, initial_c=c, P=p | Y_h=y | " LSTM_LINEAR ");",
         "1x1x1",
         {141}},
        {"its cell",
         LSTM_STEP "LSTM(X=x, W=w, R=r, initial_h=h, initial_c=c, P=p | Y_c=y | " LSTM_LINEAR ");",
         "1x1x1",
         {11.75}},
        {"coupled: f -1.5, c 4.5, o 4.75",
         LSTM_STEP "LSTM(X=x, W=w, R=r, initial_h=h, initial_c=c, P=p | Y_h=y | " LSTM_LINEAR
                   ", input_forget=1);",
         "1x1x1",
         {21.375}},
        {"clipped: what enters a gate is at most 1, the cell itself may be 3",
         LSTM_STEP "LSTM(X=x, W=w, R=r, initial_h=h, initial_c=c, P=p | Y_c=y | " LSTM_LINEAR
                   ", clip=1);",
         "1x1x1",
         {3}},
        {"nor its state: 1 * 3",
         LSTM_STEP "LSTM(X=x, W=w, R=r, initial_h=h, initial_c=c, P=p | Y_h=y | " LSTM_LINEAR
                   ", clip=1);",
         "1x1x1",
         {3}},
    };
    CHECK_OUTPUTS(cases);
}

#define ONE_STEP(value)                                                                            \
    F32("x", "[1, 1, 1]", "[" value "]")                                                           \
    F32("w", "[1, 1, 1]", "[1]") F32("r", "[1, 1, 1]", "[0]")
#define ACTIVATE(params) "RNN(X=x, W=w, R=r | Y_h=y | activations=" params ");"

TEST(activations_have_the_defaults_of_their_operators)
{
    static const onnx_output cases[] = {
        {"0.2 x + 0.5", ONE_STEP("1") ACTIVATE("[HardSigmoid]"), "1x1x1", {0.7}},
        {"0.01 x below 0", ONE_STEP("-2") ACTIVATE("[LeakyRelu]"), "1x1x1", {-0.02}},
        {"its own alpha",
         ONE_STEP("-2") ACTIVATE("[LeakyRelu], activation_alpha=[0.5]"),
         "1x1x1",
         {-1}},
        {"exp(x) - 1", ONE_STEP("-1") ACTIVATE("[Elu]"), "1x1x1", {-0.6321205588}},
        {"x / (1 + |x|)", ONE_STEP("-3") ACTIVATE("[Softsign]"), "1x1x1", {-0.75}},
        {"log(1 + exp(x)) of much", ONE_STEP("900") ACTIVATE("[Softplus]"), "1x1x1", {900}},
        {"only above 1", ONE_STEP("1") ACTIVATE("[ThresholdedRelu]"), "1x1x1", {0}},
        {"2 tanh(0.5 x)",
         ONE_STEP("2") ACTIVATE("[ScaledTanh], activation_alpha=[2], activation_beta=[0.5]"),
         "1x1x1",
         {1.5231883119}},
        {"NaN stays",
         F32("m", "[1, 1, 1]", "[-1]") F32("w", "[1, 1, 1]", "[1]")
             F32("r", "[1, 1, 1]", "[0]") "Sqrt(X=m | Y=x |);\n" ACTIVATE("[Relu]"),
         "1x1x1",
         {NAN}},
    };
    CHECK_OUTPUTS(cases);
}

TEST(empty_sequences_and_batches_are_fine)
{
    static const onnx_output cases[] = {
        {"no steps",
         F32("x", "[0, 2, 1]", "[0]") UNIT "RNN(X=x, W=w, R=r | Y_h=y |);",
         "1x2x1",
         {0, 0}},
        {"no sequences",
         F32("x", "[2, 0, 1]", "[0]") UNIT "RNN(X=x, W=w, R=r | Y=y |);",
         "2x1x0x1",
         {0}},
    };
    CHECK_OUTPUTS(cases);
}

TEST(what_does_not_fit_is_told)
{
    static const onnx_refusal cases[] = {
        {"activation", STEPS UNIT "RNN(X=x, W=w, R=r | Y=y | activations=[Cosine]);",
         "unknown activation 'Cosine'"},
        {"direction", STEPS UNIT "RNN(X=x, W=w, R=r | Y=y | direction=sideways);",
         "unknown direction 'sideways'"},
        {"too few activations",
         STEPS TWO_UNITS "RNN(X=x, W=w, R=r | Y=y | activations=[Tanh], direction=bidirectional);",
         "has 1 activations, needs 2"},
        {"hidden_size", STEPS UNIT "RNN(X=x, W=w, R=r | Y=y | hidden_size=2);",
         "hidden_size 2, but R is for 1"},
        {"weights of one gate for four", STEPS UNIT "LSTM(X=x, W=w, R=r | Y=y |);",
         "needs dimension 1 of W to be 4, not 1"},
        {"rank", F32("x", "[3]", "[1, 2, 3]") UNIT "RNN(X=x, W=w, R=r | Y=y |);", "rank 3"},
        {"a sequence longer than the data",
         STEPS UNIT I32("n", "[1]", "[4]") "RNN(X=x, W=w, R=r, sequence_lens=n | Y=y |);",
         "length 4, outside 0 to 3"},
        {"a negative length",
         STEPS UNIT I32("n", "[1]", "[-1]") "RNN(X=x, W=w, R=r, sequence_lens=n | Y=y |);",
         "length -1, outside 0 to 3"},
        {"empty steps without end",
         "input(| dst=x | dtype=TL_FLOAT, dims=[2000000000, 1, 0]);\n"
         "input(| dst=w | dtype=TL_FLOAT, dims=[1, 2000, 0]);\n"
         "input(| dst=r | dtype=TL_FLOAT, dims=[1, 2000, 2000]);\n"
         "RNN(X=x, W=w, R=r | Y_h=y |);",
         "over the limit"},
        {"two directions' weights for one", STEPS TWO_UNITS "RNN(X=x, W=w, R=r | Y=y |);",
         "needs dimension 0 of W to be 1, not 2"},
    };
    CHECK_REFUSALS(cases);
}

// ---- Sequences of several lengths, taken together ----

enum { SEQ = 5, BATCH = 4, IN = 3, HIDDEN = 4 };

// Fresh contexts of one sequence each, cut to its length, are the other way to compute them.
static void run_sequences(const char *target, const char *optype, int gates, const float *x,
                          const int32_t *lens, int batch, float *y, float *last)
{
    char text[1024];
    snprintf(text, sizeof text,
             "input(| dst=x | dtype=TL_FLOAT, dims=[%d, %d, %d]);\n"
             "input(| dst=n | dtype=TL_INT32, dims=[%d]);\n"
             "create(| dst=w | dtype=TL_FLOAT, dims=[1, %d, %d], ran=[-1, 1]);\n"
             "create(| dst=r | dtype=TL_FLOAT, dims=[1, %d, %d], ran=[-1, 1]);\n"
             "%s(X=x, W=w, R=r, sequence_lens=n | Y=y, Y_h=h | hidden_size=%d);\n",
             SEQ, batch, IN, batch, gates * HIDDEN, IN, gates * HIDDEN, HIDDEN, optype, HIDDEN);
    ln_context *ctx = load_text(text, target);
    int32_t all[BATCH] = {SEQ, SEQ, SEQ, SEQ};
    size_t y_bytes = (size_t)(SEQ * batch * HIDDEN) * sizeof *y;
    CHECK_OK(ln_context_set_data_n(ctx, "x", x, (size_t)(SEQ * batch * IN) * sizeof *x));
    for (int run = 0; run < 2; run++) { // the first leaves numbers where zeros should be
        CHECK_OK(ln_context_set_data_n(ctx, "n", run ? lens : all, (size_t)batch * sizeof *lens));
        CHECK_OK(ln_context_run(ctx));
    }
    CHECK_OK(ln_context_get_data_n(ctx, "y", y, y_bytes));
    CHECK_OK(ln_context_get_data_n(ctx, "h", last, (size_t)(batch * HIDDEN) * sizeof *last));
    close_context(ctx);
}

static void check_lengths(const char *target, const char *optype, int gates, const int32_t *lens)
{
    float x[SEQ * BATCH * IN], y[SEQ * BATCH * HIDDEN], last[BATCH * HIDDEN];
    for (int i = 0; i < SEQ * BATCH * IN; i++)
        x[i] = (float)(i * 7 % 13) / 6 - 1;
    run_sequences(target, optype, gates, x, lens, BATCH, y, last);
    for (int b = 0; b < BATCH; b++) {
        float one_x[SEQ * IN], one_y[SEQ * HIDDEN], one_last[HIDDEN];
        for (int t = 0; t < SEQ; t++)
            memcpy(one_x + t * IN, x + (t * BATCH + b) * IN, IN * sizeof *x);
        run_sequences("ref", optype, gates, one_x, (const int32_t[]){SEQ}, 1, one_y, one_last);
        for (int t = 0; t < SEQ; t++)
            for (int k = 0; k < HIDDEN; k++)
                CHECK_NEAR(y[(t * BATCH + b) * HIDDEN + k], t < lens[b] ? one_y[t * HIDDEN + k] : 0,
                           t < lens[b] ? 1e-5 : 0);
        for (int k = 0; k < HIDDEN; k++)
            CHECK_NEAR(last[b * HIDDEN + k], lens[b] > 0 ? one_y[(lens[b] - 1) * HIDDEN + k] : 0,
                       1e-5);
    }
}

TEST(sequences_of_several_lengths_do_not_see_each_other)
{
    static const int32_t lens[][BATCH] = {{5, 2, 4, 1}, {1, 5, 3, 5}, {3, 3, 5, 2}, {5, 0, 5, 4}};
    static const char *const targets[] = {"ref", "cpu"};
    CHECK_OK(ln_arch_init());
    for (size_t i = 0; i < sizeof lens / sizeof lens[0]; i++)
        for (int arch = 0; arch < 2; arch++) {
            check_lengths(targets[arch], "LSTM", 4, lens[i]);
            check_lengths(targets[arch], "GRU", 3, lens[i]);
        }
    ln_arch_cleanup();
}

TEST_LIST(a_step_adds_input_state_and_both_biases, two_directions_lie_side_by_side,
          sequences_end_where_they_say, the_reset_gate_acts_before_or_behind_the_weights,
          gates_may_look_at_the_cell, activations_have_the_defaults_of_their_operators,
          empty_sequences_and_batches_are_fine, what_does_not_fit_is_told,
          sequences_of_several_lengths_do_not_see_each_other)
