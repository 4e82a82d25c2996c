// SPDX-License-Identifier: Apache-2.0
// Searching for the firings that make a model wrong.
//
// The first n firings of a compilation are the same for every limit of n and more, so "wrong with a
// limit of n" can be asked for any n. Somewhere between a limit that is right and one that is wrong
// is a firing with which it turns wrong, even if it turns back and forth: halving finds one. It
// is then skipped, and what is still wrong comes from a later one.
//
// The operator whose result is wrong first mostly names the firing, so that is asked about before
// halving begins: each question is a run of the whole model.

#include "blame_search.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli.h"
#include "units.h"

// ---- Firings ----

static void firing_release(ln_firing *firing)
{
    const char *const texts[] = {firing->pass, firing->rule,   firing->tag,  firing->file,
                                 firing->op,   firing->optype, firing->graph};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        free((void *)(uintptr_t)texts[i]);
}

static int copy_text(const char **text)
{
    if (!*text)
        return 1;
    *text = strdup(*text);
    return *text != NULL;
}

// On failure the texts that are there are owned, the others NULL.
static int firing_copy(const ln_firing *from, ln_firing *to)
{
    *to = *from;
    to->reason = NULL;
    const char **texts[] = {&to->pass, &to->rule,   &to->tag,  &to->file,
                            &to->op,   &to->optype, &to->graph};
    int is_whole = 1;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (is_whole)
            is_whole = copy_text(texts[i]);
        else
            *texts[i] = NULL;
    }
    return is_whole;
}

void fired_list_release(fired_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        firing_release(&list->items[i]);
    free(list->items);
    *list = (fired_list){0};
}

// ---- One choice ----

typedef struct listener {
    const choice *choice;
    fired_list *list; // NULL: nobody wants to know
    int has_no_memory;
    rounding_list rounded;
} listener;

static int is_same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static int is_rule(const refusal *r, const ln_firing *firing)
{
    return strcmp(r->rule, firing->rule) == 0 && is_same_text(r->file, firing->file) &&
           r->line == firing->line;
}

static refusal refusal_of(const ln_firing *firing)
{
    return (refusal){firing->rule, firing->file, firing->line, firing->op};
}

static int wants_firing(void *user, const ln_firing *firing)
{
    const choice *c = ((const listener *)user)->choice;
    for (size_t i = 0; i < c->refusal_count; i++) {
        const refusal *r = &c->refusals[i];
        if (is_rule(r, firing) && (!r->op || strcmp(r->op, firing->op) == 0))
            return 0;
    }
    return 1;
}

static void note_firing(void *user, const ln_firing *firing)
{
    listener *l = user;
    rounding_list_note(&l->rounded, firing);
    if (!l->list || l->has_no_memory)
        return;
    size_t count = l->list->count;
    if ((count & (count + 1)) == 0) { // room for twice as many, at 0, 1, 3, 7, ...
        void *items = realloc(l->list->items, (2 * count + 1) * sizeof *l->list->items);
        if (!items) {
            l->has_no_memory = 1;
            return;
        }
        l->list->items = items;
    }
    l->has_no_memory = !firing_copy(firing, &l->list->items[l->list->count++]);
}

static ln_status run_choice(const suspect *s, const choice *c, listener *l, ln_context **out_loaded)
{
    ln_optimize_options options = ln_optimize_options_default();
    options.rule_files = s->rule_files;
    options.rule_file_count = s->rule_file_count;
    options.skip = c->skip;
    options.skip_count = c->skip_count;
    options.firing_limit = c->limit;
    options.keeps_tensors = 1;
    options.wants_firing = wants_firing;
    options.on_firing = note_firing;
    options.avoids_winograd = c->avoids_winograd;
    options.user = l;
    return trial_run(s->model, s->target, &options, s->data, 1, c->until, out_loaded);
}

static const ln_op *maker_of(const ln_context *loaded, const ln_op *op)
{
    const ln_tensor_list_entry *in = op->op_arg->tensors_in ? op->op_arg->tensors_in->data : NULL;
    const ln_tensor_entry *entry = in ? ln_tensor_table_find(loaded->tensor_table, in->name) : NULL;
    return entry && entry->creater ? ln_op_table_find(loaded->op_table, entry->creater) : NULL;
}

