// SPDX-License-Identifier: Apache-2.0
// If, Loop and SequenceMap: graphs that run inside of a run.

#include "arch/ref/functions.h"

#include <string.h>

#include "arch/ref/onnx/control_stack.h"
#include "arch/ref/onnx/pieces.h"
#include "op/onnx/graphs.h"
#include "tensor/elem.h"

// ---- If ----

ln_status ln_ref_if(ln_call *call)
{
    const tl_tensor *cond = ln_call_in(call, 0);
    if (cond->len != 1)
        return ln_call_fail(call, LN_INVALID, "`cond` has %d elements instead of 1", cond->len);
    const char *branch = ln_elem_int(cond, 0) ? "then_branch" : "else_branch";
    int in_count, out_count;
    LN_TRY(ln_if_graph(call, branch, &in_count, &out_count));
    ln_object **outs = ln_call_scratch(call, (size_t)out_count + 1, sizeof *outs);
    if (!outs)
        return ln_error_status();
    LN_TRY(ln_call_run_graph(call, branch, 0, NULL, out_count, outs));
    ln_status status = LN_OK;
    for (int i = 0; i < ln_call_out_count(call) && status == LN_OK; i++) {
        if (ln_call_wants(call, i))
            status = ln_call_set_object(call, i, outs[i]);
    }
    ln_ref_release_all(outs, (size_t)out_count);
    return status;
}

// ---- Loop ----

typedef struct loop {
    ln_call *call;
    bool has_cond; // the condition counts
    int64_t max_trips;
    int state_count;  // N
    ln_object **ins;  // number, condition, N states: retained
    ln_object **outs; // condition, N states, values to stack
    int out_count;
    ln_run_stack stack;
} loop;

enum { LOOP_M, LOOP_COND, LOOP_STATES };

static ln_status open_loop(loop *l)
{
    int in_count;
    LN_TRY(ln_loop_graph(l->call, &in_count, &l->out_count));
    l->state_count = in_count - 2;
    l->stack.call = l->call;
    l->stack.width = (size_t)(l->out_count - 1 - l->state_count);
    l->ins = ln_call_scratch(l->call, (size_t)in_count, sizeof *l->ins);
    l->outs = ln_call_scratch(l->call, (size_t)l->out_count, sizeof *l->outs);
    return l->ins && l->outs ? LN_OK : ln_error_status();
}

// The number of trips, the condition and the states before the first trip.
static ln_status start_loop(loop *l, int64_t *out_goes_on)
{
    const tl_tensor *trips = ln_call_in(l->call, LOOP_M), *cond = ln_call_in(l->call, LOOP_COND);
    if ((trips && trips->len != 1) || (cond && cond->len != 1))
        return ln_call_fail(l->call, LN_INVALID, "`M` and `cond` have one element each");
    l->max_trips = trips ? ln_elem_int(trips, 0) : INT64_MAX;
    l->has_cond = cond != NULL;
    *out_goes_on = cond ? ln_elem_int(cond, 0) : 1;
    for (int i = 0; i < l->state_count; i++) {
        if (!ln_call_in(l->call, LOOP_STATES + i))
            return ln_call_fail(l->call, LN_INVALID, "state %d was left out", i);
        l->ins[2 + i] = ln_call_in_object(l->call, LOOP_STATES + i);
        if (!l->ins[2 + i])
            return ln_error_status();
    }
    return LN_OK;
}

// The body on the present states: `outs`.
static ln_status run_body(loop *l, int64_t number, int64_t goes_on)
{
    ln_ref_release_all(l->ins, 2);
    l->ins[0] = ln_scalar_object(l->call, TL_INT64, number);
    l->ins[1] = ln_scalar_object(l->call, TL_BOOL, goes_on);
    if (!l->ins[0] || !l->ins[1])
        return ln_error_status();
    LN_TRY(ln_call_charge(l->call, LN_RUN_WORK));
    return ln_call_run_graph(l->call, "body", 2 + l->state_count, l->ins, l->out_count, l->outs);
}

// One trip: the outputs of the body become the inputs of the next one, or go onto the stack.
static ln_status make_trip(loop *l, int64_t number, int64_t *goes_on)
{
    LN_TRY(run_body(l, number, *goes_on));
    LN_TRY(
        ln_scalar_of(l->call, l->outs[0], "the condition that the body gives", TL_BOOL, goes_on));
    if (!l->has_cond)
        *goes_on = 1;
    for (int i = 0; i < l->state_count; i++) {
        ln_object_release(l->ins[2 + i]);
        l->ins[2 + i] = l->outs[1 + i];
        l->outs[1 + i] = NULL;
    }
    LN_TRY(ln_run_stack_push(&l->stack, l->outs + 1 + l->state_count));
    ln_ref_release_all(l->outs, (size_t)l->out_count);
    return LN_OK;
}

