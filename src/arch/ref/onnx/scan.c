// SPDX-License-Identifier: Apache-2.0
// Scan: a graph that runs on each slice of some tensors. Version 8 has a batch around it, and is a
// scan of the present form for each of its members.

#include "arch/ref/functions.h"

#include <stdbool.h>
#include <string.h>

#include "arch/ref/onnx/control_stack.h"
#include "arch/ref/onnx/pieces.h"
#include "op/onnx/graphs.h"
#include "tensor/elem.h"

typedef struct scan {
    ln_call *call;
    int state_count;           // N
    int scan_count;            // M
    int out_count;             // N + K
    int length;                // slices
    int *axes;                 // of each scan input
    int64_t *out_axes;         // of each scan output
    bool *is_backward;         // each scan input
    bool *is_prepended;        // each scan output
    const tl_tensor **sources; // M, what is cut
    ln_object **ins;           // N states and M slices, retained
    ln_object **outs;
    ln_run_stack stack;
} scan;

// *out = the flags of array parameter `name`, 0 where it is absent.
static ln_status read_flags(ln_call *call, const char *name, int count, bool **out)
{
    *out = ln_call_scratch(call, (size_t)count + 1, sizeof **out);
    if (!*out)
        return ln_error_status();
    if (!ln_call_has(call, name))
        return LN_OK;
    if (ln_call_count(call, name) != count)
        return ln_call_fail(call, LN_INVALID, "`%s` has %d elements instead of %d", name,
                            ln_call_count(call, name), count);
    for (int i = 0; i < count; i++) {
        int64_t flag = ln_call_int_at(call, name, i);
        if (flag != 0 && flag != 1)
            return ln_call_fail(call, LN_INVALID, "`%s` has %lld, which is neither 0 nor 1", name,
                                (long long)flag);
        (*out)[i] = flag == 1;
    }
    return LN_OK;
}

static ln_status read_out_axes(scan *s, int count)
{
    s->out_axes = ln_call_scratch(s->call, (size_t)count + 1, sizeof *s->out_axes);
    if (!s->out_axes)
        return ln_error_status();
    if (!ln_call_has(s->call, "scan_output_axes"))
        return LN_OK;
    if (ln_call_count(s->call, "scan_output_axes") != count)
        return ln_call_fail(s->call, LN_INVALID, "`scan_output_axes` has %d elements instead of %d",
                            ln_call_count(s->call, "scan_output_axes"), count);
    for (int i = 0; i < count; i++)
        s->out_axes[i] = ln_call_int_at(s->call, "scan_output_axes", i);
    return LN_OK;
}

// Arity, memory and parameters, for `given` states and scan inputs of the operator.
static ln_status open_scan(scan *s, int given, bool is_old)
{
    ln_call *call = s->call;
    int in_count, out_count;
    LN_TRY(ln_scan_graph(call, given, &in_count, &out_count));
    s->scan_count = (int)ln_call_int(call, "num_scan_inputs");
    s->state_count = given - s->scan_count;
    int stacked_count = out_count - s->state_count;
    s->stack.call = call;
    s->stack.width = (size_t)stacked_count;
    s->axes = ln_call_scratch(call, (size_t)given, sizeof *s->axes);
    s->sources = ln_call_scratch(call, (size_t)given, sizeof *s->sources);
    s->ins = ln_call_scratch(call, (size_t)given, sizeof *s->ins);
    s->outs = ln_call_scratch(call, (size_t)out_count + 1, sizeof *s->outs);
    if (!s->axes || !s->sources || !s->ins || !s->outs)
        return ln_error_status();
    LN_TRY(read_flags(call, is_old ? "directions" : "scan_input_directions", s->scan_count,
                      &s->is_backward));
    LN_TRY(read_flags(call, "scan_output_directions", stacked_count, &s->is_prepended));
    LN_TRY(read_out_axes(s, stacked_count));
    s->out_count = out_count;
    return LN_OK;
}

// Checks the axes of the sources; `length` is that of all of them.
static ln_status measure(scan *s)
{
    bool has_axes = ln_call_has(s->call, "scan_input_axes");
    if (has_axes && ln_call_count(s->call, "scan_input_axes") != s->scan_count)
        return ln_call_fail(s->call, LN_INVALID, "`scan_input_axes` has %d elements instead of %d",
                            ln_call_count(s->call, "scan_input_axes"), s->scan_count);
    for (int i = 0; i < s->scan_count; i++) {
        int64_t axis = has_axes ? ln_call_int_at(s->call, "scan_input_axes", i) : 0;
        const tl_tensor *source = s->sources[i];
        LN_TRY(ln_call_check_axis(s->call, "scan_input_axes", axis, source->ndim, &s->axes[i]));
        int length = source->dims[s->axes[i]];
        if (i > 0 && length != s->length)
            return ln_call_fail(s->call, LN_INVALID, "scan inputs of lengths %d and %d", s->length,
                                length);
        s->length = length;
    }
    return LN_OK;
}

