// SPDX-License-Identifier: Apache-2.0
// `lightnet blame`: which rule or kernel makes a model compute something else than it should.

#include <stdlib.h>
#include <string.h>

#include "blame_reduce.h"
#include "blame_search.h"
#include "cli.h"
#include "compile_flags.h"
#include "device_option.h"
#include "model_io.h"
#include "plugin_option.h"
#include "progress.h"
#include "threads_option.h"

enum { EXIT_BLAMED = 1, EXIT_NO_ANSWER = 3 };

typedef struct blame_options {
    const char *model;
    const char *target;
    const char *outfile;
    option_texts shapes;
    trial_source source;
    tolerance allowed;
    int outputs_only;
    int is_first_only;
    compile_flags flags;
} blame_options;

static const verb_option takes[] = {
    TAKES(TARGET, blame_options, target),
    NOTE(DATAFILE, blame_options, source.datafile, "(default: random ones)"),
    NOTE(INPUT, blame_options, source.inputs, "; other inputs are random"),
    TAKES(SHAPE, blame_options, shapes),
    NOTE(SEED, blame_options, source.seed, "(default 1)"),
    TAKES(SPECIAL, blame_options, source.has_specials),
    TAKES(RTOL, blame_options, allowed.rtol),
    TAKES(ATOL, blame_options, allowed.atol),
    TAKES(OUTPUTS, blame_options, outputs_only),
    TAKES(FIRST, blame_options, is_first_only),
    NOTE(
        OUTFILE, blame_options, outfile,
        "a reproducer: IL of at most 25 lines where possible; that of another rule to FILE with .2 "
        "before its ending, and so on"),
    CALLS(THREADS, blame_options, model, take_threads),
    INPUT_OPTIONS(blame_options, source.files),
    COMPILE_FLAGS(blame_options, flags),
    TAKES_PLUGIN,
    TAKES_DEVICE,
    TAKES_HELP,
    END_OF_OPTIONS,
};

const verb_usage blame_usage = {
    .name = "blame",
    .synopsis = "[OPTION...] MODEL",
    .about =
        "Runs MODEL twice on the same data: as it was read, on arch ref and without rules, and "
        "compiled for the target. If the results differ by more than is allowed, "
        "finds the rewrites (rules and lowerings to a kernel) that make the difference, the "
        "tensor that is wrong first, and with -o writes a small model that shows it.",
    .trailer = "Exit status: 0 the results agree, 1 something is to blame, 2 the command line is "
               "wrong, 3 there is no answer, because the model or a file is wrong, or --timeout is "
               "over: it holds for the whole search.",
    .options = takes,
};

// ---- Words ----

static const tl_tensor *tensor_of(const suspect *s, const char *name)
{
    const ln_tensor_entry *entry = ln_tensor_table_find(s->reference->tensor_table, name);
    return entry ? entry->tensor : NULL;
}

static void print_deviation(const suspect *s, const char *title, const deviation *d)
{
    char words[512];
    describe_deviation(d, tensor_of(s, d->tensor), words, sizeof words);
    printf("%s: tensor '%s' of '%s' (%s)", title, printable(d->tensor), printable(d->op),
           printable(d->optype));
    if (*d->group)
        printf(" in the group of '%s'", printable(d->group));
    printf(": %s\n", words);
}

static void print_verdicts(const suspect *s, const culprit *c)
{
    const comparison *all = &c->with_all.compared;
    if (c->with.status != LN_OK) {
        printf("   it fails: %s\n", printable(c->with.message));
        return;
    }
    print_deviation(s, "   first wrong", &c->with.compared.first);
    printf("   in all, %zu of %zu tensors are wrong%s\n", all->wrong_count, all->tensor_count,
           all->has_wrong_output ? "" : "; the model's outputs are right all the same");
}

static void print_firing(const ln_firing *f)
{
    printf("firing %zu: ", f->number);
    if (f->is_lowering)
        printf("the lowering to %s", f->rule);
    else if (f->file)
        printf("rule %s", f->rule);
    else
        printf("%s", f->rule);
    if (f->tag && !f->is_lowering)
        printf(" [%s]", f->tag);
    if (f->file)
        printf(" (%s:%d)", f->file, f->line);
    printf(" at '%s' (%s)", printable(f->op), printable(f->optype));
    if (f->graph)
        printf(" in graph '%s'", printable(f->graph));
    printf(", pass %s\n", f->pass);
}

