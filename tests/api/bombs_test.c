// SPDX-License-Identifier: Apache-2.0
// Small or strange models that would take all memory or all time. Each runs in a process of its
// own with little memory, and must end with the status that the table says. Time is compared with
// time: of a model and of one twice as long, in one process. A hang ends by the timeout of the
// test.

#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <lightnet/lightnet.h>

#include "tests/sanitizer.h"
#include "tests/test.h"

// Sanitizers reserve address space and take time.
#define IS_SANITIZED (TEST_ASAN || TEST_TSAN)

#define MAX_BYTES ((rlim_t)1 << 30)
#define LONG      (IS_SANITIZED ? 10000 : 50000)

// A model four times as long may take this many times the processor time: halfway, as a factor,
// between 4 for what is linear and 16 for what is quadratic. What leaves the caches on the way
// takes up to 6.6 on a busy machine.
#define MAX_GROWTH 8.0

// ---- Texts ----

typedef struct text {
    char *bytes;
    size_t len;
    size_t capacity;
} text;

static void put(text *t, const char *fmt, ...) LN_PRINTF(2, 3);

static void put(text *t, const char *fmt, ...)
{
    if (t->capacity - t->len < 4096) {
        t->capacity = 2 * t->capacity + 8192;
        t->bytes = realloc(t->bytes, t->capacity);
        if (!t->bytes)
            abort();
    }
    va_list ap;
    va_start(ap, fmt);
    t->len += (size_t)vsnprintf(t->bytes + t->len, t->capacity - t->len, fmt, ap);
    va_end(ap);
}

static void put_repeated(text *t, const char *s, size_t count)
{
    for (size_t i = 0; i < count; i++)
        put(t, "%s", s);
}

static void put_input(text *t)
{
    put(t, "input(| dst=x | dtype=TL_FLOAT, dims=[4]);\n");
}

static void chain(text *t, size_t count, const char *op)
{
    put(t, "input(| dst=t0 | dtype=TL_FLOAT, dims=[4]);\n");
    for (size_t i = 0; i < count; i++)
        put(t, "%s(src=t%zu | dst=t%zu |);\n", op, i, i + 1);
}

static void relu_chain(text *t, size_t count)
{
    chain(t, count, "relu");
}

static void view_chain(text *t, size_t count)
{
    chain(t, count, "forward");
}

static void convolution_chain(text *t, size_t count)
{
    put(t, "input(| dst=t0 | dtype=TL_FLOAT, dims=[1, 1, 2, 2]);\n"
           "create(| dst=w | dtype=TL_FLOAT, dims=[1, 1, 1, 1], ran=[0, 0], data=[1], "
           "from_file=false);\n"
           "create(| dst=b | dtype=TL_FLOAT, dims=[1], ran=[0, 0], data=[1], from_file=false);\n");
    for (size_t i = 0; i < count; i++)
        put(t,
            "conv2d(src=t%zu, weight=w, bias=b | dst=c%zu | group=1, size=[1, 1], stride=[1, 1], "
            "padding=[0, 0, 0, 0], dilation=[1, 1], autopad=NOTSET);\nrelu(src=c%zu | dst=t%zu |);\n",
            i, i, i, i + 1);
}

static void many_readers(text *t, size_t count)
{
    put_input(t);
    for (size_t i = 0; i < count; i++)
        put(t, "relu(src=x | dst=t%zu |);\n", i);
}

static void many_inputs(text *t, size_t count)
{
    for (size_t i = 0; i < count; i++)
        put(t, "input(| dst=x%zu | dtype=TL_FLOAT, dims=[4]);\n", i);
}

static void one_wide_operator(text *t)
{
    put_input(t);
    put(t, "concat(");
    for (size_t i = 0; i < 100000; i++)
        put(t, "%ssrc%zu=x", i ? ", " : "", i + 1);
    put(t, " | dst=y | axis=0);");
}

static void wide_operators(text *t, size_t count)
{
    put_input(t);
    for (size_t k = 0; k < count; k++) {
        put(t, "concat(");
        for (size_t i = 0; i < 256; i++)
            put(t, "%ssrc%zu=x", i ? ", " : "", i + 1);
        put(t, " | dst=y%zu | axis=0);", k);
    }
}