// Runs the body on slices 0 to `length` - 1; the states in `ins` become those after the last run.
static ln_status run_steps(scan *s, int length)
{
    for (int t = 0; t < length; t++) {
        LN_TRY(ln_call_charge(s->call, LN_RUN_WORK));
        for (int i = 0; i < s->scan_count; i++) {
            int at = s->is_backward[i] ? length - 1 - t : t;
            ln_object **slice = &s->ins[s->state_count + i];
            ln_object_release(*slice);
            *slice = ln_ref_slice_object(s->call, s->sources[i], s->axes[i], at, 1, false);
            if (!*slice)
                return ln_error_status();
        }
        LN_TRY(ln_call_run_graph(s->call, "body", s->state_count + s->scan_count, s->ins,
                                 s->out_count, s->outs));
        for (int i = 0; i < s->state_count; i++) {
            ln_object_release(s->ins[i]);
            s->ins[i] = s->outs[i];
            s->outs[i] = NULL;
        }
        LN_TRY(ln_run_stack_push(&s->stack, s->outs + s->state_count));
    }
    return LN_OK;
}

// Where there is nothing to scan, nothing is stacked, but it has a shape, which a trial on zeros
// shows.
static ln_status try_body(scan *s)
{
    for (int i = 0; i < s->scan_count; i++) {
        const tl_tensor *source = s->sources[i];
        int dims[TL_MAXDIM], ndim = 0;
        for (int d = 0; d < source->ndim; d++) {
            if (d != s->axes[i])
                dims[ndim++] = source->dims[d];
        }
        ln_object **slice = &s->ins[s->state_count + i];
        ln_object_release(*slice);
        *slice = ln_object_new_tensor(source->dtype, ndim, dims, ln_call_meter(s->call));
        if (!*slice)
            return ln_error_status();
    }
    LN_TRY(ln_call_run_graph(s->call, "body", s->state_count + s->scan_count, s->ins, s->out_count,
                             s->outs));
    return ln_run_stack_try(&s->stack, s->outs + s->state_count);
}

// Stacked output `column`, in the order and along the axis that the parameters ask for.
static ln_object *join_column(scan *s, int column)
{
    return ln_run_stack_join(&s->stack, (size_t)column, s->out_axes[column],
                             s->is_prepended[column]);
}

static ln_status run_scan(scan *s)
{
    for (int i = 0; i < s->state_count + s->scan_count; i++) {
        const tl_tensor *input = ln_call_in(s->call, i);
        if (!input || input->dtype == TL_OBJECT)
            return ln_call_fail(s->call, LN_INVALID, "input %d is not a tensor", i);
        if (i >= s->state_count) {
            s->sources[i - s->state_count] = input;
            continue;
        }
        s->ins[i] = ln_call_in_object(s->call, i);
        if (!s->ins[i])
            return ln_error_status();
    }
    LN_TRY(measure(s));
    LN_TRY(run_steps(s, s->length));
    if (s->stack.count == 0 && ln_call_out_count(s->call) > s->state_count)
        LN_TRY(try_body(s));
    for (int i = 0; i < ln_call_out_count(s->call); i++) {
        if (!ln_call_wants(s->call, i))
            continue;
        ln_object *out =
            i < s->state_count ? ln_object_retain(s->ins[i]) : join_column(s, i - s->state_count);
        if (!out)
            return ln_error_status();
        ln_status status = ln_call_set_object(s->call, i, out);
        ln_object_release(out);
        LN_TRY(status);
    }
    return LN_OK;
}

// ---- Version 8 ----

typedef struct batch {
    scan s;
    const tl_tensor *lens; // slices of each member, or NULL
    int count, length;     // members, slices there is room for
    ln_object **cut;       // M, the sources of one member, retained
    ln_object **row;       // what one member gives
    ln_run_stack results;  // a row for each member
} batch;

