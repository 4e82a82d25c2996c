// SPDX-License-Identifier: Apache-2.0
// The plan checker, second half: follows the steps and watches who owns which bytes.
//
// A map says for every byte which value was written there last. A read is right when all its bytes
// still belong to the root of the value and were not written again after the value was. So wrong
// lifetimes are found even where the declared ones agree with each other.
//
// Time is counted in writes: the values filled before the first step at time 1, then one tick for
// each write. A view step writes no byte; its values only get a time. A joining step writes what
// is between the values that it reads.

#include "plan/check.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lightnet/allocator.h>

#define BEFORE_START UINT32_MAX

typedef struct segment {
    int space;
    size_t start;
    size_t end; // exclusive
    uint32_t value;
    uint32_t step; // that wrote it, or BEFORE_START
    uint64_t time;
} segment;

typedef struct access {
    uint32_t root;
    uint32_t value;
    uint32_t position; // in the reads or writes of the step
    bool is_write;
    size_t start;
    size_t end;
} access;

typedef struct replay {
    const ln_plan *plan;
    const uint32_t *roots;
    uint64_t *times; // when each value got its contents; 0: not yet
    uint64_t now;
    segment *map; // ordered, disjoint; each stamp adds two segments at most
    size_t segment_count;
    access *accesses; // of one step
    bool *is_spent;   // a constant that a static step may have been computed over
} replay;

static const ln_plan_value *value_at(const replay *r, uint32_t i)
{
    return &r->plan->values[i];
}

// ---- The map ----

