// SPDX-License-Identifier: Apache-2.0
// Random models on both sides of a rewrite: as read, and rewritten on `ref` and on `cpu`.
//
//     test_differential                   a fixed sample
//     test_differential --seed=7 --seconds=120
//     test_differential --seed=7 --only=1234      one model again, reduced and printed
//     test_differential --kind=forms              each form of an operator alone
//     test_differential --kind=pairs              each form after each form
//     test_differential --kind=example --name=gelu  examples, or rules, whose names begin so
//     test_differential --kind=pairs --slice=3/8  the third of eight parts of them
//     test_differential --long --side=loop        sides whose names have that word, alone
//     test_differential --file=model.net          a model of a file on all sides
//     test_differential --export=FOLDER           models, inputs and results for other engines
//     test_differential --found                   those of tests/differential/found
//
// A child process runs the models, so that a crash is one more finding. The exit status is 1 if
// there was a difference that no line of known.inc explains.

#include <dirent.h>
#include <errno.h>
#include <math.h>
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

#include "base/grain.h"
#include "tests/differential/changes.h"
#include "tests/differential/devices.h"
#include "tests/differential/directed.h"
#include "tests/differential/draw.h"
#include "tests/differential/forms.h"
#include "tests/differential/operators.h"
#include "tests/differential/patterns.h"
#include "tests/differential/reduce.h"
#include "tests/differential/sides.h"
#include "tests/differential/sized.h"

// ---- Options ----

static struct {
    uint64_t seed;
    double seconds; // 0: as many models as `models`
    long models, only;
    long slice, slice_count; // models whose number leaves the remainder `slice`
    const char *file, *folder, *kind, *name, *side, *write_to, *export_to;
    bool is_long, is_verbose, reduces, stops_at_first, runs_found;
    long rule; // number of the pattern, or of the directed or sized form; -1: any
} options = {
    .seed = 20251126, .models = 1500, .only = -1, .slice_count = 1, .reduces = true, .rule = -1};

static bool has_prefix(const char *text, const char *prefix, const char **out_rest)
{
    size_t len = strlen(prefix);
    *out_rest = text + len;
    return strncmp(text, prefix, len) == 0;
}

// From "K/N" with 1 <= K <= N.
static bool parse_slice(const char *text)
{
    char *end;
    const long number = strtol(text, &end, 10);
    if (end == text || *end != '/')
        return false;
    const char *count = end + 1;
    options.slice_count = strtol(count, &end, 10);
    options.slice = number - 1;
    return end != count && *end == '\0' && number >= 1 && number <= options.slice_count;
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
        else if (has_prefix(argv[i], "--name=", &rest))
            options.name = rest;
        else if (has_prefix(argv[i], "--side=", &rest))
            options.side = rest;
        else if (has_prefix(argv[i], "--write=", &rest))
            options.write_to = rest;
        else if (has_prefix(argv[i], "--export=", &rest))
            options.export_to = rest;
        else if (has_prefix(argv[i], "--rule=", &rest))
            options.rule = atol(rest);
        else if (has_prefix(argv[i], "--slice=", &rest)) {
            if (!parse_slice(rest))
                return false;
        } else if (strcmp(argv[i], "--long") == 0)
            options.is_long = true;
        else if (strcmp(argv[i], "--verbose") == 0)
            options.is_verbose = true;
        else if (strcmp(argv[i], "--found") == 0)
            options.runs_found = true;
        else if (strcmp(argv[i], "--first") == 0)
            options.stops_at_first = true;
        else if (strcmp(argv[i], "--no-reduce") == 0)
            options.reduces = false;
        else
            return false;
    }
    return true;
}

// ---- Shared with the child ----

#define MAX_RULES 2048
#define MAX_FORMS 4096

typedef struct progress {
    volatile long model; // that is being run
    long made, ran, refused, not_made, failed, known, variants;
    long rule_hits[MAX_RULES]; // firings, by pattern_name's number
    long rule_made[MAX_RULES];
    long dynamic_runs, range_runs; // of shapes
    long known_hits[64];
    long form_made[MAX_FORMS];
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

static bool has_exact_model; // of the model that is being run

static bool is_asked(const char *side)
{
    return !options.side || strstr(side, options.side);
}

static void try_side(verdict *v, as_read *a, const char *text, const char *name,
                     const side_options *o)
{
    if (v->is_failed || !is_asked(name))
        return;
    side_result r;
    char message[600];
    side_run(text, o, &r);
    note_rules(&r);
    bool is_in_floats = strstr(o->target, "cpu") != NULL;
    bool is_exact = has_exact_model || (r.is_exact && !is_in_floats && !o->fails_over);
    if (!side_agrees(a, &r, is_exact, is_in_floats, message, sizeof message))
        differ(v, name, &r, message);
    side_result_free(&r);
}

static void judge_dynamic(verdict *v, as_read *a, const char *name, side_result *r)
{
    char message[600];
    if (!side_agrees(a, r, has_exact_model, strcmp(name, "dynamic ref") != 0, message,
                     sizeof message))
        differ(v, name, r, message);
    side_result_free(r);
}

#define MOST_DYNAMIC 2

// Dimensions of inputs that change together: those of a size, on one axis or on all (-1).
typedef struct dynamic_size {
    int size, axis;
} dynamic_size;

static const dynamic_size *find_size(const dynamic_size *list, int count, int size, int axis)
{
    for (int k = 0; k < count; k++)
        if (list[k].size == size && (list[k].axis == -1 || list[k].axis == axis))
            return &list[k];
    return NULL;
}

// As many elements as there are now, the same again and again. false: there are none.
static bool repeat_data(model *m, model_op *op, size_t count)
{
    static char text[1 << 16];
    const char *data = model_op_param(m, op, "data"), *at = data ? data + 1 : NULL;
    size_t used = (size_t)snprintf(text, sizeof text, "["), len;
    for (size_t i = 0; at && i < count; i++, used += len + 1) {
        len = strcspn(at, ",]");
        if (len == 0 || used + len + 2 > sizeof text)
            return false;
        memcpy(text + used, at, len);
        text[used + len] = ',';
        at += at[len] == ',' ? len + 1 + strspn(at + len + 1, " ") : len;
        at = *at == ']' ? data + 1 : at;
    }
    if (!at || count == 0)
        return false;
    text[used - 1] = ']';
    text[used] = '\0';
    model_op_set_param(m, op, "data", text);
    return true;
}

// The model with other sizes of inputs: larger by `by`, or dynamic if it is NULL. NULL when memory
// is gone.
static model *with_sizes(const model *m, const dynamic_size *chosen, int count, const int *by)
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
        bool is_changed = false;
        size_t element_count = 1;
        for (int d = 0; d < t->ndim; d++) {
            const dynamic_size *s = find_size(chosen, count, t->dims[d], d);
            char symbol[16] = "";
            if (s && !by)
                snprintf(symbol, sizeof symbol, "s%d", s->size);
            is_changed = is_changed || s;
            element_count *= (size_t)(t->dims[d] + (s && by ? by[s - chosen] : 0));
            size_t used = strlen(dims), named = strlen(names);
            snprintf(dims + used, sizeof dims - used, "%s%d", d ? ", " : "",
                     !s    ? t->dims[d]
                     : !by ? -1
                           : t->dims[d] + by[s - chosen]);
            snprintf(names + named, sizeof names - named, "%s\"%s\"", d ? ", " : "", symbol);
        }
        strcat(dims, "]");
        strcat(names, "]");
        model_op_set_param(copy, op, "dims", dims);
        if (!by && is_changed)
            model_op_set_param(copy, op, "names", names);
        if (is_changed && (!by || !repeat_data(copy, op, element_count)))
            model_op_drop_param(op, "data");
    }
    return copy;
}