static void colliding_names(text *t, size_t count)
{
    static const char *const parts[] = {"bA", "ab"};
    for (size_t i = 0; i < count; i++) {
        char name[32] = "";
        for (unsigned bit = 0; bit < 15; bit++)
            strcat(name, parts[i >> bit & 1]);
        put(t, "input(| dst=%s | dtype=TL_FLOAT, dims=[4]);\n", name);
    }
}

static void colliding_operators(text *t, size_t count)
{
    static const char *const parts[] = {"bA", "ab"};
    put(t, "{\"ops\": [");
    for (size_t i = 0; i < count; i++) {
        char name[32] = "";
        for (unsigned bit = 0; bit < 15; bit++)
            strcat(name, parts[i >> bit & 1]);
        put(t,
            "%s{\"name\": \"%s\", \"optype\": \"input\", \"tensors_in\": [], \"tensors_out\": "
            "[{\"arg_name\": \"dst\", \"name\": \"x%zu\"}], \"params\": [{\"arg_name\": \"dtype\", "
            "\"value\": \"TL_FLOAT\"}, {\"arg_name\": \"dims\", \"value\": [4]}]}",
            i ? ", " : "", name, i);
    }
    put(t, "]}");
}

static void deep_nesting(text *t)
{
    put(t, "{\"ops\": ");
    put_repeated(t, "[", 1000000);
}

static void many_values(text *t)
{
    put(t, "{\"ops\": [], \"x\": [0");
    put_repeated(t, ",0", 5000000);
    put(t, "]}");
}

static void white_space(text *t)
{
    put_repeated(t, "                                \n", 3000000);
}

static void white_space_before_braces(text *t)
{
    white_space(t);
    put(t, "{\"ops\": []}");
}

static void long_names(text *t)
{
    put(t, "{\"ops\": [{\"name\": \"");
    put_repeated(t, "n", 1000000);
    put(t, "\", \"optype\": \"relu\", \"tensors_in\": [], \"tensors_out\": [], \"params\": []}]}");
}

static void long_optype(text *t)
{
    put(t, "{\"ops\": [{\"name\": \"a\", \"optype\": \"");
    put_repeated(t, "n", 1000000);
    put(t, "\", \"tensors_in\": [], \"tensors_out\": [], \"params\": []}]}");
}

static void many_params(text *t)
{
    put(t, "relu(src=x | dst=y | ");
    for (size_t i = 0; i < 100000; i++)
        put(t, "%sp%zu=1", i ? ", " : "", i);
    put(t, ");");
}

static void exponential_macros(text *t)
{
    put(t, "#define m0(x) relu(src=x | dst=y |);\n");
    for (int i = 1; i < 64; i++)
        put(t, "#define m%d(x) m%d(x) m%d(x)\n", i, i - 1, i - 1);
    put(t, "m63(x)\n");
}

// ---- Running one ----

typedef struct bomb {
    const char *why;
    const char *model;             // the text, or
    void (*make_text)(text *text); // what makes it
    ln_status status;              // of reading, compiling, loading and running; the first failure
    const char *says;              // in the message; NULL: anything
} bomb;

static ln_status run_model(const char *bytes, size_t len)
{
    ln_context *ctx = ln_context_create();
    ln_status status = ctx ? ln_context_init_mem(ctx, bytes, len, "bomb") : LN_NO_MEMORY;
    if (status == LN_OK && ctx->state == LN_CONTEXT_READY)
        status = ln_context_compile(ctx, "cpu");
    if (status == LN_OK) {
        char *printed;
        size_t printed_len;
        status = ln_context_write(ctx, "ir", &printed, &printed_len);
        ln_free(printed);
    }
    if (status == LN_OK)
        status = ln_context_load(ctx, NULL);
    if (status == LN_OK)
        status = ln_context_run(ctx);
    ln_context_free(ctx);
    return status;
}

static void limit_memory(void)
{
    const struct rlimit bytes = {MAX_BYTES, MAX_BYTES};
    if (!IS_SANITIZED)
        setrlimit(RLIMIT_AS, &bytes);
}

// In the child: exits with the status, or 100 if the message is not the expected one.
static void run_child(const bomb *b)
{
    text t = {0};
    if (b->make_text)
        b->make_text(&t);
    else
        put(&t, "%s", b->model);
    if (ln_arch_init() != LN_OK)
        _exit(101);
    limit_memory();
    ln_status status = run_model(t.bytes, t.len);
    if (b->says && !strstr(ln_error_message(), b->says)) {
        fprintf(stderr, "%s: message is \"%s\"\n", b->why, ln_error_message());
        _exit(100);
    }
    if (status != b->status)
        fprintf(stderr, "%s: %s\n", b->why, ln_error_message());
    free(t.bytes);
    ln_arch_cleanup();
    _exit((int)status);
}