static void print_culprit(const suspect *s, const findings *found, size_t index)
{
    const culprit *c = &found->culprits[index];
    printf("%zu. ", index + 1);
    print_firing(&c->firing);
    if (c->same_rule < index)
        printf("   the same rule as in %zu.\n", c->same_rule + 1);
    printf("   with the firings up to it the model is wrong, with those before it right\n");
    if (c->is_of_algorithm)
        printf("   with algorithm=direct it is right: the kernel of %s in '%s' (%s) is wrong\n",
               c->with.algorithm, printable(c->with.convolution), printable(c->with.conv_type));
    print_verdicts(s, c);
    if (c->together_count > 0)
        printf("   %zu other firing%s of the rule left out with it\n", c->together_count,
               c->together_count == 1 ? "" : "s");
}

// "3,7-9" of the firings that are left out.
static void print_skips(const fired_list *fired)
{
    const char *comma = "";
    for (size_t i = 0; i < fired->count; i++) {
        if (!fired->items[i].is_skipped)
            continue;
        size_t first = fired->items[i].number, last = first;
        while (i + 1 < fired->count && fired->items[i + 1].is_skipped &&
               fired->items[i + 1].number == last + 1) {
            last++;
            i++;
        }
        printf(last > first ? "%s%zu-%zu" : "%s%zu", comma, first, last);
        comma = ",";
    }
}

static void print_findings(const suspect *s, const blame_options *o, const findings *found)
{
    for (size_t i = 0; i < found->count; i++)
        print_culprit(s, found, i);
    static const option_id own[] = {OPT_TARGET, OPT_SKIP,    OPT_OUTFILE, OPT_TIMEOUT,
                                    OPT_FIRST,  OPT_VERBOSE, OPT_SEED};
    size_t own_count = sizeof own / sizeof own[0] - !found->is_right;
    printf(found->is_right ? "without %s the model is right; go on with: lightnet run -t %s --skip "
                           : "without %s it is still wrong: lightnet blame -t %s --skip ",
           found->count == 1 ? "it" : "them", o->target);
    print_skips(&found->left_out);
    options_print_given(stdout, found->is_right ? &run_usage : &blame_usage, own, own_count);
    putchar(' ');
    print_word(stdout, o->model);
    putchar('\n');
}

// ---- Reproducers ----

// FILE, FILE.2 with the number before the ending, and so on.
static void reproducer_path(const char *file, size_t index, char *buffer, size_t size)
{
    const char *slash = strrchr(file, '/');
    const char *dot = strrchr(slash ? slash : file, '.');
    size_t stem = dot ? (size_t)(dot - file) : strlen(file);
    if (index == 0)
        snprintf(buffer, size, "%s", file);
    else
        snprintf(buffer, size, "%.*s.%zu%s", (int)stem, file, index + 1, file + stem);
}

static ln_status save(const char *path, const blame_options *o, const culprit *c,
                      const reproducer *made)
{
    FILE *file = fopen(path, "w");
    if (!file)
        return LN_FAIL(LN_IO, "cannot write %s", path);
    fprintf(file, "// Shows what is wrong with %s%s at '%s' of %s:\n",
            c->firing.is_lowering ? "the lowering to " : "rule ", c->firing.rule,
            printable(c->firing.op), o->model);
    fprintf(file, "//   lightnet blame -t %s --seed=%llu", o->target,
            (unsigned long long)o->source.seed);
    if (o->allowed.rtol >= 0)
        fprintf(file, " --rtol=%g", o->allowed.rtol);
    if (o->allowed.atol >= 0)
        fprintf(file, " --atol=%g", o->allowed.atol);
    fprintf(file, "%s", made->has_specials ? " --special" : "");
    // Its data and sizes are in the model; what is skipped counts firings of the whole.
    static const option_id own[] = {OPT_TARGET,   OPT_SEED,        OPT_RTOL,    OPT_ATOL,
                                    OPT_SPECIAL,  OPT_SHAPE,       OPT_INPUT,   OPT_OUTFILE,
                                    OPT_VERBOSE,  OPT_FIRST,       OPT_TIMEOUT, OPT_SKIP,
                                    OPT_DATAFILE, INPUT_OPTION_IDS};
    options_print_given(file, &blame_usage, own, sizeof own / sizeof own[0]);
    fputc(' ', file);
    print_word(file, path);
    fprintf(file, "\n%s", made->text);
    int is_bad = ferror(file);
    if (fclose(file) != 0 || is_bad)
        return LN_FAIL(LN_IO, "cannot write %s", path);
    return LN_OK;
}