// The first segment that ends after `start`.
static size_t find_segment(const replay *r, int space, size_t start)
{
    size_t low = 0, high = r->segment_count;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        const segment *s = &r->map[mid];
        if (s->space != space ? s->space < space : s->end <= start)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

// Gives bytes [start, end) to value `i`; what other segments have outside stays theirs.
static void stamp_bytes(replay *r, uint32_t i, uint32_t step, size_t start, size_t end)
{
    if (start >= end)
        return;

    int space = PLAN_SPACE(value_at(r, i));
    size_t low = find_segment(r, space, start), high = low;
    while (high < r->segment_count && r->map[high].space == space && r->map[high].start < end)
        high++;

    segment added[3];
    size_t added_count = 0;
    if (low < high && r->map[low].start < start) {
        added[added_count] = r->map[low];
        added[added_count++].end = start;
    }
    added[added_count++] = (segment){space, start, end, i, step, r->times[i]};
    if (low < high && r->map[high - 1].end > end) {
        added[added_count] = r->map[high - 1];
        added[added_count++].start = end;
    }
    memmove(r->map + low + added_count, r->map + high, (r->segment_count - high) * sizeof *r->map);
    memcpy(r->map + low, added, added_count * sizeof *added);
    r->segment_count = r->segment_count - (high - low) + added_count;
}

static void stamp(replay *r, uint32_t i, uint32_t step)
{
    const ln_plan_value *v = value_at(r, i);
    stamp_bytes(r, i, step, v->offset, v->offset + v->byte_count);
}

// ---- Contents ----

#define AT_END          UINT32_MAX
#define STEP_TEXT_BYTES 256

// What a failure says of the step, or of the end.
static void print_step(char text[STEP_TEXT_BYTES], const replay *r, uint32_t at)
{
    if (at == AT_END)
        snprintf(text, STEP_TEXT_BYTES, "the end");
    else
        snprintf(text, STEP_TEXT_BYTES, PLAN_STEP, at, r->plan->steps[at].op);
}

// Fails for bytes [start, end) of value `i`, which belong to `owner` now (NULL: to nobody).
static ln_status fail_contents(const replay *r, uint32_t i, uint32_t at, size_t start, size_t end,
                               const segment *owner)
{
    char who[STEP_TEXT_BYTES];
    print_step(who, r, at);
    const ln_plan_value *v = value_at(r, i);
    if (!owner)
        return LN_FAIL(LN_INVALID, "%s needs " PLAN_VALUE ", but nobody wrote bytes [%zu, %zu)",
                       who, PLAN_VALUE_ARGS(v), start, end);
    const ln_plan_value *other = value_at(r, owner->value);
    char when[256] = "before the start";
    if (owner->step != BEFORE_START)
        snprintf(when, sizeof when, "by " PLAN_STEP, owner->step, r->plan->steps[owner->step].op);
    return LN_FAIL(LN_INVALID,
                   "%s needs " PLAN_VALUE ", but bytes [%zu, %zu) belong to " PLAN_VALUE
                   ", written %s",
                   who, PLAN_VALUE_ARGS(v), start, end, PLAN_VALUE_ARGS(other), when);
}

// All bytes of value `i` hold what was written for it up to `time`.
static ln_status check_contents(const replay *r, uint32_t i, uint64_t time, uint32_t step)
{
    const ln_plan_value *v = value_at(r, i);
    size_t at = v->offset, end = v->offset + v->byte_count;
    int space = PLAN_SPACE(v);
    for (size_t k = find_segment(r, space, at); at < end; k++) {
        const segment *s = k < r->segment_count ? &r->map[k] : NULL;
        if (!s || s->space != space || s->start >= end)
            return fail_contents(r, i, step, at, end, NULL);
        if (s->start > at)
            return fail_contents(r, i, step, at, s->start, NULL);
        size_t s_end = s->end < end ? s->end : end;
        if (r->roots[s->value] != r->roots[i] || s->time > time)
            return fail_contents(r, i, step, at, s_end, s);
        at = s_end;
    }
    return LN_OK;
}

// ---- One step ----

static int by_place(const void *a, const void *b)
{
    const access *x = a, *y = b;
    if (x->root != y->root)
        return x->root < y->root ? -1 : 1;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    return (int)x->is_write - (int)y->is_write; // reads first
}

static size_t collect(const replay *r, const uint32_t *values, size_t count, bool is_write,
                      access *out)
{
    size_t found = 0;
    for (size_t k = 0; k < count; k++) {
        const ln_plan_value *v = value_at(r, values[k]);
        if (v->byte_count)
            out[found++] =
                (access){r->roots[values[k]],      values[k], (uint32_t)k, is_write, v->offset,
                         v->offset + v->byte_count};
    }
    return found;
}

static bool is_same_place(const access *a, const access *b)
{
    return a->root == b->root && a->start == b->start && a->end == b->end;
}

// Whether the step may overwrite `read` with `written`.
static bool may_be_over(const ln_plan_step *step, const access *written, const access *read)
{
    size_t low = 0, high = step->over_count;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        const ln_plan_over *o = &step->overs[mid];
        if (o->write != written->position ? o->write < written->position : o->read < read->position)
            low = mid + 1;
        else
            high = mid;
    }
    return low < step->over_count && step->overs[low].write == written->position &&
           step->overs[low].read == read->position;
}

// `written` is sorted last among the accesses of its bytes: it overwrites all of those before it.
static ln_status check_operands_under(const replay *r, uint32_t at, const access *written)
{
    const ln_plan_step *step = &r->plan->steps[at];
    for (const access *a = written; a > r->accesses && is_same_place(a - 1, written); a--) {
        if (!may_be_over(step, written, a - 1))
            return LN_FAIL(LN_INVALID,
                           PLAN_STEP " writes " PLAN_VALUE " over " PLAN_VALUE
                                     ", which it still reads as operand %u",
                           at, step->op, PLAN_VALUE_ARGS(value_at(r, written->value)),
                           PLAN_VALUE_ARGS(value_at(r, a[-1].value)), a[-1].position + 1);
    }
    return LN_OK;
}