// Runs `run(arg)`, which exits, in a process of its own, which ends with this one. Returns how it
// ended.
static int in_a_child(void (*run)(const void *arg), const void *arg)
{
    fflush(NULL);
    pid_t parent = getpid(), child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() == parent)
            run(arg);
        _exit(101);
    }
    int how = 0;
    waitpid(child, &how, 0);
    return how;
}

static void run_bomb(const void *arg)
{
    run_child(arg);
}

// The number of bombs that did harm.
static int run_bombs(const bomb *bombs, size_t count)
{
    int failures = 0;
    for (size_t i = 0; i < count; i++) {
        const bomb *b = &bombs[i];
        int how = in_a_child(run_bomb, b);
        if (WIFEXITED(how) && WEXITSTATUS(how) == (int)b->status)
            continue;
        failures++;
        if (WIFSIGNALED(how))
            print_message("%s: ended by signal %d\n", b->why, WTERMSIG(how));
        else
            print_message("%s: status %d (%s) instead of %s\n", b->why, WEXITSTATUS(how),
                          ln_status_name((ln_status)WEXITSTATUS(how)), ln_status_name(b->status));
    }
    return failures;
}

// ---- Growth ----

typedef struct growth {
    const char *why;
    void (*make_text)(text *text, size_t count);
    size_t count;
} growth;

// Processor seconds of one run of a model with `count` of what it is made of; exits if it fails.
static double time_one(const growth *g, size_t count)
{
    text t = {0};
    g->make_text(&t, count);
    struct timespec begin, end;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
    ln_status status = run_model(t.bytes, t.len);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
    free(t.bytes);
    if (status != LN_OK) {
        fprintf(stderr, "%s: %s\n", g->why, ln_error_message());
        _exit((int)status);
    }
    return (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) * 1e-9;
}

// Exits with 0, or with 1 if the time grows faster than the model. The machine may be busy with
// others: what counts is the least of up to five times of each length. With a sanitizer the long
// model runs once, for what the sanitizer finds: its allocator keeps what was freed, so that time
// grows faster than the instructions of the program do.
static void run_growth(const void *arg)
{
    const growth *g = arg;
    if (ln_arch_init() != LN_OK)
        _exit(101);
    limit_memory();
    time_one(g, 16); // what is made once
    if (IS_SANITIZED) {
        time_one(g, g->count);
        ln_arch_cleanup();
        _exit(0);
    }
    double quarter = 1e9, whole = 1e9;
    for (int i = 0; i < 5; i++) {
        double short_time = time_one(g, g->count / 4), long_time = time_one(g, g->count);
        quarter = short_time < quarter ? short_time : quarter;
        whole = long_time < whole ? long_time : whole;
        if (whole <= MAX_GROWTH * quarter) {
            ln_arch_cleanup();
            _exit(0);
        }
    }
    fprintf(stderr, "%s: %zu take %.3f s, %zu take %.3f s, which is %.2f times as much\n", g->why,
            g->count / 4, quarter, g->count, whole, whole / quarter);
    _exit(1);
}

#define INPUT(dims) "input(| dst=x | dtype=TL_FLOAT, dims=" dims ");"
#define JSON_INPUT(dims)                                                                           \
    "{\"ops\": [{\"name\": \"i\", \"optype\": \"input\", \"tensors_in\": [], \"tensors_out\": "    \
    "[{\"arg_name\": \"dst\", \"name\": \"x\"}], \"params\": [{\"arg_name\": \"dtype\", "          \
    "\"value\": \"TL_FLOAT\"}, {\"arg_name\": \"dims\", \"value\": " dims "}]}]}"
#define CONV(params)                                                                               \
    INPUT("[1, 1, 4, 4]")                                                                          \
    "create(| dst=w | dtype=TL_FLOAT, dims=[1, 1, 3, 3], ran=[0, 0], data=[1], from_file=false);"  \
    "create(| dst=b | dtype=TL_FLOAT, dims=[1], ran=[0, 0], data=[1], from_file=false);"           \
    "conv2d(src=x, weight=w, bias=b | dst=y | group=1, size=[3, 3], " params ", autopad=NOTSET);"
