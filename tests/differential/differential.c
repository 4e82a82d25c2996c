// SPDX-License-Identifier: Apache-2.0
// Random models on both sides of a rewrite: as read, and rewritten on `ref` and on `cpu`.
//
//     test_differential                   a fixed sample
//     test_differential --seed=7 --seconds=120
//     test_differential --seed=7 --only=1234      one model again, reduced and printed
//     test_differential --file=model.net          a model of a file on all sides
//
// A child process runs the models, so that a crash is one more finding. The exit status is 1 if
// there was a difference that no line of known.inc explains.

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <lightnet/msg.h>

#include "tests/differential/operators.h"
#include "tests/differential/patterns.h"
#include "tests/differential/reduce.h"
#include "tests/differential/sides.h"

// ---- Options ----

static struct {
    uint64_t seed;
    double seconds; // 0: as many models as `models`
    long models, only;
    const char *file, *folder, *kind, *write_to;
    bool is_long, is_verbose, reduces;
    long rule; // the pattern's number; -1: any
} options = {.seed = 20251126, .models = 1500, .only = -1, .reduces = true, .rule = -1};

static bool has_prefix(const char *text, const char *prefix, const char **out_rest)
{
    size_t len = strlen(prefix);
    *out_rest = text + len;
    return strncmp(text, prefix, len) == 0;
}

static bool parse_options(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *rest;
        if (has_prefix(argv[i], "--seed=", &rest))
            options.seed = strtoull(rest, NULL, 10);
        else if (has_prefix(argv[i], "--seconds=", &rest))
            options.seconds = atof(rest);
        else if (has_prefix(argv[i], "--models=", &rest))
            options.models = atol(rest);
        else if (has_prefix(argv[i], "--only=", &rest))
            options.only = atol(rest);
        else if (has_prefix(argv[i], "--file=", &rest))
            options.file = rest;
        else if (has_prefix(argv[i], "--kind=", &rest))
            options.kind = rest;
        else if (has_prefix(argv[i], "--write=", &rest))
            options.write_to = rest;
        else if (has_prefix(argv[i], "--rule=", &rest))
            options.rule = atol(rest);
        else if (strcmp(argv[i], "--long") == 0)
            options.is_long = true;
        else if (strcmp(argv[i], "--verbose") == 0)
            options.is_verbose = true;
        else if (strcmp(argv[i], "--no-reduce") == 0)
            options.reduces = false;
        else
            return false;
    }
    return true;
}

// ---- Shared with the child ----

#define MAX_RULES 2048

typedef struct progress {
    volatile long model; // that is being run
    long made, ran, refused, not_made, failed, known;
    long rule_hits[MAX_RULES]; // firings, by pattern_name's number
    long rule_made[MAX_RULES];
    long known_hits[64];
    bool is_done;
} progress;

static progress *shared;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// ---- All sides of one model ----

typedef struct verdict {
    bool is_run;    // the model as read runs
    bool is_failed; // a side differs
    char side[32];
    char message[600];
    char rules[600];
} verdict;

static void note_rules(const side_result *r)
{
    for (int i = 0; i < r->rule_count; i++)
        for (size_t k = 0; k < pattern_count() && k < MAX_RULES; k++)
            if (strncmp(pattern_name(k), r->rules[i], sizeof r->rules[0] - 1) == 0)
                shared->rule_hits[k]++;
}

static void differ(verdict *v, const char *side, const side_result *r, const char *message)
{
    v->is_failed = true;
    snprintf(v->side, sizeof v->side, "%s", side);
    snprintf(v->message, sizeof v->message, "%s", message);
    size_t used = 0;
    for (int i = 0; i < r->rule_count && used + 60 < sizeof v->rules; i++)
        used += (size_t)snprintf(v->rules + used, sizeof v->rules - used, "%s ", r->rules[i]);
}

static void try_side(verdict *v, as_read *a, const char *text, const char *name,
                     const side_options *o)
{
    if (v->is_failed)
        return;
    side_result r;
    char message[600];
    side_run(text, o, &r);
    note_rules(&r);
    bool is_exact = r.is_exact && strcmp(o->target, "ref") == 0;
    if (!side_agrees(a, &r, is_exact, strcmp(o->target, "cpu") == 0, message, sizeof message))
        differ(v, name, &r, message);
    side_result_free(&r);
}