static char *write_with_sizes(const model *m, const dynamic_size *chosen, int count, const int *by)
{
    model *copy = with_sizes(m, chosen, count, by);
    char *text = copy && !copy->is_overflown ? model_write(copy) : NULL;
    model_destroy(copy);
    return text;
}

// Whether the model has other sizes there too: a size that weights have is not free.
static bool are_free(const model *m, const dynamic_size *chosen, int count)
{
    for (int more = 1; more <= 2; more++) { // or twice as large, where halves are taken
        int by[MOST_DYNAMIC];
        for (int k = 0; k < count; k++)
            by[k] = more == 1 ? 1 : chosen[k].size;
        model *copy = with_sizes(m, chosen, count, by);
        const bool is_model = copy && model_check(copy);
        model_destroy(copy);
        if (is_model)
            return true;
    }
    return false;
}

// Sizes of inputs that may become dynamic; how many, at most `room`.
static int list_sizes(const model *m, dynamic_size *list, int room)
{
    int count = 0;
    for (int i = 0; i < m->op_count; i++) {
        const model_tensor *t = &m->tensors[m->ops[i].outs[0].tensor];
        for (int d = 0; strcmp(m->ops[i].optype, "input") == 0 && d < 2 * t->ndim; d++) {
            const int size = t->dims[d / 2], axis = d % 2 ? d / 2 : -1;
            bool is_there = size < 2 || count == room;
            for (int k = 0; k < count; k++)
                is_there = is_there || (list[k].size == size && list[k].axis == axis);
            if (!is_there)
                list[count++] = (dynamic_size){size, axis};
        }
    }
    return count;
}

// Some of them, in random order.
static int choose_sizes(const model *m, test_random *random, dynamic_size *chosen)
{
    dynamic_size list[24];
    int left = list_sizes(m, list, 24), count = 0;
    const int most = 1 + (int)test_random_below(random, MOST_DYNAMIC);
    while (left > 0 && count < most) {
        const size_t at = test_random_below(random, (size_t)left);
        chosen[count] = list[at];
        list[at] = list[--left];
        bool is_there = false;
        for (int k = 0; k < count; k++)
            is_there = is_there || chosen[k].size == chosen[count].size;
        count += !is_there && are_free(m, chosen, count + 1);
    }
    return count;
}

// What sizes grow by, tried one after the other: shapes after the second follow what the first two
// have in common. Those from FIRST_SPECIAL on are special to rules; one is drawn for a model. The
// last ones are multiples of 32, for which alone some windows have a template.
#define TO(size) (1000 + (size))
static const int size_steps[][MOST_DYNAMIC] = {
    {0, 0},         {1, 2},     {3, 1},         {2, 4},     {4, 4},           {0, TO(1)},
    {TO(1), TO(1)}, {TO(1), 3}, {TO(0), TO(0)}, {1, TO(0)}, {TO(32), TO(64)}, {TO(96), TO(32)},
};

#define STEPS          (int)(sizeof size_steps / sizeof size_steps[0])
#define FIRST_SPECIAL  5
#define FIRST_MULTIPLE 10
#define GROWS_AT_MOST  4
#define AGAIN          2

static void try_dynamic(verdict *v, as_read *const *steps, const char *text, const char *name,
                        const side_options *o)
{
    side_result r;
    const bool is_tried = !v->is_failed && is_asked(name);
    dynamic_side *d = is_tried ? dynamic_side_create(text, o, &r) : NULL;
    // The sizes of a range may be those for which the model is none.
    const bool is_refused = !is_tried || strcmp(r.stage ? r.stage : "", "read") == 0 ||
                            (o->ranges[0].symbol && strcmp(r.stage ? r.stage : "", "compile") == 0);
    if (!d && !is_refused && steps[0])
        judge_dynamic(v, steps[0], name, &r);
    for (int i = 0; d && i < STEPS + AGAIN && !v->is_failed; i++)
        if (steps[i % STEPS]) { // the first ones again: of plans that were kept
            dynamic_side_run(d, steps[i % STEPS], &r);
            *(o->ranges[0].symbol ? &shared->range_runs : &shared->dynamic_runs) += 1;
            judge_dynamic(v, steps[i % STEPS], name, &r);
        }
    dynamic_side_destroy(d);
}

static bool is_in_range(const dynamic_size *chosen, const side_range *ranges, int count,
                        const int *by)
{
    for (int k = 0; k < count; k++)
        if (chosen[k].size + by[k] < ranges[k].from || chosen[k].size + by[k] > ranges[k].to)
            return false;
    return true;
}

// Ranges from what the model has, or from 0 or 1; now and then of so many shapes that not all of
// them are looked at.
static void try_ranges(verdict *v, as_read *const *steps, int by[STEPS][MOST_DYNAMIC],
                       const dynamic_size *chosen, int count, const char *text, test_random *random)
{
    char symbols[MOST_DYNAMIC][16];
    side_options o = {.target = "cpu"};
    const size_t kind = test_random_below(random, 3);
    const int more = test_random_below(random, 4) == 0 ? 70 : 0;
    for (int k = 0; k < count; k++) {
        snprintf(symbols[k], sizeof symbols[k], "s%d", chosen[k].size);
        o.ranges[k] = (side_range){symbols[k], kind < 2 ? (int)kind : chosen[k].size,
                                   chosen[k].size + GROWS_AT_MOST + more};
    }
    as_read *inside[STEPS];
    for (int i = 0; i < STEPS; i++)
        inside[i] = is_in_range(chosen, o.ranges, count, by[i]) ? steps[i] : NULL;
    try_dynamic(v, inside, text, "range", &o);
}