#define POOL(params) INPUT("[1, 1, 4, 4]") "maxpool2d(src=x | dst=y | " params ", autopad=NOTSET);"

TEST(small_models_cannot_ask_for_much)
{
    static const bomb bombs[] = {
        {"a tensor of 8 GiB", INPUT("[2000, 1000, 1000]"), NULL, LN_LIMIT, "limit"},
        {"2^31 elements", INPUT("[2147483648]"), NULL, LN_INVALID, NULL},
        {"2^31 elements in two dimensions", INPUT("[65536, 32768]"), NULL, LN_LIMIT, NULL},
        {"a product that overflows 64 bits", INPUT("[2147483647, 2147483647, 2147483647]"), NULL,
         LN_LIMIT, NULL},
        {"a product that overflows to 0", INPUT("[65536, 65536, 65536, 65536]"), NULL, LN_LIMIT,
         NULL},
        {"no elements, whatever the other dimensions", INPUT("[65536, 65536, 65536, 65536, 0]"),
         NULL, LN_OK, NULL},
        {"negative dims", INPUT("[4, -4]"), NULL, LN_INVALID, NULL},
        {"rank 9", INPUT("[1, 1, 1, 1, 1, 1, 1, 1, 1]"), NULL, LN_INVALID, NULL},
        {"half a dimension", INPUT("[2.5]"), NULL, LN_INVALID, NULL},
        {"dims that are a string", JSON_INPUT("\"4\""), NULL, LN_INVALID, NULL},
        {"dims that are strings", JSON_INPUT("[\"4\"]"), NULL, LN_INVALID, NULL},
        {"an infinite dimension", JSON_INPUT("[1e999]"), NULL, LN_LIMIT, "too large"},
        {"a negative infinite dimension", JSON_INPUT("[-1e999]"), NULL, LN_LIMIT, "too large"},
        {"NaN in JSON", JSON_INPUT("[NaN]"), NULL, LN_SYNTAX, NULL},
        {"mixed arrays", JSON_INPUT("[4, \"4\"]"), NULL, LN_SYNTAX, NULL},
        {"more data than elements",
         "create(| dst=x | dtype=TL_FLOAT, dims=[2], ran=[0, 0], data=[1, 2, 3], from_file=false);",
         NULL, LN_INVALID, NULL},
        {"much work in few bytes",
         INPUT("[1, 64, 1024, 1024]") "create(| dst=w | dtype=TL_FLOAT, dims=[512, 64, 31, 31], "
                                      "ran=[0, 0], data=[0], from_file=false);"
                                      "create(| dst=b | dtype=TL_FLOAT, dims=[512], ran=[0, 0], "
                                      "data=[0], from_file=false);"
                                      "conv2d(src=x, weight=w, bias=b | dst=y | group=1, size=[31, "
                                      "31], stride=[1, 1], padding=[15, 15, 15, 15], "
                                      "dilation=[1, 1], autopad=NOTSET);",
         NULL, LN_LIMIT, "work units"},
    };
    CHECK_EQ(run_bombs(bombs, sizeof bombs / sizeof bombs[0]), 0);
}

TEST(windows_stay_inside_what_an_int_holds)
{
    static const bomb bombs[] = {
        {"padding of 2^31 - 1",
         CONV("stride=[1, 1], padding=[2147483647, 2147483647, 2147483647, 2147483647], "
              "dilation=[1, 1]"),
         NULL, LN_LIMIT, NULL},
        {"padding of 2^30", CONV("stride=[1, 1], padding=[1073741824, 0, 0, 0], dilation=[1, 1]"),
         NULL, LN_LIMIT, NULL},
        {"dilation of 2^31 - 1",
         CONV("stride=[1, 1], padding=[1, 1, 1, 1], dilation=[2147483647, 2147483647]"), NULL,
         LN_INVALID, NULL},
        {"stride of 0", CONV("stride=[0, 0], padding=[1, 1, 1, 1], dilation=[1, 1]"), NULL,
         LN_INVALID, NULL},
        {"a negative stride", CONV("stride=[-1, -1], padding=[1, 1, 1, 1], dilation=[1, 1]"), NULL,
         LN_INVALID, NULL},
        {"a stride of 2^31 - 1",
         CONV("stride=[2147483647, 2147483647], padding=[1, 1, 1, 1], dilation=[1, 1]"), NULL,
         LN_OK, NULL},
        {"a window larger than its input", POOL("size=[9, 9], stride=[1, 1], padding=[0, 0, 0, 0]"),
         NULL, LN_INVALID, NULL},
        {"a window of 0", POOL("size=[0, 0], stride=[1, 1], padding=[0, 0, 0, 0]"), NULL,
         LN_INVALID, NULL},
        {"a window of 2^31 - 1",
         POOL("size=[2147483647, 2147483647], stride=[1, 1], padding=[0, 0, 0, 0]"), NULL,
         LN_INVALID, NULL},
    };
    CHECK_EQ(run_bombs(bombs, sizeof bombs / sizeof bombs[0]), 0);
}