static void try_dynamic(verdict *v, as_read *a, const char *text, const char *target)
{
    if (v->is_failed)
        return;
    side_result r;
    char message[600], name[32];
    snprintf(name, sizeof name, "dynamic %s", target);
    side_run_dynamic(text, a, target, &r);
    bool is_refused = r.status != LN_OK && strcmp(r.stage, "read") == 0;
    if (!is_refused &&
        !side_agrees(a, &r, false, strcmp(target, "cpu") == 0, message, sizeof message))
        differ(v, name, &r, message);
    side_result_free(&r);
}

// The model with each dimension of an input whose size is `from` as `to`; -1: dynamic.
static char *resized(const model *m, const int *from, const int *to, int count)
{
    model *copy = model_create();
    if (!copy)
        return NULL;
    *copy = *m;
    for (int i = 0; i < copy->op_count; i++) {
        model_op *op = &copy->ops[i];
        if (strcmp(op->optype, "input") != 0)
            continue;
        const model_tensor *t = &copy->tensors[op->outs[0].tensor];
        char dims[200] = "[", names[300] = "[";
        bool is_dynamic = false;
        for (int d = 0; d < t->ndim; d++) {
            int size = t->dims[d];
            char symbol[16] = "";
            for (int k = 0; k < count; k++)
                if (t->dims[d] == from[k]) {
                    size = to[k];
                    if (size < 0)
                        snprintf(symbol, sizeof symbol, "s%d", from[k]);
                }
            is_dynamic = is_dynamic || size < 0;
            size_t used = strlen(dims), named = strlen(names);
            snprintf(dims + used, sizeof dims - used, "%s%d", d ? ", " : "", size);
            snprintf(names + named, sizeof names - named, "%s\"%s\"", d ? ", " : "", symbol);
        }
        strcat(dims, "]");
        strcat(names, "]");
        model_op_set_param(copy, op, "dims", dims);
        if (is_dynamic) {
            model_op_set_param(copy, op, "names", names);
            model_op_drop_param(op, "data");
        } else if (to[0] < from[0]) { // no more numbers than elements
            model_op_drop_param(op, "data");
            model_op_set_param(copy, op, "ran", "[-2, 2]");
        }
    }
    char *text = copy->is_overflown ? NULL : model_write(copy);
    model_destroy(copy);
    return text;
}

// Sizes of inputs that become dynamic; how many.
static int choose_sizes(const model *m, test_random *random, int *from)
{
    int count = 0;
    for (int i = 0; i < m->op_count && count < 2; i++) {
        if (strcmp(m->ops[i].optype, "input") != 0)
            continue;
        const model_tensor *t = &m->tensors[m->ops[i].outs[0].tensor];
        for (int d = 0; d < t->ndim && count < 2; d++) {
            bool is_there = t->dims[d] < 2;
            for (int k = 0; k < count; k++)
                is_there = is_there || from[k] == t->dims[d];
            if (!is_there && test_random_below(random, 2))
                from[count++] = t->dims[d];
        }
    }
    return count;
}

static void try_all_dynamic(verdict *v, const model *m, test_random *random)
{
    int from[2], to[2] = {-1, -1};
    int count = choose_sizes(m, random, from);
    if (count == 0)
        return;
    char *dynamic = resized(m, from, to, count);
    for (int step = 0; step < 3 && dynamic && !v->is_failed; step++) {
        for (int k = 0; k < count; k++)
            to[k] = from[k] + step;
        char *fixed = resized(m, from, to, count);
        const side_result *r;
        as_read *a = fixed ? as_read_create(fixed, &r) : NULL;
        if (a && r->status == LN_OK) {
            try_dynamic(v, a, dynamic, "cpu");
            if (step == 1)
                try_dynamic(v, a, dynamic, "ref");
        }
        as_read_destroy(a);
        free(fixed);
    }
    free(dynamic);
}

