// SPDX-License-Identifier: Apache-2.0
// `lightnet compare`: a model as it was read and as it is compiled, or compiled for two archs,
// tensor by tensor.

#include <string.h>

#include "cli.h"
#include "compare.h"
#include "compare_json.h"
#include "compile_flags.h"
#include "device_option.h"
#include "file_bytes.h"
#include "json_out.h"
#include "model_io.h"
#include "plugin_option.h"
#include "threads_option.h"
#include "trial.h"
#include "units.h"

typedef struct compare_options {
    const char *model;
    const char *a; // NULL: the model as it was read
    const char *b;
    option_texts shapes;
    trial_source source;
    tolerance allowed;
    int shows_all;
    const char *json;    // NULL: none; "-": standard output, in place of the text
    compile_flags flags; // of what is compiled for a target
} compare_options;

static const verb_option takes[] = {
    TAKES(A, compare_options, a),
    TAKES(B, compare_options, b),
    NOTE(DATAFILE, compare_options, source.datafile, "(default: the model's own, or random ones)"),
    NOTE(INPUT, compare_options, source.inputs, "; other inputs are random"),
    TAKES(SHAPE, compare_options, shapes),
    NOTE(SEED, compare_options, source.seed, "(default 1)"),
    TAKES(RTOL, compare_options, allowed.rtol),
    TAKES(ATOL, compare_options, allowed.atol),
    TAKES(ALL, compare_options, shows_all),
    TAKES(JSON, compare_options, json),
    CALLS(THREADS, compare_options, model, take_threads),
    INPUT_OPTIONS(compare_options, source.files),
    COMPILE_FLAGS(compare_options, flags),
    TAKES_PLUGIN,
    TAKES_DEVICE,
    TAKES_HELP,
    END_OF_OPTIONS,
};

const verb_usage compare_usage = {
    .name = "compare",
    .synopsis = "[OPTION...] MODEL",
    .about =
        "Runs MODEL as it was read, on ref and without rules, and as it is compiled for -b, or "
        "compiled for -a and for -b, with the same data, and compares every tensor that both "
        "compute, in the order of execution: the first operator whose result deviates, and "
        "the largest deviation, in absolute and relative terms and in units of the last place "
        "(ulp).",
    .trailer = "Exit status: 0 they agree, 1 a tensor deviates, or the model or a file is wrong, 2 "
               "the command line is wrong.",
    .options = takes,
};

// ---- Words ----

static void print_deviation(const char *what, const deviation *d, ln_context *expected)
{
    char words[512];
    const ln_tensor_entry *entry = ln_tensor_table_find(expected->tensor_table, d->tensor);
    describe_deviation(d, entry ? entry->tensor : NULL, words, sizeof words);
    printf("%s tensor '", what);
    put_printable(d->tensor, stdout);
    printf("' of operator '");
    put_printable(d->op, stdout);
    printf("' (%s)", printable(d->optype));
    if (*d->group) {
        printf(" in the group of '");
        put_printable(d->group, stdout);
        putchar('\'');
    }
    printf(": %s\n", words);
}

static void print_each(void *user, const deviation *d)
{
    ln_context *expected = user;
    if (d->excess > 0) {
        print_deviation(d->excess > 1 ? "WRONG" : "near ", d, expected);
        return;
    }
    printf("same  tensor '");
    put_printable(d->tensor, stdout);
    printf("' of operator '");
    put_printable(d->op, stdout);
    printf("' (%s)\n", printable(d->optype));
}

// What finds the rule or kernel, on the same data.
static void print_next(const compare_options *o)
{
    static const option_id own[] = {OPT_A, OPT_B, OPT_ALL, OPT_JSON};
    printf("what makes it so: lightnet blame -t %s", o->b);
    options_print_given(stdout, &blame_usage, own, sizeof own / sizeof own[0]);
    putchar(' ');
    print_word(stdout, o->model);
    putchar('\n');
}