TEST(strange_texts_are_refused)
{
    static const bomb bombs[] = {
        {"an empty text", "", NULL, LN_SYNTAX, "the model is empty (0 bytes)"},
        {"a key given twice", "{\"ops\": [], \"ops\": []}", NULL, LN_SYNTAX, "second time"},
        {"NUL in a name", "{\"ops\": [{\"name\": \"a\\u0000b\"}]}", NULL, LN_SYNTAX, "u0000"},
        {"a name that steers terminals", "{\"ops\": [{\"name\": \"\\u001b[2J\"}]}", NULL, LN_SYNTAX,
         "control character"},
        {"an empty name", "{\"ops\": [{\"name\": \"\"}]}", NULL, LN_SYNTAX, "0 bytes"},
        {"bytes that are not UTF-8", "{\"ops\": [{\"name\": \"\xff\xfe\"}]}", NULL, LN_SYNTAX,
         "UTF-8"},
        {"a compiled model of 2^53 bytes",
         "{\"format\": \"lightnet-compiled\", \"version\": 1, \"target\": \"cpu\", \"memory\": "
         "[{\"mtype\": \"LN_MEM_CPU\", \"static\": 9007199254740992, \"workspace\": "
         "9007199254740992}], \"ops\": []}",
         NULL, LN_LIMIT, "limit"},
        {"a compiled model of more than a size holds",
         "{\"format\": \"lightnet-compiled\", \"version\": 1, \"target\": \"cpu\", \"memory\": "
         "[{\"mtype\": \"LN_MEM_CPU\", \"static\": 1e300, \"workspace\": 1}], \"ops\": []}",
         NULL, LN_SYNTAX, NULL},
        {"a million brackets", NULL, deep_nesting, LN_LIMIT, "deeper"},
        {"ten MB of values that mean nothing", NULL, many_values, LN_OK, NULL},
        {"100 MB of white space", NULL, white_space, LN_UNSUPPORTED, NULL},
        {"a model behind 100 MB of white space", NULL, white_space_before_braces, LN_OK, NULL},
        {"a name of 1 MB", NULL, long_names, LN_SYNTAX, "1000000"},
        {"an operator type of 1 MB", NULL, long_optype, LN_SYNTAX, "1000000"},
        {"macros that double 63 times", NULL, exponential_macros, LN_LIMIT, NULL},
        {"100000 parameters of an operator", NULL, many_params, LN_LIMIT, "limit"},
        {"100000 inputs of an operator", NULL, one_wide_operator, LN_LIMIT, "limit"},
    };
    CHECK_EQ(run_bombs(bombs, sizeof bombs / sizeof bombs[0]), 0);
}

TEST(time_grows_no_faster_than_models)
{
    static const growth models[] = {
        {"very many operators in a row", relu_chain, LONG},
        {"very many views of views", view_chain, LONG},
        {"very many operators that rules match", convolution_chain, LONG / 5},
        {"one tensor read by very many", many_readers, LONG},
        {"very many inputs", many_inputs, LONG},
        {"operators with 256 inputs", wide_operators, 400},
        {"tensors whose names collide under djb2", colliding_names, 20000},
        {"operators whose names collide under djb2", colliding_operators, 20000},
    };
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        int how = in_a_child(run_growth, &models[i]);
        if (!WIFEXITED(how) || WEXITSTATUS(how) != 0)
            print_message("%s: ended by %s %d\n", models[i].why,
                          WIFSIGNALED(how) ? "signal" : "status",
                          WIFSIGNALED(how) ? WTERMSIG(how) : WEXITSTATUS(how));
        CHECK(WIFEXITED(how) && WEXITSTATUS(how) == 0);
    }
}

TEST_LIST(small_models_cannot_ask_for_much, windows_stay_inside_what_an_int_holds,
          strange_texts_are_refused, time_grows_no_faster_than_models)