static void run_all(const model *m, uint64_t seed, verdict *v)
{
    *v = (verdict){.is_run = false};
    char *text = model_write(m);
    const side_result *read;
    as_read *a = text ? as_read_create(text, &read) : NULL;
    v->is_run = a && read->status == LN_OK && read->output_count > 0;
    if (v->is_run) {
        test_random random = {.state = seed};
        try_side(v, a, text, "ref", &(side_options){.target = "ref"});
        try_side(v, a, text, "cpu", &(side_options){.target = "cpu"});
        try_side(v, a, text, "session", &(side_options){.target = "cpu", .way = WAY_SESSION});
        if (options.is_long || test_random_below(&random, 12) == 0)
            try_side(v, a, text, "compiled", &(side_options){.target = "cpu", .way = WAY_COMPILED});
        if (options.is_long || test_random_below(&random, 4) == 0)
            try_all_dynamic(v, m, &random);
        if (options.is_long || test_random_below(&random, 8) == 0)
            try_side(v, a, text, "halves",
                     &(side_options){.target = "cpu", .keeps_halves = true, .threads = 3});
    } else if (options.is_verbose && a)
        printf("as read: %s: %s\n", read->stage, read->message);
    as_read_destroy(a);
    free(text);
}

// ---- Known differences ----

typedef struct known_difference {
    const char *side, *word, *rule, *reason;
} known_difference;

static const known_difference known[] = {
#define K(side, word, rule, reason) {side, word, rule, reason},
#include "tests/differential/known.inc"
#undef K
};

static const known_difference *find_known(const verdict *v, const char *text)
{
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        const known_difference *k = &known[i];
        if (strncmp(v->side, k->side, strlen(k->side)) == 0 &&
            (strstr(text, k->word) || strstr(v->message, k->word)) && strstr(v->rules, k->rule)) {
            shared->known_hits[i]++;
            return k;
        }
    }
    return NULL;
}

// ---- One model ----

typedef struct still {
    uint64_t seed;
    char side[32];
    bool is_refusal;
} still;

static bool fails_still(void *user, const model *m)
{
    const still *s = user;
    verdict v;
    run_all(m, s->seed, &v);
    return v.is_run && v.is_failed && strcmp(v.side, s->side) == 0;
}

static void report(const model *found, uint64_t seed, long number, verdict *v)
{
    char *text = model_write(found);
    const known_difference *k = find_known(v, text);
    if (k) {
        shared->known++;
        if (options.is_verbose)
            printf("known difference (%s) in model %ld\n", k->reason, number);
        free(text);
        return;
    }
    free(text);
    shared->failed++;
    printf("\nDIFFERENCE in model %ld of seed %llu, from %s, on %s: %s\n  rules: %s\n"
           "  again: test_differential --seed=%llu --only=%ld\n",
           number, (unsigned long long)options.seed, found->origin, v->side, v->message, v->rules,
           (unsigned long long)options.seed, number);
    model *m = model_create();
    if (!m)
        return;
    *m = *found;
    if (options.reduces) {
        still s = {.seed = seed};
        memcpy(s.side, v->side, sizeof s.side);
        fflush(stdout);
        model_reduce(m, fails_still, &s);
        run_all(m, seed, v);
        printf("reduced, on %s: %s\n  rules: %s\n", v->side, v->message, v->rules);
    }
    text = model_write(m);
    printf("%s", text ? text : "");
    if (text && options.write_to) {
        char path[400];
        snprintf(path, sizeof path, "%s/%llu_%ld.net", options.write_to,
                 (unsigned long long)options.seed, number);
        FILE *file = fopen(path, "w");
        if (file) {
            fprintf(file, "// %s: %s\n// rules: %s\n%s", v->side, v->message, v->rules, text);
            fclose(file);
        }
    }
    free(text);
    model_destroy(m);
    fflush(stdout);
}

// ---- Kinds of models ----

static const char *const chain_types[] = {
#define W(type, weight, sinks, steps) #type,
#define N(type, weight, sinks, steps)
#include "desc/core_types.inc"
#undef W
#undef N
};

static bool is_for_chains(const char *type)
{
    static const char *const others[] = {"input", "output", "create", "print", "fprint", "zeros"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strcmp(type, others[i]) == 0)
            return false;
    return true;
}

