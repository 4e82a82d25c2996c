// SPDX-License-Identifier: Apache-2.0
// Choosing again. Whoever chose while the model was rewritten saw the image before some rules did:
// only where what the operator has now leads to the same choice, in both witnesses, is it chosen
// for other shapes.

#include "compile/choices.h"

#include <lightnet/allocator.h>
#include <lightnet/util.h>

#include "ir/context.h"

void ln_choices_deinit(ln_choices *choices)
{
    ln_free(choices->rows);
    *choices = (ln_choices){0};
}

// ---- Noting ----

// What one witness has.
typedef struct found {
    ln_op *op, *pack;
    const tl_tensor *src, *weight;
} found;

static bool find(const ln_context *ctx, const char *name, const ln_choice *choice, found *f)
{
    f->op = ln_op_table_find(ctx->op_table, name);
    const ln_tensor_entry *src = f->op ? ln_op_find_tensor_entry(f->op, "src") : NULL;
    const ln_tensor_entry *packed = f->op ? ln_op_find_tensor_entry(f->op, "packed") : NULL;
    f->pack = packed && packed->creater ? ln_op_table_find(ctx->op_table, packed->creater) : NULL;
    if (!f->pack || !ln_streq(f->pack->op_arg->optype, choice->pack_type))
        return false;
    const ln_tensor_entry *weight = ln_op_find_tensor_entry(f->pack, "weight");
    if (!src || src->is_open || !weight || weight->is_open)
        return false;
    f->src = src->tensor;
    f->weight = weight->tensor;
    return true;
}

static bool is_as_chosen(const ln_choices *choices, const ln_choice *choice, const found *f)
{
    const char *best =
        choice
            ->algorithms[choice->choose(f->op, f->weight, f->src->dims, choices->avoids_winograd)];
    return ln_streq(ln_choice_made(choice, f->op), best) &&
           ln_streq(ln_choice_made(choice, f->pack), best);
}

static bool find_dims(const ln_facts *facts, const found f[LN_WITNESS_COUNT], ln_chosen *row)
{
    for (int d = 0; d < f[0].src->ndim; d++)
        if (!ln_facts_find(facts, (double[]){f[0].src->dims[d], f[1].src->dims[d]},
                           &row->src_dims[d]))
            return false;
    return true;
}

static ln_status add(ln_choices *choices, const ln_chosen *row)
{
    if (choices->count == choices->capacity) {
        size_t capacity = 2 * choices->capacity + 16;
        ln_chosen *more = ln_realloc(choices->rows, capacity * sizeof *more);
        if (!more)
            return LN_NO_MEMORY;
        choices->rows = more;
        choices->capacity = capacity;
    }
    choices->rows[choices->count++] = *row;
    return LN_OK;
}

ln_status ln_choices_note(ln_choices *choices, const ln_facts *facts,
                          ln_context *const witnesses[LN_WITNESS_COUNT], const char *name,
                          bool *out_is_fit)
{
    *out_is_fit = false;
    const ln_op *op = ln_op_table_find(witnesses[0]->op_table, name);
    const ln_choice *choice = op ? ln_choice_find(op->op_arg->optype) : NULL;
    found f[LN_WITNESS_COUNT];
    bool made[LN_WITNESS_COUNT];
    if (!choice)
        return LN_OK;
    for (int w = 0; w < LN_WITNESS_COUNT; w++) {
        if (!find(witnesses[w], name, choice, &f[w]))
            return LN_OK;
        made[w] = is_as_chosen(choices, choice, &f[w]);
    }
    ln_chosen row = {.choice = choice, .op = f[0].op, .pack = f[0].pack};
    if (!made[0] || !made[1] || f[0].src->ndim != f[1].src->ndim || !find_dims(facts, f, &row))
        return LN_OK;
    *out_is_fit = true;
    return add(choices, &row);
}

bool ln_choices_have(const ln_choices *choices, const ln_op *op)
{
    for (size_t i = 0; i < choices->count; i++)
        if (choices->rows[i].op == op || choices->rows[i].pack == op)
            return true;
    return false;
}

// ---- Making ----

// -1: what it reads is too large.
static int choose(const ln_choices *choices, const ln_facts *facts, const ln_chosen *row)
{
    const ln_tensor_entry *src = ln_op_find_tensor_entry(row->op, "src");
    const ln_tensor_entry *weight = ln_op_find_tensor_entry(row->pack, "weight");
    int dims[TL_MAXDIM];
    for (int d = 0; d < src->tensor->ndim; d++) {
        double size = ln_facts_value(facts, &row->src_dims[d]);
        if (size > INT32_MAX)
            return -1;
        dims[d] = (int)size;
    }
    return row->choice->choose(row->op, weight->tensor, dims, choices->avoids_winograd);
}

// Operators that read the same packed weights have one algorithm.
static bool agree(const ln_choices *choices)
{
    for (size_t i = 0; i < choices->count; i++) {
        const ln_chosen *row = &choices->rows[i];
        if (!ln_streq(ln_choice_made(row->choice, row->op), ln_choice_made(row->choice, row->pack)))
            return false;
    }
    return true;
}

ln_status ln_choices_make(const ln_choices *choices, const ln_facts *facts, bool *out_is_fit)
{
    *out_is_fit = false;
    for (size_t i = 0; i < choices->count; i++) {
        const ln_chosen *row = &choices->rows[i];
        int best = choose(choices, facts, row);
        if (best < 0)
            return LN_OK;
        const char *algorithm = row->choice->algorithms[best];
        LN_TRY(ln_choice_make(row->choice, row->op, algorithm, &row->op->op_arg->params));
        LN_TRY(ln_choice_make(row->choice, row->pack, algorithm, &row->pack->op_arg->params));
    }
    *out_is_fit = agree(choices);
    return LN_OK;
}
