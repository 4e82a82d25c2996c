// SPDX-License-Identifier: Apache-2.0
// einsum's equation as loops: one for each label, with a step through each term. A label that a
// term has twice walks its diagonal, since the steps add up.

#include "op/functions.h"
#include "op/onnx/matmul.h"

#include <limits.h>
#include <stdint.h>
#include <string.h>

// Labels are letters, and above them the axes of the ellipsis, counted from the last one.
enum { ELLIPSIS = 52, NO_LOOP = -1 };

// A term while it is read: its labels in order, at most one for each axis.
typedef struct term {
    int count;
    int ellipsis; // how many labels stand before the ellipsis; -1: there is none
    unsigned char labels[TL_MAXDIM];
} term;

typedef struct equation {
    ln_call *call;
    const char *at; // what is left of the text
    int ellipsis_ndim;
    int64_t sizes[LN_EINSUM_MAX_LABELS]; // by label; -1: not seen
    int uses[LN_EINSUM_MAX_LABELS];
    int loops[LN_EINSUM_MAX_LABELS]; // by label
} equation;

// In the order in which implicit outputs have them.
static int label_of(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    return c >= 'a' && c <= 'z' ? c - 'a' + 26 : -1;
}

// As messages name it; '.' is a dimension of an ellipsis.
static char letter_of(int label)
{
    return (char)(label >= ELLIPSIS ? '.' : label < 26 ? 'A' + label : 'a' + label - 26);
}

static void skip_spaces(equation *e)
{
    while (*e->at == ' ')
        e->at++;
}

// Up to ',' or '->' or the end.
static ln_status read_term(equation *e, term *out_term)
{
    *out_term = (term){.ellipsis = -1};
    for (skip_spaces(e); *e->at && *e->at != ',' && *e->at != '-'; skip_spaces(e)) {
        if (strncmp(e->at, "...", 3) == 0) {
            if (out_term->ellipsis >= 0)
                return ln_call_fail(e->call, LN_INVALID, "a term with two ellipses");
            out_term->ellipsis = out_term->count;
            e->at += 3;
            continue;
        }
        int label = label_of(*e->at);
        if (label < 0)
            return ln_call_fail(e->call, LN_INVALID, "the equation has a character of code %d",
                                (unsigned char)*e->at);
        if (out_term->count == TL_MAXDIM)
            return ln_call_fail(e->call, LN_LIMIT, "a term has more than %d labels", TL_MAXDIM);
        out_term->labels[out_term->count++] = (unsigned char)label;
        e->at++;
    }
    return LN_OK;
}

// The label of axis `axis` of a tensor of rank `ndim`.
static int label_at(const term *t, int ndim, int axis)
{
    int hidden = ndim - t->count; // axes after the ellipsis
    if (t->ellipsis < 0 || axis < t->ellipsis)
        return t->labels[axis];
    if (axis < t->ellipsis + hidden)
        return ELLIPSIS + (t->ellipsis + hidden - 1 - axis);
    return t->labels[axis - hidden];
}

static ln_status note_sizes(equation *e, const term *t, int index)
{
    const tl_tensor *in = ln_call_in(e->call, index);
    if (t->count > in->ndim || (t->ellipsis < 0 && t->count != in->ndim))
        return ln_call_fail(e->call, LN_INVALID, "a term of %d labels for an input of rank %d",
                            t->count, in->ndim);
    if (in->ndim - t->count > e->ellipsis_ndim)
        e->ellipsis_ndim = in->ndim - t->count;
    for (int axis = 0; axis < in->ndim; axis++) {
        int label = label_at(t, in->ndim, axis);
        int64_t size = in->dims[axis];
        e->uses[label]++;
        if (e->sizes[label] < 0 || e->sizes[label] == 1)
            e->sizes[label] = size;
        else if (size != 1 && size != e->sizes[label])
            return ln_call_fail(e->call, LN_INVALID,
                                "dimension %d of term %d is of size %lld, but '%c' of size %lld: "
                                "make them equal, or 1",
                                axis, index + 1, (long long)size, letter_of(label),
                                (long long)e->sizes[label]);
    }
    return LN_OK;
}

static ln_status add_loop(equation *e, ln_einsum_call *einsum, int label)
{
    if (e->loops[label] != NO_LOOP)
        return ln_call_fail(e->call, LN_INVALID,
                            "the output has '%c' twice: give it another letter", letter_of(label));
    if (e->sizes[label] < 0)
        return ln_call_fail(e->call, LN_INVALID,
                            "the output has '%c', which no input has: leave it out",
                            letter_of(label));
    e->loops[label] = einsum->loop_count;
    einsum->sizes[einsum->loop_count++] = e->sizes[label];
    return LN_OK;
}

static ln_status add_ellipsis_loops(equation *e, ln_einsum_call *einsum)
{
    for (int i = e->ellipsis_ndim - 1; i >= 0; i--)
        LN_TRY(add_loop(e, einsum, ELLIPSIS + i));
    return LN_OK;
}

