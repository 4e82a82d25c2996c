// SPDX-License-Identifier: Apache-2.0
// Sums of products of two terms as matrix products.
//
// A loop that both terms and the output have is one of a batch; one that a term and the output have
// is of rows or columns; one that the output has not is summed. Loops that follow each other in a
// term and in the output are one loop; others of rows and columns are a batch for which the other
// term stays where it is. The last loop of the output is one of columns: its term is the right
// side. What is not so is left to arch ref.

#include "arch/cpu/call.h"
#include "arch/cpu/functions.h"
#include "arch/cpu/matmul_stack.h"
#include "op/functions.h"
#include "op/prepare.h"

typedef struct loop {
    int64_t size, step[2], out; // in both terms, and in the output; 0: it is not there
} loop;

typedef struct loops {
    loop at[LN_EINSUM_MAX_LABELS];
    int count;
} loops;

// The loops of more than one turn, those of the output first; false if there are none.
static bool list_loops(const ln_einsum_call *einsum, loops *all, int *out_summed)
{
    int64_t step = 1;
    all->count = 0;
    for (int i = einsum->loop_count - 1; i >= 0; i--) {
        const bool is_out = i < einsum->out_ndim;
        if (einsum->sizes[i] == 0)
            return false;
        if (i == einsum->out_ndim - 1)
            *out_summed = all->count;
        if (einsum->sizes[i] > 1)
            all->at[all->count++] = (loop){.size = einsum->sizes[i],
                                           .step = {einsum->steps[0][i], einsum->steps[1][i]},
                                           .out = is_out ? step : 0};
        step *= is_out ? einsum->sizes[i] : 1;
    }
    return true;
}

// One that goes through what another one goes through as a whole, in each turn.
static bool is_around(const loop *outer, const loop *inner)
{
    return outer->step[0] == inner->step[0] * inner->size &&
           outer->step[1] == inner->step[1] * inner->size && outer->out == inner->out * inner->size;
}

// Joins a loop to the outermost one of a group, if it goes around it.
static bool join(loop *group, const loop *next)
{
    if (group->size == 1) {
        *group = *next;
        return true;
    }
    if (!is_around(next, group))
        return false;
    group->size *= next->size;
    return true;
}

// Summed loops are one, in whatever order.
static bool join_summed(loops *all, int count, loop *group)
{
    bool is_joined[LN_EINSUM_MAX_LABELS] = {false};
    for (int turn = 0; turn < count; turn++) {
        int least = -1;
        for (int i = 0; i < count; i++)
            if (!is_joined[i] && (least < 0 || all->at[i].step[0] < all->at[least].step[0]))
                least = i;
        is_joined[least] = true;
        if (!join(group, &all->at[least]))
            return false;
    }
    return true;
}

typedef struct groups {
    loop rows, columns, summed;
    loop batch[TL_MAXDIM]; // the innermost first
    int batch_ndim;
} groups;

// The loops of the output, from the innermost one on.
static bool share_out(const loops *all, int first, int left, groups *g)
{
    for (int i = first; i < all->count; i++) {
        const loop *l = &all->at[i];
        loop *group = !l->step[left] ? &g->columns : !l->step[!left] ? &g->rows : NULL;
        if (group && join(group, l))
            continue;
        if (g->batch_ndim == TL_MAXDIM || l->size > INT32_MAX)
            return false;
        g->batch[g->batch_ndim++] = *l;
    }
    return true;
}

// Rows do not overlap: a letter that is there twice has a longer step than either dimension.
static void set_sides(const groups *g, int left, ln_cpu_stack *stack)
{
    ln_matrix_stack *a = &stack->matmul.a, *b = &stack->matmul.b, *y = &stack->y;
    a->rows = y->rows = g->rows.size;
    b->columns = y->columns = g->columns.size;
    a->columns = b->rows = g->summed.size;
    a->row_step = g->rows.step[left];
    a->column_step = g->summed.size > 1 ? g->summed.step[left] : 1;
    b->row_step = g->summed.step[!left];
    b->column_step = g->columns.step[!left];
    y->row_step = g->rows.size > 1 ? g->rows.out : g->columns.size;
    y->column_step = 1;
    stack->matmul.batch_ndim = g->batch_ndim;
    for (int i = 0; i < g->batch_ndim; i++) {
        const loop *l = &g->batch[g->batch_ndim - 1 - i];
        stack->matmul.batch_dims[i] = (int)l->size;
        a->steps[i] = l->step[left];
        b->steps[i] = l->step[!left];
        y->steps[i] = l->out;
    }
}

// False: this is no such product.
static bool find_stack(const ln_einsum_call *einsum, ln_cpu_stack *stack, int *out_left)
{
    loops all;
    int summed = 0;
    groups g = {.rows = {.size = 1}, .columns = {.size = 1}, .summed = {.size = 1}};
    *stack = (ln_cpu_stack){.y = {.rows = 0}};
    if (einsum->term_count != 2 || !list_loops(einsum, &all, &summed) || summed == all.count)
        return false;
    for (int i = 0; i < all.count; i++)
        if (i < summed ? !all.at[i].step[0] || !all.at[i].step[1]
                       : !all.at[i].step[0] && !all.at[i].step[1])
            return false;
    const loop *last = &all.at[summed];
    if ((last->step[0] && last->step[1]) || last->out != 1 || !join_summed(&all, summed, &g.summed))
        return false;
    *out_left = last->step[0] ? 1 : 0;
    if (!share_out(&all, summed, *out_left, &g))
        return false;
    set_sides(&g, *out_left, stack);
    return true;
}

typedef struct einsum {
    ln_cpu_stack stack;
    int left; // the term that is the left side
} einsum;

static ln_status read_einsum(ln_call *call, einsum *out_einsum)
{
    ln_einsum_call of_call;
    LN_TRY(ln_einsum_call_read(call, &of_call));
    if (ln_call_in(call, 0)->dtype == TL_FLOAT &&
        find_stack(&of_call, &out_einsum->stack, &out_einsum->left))
        return LN_OK;
    return ln_call_fail(call, LN_UNSUPPORTED, "is for two terms of float32 that are matrices here");
}

ln_status ln_cpu_accepts_einsum(ln_call *call)
{
    einsum e;
    return read_einsum(call, &e);
}

ln_status ln_cpu_infer_einsum(ln_call *call)
{
    einsum e;
    ln_einsum_call of_call;
    LN_TRY(ln_infer_einsum(call));
    LN_TRY(ln_einsum_call_read(call, &of_call));
    const bool is_stack = find_stack(&of_call, &e.stack, &e.left);
    return ln_cpu_call_infer_workspace(call, 1, is_stack ? ln_cpu_stack_workspace(&e.stack) : 0);
}

LN_PREPARE(ln_cpu_prepare_einsum, einsum, read_einsum)

ln_status ln_cpu_einsum(ln_call *call)
{
    const einsum *e = ln_call_prepared(call);
    float *workspace = ln_cpu_call_workspace(call, 1, ln_cpu_stack_workspace(&e->stack));
    if (!workspace)
        return ln_error_status();
    ln_cpu_stack_multiply(&e->stack, ln_call_in(call, e->left)->data,
                          ln_call_in(call, !e->left)->data, ln_call_dst(call, 0)->data,
                          ln_cpu_call_pool(call), workspace);
    return LN_OK;
}
