// SPDX-License-Identifier: Apache-2.0
// Making a reproducer: some operators of the model, and stand-ins for what they read from others.
//
// First the operators that lead to the first wrong tensor, as few steps back as will do; then
// operators are taken out as long as the rest still shows the fault (delta debugging, Zeller and
// Hildebrandt 2002); then equal dimensions are made smaller together. A constant becomes a `create`
// of random numbers in the range that it had, anything else an `input`, so that rules find the same
// to match; where random numbers do not show the fault, special ones may (NaN and the like), and
// else recorded ones are written down.

#include "blame_reduce.h"

#include <stdlib.h>
#include <string.h>

#include "blame_part.h"
#include "cli.h"

#define MAX_SECONDS 60.0 // for one reproducer

typedef struct reduction {
    const suspect *suspect;
    const findings *found;
    size_t index;
    const trial_source *source;
    part part;
    double deadline;
    ln_status status; // a failure that ends everything, such as no memory
} reduction;

// ---- Judging a part ----

// Rules of the other culprits do not fire, so that this one is alone. The last refusal is its own.
static size_t refuse_all(const reduction *r, refusal refusals[MAX_CULPRITS])
{
    const ln_firing *own = &r->found->culprits[r->index].firing;
    size_t count = 0;
    for (size_t i = 0; i < r->found->count && count < MAX_CULPRITS - 1; i++) {
        const ln_firing *f = &r->found->culprits[i].firing;
        if (strcmp(f->rule, own->rule) != 0)
            refusals[count++] = (refusal){f->rule, f->file, f->line, NULL};
    }
    refusals[count++] = (refusal){own->rule, own->file, own->line, NULL};
    return count;
}

static ln_status judge_both(const reduction *r, const suspect *s, verdict *out_with,
                            int *out_shows_it)
{
    const culprit *searched = &r->found->culprits[r->index];
    refusal refusals[MAX_CULPRITS];
    size_t count = refuse_all(r, refusals);
    choice c = {.limit = SIZE_MAX, .refusals = refusals, .refusal_count = count - 1};
    verdict without;
    LN_TRY(suspect_judge(s, &c, out_with, NULL));
    // To fail and to compute something else are different faults.
    if (!out_with->is_wrong || (out_with->status == LN_OK) != (searched->with.status == LN_OK))
        return LN_OK;
    c.refusal_count = count;
    LN_TRY(suspect_judge(s, &c, &without, NULL));
    *out_shows_it = !without.is_wrong;
    return LN_OK;
}

// Whether `model` is wrong with the culprit's rule and right without it. What cannot be built or
// run as it should be does not show it.
static int shows_culprit(reduction *r, const ln_context *model, verdict *out_with)
{
    suspect s = *r->suspect;
    trial_source source = {.seed = r->source->seed, .has_specials = r->part.has_specials};
    trial_data *data = NULL;
    int shows_it = 0;
    s.model = model;
    s.reference = NULL;
    ln_status status = trial_data_create(model, &source, &data);
    s.data = data;
    if (status == LN_OK)
        status = trial_reference(model, data, &s.reference);
    if (status == LN_OK)
        status = judge_both(r, &s, out_with, &shows_it);
    if (status == LN_NO_MEMORY)
        r->status = status;
    close_model(s.reference);
    trial_data_destroy(data);
    return status == LN_OK && shows_it;
}

static int part_shows_culprit(reduction *r)
{
    ln_context *ctx;
    verdict with;
    if (r->status != LN_OK || ln_clock() > r->deadline)
        return 0;
    ln_status status = part_build(&r->part, &ctx);
    if (status == LN_NO_MEMORY)
        r->status = status;
    if (status != LN_OK)
        return 0;
    int shows_it = shows_culprit(r, ctx, &with);
    close_model(ctx);
    return shows_it;
}

// ---- Which operators ----

// Keeps the operators that make what those marked `depth` read.
static int keep_makers(part *p, char depth)
{
    int is_any = 0;
    for (size_t i = p->op_count; i-- > 0;) {
        if (p->is_kept[i] != depth)
            continue;
        const ln_tensor_list_entry *in;
        LN_LIST_FOREACH (in, p->ops[i]->op_arg->tensors_in) {
            const ln_op *maker = ln_dfg_prev(p->model->dfg, p->ops[i], in->name);
            for (size_t k = 0; maker && k < i; k++) {
                if (p->ops[k] != maker || p->is_kept[k])
                    continue;
                p->is_kept[k] = (char)(depth + 1);
                is_any = 1;
            }
        }
    }
    return is_any;
}