static ln_status open_batch(batch *b)
{
    scan *s = &b->s;
    b->lens = ln_call_in(s->call, 0);
    for (int i = 0; i < s->state_count + s->scan_count; i++) {
        const tl_tensor *input = ln_call_in(s->call, 1 + i);
        int least = i < s->state_count ? 1 : 2;
        if (!input || input->dtype == TL_OBJECT || input->ndim < least)
            return ln_call_fail(s->call, LN_INVALID, "input %d is not a tensor of rank %d or more",
                                1 + i, least);
        int length = least == 2 ? input->dims[1] : 0;
        bool is_first_source = i == s->state_count;
        if ((i > 0 && input->dims[0] != b->count) || (i > s->state_count && length != b->length))
            return ln_call_fail(s->call, LN_INVALID, "input %d differs in batch or length", 1 + i);
        b->count = input->dims[0];
        if (is_first_source)
            b->length = length;
    }
    if (b->lens && (b->lens->dtype != TL_INT64 || b->lens->ndim != 1 || b->lens->len != b->count))
        return ln_call_fail(s->call, LN_INVALID, "the lengths are not %d elements of type int64",
                            b->count);
    b->cut = ln_call_scratch(s->call, (size_t)s->scan_count, sizeof *b->cut);
    b->row = ln_call_scratch(s->call, (size_t)s->out_count + 1, sizeof *b->row);
    b->results = (ln_run_stack){.call = s->call, .width = (size_t)s->out_count};
    return b->cut && b->row ? LN_OK : ln_error_status();
}

// `joined`, which is released, with zeros after its first axis up to `length`.
static ln_object *padded(ln_call *call, ln_object *joined, int length)
{
    const tl_tensor *tensor = ln_object_tensor(joined);
    if (tensor->dims[0] == length)
        return joined;
    int dims[TL_MAXDIM];
    memcpy(dims, tensor->dims, (size_t)tensor->ndim * sizeof *dims);
    dims[0] = length - tensor->dims[0];
    ln_object *zeros = ln_object_new_tensor(tensor->dtype, tensor->ndim, dims, ln_call_meter(call));
    ln_object *parts[] = {joined, zeros};
    ln_object *result = zeros ? ln_ref_join_objects(call, 0, false, 2, parts) : NULL;
    ln_ref_release_all(parts, 2);
    return result;
}

static ln_status run_member(batch *b, int member)
{
    scan *s = &b->s;
    int64_t length = b->lens ? ln_elem_int(b->lens, (size_t)member) : b->length;
    if (length < 0 || length > b->length)
        return ln_call_fail(s->call, LN_INVALID, "length %lld of member %d is outside 0 to %d",
                            (long long)length, member, b->length);
    for (int i = 0; i < s->state_count + s->scan_count; i++) {
        ln_object *part =
            ln_ref_slice_object(s->call, ln_call_in(s->call, 1 + i), 0, member, 1, false);
        if (!part)
            return ln_error_status();
        ln_object **place = i < s->state_count ? &s->ins[i] : &b->cut[i - s->state_count];
        ln_object_release(*place);
        *place = part;
        if (i >= s->state_count)
            s->sources[i - s->state_count] = ln_object_tensor(part);
    }
    LN_TRY(run_steps(s, (int)length));
    if (s->stack.count == 0)
        LN_TRY(try_body(s));
    for (int i = 0; i < s->out_count; i++) {
        b->row[i] =
            i < s->state_count ? ln_object_retain(s->ins[i]) : join_column(s, i - s->state_count);
        if (b->row[i] && i >= s->state_count)
            b->row[i] = padded(s->call, b->row[i], b->length);
        if (!b->row[i])
            return ln_error_status();
    }
    ln_run_stack_clear(&s->stack);
    return ln_run_stack_push(&b->results, b->row);
}

static ln_status run_batch(batch *b)
{
    for (int member = 0; member < b->count; member++)
        LN_TRY(run_member(b, member));
    for (int i = 0; i < ln_call_out_count(b->s.call); i++) {
        if (!ln_call_wants(b->s.call, i))
            continue;
        ln_object *out = ln_run_stack_join(&b->results, (size_t)i, 0, false);
        if (!out)
            return ln_error_status();
        ln_status status = ln_call_set_object(b->s.call, i, out);
        ln_object_release(out);
        LN_TRY(status);
    }
    return LN_OK;
}

ln_status ln_ref_scan(ln_call *call)
{
    bool is_old = ln_call_since(call) < 9;
    batch b = {.s = {.call = call}};
    scan *s = &b.s;
    LN_TRY(open_scan(s, ln_call_in_count(call) - is_old, is_old));
    ln_status status = is_old ? open_batch(&b) : run_scan(s);
    if (is_old && status == LN_OK)
        status = run_batch(&b);
    ln_run_stack_clear(&s->stack);
    ln_run_stack_clear(&b.results);
    ln_ref_release_all(s->ins, (size_t)(s->state_count + s->scan_count));
    ln_ref_release_all(s->outs, (size_t)s->out_count);
    if (b.cut)
        ln_ref_release_all(b.cut, (size_t)s->scan_count);
    if (b.row)
        ln_ref_release_all(b.row, (size_t)s->out_count);
    return status;
}
