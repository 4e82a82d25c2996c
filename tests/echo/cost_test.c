// SPDX-License-Identifier: Apache-2.0
// What a group costs on its device and on the host, which of the two gets it, and what is told of
// that.

#include <math.h>
#include <stdio.h>

#include <lightnet/op_info.h>
#include <lightnet/optimize.h>

#include "tests/api/model.h"
#include "tests/echo/echo.h"

static ln_arch *open_echo(const echo_settings *settings)
{
    CHECK_OK(ln_arch_init());
    echo_forget();
    return echo_open(settings);
}

static void close_echo(ln_arch *echo)
{
    echo_close(echo);
    ln_arch_cleanup();
}

// ---- What is told ----

#define MAX_TOLD 64

typedef struct told {
    size_t count;
    struct {
        ln_offload offload;
        char arch[16], op[16], reason[64];
    } items[MAX_TOLD];
} told;

static void note(void *user, const ln_offload *offload)
{
    told *t = user;
    CHECK(t->count < MAX_TOLD);
    t->items[t->count].offload = *offload;
    snprintf(t->items[t->count].arch, sizeof t->items[0].arch, "%s", offload->arch);
    snprintf(t->items[t->count].op, sizeof t->items[0].op, "%s", offload->op);
    snprintf(t->items[t->count].reason, sizeof t->items[0].reason, "%s",
             offload->reason ? offload->reason : "");
    t->count++;
}

static ln_context *compile_told(const char *text, const char *target, told *out)
{
    ln_context *ctx = open_text(text);
    ln_optimize_options options = ln_optimize_options_default();
    *out = (told){0};
    options.on_offload = note;
    options.user = out;
    CHECK_OK(ln_context_compile_with(ctx, target, &options));
    return ctx;
}

static size_t count_arch(const ln_context *ctx, const char *arch)
{
    size_t count = 0;
    const ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops)
        count += strcmp(op->op_arg->arch, arch) == 0;
    return count;
}

static size_t on_device(const char *text, const char *target)
{
    ln_context *ctx = open_text(text);
    CHECK_OK(ln_context_compile(ctx, target));
    size_t count = count_arch(ctx, "echo");
    close_context(ctx);
    return count;
}

// ---- The threshold of a device that states its seconds ----

#define LEN 4096

static const char chain[] = "input(| dst=x | dtype=TL_FLOAT, dims=[4096]);\n"
                            "func(src=x | dst=a | func=sin);\n"
                            "func(src=a | dst=y | func=cos);\n"
                            "output(src=y | |);\n";

// What the host's operators cost, as the model that is compiled for it alone says.
static double host_seconds(const char *text, const char *target)
{
    ln_context *ctx = open_text(text);
    CHECK_OK(ln_context_compile(ctx, target));
    double units = 0;
    const ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops)
        if (strncmp(op->op_arg->optype, "input", 5) && strncmp(op->op_arg->optype, "output", 6))
            units += ln_op_cost(op);
    close_context(ctx);
    return units / 1e9;
}

TEST(a_group_that_takes_as_long_as_the_host_is_given_back)
{
    const char *const targets[] = {"echo,ref", "echo,cpu"};
    for (int i = 0; i < 2; i++) {
        CHECK_OK(ln_arch_init());
        double host = host_seconds(chain, targets[i] + strlen("echo,"));
        CHECK(host > 2e-6);
        double copies = 2 * LEN * sizeof(float) / 8e9;
        struct {
            double seconds;
            size_t expected;
        } cases[] = {{0, 2},
                     {host - copies - 1e-12, 2},
                     {host - copies + 1e-12, 0},
                     {host, 0},
                     {(double)INFINITY, 0}};
        for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
            ln_arch *echo = echo_open(&(echo_settings){ECHO_DEFAULTS, .seconds = cases[k].seconds});
            size_t count = on_device(chain, targets[i]);
            if (count != cases[k].expected)
                fail_msg("%s, case %zu: %zu operators on the device", targets[i], k, count);
            echo_close(echo);
        }
        ln_arch_cleanup();
    }
}

TEST(no_seconds_end_the_compilation)
{
    ln_arch *echo = open_echo(&(echo_settings){ECHO_DEFAULTS, .seconds = (double)NAN});
    ln_context *ctx = open_text(chain);
    CHECK_FAILS(ln_context_compile(ctx, "echo,ref"), LN_INVALID);
    CHECK_MESSAGE("arch 'echo': 'func0' and what is with it cannot be evaluated: `evaluate` "
                  "returns nan seconds");
    CHECK_OK(ln_context_compile(ctx, "ref"));
    close_context(ctx);
    close_echo(echo);
}