// The convolution that makes the first wrong tensor, or an image of which that is a transpose or a
// view: the reference has no channels-last images.
static void note_algorithm(const ln_context *loaded, verdict *v)
{
    const ln_op *op = ln_op_table_find(loaded->op_table, v->compared.first.op);
    for (int i = 0; op && i < 8; i++, op = maker_of(loaded, op)) {
        const ln_param_entry *p = ln_param_list_find(op->op_arg->params, "algorithm");
        if (!p || !p->value_string || strncmp(p->value_string, "winograd", 8) != 0)
            continue;
        snprintf(v->algorithm, sizeof v->algorithm, "%s", p->value_string);
        snprintf(v->convolution, sizeof v->convolution, "%s", op->op_arg->name);
        snprintf(v->conv_type, sizeof v->conv_type, "%s", op->op_arg->optype);
        return;
    }
}

// What seems wrong is looked at again by the bytes that it has within a unit.
static ln_status compare_choice(const suspect *s, const choice *c, const listener *l,
                                ln_context *loaded, comparison *out_compared)
{
    const compare_scope scope = {.outputs_only = s->outputs_only, .until = c->until};
    ln_status status = compare_models(loaded, s->reference, &s->allowed, &scope, out_compared);
    if (status != LN_OK || out_compared->wrong_count == 0 || !goes_by_type(&s->allowed))
        return status;
    ln_context *along = NULL;
    unit_list units = {0};
    status = units_reference(s->model, s->data, loaded, &l->rounded, &along, &units);
    if (status == LN_OK && along)
        status = compare_models(loaded, along, &s->allowed, &scope, out_compared);
    out_compared->unit_count = units.count;
    unit_list_release(&units);
    close_model(along);
    return status;
}

ln_status suspect_judge(const suspect *s, const choice *c, verdict *out_verdict,
                        fired_list *out_fired)
{
    *out_verdict = (verdict){.status = LN_OK};
    if (out_fired)
        *out_fired = (fired_list){0};
    listener l = {.choice = c, .list = out_fired};
    ln_context *loaded;
    ln_status status = run_choice(s, c, &l, &loaded);
    if (status == LN_OK) {
        status = compare_choice(s, c, &l, loaded, &out_verdict->compared);
        out_verdict->is_wrong = out_verdict->compared.wrong_count > 0;
        if (status == LN_OK && out_verdict->is_wrong)
            note_algorithm(loaded, out_verdict);
        close_model(loaded);
    } else if (status != LN_NO_MEMORY && status != LN_LIMIT && status != LN_TIMEOUT) {
        out_verdict->is_wrong = 1;
        out_verdict->status = status;
        snprintf(out_verdict->message, sizeof out_verdict->message, "%s", ln_error_message());
        status = LN_OK;
    }
    rounding_list_release(&l.rounded);
    if (status == LN_OK && l.has_no_memory)
        status = LN_FAIL(LN_NO_MEMORY, "no memory for the list of firings");
    if (status != LN_OK && out_fired)
        fired_list_release(out_fired);
    return status;
}

// ---- One culprit ----

typedef struct search {
    const suspect *s;
    choice c;
    char until[LN_MAX_NAME_LEN];
    size_t right; // with this limit it is right
    size_t wrong; // with this limit it is wrong, for this reason:
    verdict verdict;
} search;

double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int is_late(const suspect *s)
{
    return s->seconds > 0 && seconds_now() - s->start >= s->seconds;
}

static ln_status fail_late(const search *at)
{
    return LN_FAIL(
        LN_TIMEOUT,
        "after %g s, which --timeout allows, what makes the model wrong is among rewrites "
        "%zu to %zu; `lightnet blame --verbose` lists them, a larger --timeout goes on",
        at->s->seconds, at->right + 1, at->wrong);
}