static void keep_operator(part *p, const char *op_name, const char *tname)
{
    const ln_tensor_entry *entry = ln_tensor_table_find(p->model->tensor_table, tname);
    for (size_t i = 0; i < p->op_count; i++) {
        const char *name = p->ops[i]->op_arg->name;
        if (strcmp(name, op_name) == 0 || (entry && strcmp(name, entry->creater) == 0))
            p->is_kept[i] = 1;
    }
}

// From the culprit backwards, as far as `depth_limit` steps.
static int find_depth(reduction *r, int depth_limit)
{
    part *p = &r->part;
    const culprit *c = &r->found->culprits[r->index];
    memset(p->is_kept, 0, p->op_count);
    keep_operator(p, c->firing.op, c->with.compared.first.tensor);
    for (int depth = 1; depth <= depth_limit; depth++) {
        int is_last = !keep_makers(p, (char)depth) || depth == depth_limit;
        int is_asked = depth <= 4 || (depth & (depth - 1)) == 0 || is_last;
        if (is_asked && part_shows_culprit(r))
            return 1;
        if (is_last)
            break;
    }
    return 0;
}

// What is cheap to try comes first: few operators with each kind of numbers, then more, and in the
// end the whole model.
static int find_start(reduction *r)
{
    static const struct {
        int has_specials, is_recorded, depth_limit;
    } attempts[] = {{0, 0, 4}, {1, 0, 4}, {0, 1, 4}, {0, 0, 100}, {1, 0, 100}, {0, 1, 100}};
    part *p = &r->part;
    for (size_t i = 0; i < sizeof attempts / sizeof attempts[0]; i++) {
        p->has_specials = attempts[i].has_specials || r->source->has_specials;
        p->is_recorded = attempts[i].is_recorded;
        if (find_depth(r, attempts[i].depth_limit))
            return 1;
    }
    for (size_t i = 0; i < 3; i++) {
        p->has_specials = attempts[i].has_specials || r->source->has_specials;
        p->is_recorded = attempts[i].is_recorded;
        memset(p->is_kept, 1, p->op_count);
        if (part_shows_culprit(r))
            return 1;
    }
    return 0;
}

static size_t count_kept(const part *p)
{
    size_t count = 0;
    for (size_t i = 0; i < p->op_count; i++)
        count += p->is_kept[i] != 0;
    return count;
}

// Tries without the kept operators from `first` to before `end`, counted among the kept ones.
static int try_without(reduction *r, size_t first, size_t end)
{
    part *p = &r->part;
    char *before = malloc(p->op_count);
    if (!before) {
        r->status = LN_FAIL(LN_NO_MEMORY, "no memory to make a reproducer smaller");
        return 0;
    }
    memcpy(before, p->is_kept, p->op_count);
    size_t at = 0;
    for (size_t i = 0; i < p->op_count; i++) {
        if (!p->is_kept[i])
            continue;
        if (at >= first && at < end)
            p->is_kept[i] = 0;
        at++;
    }
    int is_good = part_shows_culprit(r);
    if (!is_good)
        memcpy(p->is_kept, before, p->op_count);
    free(before);
    return is_good;
}

static void drop_operators(reduction *r)
{
    for (size_t size = count_kept(&r->part) / 2 + 1;; size = (size + 1) / 2) {
        // From the end, so that what only later operators need goes after them.
        for (size_t end = count_kept(&r->part); end > 0;) {
            size_t first = end > size ? end - size : 0;
            try_without(r, first, end);
            end = first;
        }
        if (size <= 1)
            return;
    }
}

// ---- Smaller dimensions ----

static void note_dims(const ln_context *ctx, int *dims, size_t *count, size_t capacity)
{
    const ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops) {
        if (op->op_arg->tensors_in)
            continue;
        const ln_tensor_list_entry *out =
            op->op_arg->tensors_out ? op->op_arg->tensors_out->data : NULL;
        const ln_tensor_entry *entry =
            out ? ln_tensor_table_find(ctx->tensor_table, out->name) : NULL;
        for (int i = 0; entry && i < entry->tensor->ndim; i++) {
            size_t k = 0;
            while (k < *count && dims[k] != entry->tensor->dims[i])
                k++;
            if (k == *count && *count < capacity)
                dims[(*count)++] = entry->tensor->dims[i];
        }
    }
}

static int by_size_downwards(const void *a, const void *b)
{
    return *(const int *)b - *(const int *)a;
}