// The output as the text says after "->".
static ln_status add_written_loops(equation *e, ln_einsum_call *einsum)
{
    term out;
    e->at += 2;
    LN_TRY(read_term(e, &out));
    if (*e->at)
        return ln_call_fail(e->call, LN_INVALID, "the equation goes on after the output");
    for (int i = 0; i <= out.count; i++) {
        if (i == out.ellipsis)
            LN_TRY(add_ellipsis_loops(e, einsum));
        if (i < out.count)
            LN_TRY(add_loop(e, einsum, out.labels[i]));
    }
    return LN_OK;
}

// Without "->" the output has the ellipsis and all labels that occur once.
static ln_status add_implied_loops(equation *e, ln_einsum_call *einsum)
{
    LN_TRY(add_ellipsis_loops(e, einsum));
    for (int label = 0; label < ELLIPSIS; label++) {
        if (e->uses[label] == 1)
            LN_TRY(add_loop(e, einsum, label));
    }
    return LN_OK;
}

static ln_status add_loops(equation *e, ln_einsum_call *einsum)
{
    if (e->at[0] == '-' && e->at[1] == '>')
        LN_TRY(add_written_loops(e, einsum));
    else if (*e->at)
        return ln_call_fail(e->call, LN_INVALID, "the equation has more terms than inputs, or '-'");
    else
        LN_TRY(add_implied_loops(e, einsum));
    einsum->out_ndim = einsum->loop_count;
    for (int label = 0; label < LN_EINSUM_MAX_LABELS; label++) {
        if (e->uses[label] > 0 && e->loops[label] == NO_LOOP)
            LN_TRY(add_loop(e, einsum, label));
    }
    return LN_OK;
}

static void note_steps(const equation *e, const term *t, const tl_tensor *in, int64_t *steps)
{
    int64_t step = 1;
    for (int axis = in->ndim - 1; axis >= 0; axis--) {
        int label = label_at(t, in->ndim, axis);
        if (in->dims[axis] != 1)
            steps[e->loops[label]] += step;
        step *= in->dims[axis];
    }
}

static ln_status read_terms(equation *e, const ln_einsum_call *einsum, term *terms)
{
    for (int i = 0; i < einsum->term_count; i++) {
        LN_TRY(read_term(e, &terms[i]));
        LN_TRY(note_sizes(e, &terms[i], i));
        bool is_last = i == einsum->term_count - 1;
        if (is_last)
            break;
        if (*e->at != ',')
            return ln_call_fail(e->call, LN_INVALID, "%d inputs, but the equation has %d terms",
                                einsum->term_count, i + 1);
        e->at++;
    }
    return LN_OK;
}

static equation start_equation(ln_call *call)
{
    const char *text = ln_call_string(call, "equation");
    equation e = {.call = call, .at = text ? text : ""};
    for (int i = 0; i < LN_EINSUM_MAX_LABELS; i++) {
        e.sizes[i] = -1;
        e.loops[i] = NO_LOOP;
    }
    return e;
}

// One for each combination of labels and each factor but the first.
double ln_macs_einsum(const ln_call *call)
{
    equation e = start_equation((ln_call *)(uintptr_t)call);
    int count = ln_call_in_count(call);
    double macs = count > 2 ? count - 1 : 1;
    for (int i = 0; i < count; i++, e.at += *e.at == ',') {
        term t;
        if (read_term(&e, &t) != LN_OK || note_sizes(&e, &t, i) != LN_OK)
            return 0;
    }
    for (int label = 0; label < LN_EINSUM_MAX_LABELS; label++)
        macs *= e.sizes[label] >= 0 ? (double)e.sizes[label] : 1;
    return macs;
}

ln_status ln_einsum_call_read(ln_call *call, ln_einsum_call *out_einsum)
{
    equation e = start_equation(call);
    *out_einsum = (ln_einsum_call){.term_count = ln_call_in_count(call)};
    size_t count = (size_t)out_einsum->term_count;
    term *terms = ln_call_scratch(call, count, sizeof *terms);
    out_einsum->steps = ln_call_scratch(call, count, sizeof *out_einsum->steps);
    if (!terms || !out_einsum->steps)
        return ln_error_status();
    if (ln_call_is_counting(call))
        return LN_OK;

    LN_TRY(read_terms(&e, out_einsum, terms));
    LN_TRY(add_loops(&e, out_einsum));
    for (int i = 0; i < out_einsum->term_count; i++)
        note_steps(&e, &terms[i], ln_call_in(call, i), out_einsum->steps[i]);
    return LN_OK;
}

ln_status ln_infer_einsum(ln_call *call)
{
    ln_einsum_call einsum;
    LN_TRY(ln_einsum_call_read(call, &einsum));
    if (einsum.out_ndim > TL_MAXDIM)
        return ln_call_fail(call, LN_LIMIT, "the output has %d dimensions", einsum.out_ndim);
    return ln_call_out64(call, 0, ln_call_in(call, 0)->dtype, einsum.out_ndim, einsum.sizes);
}