static ln_status reproduce(const suspect *s, const blame_options *o, const findings *found,
                           size_t index)
{
    char path[4096];
    reproducer made;
    reproducer_path(o->outfile, index, path, sizeof path);
    progress_begin("making a reproducer of %zu.", index + 1);
    ln_status status = reproducer_create(s, found, index, &o->source, &made);
    progress_end();
    if (status == LN_NOT_FOUND) {
        printf("no reproducer of %zu.: %s\n", index + 1, ln_error_message());
        return LN_OK;
    }
    LN_TRY(status);
    status = save(path, o, &found->culprits[index], &made);
    free(made.text);
    LN_TRY(status);
    size_t line_count = made.line_count + 2;
    printf("%s: reproducer of %zu., %zu lines%s\n", path, index + 1, line_count,
           line_count > MAX_REPRODUCER_LINES ? ", which could not be made fewer" : "");
    return LN_OK;
}

// ---- Plans ----

// Reusing memory must not change a bit, nor running again.
static ln_status check_plan(const suspect *s, const blame_options *o, const ln_context *ranged,
                            const char **out_fault, comparison *out_compared)
{
    tolerance exact = {.is_exact = 1};
    ln_optimize_options options = o->flags.options;
    ln_context *kept = NULL, *planned = NULL;
    options.on_firing = NULL;
    options.keeps_tensors = 1;
    *out_fault = NULL;
    ln_status status = trial_run(ranged, o->target, &options, s->data, 1, NULL, &kept);
    options.keeps_tensors = 0;
    for (int run_count = 1; run_count <= 2 && status == LN_OK && !*out_fault; run_count++) {
        status = trial_run(ranged, o->target, &options, s->data, run_count, NULL, &planned);
        if (status == LN_OK)
            status = compare_models(planned, kept, &exact, &(compare_scope){.outputs_only = 1},
                                    out_compared);
        if (status == LN_OK && out_compared->wrong_count > 0)
            *out_fault = run_count == 1 ? "reusing memory" : "running a second time";
        close_model(planned);
        planned = NULL;
    }
    close_model(kept);
    return status;
}

static ln_status blame_plan(const suspect *s, const blame_options *o, const ln_context *ranged,
                            int *out_code)
{
    const char *fault;
    comparison c;
    progress_begin("checking the plan of %s", o->model);
    ln_status status = check_plan(s, o, ranged, &fault, &c);
    progress_end();
    LN_TRY(status);
    if (!fault)
        return LN_OK;
    *out_code = EXIT_BLAMED;
    printf("%s makes a difference: the plan of the memory, or an operator that writes where it "
           "should not, is wrong\n",
           fault);
    print_deviation(s, "   first wrong", &c.first);
    return LN_OK;
}

// ---- The command ----

static void print_agreement(const suspect *s, const blame_options *o, const verdict *v)
{
    printf("%s agrees with the model as it was read in all %zu tensors that both make\n", o->target,
           v->compared.tensor_count);
    if (v->compared.unit_count > 0)
        printf("%zu tensor%s of quantized bytes within 1 unit, as roundings may be\n",
               v->compared.unit_count, v->compared.unit_count == 1 ? " is" : "s are");
    if (v->compared.tensor_count > 0 && v->compared.worst.excess > 0)
        print_deviation(s, "largest deviation", &v->compared.worst);
}

static void list_firings(const fired_list *fired)
{
    for (size_t i = 0; i < fired->count; i++)
        say_firing(NULL, &fired->items[i]);
}

static ln_status search(const suspect *s, const blame_options *o, findings *found)
{
    progress_begin("looking for what makes %s wrong", o->model);
    ln_status status =
        suspect_search(s, o->flags.skip, o->flags.options.skip_count, o->is_first_only, found);
    progress_end();
    for (size_t i = 0; status == LN_TIMEOUT && i < found->count; i++)
        print_culprit(s, found, i);
    LN_TRY(status);
    print_findings(s, o, found);
    for (size_t i = 0; o->outfile && i < found->count; i++)
        if (found->culprits[i].same_rule == i)
            LN_TRY(reproduce(s, o, found, i));
    return LN_OK;
}