static void print_units(const unit_list *units, ln_context *expected)
{
    if (units->count == 0)
        return;
    printf("within 1 unit, as roundings may be: %zu tensor%s of quantized bytes, from which what "
           "follows them is judged\n",
           units->count, units->count == 1 ? "" : "s");
    print_deviation("   first:", &units->items[0], expected);
}

static void print_comparison(const compare_options *o, const comparison *c, const unit_list *units,
                             ln_context *expected)
{
    const char *a = o->a ? o->a : "the model as it was read";
    printf("%s against %s: %zu tensors compared, %zu deviate\n", o->b, a, c->tensor_count,
           c->wrong_count);
    print_units(units, expected);
    if (c->wrong_count > 0)
        print_deviation("first:  ", &c->first, expected);
    if (c->tensor_count > 0 && c->worst.excess > 0)
        print_deviation("largest:", &c->worst, expected);
    else if (c->wrong_count == 0 && units->count == 0)
        printf("%s and %s give the same\n", a, o->b);
    if (c->wrong_count > 0 && !o->a)
        print_next(o);
}

// ---- JSON ----

static void put_tensor(json_out *j, const char *key, const deviation *d, ln_context *expected)
{
    const ln_tensor_entry *entry = ln_tensor_table_find(expected->tensor_table, d->tensor);
    json_open(j, key, '{');
    json_text(j, "tensor", d->tensor);
    json_text(j, "operator", d->op);
    json_text(j, "type", d->optype);
    json_text(j, "group", *d->group ? d->group : NULL);
    put_deviation(j, d, entry ? entry->tensor : NULL, d->excess > 1);
    json_close(j, '}');
}

static void put_comparison(json_out *j, const compare_options *o, const comparison *c,
                           const unit_list *units, ln_context *expected)
{
    json_text(j, "model", o->model);
    json_text(j, "a", o->a);
    json_text(j, "b", o->b);
    json_bool(j, "agree", c->wrong_count == 0);
    json_size(j, "compared", c->tensor_count);
    json_size(j, "deviating", c->wrong_count);
    json_size(j, "within_a_unit", units->count);
    if (c->wrong_count > 0)
        put_tensor(j, "first", &c->first, expected);
    else
        json_null(j, "first");
    if (c->tensor_count > 0 && c->worst.excess > 0)
        put_tensor(j, "largest", &c->worst, expected);
    else
        json_null(j, "largest");
}

// What is told of each tensor with --all.
typedef struct listing {
    const compare_options *o;
    json_out *json;
    ln_context *expected;
    const unit_list *units;
} listing;

static int has_json_only(const compare_options *o)
{
    return o->json && strcmp(o->json, "-") == 0;
}

static void list_tensor(void *user, const deviation *d)
{
    const listing *l = user;
    const deviation *unit = unit_list_find(l->units, d->tensor);
    const deviation *told = unit ? unit : d;
    if (!has_json_only(l->o))
        print_each(l->expected, told);
    if (l->o->json)
        put_tensor(l->json, NULL, told, l->expected);
}

// ---- Comparing ----

static ln_status compare_runs(const compare_options *o, ln_context *a, ln_context *b,
                              const unit_list *units, comparison *c)
{
    json_out j = {0};
    if (o->json)
        LN_TRY(json_begin(&j));
    listing l = {.o = o, .json = &j, .expected = a, .units = units};
    if (o->json && o->shows_all)
        json_open(&j, "tensors", '[');
    ln_status status = compare_models(
        b, a, &o->allowed,
        &(compare_scope){.on_tensor = o->shows_all ? list_tensor : NULL, .user = &l}, c);
    if (o->json && o->shows_all)
        json_close(&j, ']');
    if (status == LN_OK && !has_json_only(o))
        print_comparison(o, c, units, a);
    if (status == LN_OK && o->json) {
        put_comparison(&j, o, c, units, a);
        status = json_finish(&j, o->json);
    }
    json_discard(&j);
    return status;
}