// Asks about a limit between the two.
static ln_status ask(search *at, size_t limit)
{
    verdict v;
    at->c.limit = limit;
    if (is_late(at->s))
        return fail_late(at);
    ln_status status = suspect_judge(at->s, &at->c, &v, NULL);
    if (status == LN_TIMEOUT)
        return fail_late(at);
    LN_TRY(status);
    if (v.is_wrong) {
        at->wrong = limit;
        at->verdict = v;
    } else {
        at->right = limit;
    }
    return LN_OK;
}

static ln_status ask_around(search *at, size_t number)
{
    if (number > at->right && number < at->wrong)
        LN_TRY(ask(at, number));
    if (at->wrong == number && number - 1 > at->right)
        LN_TRY(ask(at, number - 1));
    return LN_OK;
}

// Asks about the firings at the operator that is wrong first.
static ln_status ask_obvious(search *at, const char *op, const fired_list *fired)
{
    int question_count = 0;
    for (size_t i = 0; i < fired->count && at->wrong - at->right > 1 && question_count < 3; i++) {
        const ln_firing *firing = &fired->items[i];
        if (firing->is_skipped || strcmp(firing->op, op) != 0)
            continue;
        question_count++;
        LN_TRY(ask_around(at, firing->number));
    }
    return LN_OK;
}

static ln_status halve(search *at)
{
    while (at->wrong - at->right > 1)
        LN_TRY(ask(at, at->right + (at->wrong - at->right) / 2));
    return LN_OK;
}

// ---- All culprits ----

static const ln_firing *find_number(const fired_list *fired, size_t number)
{
    for (size_t i = 0; i < fired->count; i++)
        if (fired->items[i].number == number)
            return &fired->items[i];
    return NULL;
}

static ln_status add_culprit(findings *found, const search *at, const verdict *with_all)
{
    const ln_firing *firing = find_number(&found->left_out, at->wrong);
    if (!firing)
        return LN_FAIL(LN_INTERNAL, "firing %zu is not among the %zu there were", at->wrong,
                       found->left_out.count);
    culprit *c = &found->culprits[found->count++];
    *c = (culprit){.with = at->verdict, .with_all = *with_all};
    if (!firing_copy(firing, &c->firing))
        return LN_FAIL(LN_NO_MEMORY, "no memory for a firing");
    const refusal r = refusal_of(&c->firing);
    while (!is_rule(&r, &found->culprits[c->same_rule].firing))
        c->same_rule++; // at the latest it is the culprit itself
    return LN_OK;
}

// Where a rule is wrong a second time, it is taken to be wrong everywhere.
static void leave_out(findings *found)
{
    const culprit *latest = &found->culprits[found->count - 1];
    refusal r = refusal_of(&latest->firing);
    found->refusals[found->refusal_count++] = r;
    r.op = NULL;
    if (latest->same_rule + 1 < found->count)
        found->refusals[found->refusal_count++] = r;
}

static ln_status prove_start(search *at)
{
    LN_TRY(ask(at, 0));
    if (at->wrong > 0)
        return LN_OK;
    if (at->verdict.status != LN_OK) // a file of rules that cannot be read, for one
        return LN_FAIL(at->verdict.status,
                       "on target %s the model fails before anything is rewritten: %s",
                       at->s->target, at->verdict.message);
    return LN_FAIL(LN_INVALID,
                   "on target %s the model is wrong before anything is rewritten: '%s' (%s)",
                   at->s->target, at->verdict.compared.first.op, at->verdict.compared.first.optype);
}

// What runs after the first wrong tensor need not run to find out why it is wrong, unless it is
// what writes there.
static ln_status try_part(search *at)
{
    verdict v;
    if (at->verdict.status != LN_OK)
        return LN_OK;
    at->c.limit = SIZE_MAX;
    snprintf(at->until, sizeof at->until, "%s", at->verdict.compared.first.tensor);
    at->c.until = at->until;
    LN_TRY(suspect_judge(at->s, &at->c, &v, NULL));
    if (v.is_wrong && v.status == LN_OK)
        at->verdict = v;
    at->c.until = v.is_wrong && v.status == LN_OK ? at->until : NULL;
    return LN_OK;
}