static void try_smaller(reduction *r, int dim)
{
    part *p = &r->part;
    const int smaller[] = {1, 2, 3, 4, 8, 16, dim / 4, dim / 2};
    for (size_t i = 0; i < sizeof smaller / sizeof smaller[0]; i++) {
        if (smaller[i] < 1 || smaller[i] >= dim || p->resized_count == MAX_RESIZED)
            continue;
        p->resized[p->resized_count].from = dim;
        p->resized[p->resized_count].to = smaller[i];
        p->resized_count++;
        if (part_shows_culprit(r))
            return;
        p->resized_count--;
    }
}

// Equal numbers mostly mean the same thing: the channels of a tensor and of the weight that reads
// it. They change together.
static void shrink_dims(reduction *r)
{
    int dims[MAX_RESIZED];
    size_t count = 0;
    ln_context *ctx;
    if (r->part.is_recorded || part_build(&r->part, &ctx) != LN_OK)
        return;
    note_dims(ctx, dims, &count, MAX_RESIZED);
    close_model(ctx);
    qsort(dims, count, sizeof dims[0], by_size_downwards);
    for (size_t i = 0; i < count; i++)
        if (dims[i] > 1)
            try_smaller(r, dims[i]);
}

// ---- The text ----

// Names of operators are left to the parser. Returns the number of lines.
static size_t drop_names(char *text)
{
    char *to = text;
    size_t line_count = 0;
    for (char *line = text; *line;) {
        char *end = strchr(line, '\n');
        size_t len = end ? (size_t)(end - line) + 1 : strlen(line);
        size_t word = 0; // the name, in quotes or not, up to its colon
        if (*line == '"')
            for (word = 1; word < len && line[word] != '"';)
                word += line[word] == '\\' ? 2 : 1;
        word += strcspn(line + word, ":(\n");
        size_t skip = line[word] == ':' ? word + 1 + strspn(line + word + 1, " ") : 0;
        memmove(to, line + skip, len - skip);
        to += len - skip;
        line_count++;
        line += len;
    }
    *to = '\0';
    return line_count;
}

static ln_status print_reproducer(const reduction *r, char **out_text, size_t *out_line_count)
{
    ln_context *ctx;
    char *il;
    size_t len;
    LN_TRY(part_build(&r->part, &ctx));
    ln_status status = ln_context_write(ctx, "il", &il, &len);
    close_model(ctx);
    LN_TRY(status);
    *out_text = malloc(len + 1);
    if (*out_text) {
        memcpy(*out_text, il, len);
        (*out_text)[len] = '\0';
        *out_line_count = drop_names(*out_text);
    }
    ln_free(il);
    return *out_text ? LN_OK : LN_FAIL(LN_NO_MEMORY, "no memory for a reproducer");
}

// The text as a user would read it must still show the culprit.
static ln_status verify_text(reduction *r, const char *text, verdict *out_verdict)
{
    ln_context *ctx = ln_context_create();
    if (!ctx)
        return LN_NO_MEMORY;
    ln_status status = ln_context_init_mem(ctx, text, strlen(text), "reproducer.net");
    if (status == LN_OK && !shows_culprit(r, ctx, out_verdict))
        status = LN_FAIL(LN_NOT_FOUND, "the reproducer, once written, does not show the fault");
    close_model(ctx);
    return status;
}

static ln_status reduce(reduction *r, reproducer *out)
{
    if (!find_start(r)) {
        LN_TRY(r->status);
        return LN_FAIL(LN_NOT_FOUND, "no part of the model shows the fault with random numbers");
    }
    drop_operators(r);
    shrink_dims(r);
    drop_operators(r);
    LN_TRY(r->status);
    LN_TRY(print_reproducer(r, &out->text, &out->line_count));
    out->has_specials = r->part.has_specials;
    return verify_text(r, out->text, &out->verdict);
}

ln_status reproducer_create(const suspect *s, const findings *found, size_t index,
                            const trial_source *source, reproducer *out_reproducer)
{
    *out_reproducer = (reproducer){0};
    reduction r = {.suspect = s,
                   .found = found,
                   .index = index,
                   .source = source,
                   .deadline = ln_clock() + MAX_SECONDS};
    ln_status status = part_open(&r.part, s->model, s->reference);
    if (status == LN_OK)
        status = reduce(&r, out_reproducer);
    if (status != LN_OK) {
        free(out_reproducer->text);
        out_reproducer->text = NULL;
    }
    part_close(&r.part);
    return status;
}
