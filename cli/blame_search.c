// SPDX-License-Identifier: Apache-2.0
// Searching for the firings that make a model wrong.
//
// The first n firings of a compilation are the same for every limit of n and more, so "wrong with a
// limit of n" can be asked for any n. Somewhere between a limit that is right and one that is wrong
// lies a firing with which it turns wrong, even if it turns back and forth: halving finds one. It
// is then skipped, and what is still wrong comes from a later one.
//
// The operator whose result is wrong first mostly names the firing, so that is asked about before
// halving begins: each question is a run of the whole model.

#include "blame_search.h"

#include <stdlib.h>
#include <string.h>

#include "cli.h"

// ---- Firings ----

static void firing_release(ln_firing *firing)
{
    const char *const texts[] = {firing->pass, firing->rule, firing->tag,
                                 firing->file, firing->op,   firing->optype};
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
    const char **texts[] = {&to->pass, &to->rule, &to->tag, &to->file, &to->op, &to->optype};
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

static int wants_firing(void *user, const ln_firing *firing)
{
    const choice *c = ((const listener *)user)->choice;
    for (size_t i = 0; i < c->refusal_count; i++)
        if (firing->number > c->refusals[i].after && is_rule(&c->refusals[i], firing))
            return 0;
    return 1;
}

static void note_firing(void *user, const ln_firing *firing)
{
    listener *l = user;
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

// Skipped numbers beyond the limit may not be given out at all.
static size_t skips_within(const choice *c, size_t out_skip[MAX_SKIPS])
{
    size_t count = 0;
    for (size_t i = 0; i < c->skip_count; i++)
        if (c->skip[i] <= c->limit)
            out_skip[count++] = c->skip[i];
    return count;
}

static ln_status run_choice(const suspect *s, const choice *c, listener *l, ln_context **out_loaded)
{
    size_t skip[MAX_SKIPS];
    ln_optimize_options options = ln_optimize_options_default();
    options.rule_files = s->rule_files;
    options.rule_file_count = s->rule_file_count;
    options.skip = skip;
    options.skip_count = skips_within(c, skip);
    options.firing_limit = c->limit;
    options.keeps_tensors = 1;
    options.wants_firing = wants_firing;
    options.on_firing = note_firing;
    options.user = l;
    return trial_run(s->model, s->target, &options, s->data, 1, out_loaded);
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
        status = compare_models(loaded, s->reference, &s->allowed, s->outputs_only,
                                &out_verdict->compared);
        out_verdict->is_wrong = out_verdict->compared.wrong_count > 0;
        close_model(loaded);
    } else if (status != LN_NO_MEMORY && status != LN_LIMIT) {
        out_verdict->is_wrong = 1;
        out_verdict->status = status;
        snprintf(out_verdict->message, sizeof out_verdict->message, "%s", ln_error_message());
        status = LN_OK;
    }
    if (status == LN_OK && l.has_no_memory)
        status = ln_fail(LN_NO_MEMORY, "no memory for the list of firings");
    if (status != LN_OK && out_fired)
        fired_list_release(out_fired);
    return status;
}

// ---- One culprit ----

typedef struct search {
    const suspect *s;
    choice c;
    size_t right; // with this limit it is right
    size_t wrong; // with this limit it is wrong, for this reason:
    verdict verdict;
} search;

// Asks about a limit between the two.
static ln_status ask(search *at, size_t limit)
{
    verdict v;
    at->c.limit = limit;
    LN_TRY(suspect_judge(at->s, &at->c, &v, NULL));
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

// Asks about the firings at the operator that is wrong first, the last before the others.
static ln_status ask_obvious(search *at, const fired_list *fired)
{
    char op[LN_MAX_NAME_LEN];
    snprintf(op, sizeof op, "%s", at->verdict.compared.first.op);
    int question_count = 0;
    for (size_t i = fired->count; i-- > 0 && at->wrong - at->right > 1 && question_count < 3;) {
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

static ln_status add_culprit(findings *found, const search *at, const fired_list *fired)
{
    const ln_firing *firing = find_number(fired, at->wrong);
    if (!firing)
        return ln_fail(LN_INTERNAL, "firing %zu is not among the %zu there were", at->wrong,
                       fired->count);
    culprit *c = &found->culprits[found->count++];
    *c = (culprit){.with = at->verdict};
    if (!firing_copy(firing, &c->firing))
        return ln_fail(LN_NO_MEMORY, "no memory for a firing");
    const refusal r = {c->firing.rule, c->firing.file, c->firing.line, 0};
    while (!is_rule(&r, &found->culprits[c->same_rule].firing))
        c->same_rule++; // at the latest it is the culprit itself
    return LN_OK;
}

// Where a rule is wrong a second time, it is taken to be wrong everywhere.
static void leave_out(findings *found)
{
    choice *c = &found->without;
    const culprit *latest = &found->culprits[found->count - 1];
    const ln_firing *firing = &latest->firing;
    c->skip[c->skip_count++] = firing->number;
    if (latest->same_rule + 1 < found->count)
        c->refusals[c->refusal_count++] =
            (refusal){firing->rule, firing->file, firing->line, firing->number};
}

// The first culprit of the current choice; *fired are its firings, `v` what comes of it.
static ln_status find_one(const suspect *s, findings *found, size_t right, const verdict *v,
                          const fired_list *fired)
{
    size_t last = fired->count ? fired->items[fired->count - 1].number : 0;
    search at = {.s = s, .c = found->without, .right = right, .wrong = last, .verdict = *v};
    if (at.wrong <= at.right)
        return ln_fail(LN_INTERNAL, "the model is wrong without any further firing");
    LN_TRY(ask_obvious(&at, fired));
    LN_TRY(halve(&at));
    if (at.right == 0) // nobody has asked about 0 yet
        LN_TRY(ask(&at, 0));
    if (at.wrong == 0)
        return ln_fail(LN_INVALID,
                       "on target %s the model is wrong before anything is rewritten: '%s' (%s)",
                       s->target, at.verdict.compared.first.op, at.verdict.compared.first.optype);
    LN_TRY(add_culprit(found, &at, fired));
    leave_out(found);
    return LN_OK;
}

static void count_together(findings *found)
{
    for (size_t i = 0; i < found->count; i++) {
        culprit *c = &found->culprits[i];
        for (size_t k = 0; k < found->without.refusal_count; k++) {
            const refusal *r = &found->without.refusals[k];
            if (r->after != c->firing.number || !is_rule(r, &c->firing))
                continue;
            for (size_t f = 0; f < found->left_out.count; f++)
                c->together_count += is_rule(r, &found->left_out.items[f]) &&
                                     found->left_out.items[f].is_skipped &&
                                     found->left_out.items[f].number > r->after;
        }
    }
}

ln_status suspect_search(const suspect *s, const choice *start, int is_first_only,
                         findings *out_findings)
{
    *out_findings = (findings){.without = *start};
    findings *found = out_findings;
    for (size_t right = 0;;) {
        verdict v;
        found->without.limit = SIZE_MAX;
        fired_list_release(&found->left_out);
        LN_TRY(suspect_judge(s, &found->without, &v, &found->left_out));
        found->is_right = !v.is_wrong;
        if (!v.is_wrong || found->count == MAX_CULPRITS || (is_first_only && found->count > 0))
            break;
        LN_TRY(find_one(s, found, right, &v, &found->left_out));
        right = found->culprits[found->count - 1].firing.number;
    }
    count_together(found);
    return LN_OK;
}

void findings_release(findings *found)
{
    for (size_t i = 0; i < found->count; i++)
        firing_release(&found->culprits[i].firing);
    fired_list_release(&found->left_out);
}