// Accesses of one step to one owner: a written one overlaps no other, but in place it may take
// exactly the bytes of read ones. In the order of places it is enough to compare each access with
// the read and the written one that reach furthest so far.
static ln_status check_step_apart(replay *r, uint32_t at)
{
    const ln_plan_step *step = &r->plan->steps[at];
    size_t count = collect(r, step->reads, step->read_count, false, r->accesses);
    count += collect(r, step->writes, step->write_count, true, r->accesses + count);
    qsort(r->accesses, count, sizeof *r->accesses, by_place);

    const access *read = NULL, *written = NULL; // furthest so far; `read` at other places only
    const access *read_here = NULL;             // furthest with those at this place
    for (size_t k = 0; k < count; k++) {
        const access *a = &r->accesses[k], *hit = NULL;
        bool is_new_root = k == 0 || a->root != a[-1].root;
        bool is_new_place = k == 0 || !is_same_place(a, a - 1);
        if (is_new_root)
            read = written = read_here = NULL;
        if (is_new_place)
            read = read_here;
        const access *reader = step->aliasing == LN_PLAN_IN_PLACE ? read : read_here;
        if (written && written->end > a->start)
            hit = written;
        else if (a->is_write && reader && reader->end > a->start)
            hit = reader;
        if (hit)
            return LN_FAIL(
                LN_INVALID,
                PLAN_STEP " %s " PLAN_VALUE " and %s " PLAN_VALUE ", which overlap in '%.200s'", at,
                step->op, hit->is_write ? "writes" : "reads",
                PLAN_VALUE_ARGS(value_at(r, hit->value)), a->is_write ? "writes" : "reads",
                PLAN_VALUE_ARGS(value_at(r, a->value)), value_at(r, a->root)->name);
        if (a->is_write)
            LN_TRY(check_operands_under(r, at, a));
        const access **furthest = a->is_write ? &written : &read_here;
        if (!*furthest || a->end > (*furthest)->end)
            *furthest = a;
    }
    return LN_OK;
}

// What a joining step reads is in what it writes, or apart from it.
static ln_status check_parts(const replay *r, uint32_t at)
{
    const ln_plan_step *step = &r->plan->steps[at];
    const ln_plan_value *whole = value_at(r, step->writes[0]);
    for (size_t k = 0; k < step->read_count; k++) {
        const ln_plan_value *part = value_at(r, step->reads[k]);
        size_t part_end = part->offset + part->byte_count;
        size_t whole_end = whole->offset + whole->byte_count;
        bool is_inside = whole->offset <= part->offset && part_end <= whole_end;
        bool is_apart = part_end <= whole->offset || whole_end <= part->offset ||
                        part->byte_count == 0 || whole->byte_count == 0;
        if (r->roots[step->reads[k]] == r->roots[step->writes[0]] && !is_inside && !is_apart)
            return LN_FAIL(LN_INVALID,
                           PLAN_STEP " joins " PLAN_VALUE ", which is partly in " PLAN_VALUE, at,
                           step->op, PLAN_VALUE_ARGS(part), PLAN_VALUE_ARGS(whole));
    }
    return LN_OK;
}

// The reads of a step in the order of their places, those that touch as one; `end` is what counts.
static size_t merge_reads(replay *r, const ln_plan_step *step)
{
    size_t count = collect(r, step->reads, step->read_count, false, r->accesses), merged = 0;
    qsort(r->accesses, count, sizeof *r->accesses, by_place);
    for (size_t k = 0; k < count; k++) {
        const access *a = &r->accesses[k];
        access *last = merged ? &r->accesses[merged - 1] : NULL;
        if (!last || last->root != a->root || last->end < a->start)
            r->accesses[merged++] = *a;
        else if (last->end < a->end)
            last->end = a->end;
    }
    return merged;
}

// Every byte of value `i` is among the `count` merged reads.
static bool is_read(const replay *r, size_t count, uint32_t i)
{
    const ln_plan_value *v = value_at(r, i);
    size_t low = 0, high = count; // the last one that does not start after the value
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        const access *a = &r->accesses[mid];
        if (a->root != r->roots[i] ? a->root < r->roots[i] : a->start <= v->offset)
            low = mid + 1;
        else
            high = mid;
    }
    const access *a = low ? &r->accesses[low - 1] : NULL;
    return v->byte_count == 0 ||
           (a && a->root == r->roots[i] && v->offset + v->byte_count <= a->end);
}