// No other arch has the Winograd algorithms, so their kernels are told from the pass that chose
// them by the same firings with direct convolutions.
static ln_status ask_algorithm(search *at, culprit *c)
{
    verdict v;
    if (!c->with.algorithm[0] || c->with.status != LN_OK)
        return LN_OK;
    at->c.limit = at->wrong;
    at->c.avoids_winograd = 1;
    LN_TRY(suspect_judge(at->s, &at->c, &v, NULL));
    c->is_of_algorithm = !v.is_wrong;
    return LN_OK;
}

// The first culprit of what is left; `v` is what comes of all its firings.
static ln_status find_one(const suspect *s, findings *found, const verdict *v)
{
    const fired_list *fired = &found->left_out;
    size_t last = fired->count ? fired->items[fired->count - 1].number : 0;
    search at = {.s = s, .wrong = last, .verdict = *v};
    at.c.refusals = found->refusals;
    at.c.refusal_count = found->refusal_count;
    LN_TRY(try_part(&at));
    if (last > 0) {
        LN_TRY(ask_obvious(&at, v->compared.first.op, fired));
        LN_TRY(halve(&at));
    }
    if (at.right == 0) // nobody has asked about 0 yet
        LN_TRY(prove_start(&at));
    LN_TRY(add_culprit(found, &at, v));
    LN_TRY(ask_algorithm(&at, &found->culprits[found->count - 1]));
    leave_out(found);
    return LN_OK;
}

static void count_together(findings *found)
{
    for (size_t i = 0; i < found->count; i++) {
        culprit *c = &found->culprits[i];
        const refusal r = refusal_of(&c->firing);
        if (c->same_rule != i)
            continue;
        size_t searched_count = 0;
        for (size_t k = 0; k < found->count; k++)
            searched_count += found->culprits[k].same_rule == i;
        for (size_t f = 0; f < found->left_out.count; f++)
            c->together_count +=
                is_rule(&r, &found->left_out.items[f]) && found->left_out.items[f].is_skipped;
        c->together_count -=
            searched_count < c->together_count ? searched_count : c->together_count;
    }
}

static ln_status judge_rest(const suspect *s, findings *found, verdict *out_verdict)
{
    choice c = {
        .limit = SIZE_MAX, .refusals = found->refusals, .refusal_count = found->refusal_count};
    fired_list_release(&found->left_out);
    return suspect_judge(s, &c, out_verdict, &found->left_out);
}

// What is skipped by number is skipped by name from here on.
static ln_status refuse_skipped(const suspect *s, const size_t *skip, size_t skip_count,
                                findings *found)
{
    const choice c = {.limit = SIZE_MAX, .skip = skip, .skip_count = skip_count};
    verdict v;
    if (skip_count == 0)
        return LN_OK;
    LN_TRY(suspect_judge(s, &c, &v, &found->start));
    for (size_t i = 0; i < found->start.count; i++)
        if (found->start.items[i].is_skipped &&
            found->refusal_count < MAX_REFUSALS - 2 * MAX_CULPRITS)
            found->refusals[found->refusal_count++] = refusal_of(&found->start.items[i]);
    return LN_OK;
}

ln_status suspect_search(const suspect *s, const size_t *skip, size_t skip_count, int is_first_only,
                         findings *out_findings)
{
    findings *found = out_findings;
    memset(found, 0, sizeof *found);
    LN_TRY(refuse_skipped(s, skip, skip_count, found));
    for (;;) {
        verdict v;
        LN_TRY(judge_rest(s, found, &v));
        found->is_right = !v.is_wrong;
        if (!v.is_wrong || found->count == MAX_CULPRITS || (is_first_only && found->count > 0))
            break;
        LN_TRY(find_one(s, found, &v));
    }
    count_together(found);
    return LN_OK;
}

void findings_release(findings *found)
{
    for (size_t i = 0; i < found->count; i++)
        firing_release(&found->culprits[i].firing);
    fired_list_release(&found->left_out);
    fired_list_release(&found->start);
}