static const char *draw_type(test_random *random)
{
    static const char *const often[] = {"act",      "act",        "elew",   "elew",      "elew",
                                        "conv",     "linear",     "matmul", "transpose", "reshape",
                                        "quantize", "dequantize", "cast"};
    for (;;) {
        const char *type = test_random_below(random, 100) < 45
                               ? often[test_random_below(random, sizeof often / sizeof often[0])]
                               : chain_types[test_random_below(random, sizeof chain_types /
                                                                           sizeof chain_types[0])];
        if (is_for_chains(type))
            return type;
    }
}

// The first operand of the next operator: mostly what was made last.
static int draw_tensor(const model *m, test_random *random)
{
    int made[MODEL_TENSORS], count = 0;
    for (int t = 0; t < m->tensor_count; t++)
        if (model_maker(m, t) >= 0 && !m->tensors[t].is_leaf)
            made[count++] = t;
    if (count == 0)
        return m->tensor_count ? 0 : -1;
    return test_random_below(random, 100) < 70 ? made[count - 1]
                                               : made[test_random_below(random, (size_t)count)];
}

static void first_operand(preset *p, const ln_op_info *info, int tensor)
{
    const ln_arg_info *arg = &info->ins[0];
    bool is_variadic = arg->flags & LN_ARG_VARIADIC;
    p->ins[0].tensor = tensor;
    snprintf(p->ins[0].arg_name, MODEL_NAME, is_variadic ? "%.50s1" : "%.50s", arg->arg_name);
    p->in_count = 1;
}

static bool append(model *m, test_random *random, const sizes *s, const char *type, int tensor)
{
    const ln_op_info *info = operator_info(type);
    preset p = {.optype = type, .has_plain_params = test_random_below(random, 100) < 40};
    if (!info || !info->ins || !info->ins[0].arg_name)
        return false;
    if (tensor >= 0) {
        uint64_t types = info->ins[0].types;
        if (types && !(types & LN_TYPE(m->tensors[tensor].dtype)))
            return false;
        first_operand(&p, info, tensor);
    }
    return operator_add(m, random, s, &p, NULL);
}

static void make_chain(model *m, test_random *random, const sizes *s, int length)
{
    for (int i = 0, tries = 0; i < length && tries < 4 * length; tries++) {
        const char *type = draw_type(random);
        bool is_fresh = m->op_count == 0 || test_random_below(random, 100) < 8;
        i += append(m, random, s, type, is_fresh ? -1 : draw_tensor(m, random));
    }
    if (!m->origin[0])
        snprintf(m->origin, sizeof m->origin, "a chain");
}

static bool make_model(model *m, test_random *random, uint64_t number)
{
    sizes s = sizes_draw(random);
    const char *kind = options.kind;
    if (!kind)
        kind = number % 2 ? "rule" : "chain";
    if (strcmp(kind, "rule") == 0) {
        size_t rule =
            options.rule >= 0 ? (size_t)options.rule : test_random_below(random, pattern_count());
        bool is_made = false;
        for (int i = 0; i < 6 && !is_made; i++) {
            model_clear(m);
            is_made = pattern_make(m, random, &s, rule);
            s = sizes_draw(random);
        }
        if (!is_made)
            return false;
        shared->rule_made[rule < MAX_RULES ? rule : 0]++;
        if (test_random_below(random, 3) == 0) // what follows may change what fires
            make_chain(m, random, &s, 1 + (int)test_random_below(random, 2));
        return true;
    }
    make_chain(m, random, &s, 1 + (int)test_random_below(random, 7));
    return m->op_count > 1;
}

static void run_model(model *m, long number)
{
    test_random random = {.state = options.seed * 0x9e3779b97f4a7c15u + (uint64_t)number};
    (void)test_random_next(&random);
    model_clear(m);
    shared->made++;
    if (!make_model(m, &random, (uint64_t)number)) {
        shared->not_made++;
        return;
    }
    uint64_t seed = test_random_next(&random);
    verdict v;
    if (options.is_verbose) {
        char *text = model_write(m);
        printf("model %ld, from %s:\n%s", number, m->origin, text);
        fflush(stdout);
        free(text);
    }
    run_all(m, seed, &v);
    shared->ran += v.is_run;
    shared->refused += !v.is_run;
    if (v.is_run)
        coverage_count(m);
    if (v.is_failed)
        report(m, seed, number, &v);
}