static ln_status check_views_are_read(replay *r, uint32_t at)
{
    const ln_plan_step *step = &r->plan->steps[at];
    size_t count = merge_reads(r, step);
    for (size_t k = 0; k < step->write_count; k++) {
        if (!is_read(r, count, step->writes[k]))
            return LN_FAIL(LN_INVALID,
                           PLAN_STEP " makes the view " PLAN_VALUE
                                     " of bytes that it does not read",
                           at, step->op, PLAN_VALUE_ARGS(value_at(r, step->writes[k])));
    }
    return LN_OK;
}

// How the step's bytes may overlap each other.
static ln_status check_aliasing(replay *r, uint32_t at)
{
    switch (r->plan->steps[at].aliasing) {
    case LN_PLAN_VIEW: return check_views_are_read(r, at);
    case LN_PLAN_JOIN: return check_parts(r, at);
    default: return check_step_apart(r, at);
    }
}

static ln_status fail_step(const replay *r, uint32_t at, uint32_t i, const char *verb,
                           const char *why)
{
    char who[STEP_TEXT_BYTES];
    print_step(who, r, at);
    return LN_FAIL(LN_INVALID, "%s %s " PLAN_VALUE "%s", who, verb, PLAN_VALUE_ARGS(value_at(r, i)),
                   why);
}

static ln_status replay_reads(const replay *r, uint32_t at, bool is_static)
{
    const ln_plan_step *step = &r->plan->steps[at];
    for (size_t k = 0; k < step->read_count; k++) {
        uint32_t i = step->reads[k];
        if (!is_static && value_at(r, i)->is_load)
            return fail_step(r, at, i, "reads", " in a run, but it is there while loading only");
        if (r->times[i] == 0)
            return fail_step(r, at, i, "reads", " before it is written");
        LN_TRY(check_contents(r, i, r->times[i], at));
    }
    return LN_OK;
}

static ln_status check_static_write(const replay *r, uint32_t at, uint32_t written)
{
    const ln_plan_step *step = &r->plan->steps[at];
    for (size_t k = 0; k < step->read_count; k++) {
        const ln_plan_value *v = value_at(r, step->reads[k]);
        if (!v->is_static)
            return LN_FAIL(LN_INVALID,
                           PLAN_STEP " makes the static '%.200s' from '%.200s', which is not", at,
                           step->op, value_at(r, written)->name, v->name);
    }
    return LN_OK;
}

// Stamps what is between the reads inside of value `i`.
static void stamp_gaps(replay *r, uint32_t i, uint32_t at)
{
    const ln_plan_value *v = value_at(r, i);
    size_t count = merge_reads(r, &r->plan->steps[at]);
    size_t next = v->offset, end = v->offset + v->byte_count;
    for (size_t k = 0; k < count; k++) {
        const access *a = &r->accesses[k];
        if (a->root != r->roots[i] || a->end <= next || a->start >= end)
            continue;
        stamp_bytes(r, i, at, next, a->start);
        next = a->end < end ? a->end : end;
    }
    stamp_bytes(r, i, at, next, end);
}

static ln_status replay_writes(replay *r, uint32_t at, bool is_static)
{
    const ln_plan_step *step = &r->plan->steps[at];
    for (size_t k = 0; k < step->write_count; k++) {
        uint32_t i = step->writes[k];
        if (!value_at(r, i)->is_static == is_static)
            continue;
        if (r->times[i] != 0)
            return fail_step(r, at, i, "writes", ", which has its contents already");
        if (value_at(r, i)->is_static)
            LN_TRY(check_static_write(r, at, i));
        r->times[i] = ++r->now;
        if (step->aliasing == LN_PLAN_VIEW)
            LN_TRY(check_contents(r, i, r->now, at));
        else if (step->aliasing == LN_PLAN_JOIN)
            stamp_gaps(r, i, at);
        else
            stamp(r, i, at);
    }
    return LN_OK;
}

// ---- All steps ----