// With a reference that reads the bytes of `b` where they are within a unit, if there are such
// bytes: the model as read, run anew, or `a`.
static ln_status compare_by_units(const compare_options *o, const ln_context *model,
                                  const trial_data *data, const rounding_list *rounded,
                                  ln_context *a, ln_context *b, comparison *c)
{
    ln_context *along = NULL;
    unit_list units = {0};
    ln_status status = LN_OK;
    if (goes_by_type(&o->allowed))
        status = o->a ? units_follow(a, b, rounded, &units)
                      : units_reference(model, data, b, rounded, &along, &units);
    if (status == LN_OK)
        status = compare_runs(o, along ? along : a, b, &units, c);
    unit_list_release(&units);
    close_model(along);
    return status;
}

// Whoever is told of firings as well.
typedef struct rounding_listener {
    rounding_list rounded;
    void (*on_firing)(void *user, const ln_firing *firing);
    void *user;
} rounding_listener;

static void note_rounding(void *user, const ln_firing *firing)
{
    rounding_listener *l = user;
    rounding_list_note(&l->rounded, firing);
    if (l->on_firing)
        l->on_firing(l->user, firing);
}

static ln_status run_both(compare_options *o, ln_context *model, const trial_data *data,
                          int *out_code)
{
    ln_optimize_options options = *compile_flags_options(&o->flags);
    options.keeps_tensors = 1;
    ln_context *a, *b = NULL;
    rounding_listener l = {.on_firing = options.on_firing, .user = options.user};
    options.on_firing = note_rounding; // of both
    options.user = &l;
    comparison c;
    ln_status status = o->a ? trial_run(model, o->a, &options, data, 1, NULL, &a)
                            : trial_reference(model, data, &a);
    if (status == LN_OK)
        status = trial_run(model, o->b, &options, data, 1, NULL, &b);
    if (status == LN_OK)
        status = compare_by_units(o, model, data, &l.rounded, a, b, &c);
    if (status == LN_OK)
        *out_code = c.wrong_count ? EXIT_FAILED : EXIT_OK;
    rounding_list_release(&l.rounded);
    close_model(a);
    close_model(b);
    return status;
}

static ln_status compare(compare_options *o, ln_context *model, int *out_code)
{
    if (ln_context_get_state(model) != LN_CONTEXT_READY)
        return LN_FAIL(LN_STATE, "%s is compiled already; compare the model it came from",
                       o->model);
    LN_TRY(given_inputs_override(model, o->source.inputs.items, (size_t)o->source.inputs.count));
    LN_TRY(model_set_shapes(model, &o->shapes));
    trial_data *data;
    LN_TRY(trial_data_create(model, &o->source, &data));
    ln_status status = trial_bind_shapes(model, data);
    if (status == LN_OK)
        status = run_both(o, model, data, out_code);
    trial_data_destroy(data);
    return status;
}

int cmd_compare(int argc, char **argv)
{
    static compare_options o;
    o = (compare_options){.b = "cpu", .source = {.seed = 1}, .allowed = TOLERANCE_DEFAULT};
    compile_flags_init(&o.flags);
    int code = options_parse_one(&compare_usage, "model", argc, argv, &o, &o.model);
    if (code != EXIT_OK)
        return code == -1 ? EXIT_OK : code;
    if (o.flags.options.stays_as_read)
        return say_usage_error("compare",
                               "--rules=none is what -b is compared with already; leave it out");
    if ((o.a && strcmp(o.a, "none") == 0) || strcmp(o.b, "none") == 0)
        return say_usage_error("compare",
                               "nothing runs on 'none'; -a and -b take archs such as cpu");
    tolerance_take_zeros(&o.allowed);
    if (file_check_writable(o.json) != LN_OK)
        return say_failure();
    ln_context *model = open_model(o.model);
    if (!model)
        return EXIT_FAILED;
    if (compare(&o, model, &code) != LN_OK)
        code = say_failure();
    close_model(model);
    return code;
}