// Inner graphs have numbers that follow from sizes, too.
static void try_dynamic_branch(verdict *v, as_read *const *steps, const model *m,
                               const dynamic_size *chosen, int count)
{
    model *copy = with_sizes(m, chosen, count, NULL);
    char *text = copy && !copy->is_overflown ? model_write_in_branch(copy) : NULL;
    if (text)
        try_dynamic(v, steps, text, "dynamic branch", &(side_options){.target = "cpu"});
    free(text);
    model_destroy(copy);
}

// A model with dynamic sizes, and the same as read for some of them.
typedef struct resizing {
    dynamic_size chosen[MOST_DYNAMIC];
    int count, by[STEPS][MOST_DYNAMIC];
    char *dynamic; // NULL: out of memory
    as_read *steps[STEPS];
} resizing;

// False: the model has none that may change.
static bool resizing_init(resizing *s, const model *m, test_random *random)
{
    s->count = choose_sizes(m, random, s->chosen);
    if (s->count == 0)
        return false;
    s->dynamic = write_with_sizes(m, s->chosen, s->count, NULL);
    const int special =
        FIRST_SPECIAL + (int)test_random_below(random, FIRST_MULTIPLE - FIRST_SPECIAL);
    for (int i = 0; i < STEPS; i++) {
        for (int k = 0; k < s->count; k++)
            s->by[i][k] = size_steps[i][k] < TO(0) ? size_steps[i][k]
                                                   : size_steps[i][k] - TO(0) - s->chosen[k].size;
        const bool is_tried = i < FIRST_MULTIPLE
                                  ? i < FIRST_SPECIAL || options.is_long || i == special
                                  : m->has_multiples;
        char *fixed = is_tried ? write_with_sizes(m, s->chosen, s->count, s->by[i]) : NULL;
        const side_result *r;
        s->steps[i] = fixed ? as_read_create(fixed, &r) : NULL;
        if (s->steps[i] && r->status != LN_OK) {
            as_read_destroy(s->steps[i]);
            s->steps[i] = NULL;
        }
        free(fixed);
    }
    return true;
}

static void resizing_deinit(resizing *s)
{
    for (int i = 0; i < STEPS; i++)
        as_read_destroy(s->steps[i]);
    free(s->dynamic);
}

static void try_all_dynamic(verdict *v, const model *m, test_random *random)
{
    resizing s;
    if (v->is_failed || !resizing_init(&s, m, random))
        return;
    if (s.dynamic) {
        try_dynamic(v, s.steps, s.dynamic, "dynamic cpu", &(side_options){.target = "cpu"});
        if (options.is_long || test_random_below(random, 3) == 0)
            try_dynamic(v, s.steps, s.dynamic, "dynamic ref", &(side_options){.target = "ref"});
        if (options.is_long || test_random_below(random, 4) == 0)
            try_dynamic(v, s.steps, s.dynamic, "dynamic compiled",
                        &(side_options){.target = "cpu", .way = WAY_COMPILED});
        if (options.is_long || test_random_below(random, 8) == 0)
            try_dynamic(v, s.steps, s.dynamic, "dynamic clone",
                        &(side_options){.target = "cpu", .way = WAY_CLONE});
        try_ranges(v, s.steps, s.by, s.chosen, s.count, s.dynamic, random);
        if (options.is_long || test_random_below(random, 6) == 0)
            try_dynamic_branch(v, s.steps, m, s.chosen, s.count);
    }
    resizing_deinit(&s);
}

static void try_sizes(verdict *v, const model *m, test_random *random, const char *name,
                      const side_options *o)
{
    resizing s;
    if (v->is_failed || !resizing_init(&s, m, random))
        return;
    if (s.dynamic)
        try_dynamic(v, s.steps, s.dynamic, name, o);
    resizing_deinit(&s);
}

static void try_in_branch(verdict *v, as_read *a, const model *m, const char *target)
{
    char *text = model_write_in_branch(m);
    if (text)
        try_side(v, a, text, strcmp(target, "cpu") == 0 ? "branch on cpu" : "branch on ref",
                 &(side_options){.target = target});
    free(text);
}

// What the second trip reads, the first one must not have overwritten.
static void try_in_loop(verdict *v, as_read *a, const model *m, const char *target)
{
    char *text = model_write_in_loop(m, 2);
    if (text)
        try_side(v, a, text, strcmp(target, "cpu") == 0 ? "loop on cpu" : "loop on ref",
                 &(side_options){.target = target});
    free(text);
}

// Inputs are parts of wider tensors there.
static void try_in_scan(verdict *v, as_read *a, const model *m, const char *target)
{
    char *text = model_write_in_scan(m, 2);
    if (text)
        try_side(v, a, text, strcmp(target, "cpu") == 0 ? "scan on cpu" : "scan on ref",
                 &(side_options){.target = target});
    free(text);
}

static bool has_op(const model *m, const char *optype)
{
    for (int i = 0; i < m->op_count; i++)
        if (strcmp(m->ops[i].optype, optype) == 0)
            return true;
    return false;
}

// Whether an operator has nothing but constants as operands, so that loading computes it.
static bool computes_constants(const model *m)
{
    for (int i = 0; i < m->op_count; i++) {
        const model_op *op = &m->ops[i];
        bool is_constant = op->in_count > 0;
        for (int k = 0; k < op->in_count; k++) {
            const model_tensor *t = &m->tensors[op->ins[k].tensor];
            is_constant = is_constant && t->is_leaf && !t->is_input;
        }
        if (is_constant)
            return true;
    }
    return false;
}

// Devices take what they take of the model as it is, and of plans for other sizes.
static void try_devices(verdict *v, as_read *a, const model *m, const char *text,
                        test_random *random)
{
    static const side_way ways[] = {WAY_CONTEXT, WAY_SESSION, WAY_COMPILED};
    char target[64];
    if (v->is_failed)
        return;
    devices_open(random);
    devices_draw_target(random, target, sizeof target);
    side_options o = {.target = target, .way = ways[test_random_below(random, 3)]};
    o.fails_over = o.way == WAY_SESSION && test_random_below(random, 2) == 0;
    if (o.fails_over)
        devices_fail(random);
    try_side(v, a, text, "devices", &o);
    if (options.is_long || test_random_below(random, 3) == 0)
        try_sizes(v, m, random, "dynamic devices", &o);
    if (v->is_failed) {
        size_t used = strlen(v->message);
        snprintf(v->message + used, sizeof v->message - used, " [-t %s: %s]", target,
                 devices_text());
    }
    devices_close();
}

// Small images take the ways of large ones where the grain is fine: of what outgrows a cache, goes
// in bands, or is shared by threads.
static unsigned draw_grain(const model *m, test_random *random)
{
    if (m->is_fine)
        return PICK(random, 10, 12, 14, 16);
    return m->is_large ? 0 : PICK(random, 0, 0, 0, 8, 12, 16);
}