// ---- The default ----

static void make_chain(const char *op, int length, int n, char *text)
{
    char *at = text + sprintf(text, "input(| dst=t0 | dtype=TL_FLOAT, dims=[%d]);\n", n);
    for (int i = 0; i < length; i++)
        at += sprintf(at, op, i, i + 1);
    sprintf(at, "output(src=t%d | |);\n", length);
}

// Of the sizes up to 2^24, the smallest that goes to the device.
static int smallest_on_device(const char *op, int length, const char *target)
{
    static char text[1 << 14];
    int below = 1, above = 1 << 24;
    while (above - below > 1) {
        int middle = below + (above - below) / 2;
        make_chain(op, length, middle, text);
        size_t count = on_device(text, target);
        CHECK(count == 0 || count == (size_t)length);
        *(count > 0 ? &above : &below) = middle;
    }
    return above;
}

TEST(without_seconds_a_device_is_8_times_as_fast)
{
    static char text[1 << 14];
    const struct {
        const char *op;
        int length;
    } chains[] = {{"func(src=t%d | dst=t%d | func=sin);\n", 1},
                  {"func(src=t%d | dst=t%d | func=sin);\n", 9},
                  {"softmax(src=t%d | dst=t%d | axis=0);\n", 4}};
    ln_arch *echo = open_echo(&(echo_settings){ECHO_DEFAULTS, .seconds = -1});
    const char *const targets[] = {"echo,ref", "echo,cpu"};
    for (int i = 0; i < 2; i++)
        for (size_t k = 0; k < sizeof chains / sizeof chains[0]; k++) {
            int n = smallest_on_device(chains[k].op, chains[k].length, targets[i]);
            CHECK(n > 2 && n < 1 << 24);
            for (int is_below = 0; is_below < 2; is_below++) {
                double bytes = 2.0 * 4 * (n - is_below);
                make_chain(chains[k].op, chains[k].length, n - is_below, text);
                double host = host_seconds(text, targets[i] + strlen("echo,"));
                double device = 20e-6 + host / 8 + bytes / 8e9;
                if (is_below ? device < host : device >= host)
                    fail_msg("%s of %d: %g s on the device, %g s on the host", targets[i], n,
                             device, host);
            }
        }
    close_echo(echo);
}

// ---- Giving back changes what others cost ----

// `act0` alone is not worth it; once it is on the host, `t` has to be copied for `elew0` and
// `elew1`, which are then not worth it either.
static const char cascade[] = "input(| dst=x | dtype=TL_FLOAT, dims=[4096]);\n"
                              "act(src=x | dst=t | act=relu);\n"
                              "func(src=t | dst=h | func=sin);\n"
                              "elew(src1=t, src2=h | dst=u | elew_op=TL_SUM);\n"
                              "elew(src1=u, src2=t | dst=v | elew_op=TL_MUL);\n"
                              "output(src=v | |);\n";

TEST(one_that_is_given_back_makes_others_dearer)
{
    const char *const names[] = {"act0", "elew0", "elew1", NULL};
    told t;
    ln_arch *echo = open_echo(&(echo_settings){ECHO_DEFAULTS, .names = names, .seconds = 1e-12});
    ln_context *ctx = compile_told(cascade, "echo,ref", &t);
    CHECK_EQ(count_arch(ctx, "echo"), 3);
    close_context(ctx);
    echo_close(echo);
    // func0 is refused; then the two islands are told as taken.
    CHECK_EQ(t.count, 3);
    CHECK_STR_EQ(t.items[0].op, "func0");
    CHECK_STR_EQ(t.items[0].reason, "arch 'echo' does not take 'func0'");
    CHECK(!t.items[0].offload.is_taken);
    const ln_offload first = t.items[1].offload, second = t.items[2].offload;
    CHECK(first.is_taken && second.is_taken);
    CHECK_EQ(first.op_count, 1);
    CHECK_EQ(second.op_count, 2);
    // x in, t out for func0; h in, v out.
    CHECK_NEAR(first.copied_bytes, 2 * LEN * 4, 0);
    CHECK_NEAR(second.copied_bytes, 2 * LEN * 4, 0);
    double tensor = LEN * 4 / 8e9;
    CHECK_NEAR(first.copy_seconds, 2 * tensor, 1e-15);
    CHECK(first.host_seconds < second.host_seconds);

    // Between what it costs with two copies and with three.
    double seconds = second.host_seconds - 2.5 * tensor;
    CHECK(seconds > 0 && seconds + 2 * tensor >= first.host_seconds);
    echo = echo_open(&(echo_settings){ECHO_DEFAULTS, .names = names, .seconds = seconds});
    ctx = compile_told(cascade, "echo,ref", &t);
    CHECK_EQ(count_arch(ctx, "echo"), 0);
    CHECK_EQ(t.count, 3);
    CHECK_STR_EQ(t.items[1].op, "act0");
    CHECK_STR_EQ(t.items[2].op, "elew0");
    CHECK(!t.items[1].offload.is_taken && !t.items[2].offload.is_taken);
    CHECK_NEAR(t.items[2].offload.copied_bytes, 3 * LEN * 4, 0);
    CHECK_NEAR(t.items[2].offload.device_seconds, seconds, 0);
    close_context(ctx);
    close_echo(echo);
}