// ---- Processes ----

static void drop_message(const ln_msg *msg, void *user)
{
    (void)msg;
    (void)user;
}

static void child(long first, double end)
{
    model *m = model_create();
    if (!m || ln_arch_init() != LN_OK || !patterns_open())
        _exit(2);
    for (long i = first; i == first || (options.seconds > 0 ? now() < end : i < options.models);
         i++) {
        shared->model = i;
        alarm(120);
        run_model(m, i);
        if (options.only >= 0)
            break;
    }
    shared->is_done = true;
    fflush(stdout);
    patterns_close();
    model_destroy(m);
    ln_arch_cleanup();
    exit(0);
}

static void supervise(void)
{
    double end = now() + options.seconds;
    long next = options.only >= 0 ? options.only : 0;
    while (!shared->is_done) {
        fflush(stdout);
        pid_t pid = fork();
        if (pid == 0)
            child(next, end);
        int status = 0;
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
            continue;
        if (shared->is_done)
            break;
        shared->failed++;
        printf("\nCRASH in model %ld of seed %llu: %s %d\n  again: test_differential --seed=%llu "
               "--only=%ld --verbose\n",
               shared->model, (unsigned long long)options.seed,
               WIFSIGNALED(status) ? "signal" : "exit status",
               WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status),
               (unsigned long long)options.seed, shared->model);
        if (options.only >= 0)
            break;
        next = shared->model + 1;
    }
}

static int run_file(const char *path)
{
    FILE *file = fopen(path, "r");
    static char text[1 << 18];
    size_t len = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[len] = '\0';
    model *m = model_create();
    verdict v = {.is_run = false};
    if (ln_arch_init() != LN_OK || !patterns_open() || !m || !model_parse(m, text) ||
        !model_check(m)) {
        printf("%s: no model: %s\n", path, ln_error_message());
        return 1;
    }
    options.is_long = true;
    run_all(m, 1, &v);
    printf("%s: %s%s%s\n", path,
           v.is_failed ? v.side
           : v.is_run  ? "agrees"
                       : "does not run",
           v.is_failed ? ": " : "", v.message);
    if (v.is_failed)
        printf("  rules: %s\n", v.rules);
    model_destroy(m);
    patterns_close();
    ln_arch_cleanup();
    return v.is_failed || !v.is_run;
}

int main(int argc, char **argv)
{
    if (!parse_options(argc, argv)) {
        fprintf(stderr,
                "usage: %s [--seed=N] [--seconds=S | --models=N] [--only=N] [--file=PATH] "
                "[--kind=chain|rule] [--rule=N] [--long] [--verbose] [--no-reduce]\n",
                argv[0]);
        return 2;
    }
    ln_msg_set_handler(drop_message, NULL);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED || !coverage_open())
        return 2;
    if (options.file)
        return run_file(options.file);
    printf("seed: %llu\n", (unsigned long long)options.seed);
    supervise();
    if (options.only < 0) {
        printf("%ld models: %ld ran, %ld are refused as read, %ld were not made; %ld differences, "
               "%ld known\n",
               shared->made, shared->ran, shared->refused, shared->not_made, shared->failed,
               shared->known);
        (void)patterns_open();
        size_t never = 0, none = 0;
        for (size_t i = 0; i < pattern_count() && i < MAX_RULES; i++) {
            never += shared->rule_hits[i] == 0;
            none += shared->rule_made[i] == 0;
            if (options.is_verbose || (options.is_long && shared->rule_hits[i] == 0))
                printf("  rule %zu %s: made %ld times, fired in %ld models\n", i, pattern_name(i),
                       shared->rule_made[i], shared->rule_hits[i]);
        }
        printf("of %zu rules %zu never fired, %zu never made\n", pattern_count(), never, none);
        patterns_close();
    }
    return shared->failed ? 1 : 0;
}