// The rewritten model on `ref` alone, which shows what is wrong with rules.
static void run_on_ref(const model *m, verdict *v)
{
    *v = (verdict){.is_run = false};
    has_exact_model = m->is_exact;
    char *text = model_write(m);
    const side_result *read;
    as_read *a = text ? as_read_create(text, &read) : NULL;
    v->is_run = a && read->status == LN_OK && read->output_count > 0;
    if (v->is_run)
        try_side(v, a, text, "ref", &(side_options){.target = "ref"});
    as_read_destroy(a);
    free(text);
}

static void run_all(const model *m, uint64_t seed, verdict *v)
{
    *v = (verdict){.is_run = false};
    has_exact_model = m->is_exact;
    char *text = model_write(m);
    const side_result *read;
    as_read *a = text ? as_read_create(text, &read) : NULL;
    v->is_run = a && read->status == LN_OK && read->output_count > 0;
    if (v->is_run) {
        test_random random = {.state = seed};
        ln_grain_shift = draw_grain(m, &random);
        try_side(v, a, text, "ref", &(side_options){.target = "ref"});
        try_side(v, a, text, "cpu", &(side_options){.target = "cpu"});
        try_side(v, a, text, "session", &(side_options){.target = "cpu", .way = WAY_SESSION});
        if (options.is_long || m->is_large || test_random_below(&random, m->is_fine ? 2 : 12) == 0)
            try_side(v, a, text, "threads", &(side_options){.target = "cpu", .threads = 3});
        if (options.is_long || computes_constants(m) || test_random_below(&random, 12) == 0)
            try_side(v, a, text, "frozen",
                     &(side_options){.target = "cpu", .freezes_constants = true});
        if (options.is_long || test_random_below(&random, 12) == 0)
            try_side(v, a, text, "compiled", &(side_options){.target = "cpu", .way = WAY_COMPILED});
        if (options.is_long || test_random_below(&random, 12) == 0)
            try_side(v, a, text, "clone", &(side_options){.target = "cpu", .way = WAY_CLONE});
        bool is_dynamic = options.is_long || m->is_of_sizes || has_op(m, "Shape") ||
                          test_random_below(&random, 4) == 0;
        for (int i = options.is_long ? 4 : 1; is_dynamic && i > 0; i--)
            try_all_dynamic(v, m, &random);
        if (options.is_long || test_random_below(&random, 8) == 0)
            try_in_branch(v, a, m, test_random_below(&random, 2) ? "cpu" : "ref");
        if (options.is_long || test_random_below(&random, 8) == 0)
            try_in_loop(v, a, m, test_random_below(&random, 2) ? "cpu" : "ref");
        if (options.is_long || test_random_below(&random, 8) == 0)
            try_in_scan(v, a, m, test_random_below(&random, 2) ? "cpu" : "ref");
        if (options.is_long || test_random_below(&random, 8) == 0)
            try_side(v, a, text, "halves",
                     &(side_options){.target = "cpu", .keeps_halves = true, .threads = 3});
        for (int i = options.is_long ? 6 : 1; i > 0; i--)
            if (options.is_long || test_random_below(&random, 4) == 0)
                try_devices(v, a, m, text, &random);
    } else if (options.is_verbose && a)
        printf("as read: %s: %s\n", read->stage, read->message);
    as_read_destroy(a);
    free(text);
    ln_grain_shift = 0;
}

// ---- Known differences ----

typedef struct known_difference {
    const char *side, *word, *message, *rule, *reason;
} known_difference;

static const known_difference known[] = {
#define K(side, word, message, rule, reason) {side, word, message, rule, reason},
#include "tests/differential/known.inc"
#undef K
};

static const known_difference *find_known(const verdict *v, const char *text)
{
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        const known_difference *k = &known[i];
        if (strncmp(v->side, k->side, strlen(k->side)) == 0 && strstr(text, k->word) &&
            strstr(v->message, k->message) && strstr(v->rules, k->rule)) {
            shared->known_hits[i]++;
            return k;
        }
    }
    return NULL;
}

// ---- One model ----

#define VARIANTS 8

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
    shared->is_done = shared->is_done || options.stops_at_first;
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
    static const char *const others[] = {"input",  "output", "create", "print",
                                         "fprint", "zeros",  "wait"};
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

// ---- Quantized chains ----

static const tl_dtype quantized[] = {TL_UINT8, TL_INT8, TL_UINT8, TL_INT8,  TL_UINT16,
                                     TL_INT16, TL_INT4, TL_UINT4, TL_INT32, TL_FLOAT8E4M3FN};

static tl_dtype draw_quantized(test_random *random)
{
    bool is_byte = test_random_below(random, 100) < 75;
    return quantized[test_random_below(random, is_byte ? 4 : sizeof quantized / sizeof *quantized)];
}

static bool append_with(model *m, test_random *random, const sizes *s, const char *type,
                        const char *arg, int tensor)
{
    preset p = {.optype = type, .has_plain_params = test_random_below(random, 100) < 60};
    snprintf(p.ins[0].arg_name, MODEL_NAME, "%s", arg);
    p.ins[0].tensor = tensor;
    p.in_count = tensor >= 0;
    return operator_add(m, random, s, &p, NULL);
}

static int last_made(const model *m)
{
    return m->op_count ? m->ops[m->op_count - 1].outs[0].tensor : -1;
}

// Mostly with a scale for each output: convolutions have them on the first axis.
static bool dequantize_weights(model *m, test_random *random, const sizes *s, int weights,
                               bool is_first)
{
    preset p = {.optype = "dequantize", .has_plain_params = true};
    int axis = is_first ? 0 : m->tensors[weights].ndim - 1;
    snprintf(p.ins[0].arg_name, MODEL_NAME, "src");
    p.ins[0].tensor = weights;
    p.in_count = 1;
    p.params[0].arg_name = "axis";
    snprintf(p.params[0].value, sizeof p.params[0].value, "%d", axis < 0 ? 0 : axis);
    p.param_count = test_random_below(random, 100) < 75;
    return operator_add(m, random, s, &p, NULL);
}