TEST(what_no_host_takes_stays)
{
    told t;
    ln_arch *echo = open_echo(&(echo_settings){ECHO_DEFAULTS, .seconds = 1e9});
    ln_context *ctx = compile_told(chain, "echo", &t);
    CHECK_EQ(count_arch(ctx, "echo"), 2);
    CHECK_EQ(t.count, 1);
    CHECK(t.items[0].offload.is_taken);
    CHECK(t.items[0].offload.host_seconds < 0);
    close_context(ctx);
    close_echo(echo);
}

// ---- Again ----

TEST(a_model_is_placed_the_same_each_time)
{
    static const char *const files[] = {"cost_a.net", "cost_b.net"};
    static char texts[2][1 << 16];
    told t[2];
    ln_arch *echo =
        open_echo(&(echo_settings){ECHO_DEFAULTS, .seed = 5, .left_out = 30, .seconds = 3e-6});
    for (int i = 0; i < 2; i++) {
        ln_context *ctx = compile_told(CONV_MODEL, "echo,cpu", &t[i]);
        CHECK_OK(ln_context_print(ctx, files[i]));
        close_context(ctx);
        FILE *file = fopen(files[i], "rb");
        CHECK_NOT_NULL(file);
        CHECK(fread(texts[i], 1, sizeof texts[i] - 1, file) > 0);
        fclose(file);
        remove(files[i]);
    }
    CHECK_STR_EQ(texts[0], texts[1]);
    CHECK_EQ(t[0].count, t[1].count);
    for (size_t i = 0; i < t[0].count; i++) {
        CHECK_STR_EQ(t[0].items[i].op, t[1].items[i].op);
        CHECK_NEAR(t[0].items[i].offload.host_seconds, t[1].items[i].offload.host_seconds, 0);
        CHECK_EQ(t[0].items[i].offload.is_taken, t[1].items[i].offload.is_taken);
    }
    close_echo(echo);
}

// They are copied when the model is loaded. What two operators read is copied once.
TEST(constants_are_no_copies_of_a_run)
{
    told t;
    ln_arch *echo = open_echo(&(echo_settings){ECHO_DEFAULTS, .seconds = 1e-9});
    ln_context *ctx = compile_told("input(| dst=x | dtype=TL_FLOAT, dims=[8, 64]);\n"
                                   "create(| dst=w | dtype=TL_FLOAT, dims=[64, 32], ran=[-1, 1], "
                                   "data=[0], from_file=false);\n"
                                   "func(src=x | dst=b | func=cos);\n"
                                   "matmul(src1=b, src2=w | dst=a |);\n"
                                   "matmul(src1=x, src2=w | dst=c |);\n"
                                   "elew(src1=a, src2=c | dst=y | elew_op=TL_SUM);\n"
                                   "output(src=y | |);\n",
                                   "echo,ref", &t);
    CHECK_EQ(t.count, 1);
    CHECK(t.items[0].offload.is_taken);
    CHECK_NEAR(t.items[0].offload.copied_bytes, (8 * 64 + 8 * 32) * sizeof(float), 0);
    close_context(ctx);
    close_echo(echo);
}

TEST_LIST(constants_are_no_copies_of_a_run, a_group_that_takes_as_long_as_the_host_is_given_back,
          no_seconds_end_the_compilation, without_seconds_a_device_is_8_times_as_fast,
          one_that_is_given_back_makes_others_dearer, what_no_host_takes_stays,
          a_model_is_placed_the_same_each_time)