static ln_status judge(const suspect *s, blame_options *o, const ln_context *ranged, int *out_code)
{
    static findings found;
    const choice start = {
        .limit = SIZE_MAX, .skip = o->flags.skip, .skip_count = o->flags.options.skip_count};
    verdict v;
    fired_list fired;
    progress_begin("running %s on %s", o->model, o->target);
    ln_status status = suspect_judge(s, &start, &v, &fired);
    progress_end();
    LN_TRY(status);
    if (o->flags.is_verbose)
        list_firings(&fired);
    fired_list_release(&fired);
    if (v.status == LN_NOT_FOUND || v.status == LN_IO || v.status == LN_SYNTAX)
        return v.status; // the command line's fault: a number to skip, a file of rules
    if (!v.is_wrong)
        print_agreement(s, o, &v);
    if (v.is_wrong) {
        *out_code = EXIT_BLAMED;
        status = search(s, o, &found);
        findings_release(&found);
    }
    // A wrong plan shows in a model that can be run at all.
    return status == LN_OK && v.status == LN_OK ? blame_plan(s, o, ranged, out_code) : status;
}

// `ranged` has the ranges that were given, for which the memory is planned.
static ln_status blame_with(const ln_context *model, const ln_context *ranged, blame_options *o,
                            int *out_code)
{
    compile_flags_options(&o->flags);
    suspect s = {.model = model,
                 .target = o->target,
                 .rule_files = o->flags.options.rule_files,
                 .rule_file_count = o->flags.options.rule_file_count,
                 .allowed = o->allowed,
                 .outputs_only = o->outputs_only,
                 .seconds = timeout_seconds(),
                 .start = seconds_now()};
    trial_data *data;
    LN_TRY(trial_data_create(model, &o->source, &data));
    s.data = data;
    progress_begin("running %s as it was read", o->model);
    ln_status status = trial_reference(model, data, &s.reference);
    progress_end();
    if (status != LN_OK)
        (void)ln_fail_prefix("the model as it was read, on arch ref");
    else
        status = judge(&s, o, ranged, out_code);
    close_model(s.reference);
    trial_data_destroy(data);
    return status;
}

static ln_status blame(ln_context *model, blame_options *o, int *out_code)
{
    if (ln_context_get_state(model) >= LN_CONTEXT_PLANNED)
        return LN_FAIL(LN_STATE, "%s is compiled already; blame needs what it was compiled from",
                       o->model);
    LN_TRY(given_inputs_override(model, o->source.inputs.items, (size_t)o->source.inputs.count));
    ln_context *ranged;
    LN_TRY(ln_context_clone(model, &ranged));
    ln_status status = model_set_shapes(ranged, &o->shapes);
    if (status == LN_OK)
        status = model_set_upper_shapes(model, &o->shapes);
    if (status == LN_OK)
        status = blame_with(model, ranged, o, out_code);
    close_model(ranged);
    return status;
}

int cmd_blame(int argc, char **argv)
{
    static blame_options o;
    o = (blame_options){.target = "cpu", .source = {.seed = 1}, .allowed = TOLERANCE_DEFAULT};
    compile_flags_init(&o.flags);
    int code = options_parse_one(&blame_usage, "model", argc, argv, &o, &o.model);
    if (code == EXIT_FAILED) // by a plug-in's file, and nothing is blamed
        return EXIT_NO_ANSWER;
    if (code != EXIT_OK)
        return code == -1 ? EXIT_OK : code;
    if (o.flags.options.stays_as_read)
        return say_usage_error(
            "blame", "--rules=none is what the other side is compared with already; leave it out");
    tolerance_take_zeros(&o.allowed);
    show_messages(0, 1, 0); // random weights are meant here
    ln_context *ctx = open_model(o.model);
    if (!ctx)
        return EXIT_NO_ANSWER;
    if (blame(ctx, &o, &code) != LN_OK) {
        say_failure();
        code = EXIT_NO_ANSWER;
    }
    close_model(ctx);
    return code;
}