static ln_status run_loop(loop *l)
{
    int64_t goes_on = 1;
    LN_TRY(start_loop(l, &goes_on));
    for (int64_t trip = 0; trip < l->max_trips && goes_on; trip++)
        LN_TRY(make_trip(l, trip, &goes_on));
    // Without a trip there is nothing to stack, but it has a shape, which a trial shows.
    if (l->stack.count == 0 && ln_call_out_count(l->call) > l->state_count) {
        LN_TRY(run_body(l, 0, 1));
        LN_TRY(ln_run_stack_try(&l->stack, l->outs + 1 + l->state_count));
    }
    for (int i = 0; i < ln_call_out_count(l->call); i++) {
        if (!ln_call_wants(l->call, i))
            continue;
        if (i < l->state_count) {
            LN_TRY(ln_call_set_object(l->call, i, l->ins[2 + i]));
            continue;
        }
        ln_object *joined = ln_run_stack_join(&l->stack, (size_t)(i - l->state_count), 0, false);
        if (!joined)
            return ln_error_status();
        ln_status status = ln_call_set_object(l->call, i, joined);
        ln_object_release(joined);
        LN_TRY(status);
    }
    return LN_OK;
}

ln_status ln_ref_loop(ln_call *call)
{
    loop l = {.call = call};
    LN_TRY(open_loop(&l));
    ln_status status = run_loop(&l);
    ln_run_stack_clear(&l.stack);
    ln_ref_release_all(l.ins, (size_t)l.state_count + 2);
    ln_ref_release_all(l.outs, (size_t)l.out_count);
    return status;
}

// ---- SequenceMap ----

typedef struct map {
    ln_call *call;
    int in_count, out_count;
    ln_object **sources; // retained: sequences whose items are gone through, or tensors
    ln_object **ins;     // borrowed
    ln_object **outs;
    ln_run_stack stack;
} map;

static bool is_sequence(ln_object *object)
{
    return ln_object_get_kind(object) == LN_OBJECT_SEQUENCE;
}

static ln_status open_map(map *m)
{
    int in_count;
    LN_TRY(ln_map_graph(m->call, &in_count, &m->out_count));
    m->stack.call = m->call;
    m->stack.width = (size_t)m->out_count;
    m->sources = ln_call_scratch(m->call, (size_t)in_count, sizeof *m->sources);
    m->ins = ln_call_scratch(m->call, (size_t)in_count, sizeof *m->ins);
    m->outs = ln_call_scratch(m->call, (size_t)m->out_count + 1, sizeof *m->outs);
    if (!m->sources || !m->ins || !m->outs)
        return ln_error_status();
    m->in_count = in_count;
    return LN_OK;
}

static ln_status run_map(map *m)
{
    for (int i = 0; i < m->in_count; i++) {
        if (!ln_call_in(m->call, i))
            return ln_call_fail(m->call, LN_INVALID, "input %d was left out", i);
        m->sources[i] = ln_call_in_object(m->call, i);
        if (!m->sources[i])
            return ln_error_status();
    }
    if (!is_sequence(m->sources[0]))
        return ln_call_fail(m->call, LN_INVALID, "the first input is not a sequence");
    size_t count = ln_object_count(m->sources[0]);
    for (int i = 1; i < m->in_count; i++) {
        if (is_sequence(m->sources[i]) && ln_object_count(m->sources[i]) != count)
            return ln_call_fail(m->call, LN_INVALID, "sequences of %zu and %zu items", count,
                                ln_object_count(m->sources[i]));
    }
    for (size_t at = 0; at < count; at++) {
        LN_TRY(ln_call_charge(m->call, LN_RUN_WORK));
        for (int i = 0; i < m->in_count; i++)
            m->ins[i] =
                is_sequence(m->sources[i]) ? ln_object_item(m->sources[i], at) : m->sources[i];
        LN_TRY(ln_call_run_graph(m->call, "body", m->in_count, m->ins, m->out_count, m->outs));
        LN_TRY(ln_run_stack_push(&m->stack, m->outs));
    }
    for (int i = 0; i < ln_call_out_count(m->call); i++) {
        if (!ln_call_wants(m->call, i))
            continue;
        ln_object *sequence =
            ln_run_stack_sequence(&m->stack, (size_t)i, ln_object_elem_dtype(m->sources[0]));
        if (!sequence)
            return ln_error_status();
        ln_status status = ln_call_set_object(m->call, i, sequence);
        ln_object_release(sequence);
        LN_TRY(status);
    }
    return LN_OK;
}

ln_status ln_ref_sequence_map(ln_call *call)
{
    map m = {.call = call};
    LN_TRY(open_map(&m));
    ln_status status = run_map(&m);
    ln_run_stack_clear(&m.stack);
    ln_ref_release_all(m.sources, (size_t)m.in_count);
    return status;
}