// Dequantize, compute, quantize, and again. Weights are quantized too, mostly.
static bool make_quantized(model *m, test_random *random, sizes s)
{
    static const char *const between[] = {
        "conv",  "conv",      "linear", "matmul", "act",   "elew",    "pool",   "reshape",
        "slice", "transpose", "concat", "deconv", "prelu", "softmax", "reduce", "resize",
    };
    s.has_extremes = false;
    s.dtype = draw_quantized(random);
    int steps = 1 + (int)test_random_below(random, 3), q = -1;
    for (int i = 0; i < steps; i++) {
        if (!append_with(m, random, &s, "dequantize", "src", q))
            return i > 0;
        int x = last_made(m);
        const char *type = between[test_random_below(random, 16)];
        bool has_weights =
            strcmp(type, "conv") == 0 || strcmp(type, "linear") == 0 || strcmp(type, "matmul") == 0;
        s.dtype = TL_FLOAT;
        if (has_weights && test_random_below(random, 100) < 75) {
            // The operator says which shape its weights have; then they are made of quantized ones.
            const char *arg = strcmp(type, "matmul") == 0 ? "src2" : "weight";
            if (!append(m, random, &s, type, x))
                return i > 0;
            model_op product = m->ops[--m->op_count];
            int w = model_op_in(&product, arg);
            leaf l = {.dtype = draw_quantized(random), .fill = FILL_INTEGERS};
            l.ndim = m->tensors[w].ndim;
            memcpy(l.dims, m->tensors[w].dims, sizeof l.dims);
            l.low = fmax(tl_dtype_min_double(l.dtype), -128);
            l.high = fmin(tl_dtype_max_double(l.dtype), 255);
            int of = model_add_leaf(m, random, &l);
            if (of < 0 || !dequantize_weights(m, random, &s, of, strcmp(type, "conv") == 0))
                return false;
            for (int k = 0; k < product.in_count; k++)
                if (product.ins[k].tensor == w)
                    product.ins[k].tensor = last_made(m);
            m->ops[m->op_count++] = product;
            if (!model_check(m))
                return false;
        } else if (!append(m, random, &s, type, x))
            return i > 0;
        if (test_random_below(random, 100) < 45)
            (void)append(m, random, &s, "act", last_made(m));
        s.dtype = draw_quantized(random);
        if (test_random_below(random, 100) < 85 &&
            !append_with(m, random, &s, "quantize", "src", last_made(m)))
            return true;
        q = last_made(m);
        if (m->tensors[q].dtype == TL_FLOAT)
            return true;
    }
    return true;
}

// ---- Constants that depend on sizes ----

// One number, or one for each index of an axis, for each element of a shape.
static int expand(model *m, test_random *random, const model_tensor *like, int dims)
{
    leaf l = {.dtype = TL_FLOAT, .ndim = like->ndim, .low = -2, .high = 2};
    int axis = (int)test_random_below(random, (size_t)like->ndim + 1);
    for (int d = 0; d < like->ndim; d++)
        l.dims[d] = d == axis ? like->dims[d] : 1;
    const int one = model_add_leaf(m, random, &l);
    return sized_add(m, "Expand", (const char *const[]){"input", "shape"}, (int[]){one, dims}, 2,
                     "output");
}

// As many rows of a longer table as the axis has elements, as positions are embedded.
static int slice_of_table(model *m, test_random *random, const model_tensor *like, int dims)
{
    int axis = (int)test_random_below(random, (size_t)like->ndim), rows[TL_MAXDIM];
    leaf l = {.dtype = TL_FLOAT, .ndim = 1, .dims = {64}, .low = -2, .high = 2};
    const int table = model_add_leaf(m, random, &l);
    const int at = sized_numbers(m, random, &axis, 1),
              zero = sized_numbers(m, random, (int[]){0}, 1);
    const int size = sized_add(m, "Gather", (const char *const[]){"data", "indices"},
                               (int[]){dims, at}, 2, "output");
    const int part = sized_add(m, "Slice", (const char *const[]){"data", "starts", "ends", "axes"},
                               (int[]){table, zero, size, zero}, 4, "output");
    for (int d = 0; d < like->ndim; d++)
        rows[d] = d == axis ? -1 : 1;
    const int shape = sized_numbers(m, random, rows, like->ndim);
    return sized_add(m, "Reshape", (const char *const[]){"data", "shape"}, (int[]){part, shape}, 2,
                     "reshaped");
}

static int as_shape(model *m, int t, int shape)
{
    return sized_add(m, "Reshape", (const char *const[]){"data", "shape"}, (int[]){t, shape}, 2,
                     "reshaped");
}

static int sum_or_product(model *m, test_random *random, int a, int b)
{
    model_op *op = model_add_op(m, "elew");
    const bool is_first = test_random_below(random, 4) == 0;
    model_op_add_in(m, op, "src1", is_first ? b : a);
    model_op_add_in(m, op, "src2", is_first ? a : b);
    model_op_set_param(m, op, "elew_op", test_random_below(random, 3) ? "TL_SUM" : "TL_MUL");
    return model_op_add_out(m, op, "dst");
}

// A constant that is made for the shape `dims` meets `t`: as it is, or where one of the two or both
// are rows of all elements, which are views.
static int meet(model *m, test_random *random, int t, int made, int dims)
{
    const int all = sized_numbers(m, random, (int[]){-1}, 1);
    switch (test_random_below(random, 3)) {
    case 0: return sum_or_product(m, random, t, made);
    case 1: {
        const int row = as_shape(m, made, all);
        return sum_or_product(m, random, t, as_shape(m, row, dims));
    }
    default: {
        const int row = as_shape(m, t, all);
        const int sum = sum_or_product(m, random, row, as_shape(m, made, all));
        return as_shape(m, sum, dims);
    }
    }
}

// Something is computed, and a constant as long as the result is added or multiplied.
static bool make_of_sizes(model *m, test_random *random, sizes s)
{
    static const char *const before[] = {"conv",   "linear", "act",     "pool",  "matmul",
                                         "deconv", "elew",   "softmax", "resize"};
    s.dtype = TL_FLOAT;
    s.has_extremes = false;
    if (!append(m, random, &s, before[test_random_below(random, 9)], -1))
        return false;
    make_chain(m, random, &s, (int)test_random_below(random, 2));
    for (int i = 1 + (int)test_random_below(random, 2); i > 0; i--) {
        const int t = last_made(m);
        const model_tensor like = m->tensors[t];
        if (like.dtype != TL_FLOAT || like.ndim < 1)
            return false;
        const int dims =
            sized_add(m, "Shape", (const char *const[]){"data"}, (int[]){t}, 1, "shape");
        if (test_random_below(random, 3))
            (void)meet(m, random, t, expand(m, random, &like, dims), dims);
        else
            (void)sum_or_product(m, random, t, slice_of_table(m, random, &like, dims));
        if (m->is_overflown || !model_check(m))
            return false;
        if (test_random_below(random, 2))
            (void)append(m, random, &s, before[test_random_below(random, 9)], last_made(m));
    }
    snprintf(m->origin, sizeof m->origin, "constants of sizes");
    return true;
}

// ---- Examples of rules, changed ----

static char **examples; // those of rules into the core, from ONNX and TensorFlow Lite, come last
static size_t example_count, general_count;