// Inputs, and static values that no step writes, have their contents before the first step.
static void fill_before_start(replay *r)
{
    const ln_plan *plan = r->plan;
    r->now = 1;
    for (uint32_t i = 0; i < plan->value_count; i++)
        r->times[i] =
            plan->values[i].is_input || (plan->values[i].is_static && !plan->values[i].is_load);
    for (size_t s = 0; s < plan->step_count; s++) {
        for (size_t k = 0; k < plan->steps[s].write_count; k++) {
            uint32_t i = plan->steps[s].writes[k];
            if (plan->values[i].is_static)
                r->times[i] = 0;
        }
    }
    for (uint32_t i = 0; i < plan->value_count; i++) {
        if (r->times[i])
            stamp(r, i, BEFORE_START);
    }
}

// A step without results runs like one whose results are not static.
static bool has_part(const replay *r, const ln_plan_step *step, bool is_static)
{
    for (size_t k = 0; k < step->write_count; k++) {
        if (!value_at(r, step->writes[k])->is_static != is_static)
            return true;
    }
    return step->write_count == 0 && !is_static;
}

// A constant that a static value is computed over is not there any more, and need not be.
static void note_spent(replay *r, const ln_plan_step *step)
{
    for (size_t k = 0; k < step->read_count; k++) {
        const ln_plan_value *v = value_at(r, step->reads[k]);
        for (size_t n = 0; n < step->write_count; n++) {
            const ln_plan_value *w = value_at(r, step->writes[n]);
            if (PLAN_SPACE(w) == PLAN_SPACE(v) && w->offset == v->offset &&
                w->byte_count == v->byte_count)
                r->is_spent[step->reads[k]] = true;
        }
    }
}

// Static values are made once, before all others.
static ln_status replay_steps(replay *r, bool is_static)
{
    for (uint32_t s = 0; s < r->plan->step_count; s++) {
        const ln_plan_step *step = &r->plan->steps[s];
        if (!has_part(r, step, is_static))
            continue;
        LN_TRY(replay_reads(r, s, is_static));
        LN_TRY(check_aliasing(r, s));
        LN_TRY(replay_writes(r, s, is_static));
        if (is_static && step->aliasing == LN_PLAN_IN_PLACE)
            note_spent(r, step);
    }
    return LN_OK;
}

static ln_status run_replay(replay *r)
{
    const ln_plan *plan = r->plan;
    fill_before_start(r);
    LN_TRY(replay_steps(r, true));
    LN_TRY(replay_steps(r, false));
    for (uint32_t i = 0; i < plan->value_count; i++) {
        const ln_plan_value *v = &plan->values[i];
        bool is_kept = v->is_static && !v->is_load && !r->is_spent[i];
        if (!v->is_input && !v->is_output && !is_kept)
            continue;
        if (r->times[i] == 0)
            return LN_FAIL(LN_INVALID, "no step writes the output " PLAN_VALUE, PLAN_VALUE_ARGS(v));
        LN_TRY(check_contents(r, i, r->times[i], AT_END));
    }
    return LN_OK;
}

ln_status ln_plan_replay(const ln_plan *plan, const uint32_t *roots)
{
    size_t most_accesses = 0, stamp_count = plan->value_count + 1;
    for (size_t s = 0; s < plan->step_count; s++) {
        const ln_plan_step *step = &plan->steps[s];
        size_t n = step->read_count + step->write_count;
        if (n > most_accesses)
            most_accesses = n;
        if (step->aliasing == LN_PLAN_JOIN)
            stamp_count += step->read_count;
    }
    replay r = {.plan = plan,
                .roots = roots,
                .times = ln_alloc_array(plan->value_count, sizeof *r.times),
                .map = ln_alloc_array(stamp_count, 2 * sizeof *r.map),
                .accesses = ln_alloc_array(most_accesses, sizeof *r.accesses),
                .is_spent = ln_alloc_array(plan->value_count, sizeof *r.is_spent)};
    bool is_whole = r.times && r.map && r.accesses && r.is_spent;
    ln_status status = is_whole ? run_replay(&r) : LN_NO_MEMORY;
    ln_free(r.is_spent);
    ln_free(r.accesses);
    ln_free(r.map);
    ln_free(r.times);
    return status;
}