static bool is_of_core(const char *name)
{
    static const char *const prefixes[] = {"onnx_", "ms_", "ml_", "tfl_"};
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

static int compare_examples(const void *a, const void *b)
{
    const char *x = *(char *const *)a, *y = *(char *const *)b;
    return is_of_core(x) != is_of_core(y) ? is_of_core(x) - is_of_core(y) : strcmp(x, y);
}

static void read_examples(void)
{
    DIR *folder = opendir(LN_SOURCE_DIR "/tests/il/rules");
    const struct dirent *entry;
    examples = calloc(2048, sizeof *examples);
    while (folder && examples && (entry = readdir(folder)) && example_count < 2048)
        if (strstr(entry->d_name, ".net"))
            examples[example_count++] = strdup(entry->d_name);
    if (folder)
        closedir(folder);
    // The order of a folder is the file system's.
    if (examples)
        qsort(examples, example_count, sizeof *examples, compare_examples);
    while (general_count < example_count && !is_of_core(examples[general_count]))
        general_count++;
}

// Random numbers in all leaves that have none of their own, and sizes for dynamic dimensions.
static void fill_example(model *m, test_random *random)
{
    for (int i = 0; i < m->op_count; i++) {
        model_op *op = &m->ops[i];
        const char *dims = model_op_param(m, op, "dims"), *dtype = model_op_param(m, op, "dtype");
        const char *ran = model_op_param(m, op, "ran"), *data = model_op_param(m, op, "data");
        if (op->out_count != 1 || !m->tensors[op->outs[0].tensor].is_leaf || !dims || !dtype)
            continue;
        leaf l = {.dtype = tl_dtype_from_str(dtype), .low = -2, .high = 2};
        l.is_input = strcmp(op->optype, "input") == 0;
        for (const char *at = dims; *at && l.ndim < MODEL_RANK; at++)
            if ((*at >= '0' && *at <= '9') || *at == '-') {
                char *end;
                long dim = strtol(at, &end, 10);
                l.dims[l.ndim++] = dim < 0 ? 3 : (int)dim;
                at = end - 1;
            }
        double low, high;
        bool has_range = ran && sscanf(ran, "[%lf , %lf", &low, &high) == 2 && low < high;
        if (has_range)
            l.low = low, l.high = high;
        if (l.dtype != TL_FLOAT && l.dtype != TL_DOUBLE)
            l.fill = FILL_INTEGERS, l.low = has_range ? low : 0, l.high = has_range ? high : 2;
        model_op_drop_param(op, "names");
        if (has_range || !data)
            model_fill_leaf(m, op, random, &l);
    }
}

static void change_param(model *m, test_random *random)
{
    model_op *op = &m->ops[test_random_below(random, (size_t)m->op_count)];
    const ln_op_info *info = operator_info(op->optype);
    int count = 0;
    char value[200];
    while (info && info->params && info->params[count].arg_name)
        count++;
    if (count == 0 || m->tensors[op->outs[0].tensor].is_leaf)
        return;
    int param = (int)test_random_below(random, (size_t)count);
    if (operator_draw_param(random, m, op, info, param, value, sizeof value))
        model_op_set_param(m, op, info->params[param].arg_name, value);
    else
        model_op_drop_param(op, info->params[param].arg_name);
}

// An operand is another tensor of that type and shape, or two change places.
static void change_operand(model *m, test_random *random)
{
    int at = (int)test_random_below(random, (size_t)m->op_count);
    model_op *op = &m->ops[at];
    if (op->in_count == 0)
        return;
    model_arg *in = &op->ins[test_random_below(random, (size_t)op->in_count)];
    if (op->in_count > 1 && test_random_below(random, 3) == 0) {
        int t = op->ins[0].tensor;
        op->ins[0].tensor = op->ins[1].tensor;
        op->ins[1].tensor = t;
        return;
    }
    int other = (int)test_random_below(random, (size_t)m->tensor_count);
    const model_tensor *x = &m->tensors[in->tensor], *y = &m->tensors[other];
    if (model_maker(m, other) < at && x->dtype == y->dtype && x->ndim == y->ndim)
        in->tensor = other;
}

// A constant or an input of as many elements in another shape: a row becomes a column, or gets axes
// of length 1.
static void change_shape(model *m, test_random *random)
{
    model_op *op = NULL;
    for (int i = 0, found = 0; i < m->op_count; i++)
        if (m->tensors[m->ops[i].outs[0].tensor].is_leaf && m->ops[i].out_count == 1 &&
            test_random_below(random, (size_t)++found) == 0)
            op = &m->ops[i];
    const model_tensor *t = op ? &m->tensors[op->outs[0].tensor] : NULL;
    if (!t || !model_op_param(m, op, "dims") || t->ndim > 3)
        return;
    int dims[4], count = 0;
    const int at = (int)test_random_below(random, (size_t)t->ndim + 1);
    const bool is_flat = test_random_below(random, 3) == 0;
    for (int d = 0; d <= t->ndim; d++) {
        if (d == at && !is_flat)
            dims[count++] = 1;
        if (d < t->ndim && is_flat && count > 0)
            dims[0] *= t->dims[d];
        else if (d < t->ndim)
            dims[count++] = t->dims[d];
    }
    char text[80] = "[";
    for (int d = 0; d < count; d++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%d", d ? ", " : "", dims[d]);
    strcat(text, "]");
    model_op_set_param(m, op, "dims", text);
}

// An activation between two operators.
static void insert_act(model *m, test_random *random, const sizes *s)
{
    int t = draw_tensor(m, random);
    int reader_count = m->op_count;
    if (t < 0 || !append(m, random, s, "act", t))
        return;
    model_op act = m->ops[m->op_count - 1];
    int at = model_maker(m, t) + 1, made = act.outs[0].tensor;
    memmove(&m->ops[at + 1], &m->ops[at], (size_t)(m->op_count - at - 1) * sizeof m->ops[0]);
    m->ops[at] = act;
    for (int i = at + 1; i <= reader_count; i++)
        for (int k = 0; k < m->ops[i].in_count; k++)
            if (m->ops[i].ins[k].tensor == t)
                m->ops[i].ins[k].tensor = made;
}

// One change, if the model is one then.
static void vary(model *m, test_random *random, const sizes *s)
{
    static model kept;
    kept = *m;
    switch (test_random_below(random, 13)) {
    case 0:
    case 12: change_param(m, random); break;
    case 1: change_operand(m, random); break;
    case 2: insert_act(m, random, s); break;
    case 3:
    case 4: change_shape(m, random); break;
    case 5: change_axes(m, random); break;
    case 6:
    case 7:
    case 8: change_number(m, random); break;
    case 9: change_numbers(m, random); break;
    case 10: add_axis(m, random); break;
    default: make_chain(m, random, s, 1); break;
    }
    if (m->is_overflown || !model_check(m))
        *m = kept;
}

// Examples take turns, three of four times one of the rules that optimize.
static const char *example_at(uint64_t number)
{
    if (options.name)
        return examples[number % example_count];
    const size_t others = example_count - general_count;
    return number % 4 || others == 0 ? examples[(number - number / 4 - 1) % general_count]
                                     : examples[general_count + (size_t)(number / 4) % others];
}

static bool make_from_example(model *m, test_random *random, const sizes *s, uint64_t number)
{
    static char text[1 << 16], path[1024];
    static model kept;
    if (general_count == 0)
        return false;
    const char *name = example_at(options.seed + number);
    if (options.name && strncmp(name, options.name, strlen(options.name)) != 0)
        return false;
    snprintf(path, sizeof path, "%s/tests/il/rules/%s", LN_SOURCE_DIR, name);
    FILE *file = fopen(path, "r");
    size_t len = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[len] = '\0';
    if (strstr(text, "random") || strstr(text, "Random") || !model_parse(m, text))
        return false;
    if (!model_check(m)) // which says the shapes
        return false;
    kept = *m;
    for (int i = (int)test_random_below(random, 6); i > 0; i--) {
        if (test_random_below(random, 2))
            change_row(m, random);
        else
            change_sizes(m, random);
        if (m->is_overflown || !model_check(m))
            *m = kept; // as it was, then
        kept = *m;
    }
    fill_example(m, random);
    snprintf(m->origin, sizeof m->origin, "example %.100s", name);
    m->is_varied = true;
    if (!model_check(m))
        return false;
    for (int i = (int)test_random_below(random, 4); i > 0; i--)
        vary(m, random, s);
    return true;
}

// ---- All kinds ----

// Rules take turns, so that each has its share of the models.
static bool make_pattern(model *m, test_random *random, sizes s, uint64_t number)
{
    size_t rule = options.rule >= 0 ? (size_t)options.rule : pattern_turn(options.seed + number);
    if (options.name && strncmp(pattern_name(rule), options.name, strlen(options.name)) != 0)
        return false;
    bool is_made = false;
    for (int i = 0; i < 6 && !is_made; i++) {
        model_clear(m);
        if (chance(random, 20)) // what is said of an axis shows where others are as long
            s.n = s.k = s.h = s.w = s.c;
        is_made = pattern_make(m, random, &s, rule);
        s = sizes_draw(random);
    }
    if (!is_made)
        return false;
    shared->rule_made[rule < MAX_RULES ? rule : 0]++;
    m->is_varied = true;
    if (test_random_below(random, 3) == 0) // what follows may change what fires
        make_chain(m, random, &s, 1 + (int)test_random_below(random, 2));
    return true;
}

static bool make_form(model *m, test_random *random, sizes s, size_t form)
{
    for (int i = 0; i < 12; i++) {
        model_clear(m);
        s.has_extremes = false;
        if (form_append(m, random, &s, form, -1, TL_DTYPE_INVALID)) {
            snprintf(m->origin, sizeof m->origin, "form %.100s", form_name(form));
            return true;
        }
        s = sizes_draw(random);
        s.dtype = TL_FLOAT;
    }
    return false;
}

static bool make_pair(model *m, test_random *random, sizes s, size_t first, size_t second)
{
    for (int i = 0; i < 4; i++) {
        if (!make_form(m, random, s, first))
            return false;
        if (form_append(m, random, &s, second, last_made(m), TL_DTYPE_INVALID)) {
            snprintf(m->origin, sizeof m->origin, "forms %.50s,", form_name(first));
            size_t used = strlen(m->origin);
            snprintf(m->origin + used, sizeof m->origin - used, " %.50s", form_name(second));
            return true;
        }
        s = sizes_draw(random);
    }
    return false;
}

// Forms take turns; a form that the drawn sizes do not have is tried with others.
static bool make_sized(model *m, test_random *random, sizes s, uint64_t number)
{
    for (int i = 0; i < 6; i++) {
        model_clear(m);
        const uint64_t form = options.rule >= 0 ? (uint64_t)options.rule : options.seed + number;
        if (sized_make(m, random, &s, (size_t)(form % sized_count())))
            return true;
        s = sizes_draw(random);
    }
    return false;
}

static bool make_directed(model *m, test_random *random, sizes s, uint64_t number)
{
    for (int i = 0; i < 6; i++) {
        model_clear(m);
        const size_t form =
            options.rule >= 0 ? (size_t)options.rule : directed_turn(options.seed + number);
        if (directed_make(m, random, &s, form % directed_count()))
            return true;
        s = sizes_draw(random);
    }
    return false;
}

static const char *draw_kind(test_random *random)
{
    static const char *const kinds[] = {
        "chain",   "rule",    "rule", "rule",     "quant",    "sizes",    "example",  "example",
        "example", "example", "pair", "directed", "directed", "directed", "directed", "sized"};
    return kinds[test_random_below(random, sizeof kinds / sizeof kinds[0])];
}

static bool make_model(model *m, test_random *random, uint64_t number)
{
    sizes s = sizes_draw(random);
    const char *kind = options.kind ? options.kind : draw_kind(random);
    size_t count = form_count();
    if (strcmp(kind, "rule") == 0)
        return make_pattern(m, random, s, number);
    if (strcmp(kind, "quant") == 0) {
        snprintf(m->origin, sizeof m->origin, "a quantized chain");
        return make_quantized(m, random, s);
    }
    // Of forms that are directed at faults, every third one depends on sizes.
    if (strcmp(kind, "sized") == 0 ||
        (strcmp(kind, "directed") == 0 && number % 3 == 0 && options.rule < 0))
        return make_sized(m, random, s, number / 3);
    if (strcmp(kind, "directed") == 0)
        return make_directed(m, random, s, number - number / 3);
    if (strcmp(kind, "sizes") == 0)
        return make_of_sizes(m, random, s);
    if (strcmp(kind, "example") == 0)
        return make_from_example(m, random, &s, number);
    if (strcmp(kind, "forms") == 0)
        return make_form(m, random, s, number % count);
    if (strcmp(kind, "pairs") == 0)
        return make_pair(m, random, s, number / count % count, number % count);
    if (strcmp(kind, "pair") == 0)
        return make_pair(m, random, s, test_random_below(random, count),
                         test_random_below(random, count));
    make_chain(m, random, &s, 1 + (int)test_random_below(random, 7));
    return m->op_count > 1;
}

// NUMBER.net, and beside it NUMBER.json with what goes in and comes out.
static void export_model(const model *m, long number)
{
    char path[500];
    char *text = model_write(m);
    const side_result *read;
    as_read *a = text ? as_read_create(text, &read) : NULL;
    const bool is_run = a && read->status == LN_OK && read->output_count > 0;
    snprintf(path, sizeof path, "%s/%ld.json", options.export_to, number);
    bool is_exported = is_run && as_read_export(a, path);
    if (is_exported) {
        snprintf(path, sizeof path, "%s/%ld.net", options.export_to, number);
        FILE *file = fopen(path, "w");
        is_exported = file && fputs(text, file) >= 0;
        is_exported = (!file || fclose(file) == 0) && is_exported;
    }
    shared->ran += is_exported;
    shared->refused += !is_exported;
    as_read_destroy(a);
    free(text);
}

// Models that differ from one that fires a rule in a number, an axis, a shape or an operand, which
// a condition of the rule may be about. They cost a fraction of what all sides do.
static void run_variants(const model *m, long number, uint64_t seed)
{
    static model variant;
    test_random random = {.state = seed};
    sizes s = sizes_draw(&random);
    for (int i = 0; i < VARIANTS && !shared->is_done; i++) {
        variant = *m;
        for (int k = PICK(&random, 1, 1, 1, 2, 3); k > 0; k--)
            vary(&variant, &random, &s);
        verdict v;
        run_on_ref(&variant, &v);
        shared->variants += v.is_run;
        if (v.is_failed) {
            report(&variant, seed, number, &v);
            return;
        }
    }
}

static bool is_of_forms(void)
{
    return options.kind && strcmp(options.kind, "forms") == 0;
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
    if (options.export_to) {
        export_model(m, number);
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
    if (v.is_run && !v.is_failed && m->is_varied)
        run_variants(m, number, seed);
    if (v.is_run && is_of_forms())
        shared->form_made[(size_t)number % form_count() % MAX_FORMS]++;
    if (v.is_failed)
        report(m, seed, number, &v);
}

// ---- Processes ----

static void drop_message(const ln_msg *msg, void *user)
{
    (void)msg;
    (void)user;
}

#define FORM_TRIES      3
#define MOST_FORM_TRIES 12

// Chance does not make each form in so many tries; those that no model has had yet have more.
static bool is_form_done(long number)
{
    const size_t form = (size_t)number % form_count();
    return is_of_forms() && options.only < 0 && number >= FORM_TRIES * (long)form_count() &&
           (shared->form_made[form % MAX_FORMS] > 0 || form_hole(form));
}

static void child(long first, double end)
{
    model *m = model_create();
    if (!m || ln_arch_init() != LN_OK || !patterns_open() || !forms_open())
        _exit(2);
    read_examples();
    if (is_of_forms() && options.only < 0)
        options.models = MOST_FORM_TRIES * (long)form_count();
    if (options.kind && strcmp(options.kind, "pairs") == 0 && options.only < 0)
        options.models = (long)form_count() * (long)form_count();
    for (long i = first; i == first || (options.seconds > 0 ? now() < end : i < options.models);
         i++) {
        if ((options.only < 0 && i % options.slice_count != options.slice) || is_form_done(i))
            continue;
        shared->model = i;
        alarm(120);
        run_model(m, i);
        if (options.only >= 0 || shared->is_done)
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
        shared->is_done = options.stops_at_first;
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

// Whether the model of a file agrees on all sides; says so.
static bool run_file(const char *path)
{
    static char text[1 << 18];
    FILE *file = fopen(path, "r");
    size_t len = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[len] = '\0';
    model *m = model_create();
    verdict v = {.is_run = false};
    if (!m || !model_parse(m, text) || !model_check(m))
        printf("%s: no model: %s\n", path, ln_error_message());
    else {
        run_all(m, 1, &v);
        printf("%s: %s%s%s\n", path,
               v.is_failed ? v.side
               : v.is_run  ? "agrees"
                           : "does not run",
               v.is_failed ? ": " : "", v.message);
    }
    if (v.is_failed)
        printf("  rules: %s\n", v.rules);
    model_destroy(m);
    return v.is_run && !v.is_failed;
}

static int run_files(void)
{
    if (ln_arch_init() != LN_OK || !patterns_open())
        return 2;
    options.is_long = true;
    int failed = 0, count = 0;
    DIR *folder = options.runs_found ? opendir(LN_SOURCE_DIR "/tests/differential/found") : NULL;
    const struct dirent *entry;
    while (folder && (entry = readdir(folder))) {
        char path[1024];
        snprintf(path, sizeof path, "%s/tests/differential/found/%s", LN_SOURCE_DIR, entry->d_name);
        if (strstr(entry->d_name, ".net")) {
            failed += !run_file(path);
            count++;
        }
    }
    if (folder)
        closedir(folder);
    if (options.file)
        failed += !run_file(options.file);
    else
        printf("%d models, %d failed\n", count, failed);
    patterns_close();
    ln_arch_cleanup();
    return failed || (options.runs_found && count == 0);
}

int main(int argc, char **argv)
{
    if (!parse_options(argc, argv)) {
        fprintf(
            stderr,
            "usage: %s [--seed=N] [--seconds=S | --models=N] [--only=N] [--kind=KIND] "
            "[--rule=N] [--name=PREFIX] [--side=WORD] [--slice=K/N] [--file=PATH | --found] [--write=FOLDER] "
            "[--export=FOLDER] [--long] [--first] [--verbose] [--no-reduce]\n",
            argv[0]);
        return 2;
    }
    ln_msg_set_handler(drop_message, NULL);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return 2;
    if (options.file || options.runs_found)
        return run_files();
    printf("seed: %llu\n", (unsigned long long)options.seed);
    supervise();
    if (options.only < 0) {
        printf("%ld models: %ld ran, %ld are refused as read, %ld were not made; %ld differences, "
               "%ld known\n",
               shared->made, shared->ran, shared->refused, shared->not_made, shared->failed,
               shared->known);
        printf("%ld variants, %ld runs of dynamic models for a shape, %ld of models that were "
               "compiled for a range\n",
               shared->variants, shared->dynamic_runs, shared->range_runs);
        if (ln_arch_init() != LN_OK || !patterns_open() || !forms_open())
            return 2;
        int missing = 0;
        for (size_t i = 0; is_of_forms() && i < form_count(); i++)
            if (shared->form_made[i] == 0 && !form_hole(i)) {
                printf("  no model has the form %s\n", form_name(i));
                missing++;
            }
        shared->failed += missing;
        size_t never = 0, none = 0;
        for (size_t i = 0; i < pattern_count() && i < MAX_RULES; i++) {
            never += shared->rule_hits[i] == 0;
            none += shared->rule_made[i] == 0;
            if (options.is_verbose || (options.is_long && shared->rule_hits[i] == 0))
                printf("  rule %zu %s: made %ld times, fired in %ld models\n", i, pattern_name(i),
                       shared->rule_made[i], shared->rule_hits[i]);
        }
        for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
            if (shared->known_hits[i] || options.is_long)
                printf("  known, %ld models: %s: %s %s: %s\n", shared->known_hits[i],
                       known[i].side[0] ? known[i].side : "any side", known[i].rule, known[i].word,
                       known[i].reason);
        printf("of %zu rules %zu never fired, %zu never made\n", pattern_count(), never, none);
        patterns_close();
    }
    return shared->failed ? 1 : 0;
}
