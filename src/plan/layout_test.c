// SPDX-License-Identifier: Apache-2.0
// Random models: what the planner makes the checker accepts; what is then broken it refuses.
//
// Whether a broken plan is really wrong is decided by a second opinion that keeps one record for
// each byte and shares nothing with the checker but the rules in lightnet/plan.h.

#include "plan/layout.h"

#include <stdbool.h>

#include "tests/oom.h"
#include "tests/random.h"
#include "tests/test.h"

enum { MAX_VALUES = 120, MAX_STEPS = 60, MAX_LIST = 8, MAX_BYTES = 1 << 16 };

static const ln_plan_over only_pair[] = {{0, 0}};

typedef struct model {
    ln_plan_value values[MAX_VALUES];
    uint32_t owners[MAX_VALUES];
    char names[MAX_VALUES][8];
    bool is_readable[MAX_VALUES];
    bool has_views[MAX_VALUES];
    ln_plan_step steps[MAX_STEPS];
    uint32_t lists[MAX_STEPS][2][MAX_LIST];
    ln_plan plan;
} model;

static test_random source;

static uint32_t random_below(uint32_t n)
{
    return (uint32_t)test_random_below(&source, n);
}

// ---- Random models ----

static uint32_t add_value(model *m, size_t byte_count)
{
    uint32_t i = (uint32_t)m->plan.value_count++;
    snprintf(m->names[i], sizeof m->names[i], "v%u", i);
    m->values[i] = (ln_plan_value){.name = m->names[i],
                                   .byte_count = byte_count,
                                   .mtype = random_below(6) ? LN_MEM_CPU : LN_MEM_CUDA};
    m->owners[i] = i;
    m->is_readable[i] = false;
    m->has_views[i] = false;
    return i;
}

static size_t random_size(void)
{
    return random_below(12) ? 1 + random_below(random_below(3) ? 200 : 600) : 0;
}

static uint32_t add_view(model *m, uint32_t owner, size_t displacement, size_t byte_count)
{
    uint32_t i = add_value(m, byte_count);
    m->owners[i] = owner;
    m->values[i].offset = displacement;
    m->values[i].mtype = m->values[owner].mtype;
    m->values[i].is_static = m->values[owner].is_static;
    m->has_views[owner] = true;
    return i;
}

static ln_plan_step *add_step(model *m, const char *op, ln_plan_aliasing aliasing)
{
    size_t s = m->plan.step_count++;
    m->steps[s] = (ln_plan_step){.op = op,
                                 .reads = m->lists[s][0],
                                 .writes = m->lists[s][1],
                                 .aliasing = aliasing,
                                 .overs = only_pair,
                                 .over_count = aliasing == LN_PLAN_IN_PLACE};
    return &m->steps[s];
}

static void add_read(ln_plan_step *step, uint32_t i)
{
    ((uint32_t *)(uintptr_t)step->reads)[step->read_count++] = i;
}

static void add_write(model *m, ln_plan_step *step, uint32_t i)
{
    ((uint32_t *)(uintptr_t)step->writes)[step->write_count++] = i;
    m->is_readable[i] = true;
}

static uint32_t pick_readable(const model *m)
{
    for (;;) {
        // Mostly recent ones, as in real models.
        uint32_t count = (uint32_t)m->plan.value_count;
        uint32_t i =
            random_below(3) && count > 6 ? count - 6 + random_below(6) : random_below(count);
        if (m->is_readable[i])
            return i;
    }
}

static void add_plain_step(model *m, uint32_t output)
{
    ln_plan_step *step = add_step(m, "plain", LN_PLAN_APART);
    for (uint32_t k = 1 + random_below(3); k > 0; k--) {
        uint32_t i = pick_readable(m);
        if (!m->values[output].is_static || m->values[i].is_static)
            add_read(step, i);
    }
    add_write(m, step, output);
    if (random_below(4) == 0) {
        uint32_t scratch = add_value(m, random_size());
        m->values[scratch].is_static = m->values[output].is_static && random_below(4) != 0;
        add_write(m, step, scratch);
        m->is_readable[scratch] = false;
    }
}

static void add_view_step(model *m)
{
    uint32_t x = pick_readable(m);
    ln_plan_step *step = add_step(m, "split", LN_PLAN_VIEW);
    add_read(step, x);
    for (uint32_t k = 1 + random_below(2); k > 0; k--) {
        uint32_t from = random_below((uint32_t)m->values[x].byte_count + 1);
        uint32_t size = random_below((uint32_t)m->values[x].byte_count - from + 1);
        uint32_t view = random_below(2) ? add_view(m, x, 0, m->values[x].byte_count)
                                        : add_view(m, x, from, size);
        add_write(m, step, view);
    }
}

static void add_concat(model *m)
{
    uint32_t parts[3], count = 2 + random_below(2);
    size_t sizes[3], total = 0;
    for (uint32_t k = 0; k < count; k++)
        total += sizes[k] = random_size();
    uint32_t whole = add_value(m, total);
    total = 0;
    bool is_join = random_below(2);
    for (uint32_t k = 0; k < count; k++) {
        bool is_apart = is_join && random_below(2);
        parts[k] = is_apart ? add_value(m, sizes[k]) : add_view(m, whole, total, sizes[k]);
        total += sizes[k];
        add_plain_step(m, parts[k]);
    }
    ln_plan_step *step = add_step(m, "concat", is_join ? LN_PLAN_JOIN : LN_PLAN_VIEW);
    for (uint32_t k = 0; k < count; k++)
        add_read(step, parts[k]);
    add_write(m, step, whole);
}

static void add_in_place_step(model *m)
{
    uint32_t x = pick_readable(m);
    const ln_plan_value *v = &m->values[x];
    if (v->is_input || v->is_static || m->owners[x] != x || m->has_views[x])
        return;
    ln_plan_step *step = add_step(m, "in_place", LN_PLAN_IN_PLACE);
    add_read(step, x);
    uint32_t y = add_view(m, x, 0, v->byte_count);
    m->is_readable[x] = false;
    add_write(m, step, y);
}

static uint32_t top_owner(const model *m, uint32_t i)
{
    while (m->owners[i] != i)
        i = m->owners[i];
    return i;
}

static bool is_in(const uint32_t *list, size_t count, uint32_t i)
{
    bool is_any = false;
    for (size_t k = 0; k < count; k++)
        is_any = is_any || list[k] == i;
    return is_any;
}

// A step makes the value, and only steps that make static values read it.
static bool may_load(const model *m, uint32_t i)
{
    bool is_made = false;
    for (size_t s = 0; s < m->plan.step_count; s++) {
        const ln_plan_step *step = &m->steps[s];
        bool is_static = step->write_count > 0;
        for (size_t k = 0; k < step->write_count; k++)
            is_static = is_static && m->values[step->writes[k]].is_static;
        if (is_in(step->reads, step->read_count, i) && !is_static)
            return false;
        is_made = is_made || is_in(step->writes, step->write_count, i);
    }
    return is_made && m->values[i].is_static && !m->values[i].is_output;
}

// Static values that may be there while loading only are, mostly; with all that is in their memory.
static void mark_loads(model *m)
{
    bool stays[MAX_VALUES];
    for (uint32_t i = 0; i < m->plan.value_count; i++)
        stays[i] = random_below(4) == 0;
    for (uint32_t i = 0; i < m->plan.value_count; i++)
        stays[top_owner(m, i)] = stays[top_owner(m, i)] || !may_load(m, i);
    for (uint32_t i = 0; i < m->plan.value_count; i++)
        m->values[i].is_load = !stays[top_owner(m, i)];
}

static void make_model(model *m, uint32_t step_count)
{
    memset(m, 0, sizeof *m);
    m->plan.values = m->values;
    m->plan.steps = m->steps;
    uint32_t static_share = random_below(2) ? 2 : 8; // each so manyth value, about
    for (uint32_t k = 1 + random_below(3); k > 0; k--) {
        uint32_t i = add_value(m, random_size());
        m->values[i].is_input = random_below(3) != 0;
        m->values[i].is_static = !m->values[i].is_input;
        m->is_readable[i] = true;
    }
    while (m->plan.step_count < step_count) {
        switch (random_below(8)) {
        case 0: add_view_step(m); break;
        case 1: add_concat(m); break;
        case 2: add_in_place_step(m); break;
        default: {
            uint32_t y = add_value(m, random_size());
            m->values[y].is_static = random_below(static_share) == 0;
            add_plain_step(m, y);
        }
        }
    }
    for (uint32_t i = 0; i < m->plan.value_count; i++) {
        if (m->is_readable[i] && random_below(10) == 0)
            m->values[i].is_output = 1;
    }
    mark_loads(m);
}

static ln_status lay_out(model *m)
{
    return ln_plan_layout(m->values, m->owners, m->plan.value_count, m->steps, m->plan.step_count,
                          m->plan.totals);
}

// ---- The second opinion ----

// Of each memory type, and of each as it is while loading: 1 + index of the value, 0: nobody.
static uint16_t byte_value[2 * LN_MEM_TYPE_SIZE][MAX_BYTES];
static uint32_t byte_time[2 * LN_MEM_TYPE_SIZE][MAX_BYTES];

static int space_of(const ln_plan_value *v)
{
    return v->is_load ? LN_MEM_TYPE_SIZE + (int)v->mtype : (int)v->mtype;
}

static int find_name(const ln_plan *plan, const char *name)
{
    int found = -1;
    for (size_t i = 0; i < plan->value_count; i++) {
        if (strcmp(plan->values[i].name, name) == 0)
            found = found < 0 ? (int)i : -2;
    }
    return found;
}

static bool overlap(const ln_plan_value *a, const ln_plan_value *b)
{
    for (size_t k = 0; k < a->byte_count; k++) {
        if (a->offset + k >= b->offset && a->offset + k < b->offset + b->byte_count)
            return true;
    }
    return false;
}

static bool is_value_sane(const ln_plan *plan, size_t i)
{
    const ln_plan_value *v = &plan->values[i];
    uint32_t end = plan->step_count ? (uint32_t)plan->step_count - 1 : 0;
    bool is_always = (v->is_static && !v->is_load) || v->is_input;
    if (v->is_load && (!v->is_static || v->is_output))
        return false;
    return v->mtype >= 1 && v->mtype <= LN_MEM_DPU && v->offset >= 1 && v->offset < MAX_BYTES &&
           v->byte_count < MAX_BYTES - v->offset && (v->owner || v->offset % 64 == 0) &&
           !(v->is_static && v->is_input) && v->first_step <= v->last_step && v->last_step <= end &&
           (!is_always || v->first_step == 0) &&
           (!(is_always || v->is_output) || v->last_step == end) && find_name(plan, v->name) >= 0;
}

// The root of value i, or -1 when something is wrong on the way.
static int root_of(const ln_plan *plan, size_t i)
{
    const ln_plan_value *view = &plan->values[i];
    for (size_t n = 0; n <= plan->value_count; n++) {
        const ln_plan_value *v = &plan->values[i];
        if (!v->owner)
            return v->first_step <= view->first_step && v->last_step >= view->last_step ? (int)i
                                                                                        : -1;
        int next = find_name(plan, v->owner);
        if (next < 0)
            return -1;
        const ln_plan_value *o = &plan->values[next];
        if (space_of(o) != space_of(v) || !o->is_static != !v->is_static || o->offset > v->offset ||
            o->offset + o->byte_count < v->offset + v->byte_count)
            return -1;
        i = (size_t)next;
    }
    return -1;
}

static void exact_totals(const ln_plan *plan, ln_plan_totals totals[LN_MEM_TYPE_SIZE])
{
    memset(totals, 0, LN_MEM_TYPE_SIZE * sizeof *totals);
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < plan->value_count; i++) {
            const ln_plan_value *v = &plan->values[i];
            if ((unsigned)v->mtype >= LN_MEM_TYPE_SIZE)
                continue;
            ln_plan_totals *t = &totals[v->mtype];
            size_t *end = pass == 0 ? &t->static_byte_count : &t->peak_byte_count;
            if (*end < 64)
                *end = 64;
            if (v->is_load)
                end = &t->load_byte_count;
            if ((!v->is_load && !v->is_static != (pass == 1)) || !v->byte_count)
                continue;
            while (*end < v->offset + v->byte_count && *end < MAX_BYTES)
                *end += 64;
        }
    }
    for (int t = 0; t < LN_MEM_TYPE_SIZE; t++) {
        if (totals[t].peak_byte_count < totals[t].static_byte_count)
            totals[t].peak_byte_count = totals[t].static_byte_count;
        totals[t].workspace_byte_count = totals[t].peak_byte_count - totals[t].static_byte_count;
    }
}

static bool are_places_right(const ln_plan *plan)
{
    ln_plan_totals totals[LN_MEM_TYPE_SIZE];
    exact_totals(plan, totals);
    if (memcmp(totals, plan->totals, sizeof totals) != 0)
        return false;
    for (size_t i = 0; i < plan->value_count; i++) {
        const ln_plan_value *v = &plan->values[i];
        const ln_plan_totals *t = &totals[v->mtype];
        if (v->is_load) {
            if (v->offset < 64)
                return false;
            continue;
        }
        if (v->is_static ? v->offset < 64 || v->offset + v->byte_count > t->static_byte_count
                         : v->offset < t->static_byte_count ||
                               v->offset + v->byte_count > t->peak_byte_count)
            return false;
    }
    for (size_t i = 0; i < plan->value_count; i++) {
        for (size_t k = 0; k < i; k++) {
            const ln_plan_value *a = &plan->values[i], *b = &plan->values[k];
            bool is_together = a->first_step <= b->last_step && b->first_step <= a->last_step;
            if (!a->owner && !b->owner && space_of(a) == space_of(b) && is_together &&
                overlap(a, b))
                return false;
        }
    }
    return true;
}

static bool has_contents(const ln_plan *plan, const int *roots, uint32_t i, uint32_t time)
{
    const ln_plan_value *v = &plan->values[i];
    for (size_t k = v->offset; k < v->offset + v->byte_count; k++) {
        uint16_t writer = byte_value[space_of(v)][k];
        if (writer == 0 || roots[writer - 1] != roots[i] || byte_time[space_of(v)][k] > time)
            return false;
    }
    return true;
}

// Those of the memory types that the plan has.
static void clear_bytes(const ln_plan *plan)
{
    bool is_clear[2 * LN_MEM_TYPE_SIZE] = {false};
    for (size_t i = 0; i < plan->value_count; i++) {
        int space = space_of(&plan->values[i]);
        if (!is_clear[space])
            memset(byte_value[space], 0, sizeof byte_value[space]);
        is_clear[space] = true;
    }
}

static void write_bytes(const ln_plan *plan, uint32_t i, uint32_t time)
{
    const ln_plan_value *v = &plan->values[i];
    for (size_t k = v->offset; k < v->offset + v->byte_count; k++) {
        byte_value[space_of(v)][k] = (uint16_t)(i + 1);
        byte_time[space_of(v)][k] = time;
    }
}

static bool are_apart(const ln_plan *plan, uint32_t a, uint32_t b)
{
    const ln_plan_value *x = &plan->values[a], *y = &plan->values[b];
    return space_of(x) != space_of(y) || !overlap(x, y);
}

// All pairs are of operands and results.
static bool are_pairs_sane(const ln_plan_step *step)
{
    bool is_sane = true;
    for (size_t n = 0; n < step->over_count; n++)
        is_sane = is_sane && step->overs[n].write < step->write_count &&
                  step->overs[n].read < step->read_count;
    return is_sane;
}

// Write `w` of the step takes exactly the bytes of read `k`, which it may be written over.
static bool is_over(const ln_plan *plan, const ln_plan_step *step, size_t w, size_t k)
{
    const ln_plan_value *x = &plan->values[step->writes[w]], *y = &plan->values[step->reads[k]];
    bool is_allowed = false;
    for (size_t n = 0; n < step->over_count && step->aliasing == LN_PLAN_IN_PLACE; n++)
        is_allowed = is_allowed || (step->overs[n].write == w && step->overs[n].read == k);
    return is_allowed && x->offset == y->offset && x->byte_count == y->byte_count;
}

static bool is_step_apart(const ln_plan *plan, const ln_plan_step *step)
{
    for (size_t w = 0; w < step->write_count; w++) {
        for (size_t k = 0; k < step->read_count; k++) {
            if (!are_apart(plan, step->writes[w], step->reads[k]) && !is_over(plan, step, w, k))
                return false;
        }
        for (size_t k = 0; k < w; k++) {
            if (!are_apart(plan, step->writes[w], step->writes[k]))
                return false;
        }
    }
    return true;
}

static bool is_inside(const ln_plan_value *a, const ln_plan_value *b)
{
    return b->offset <= a->offset && a->offset + a->byte_count <= b->offset + b->byte_count;
}

// Byte `k` is one of those that `step` reads under the root of value i; of reads inside of value i
// only where `is_part`.
static bool is_byte_read(const ln_plan *plan, const ln_plan_step *step, const int *roots,
                         uint32_t i, size_t k, bool is_part)
{
    for (size_t n = 0; n < step->read_count; n++) {
        const ln_plan_value *v = &plan->values[step->reads[n]];
        if (roots[step->reads[n]] == roots[i] && v->offset <= k && k < v->offset + v->byte_count &&
            (!is_part || is_inside(v, &plan->values[i])))
            return true;
    }
    return false;
}

static bool are_views_read(const ln_plan *plan, const ln_plan_step *step, const int *roots)
{
    for (size_t w = 0; w < step->write_count; w++) {
        const ln_plan_value *v = &plan->values[step->writes[w]];
        for (size_t k = v->offset; k < v->offset + v->byte_count; k++) {
            if (!is_byte_read(plan, step, roots, step->writes[w], k, false))
                return false;
        }
    }
    return true;
}

static bool is_join_right(const ln_plan *plan, const ln_plan_step *step, const int *roots)
{
    const ln_plan_value *whole = &plan->values[step->writes[0]];
    for (size_t n = 0; n < step->read_count; n++) {
        const ln_plan_value *v = &plan->values[step->reads[n]];
        bool is_zero_inside = v->byte_count == 0 || whole->byte_count == 0;
        if (roots[step->reads[n]] == roots[step->writes[0]] && !is_zero_inside &&
            overlap(v, whole) && !is_inside(v, whole))
            return false;
    }
    return true;
}

static void write_gaps(const ln_plan *plan, const ln_plan_step *step, const int *roots, uint32_t i,
                       uint32_t time)
{
    const ln_plan_value *v = &plan->values[i];
    for (size_t k = v->offset; k < v->offset + v->byte_count; k++) {
        if (is_byte_read(plan, step, roots, i, k, true))
            continue;
        byte_value[space_of(v)][k] = (uint16_t)(i + 1);
        byte_time[space_of(v)][k] = time;
    }
}

// Marks what a static step reads and writes over.
static void spend(const ln_plan *plan, const ln_plan_step *step, bool *is_spent)
{
    for (size_t k = 0; k < step->read_count; k++) {
        const ln_plan_value *v = &plan->values[step->reads[k]];
        for (size_t n = 0; n < step->write_count; n++) {
            const ln_plan_value *w = &plan->values[step->writes[n]];
            if (space_of(v) == space_of(w) && v->offset == w->offset &&
                v->byte_count == w->byte_count)
                is_spent[step->reads[k]] = true;
        }
    }
}

static bool run_step(const ln_plan *plan, const int *roots, uint32_t *times, uint32_t *now,
                     uint32_t s, bool is_loading, bool *is_spent)
{
    const ln_plan_step *step = &plan->steps[s];
    bool is_static_only = true, has_part = !is_loading && step->write_count == 0;
    for (size_t k = 0; k < step->write_count; k++)
        has_part = has_part || !plan->values[step->writes[k]].is_static != is_loading;
    if (!has_part)
        return true;
    for (size_t k = 0; k < step->read_count; k++) {
        uint32_t i = step->reads[k];
        const ln_plan_value *v = &plan->values[i];
        is_static_only = is_static_only && v->is_static;
        if (s < v->first_step || s > v->last_step || !times[i] || (v->is_load && !is_loading) ||
            !has_contents(plan, roots, i, times[i]))
            return false;
    }
    if (step->aliasing == LN_PLAN_VIEW   ? !are_views_read(plan, step, roots)
        : step->aliasing == LN_PLAN_JOIN ? !is_join_right(plan, step, roots)
                                         : !is_step_apart(plan, step))
        return false;
    for (size_t k = 0; k < step->write_count; k++) {
        uint32_t i = step->writes[k];
        const ln_plan_value *v = &plan->values[i];
        if (!v->is_static == is_loading)
            continue;
        if (s < v->first_step || s > v->last_step || times[i] || (v->is_static && !is_static_only))
            return false;
        times[i] = ++*now;
        if (step->aliasing == LN_PLAN_JOIN)
            write_gaps(plan, step, roots, i, *now);
        else if (step->aliasing != LN_PLAN_VIEW)
            write_bytes(plan, i, *now);
        else if (!has_contents(plan, roots, i, *now))
            return false;
    }
    if (is_loading && step->aliasing == LN_PLAN_IN_PLACE)
        spend(plan, step, is_spent);
    return true;
}

static bool is_really_right(const ln_plan *plan)
{
    int roots[MAX_VALUES];
    uint32_t times[MAX_VALUES], now = 1;
    bool is_spent[MAX_VALUES] = {false};
    for (size_t i = 0; i < plan->value_count; i++) {
        if (!is_value_sane(plan, i))
            return false;
    }
    for (size_t i = 0; i < plan->value_count; i++) {
        roots[i] = root_of(plan, i);
        if (roots[i] < 0)
            return false;
    }
    if (!are_places_right(plan))
        return false;

    clear_bytes(plan);
    for (uint32_t i = 0; i < plan->value_count; i++) {
        bool is_made = false;
        for (size_t s = 0; s < plan->step_count; s++) {
            for (size_t k = 0; k < plan->steps[s].write_count; k++)
                is_made = is_made || plan->steps[s].writes[k] == i;
        }
        const ln_plan_value *v = &plan->values[i];
        times[i] = v->is_input || (v->is_static && !v->is_load && !is_made);
        if (times[i])
            write_bytes(plan, i, 1);
    }
    for (size_t s = 0; s < plan->step_count; s++) {
        if (plan->steps[s].aliasing == LN_PLAN_JOIN && plan->steps[s].write_count != 1)
            return false;
        if (!are_pairs_sane(&plan->steps[s]))
            return false;
    }
    for (int is_run = 0; is_run < 2; is_run++) {
        for (uint32_t s = 0; s < plan->step_count; s++) {
            if (!run_step(plan, roots, times, &now, s, !is_run, is_spent))
                return false;
        }
    }
    for (uint32_t i = 0; i < plan->value_count; i++) {
        const ln_plan_value *v = &plan->values[i];
        if ((v->is_input || v->is_output || (v->is_static && !v->is_load && !is_spent[i])) &&
            (!times[i] || !has_contents(plan, roots, i, times[i])))
            return false;
    }
    return true;
}

// ---- Planner and checker agree ----

static size_t aligned_sum(const ln_plan *plan, ln_mem_type mtype, int64_t step)
{
    size_t sum = 0;
    for (size_t i = 0; i < plan->value_count; i++) {
        const ln_plan_value *v = &plan->values[i];
        bool is_alive = step < 0 || (v->first_step <= step && step <= v->last_step);
        if (v->mtype == mtype && !v->owner && !v->is_static && is_alive)
            sum += (v->byte_count + 63) / 64 * 64;
    }
    return sum;
}

TEST(what_the_planner_makes_the_checker_accepts)
{
    enum { GRAPHS = 2000 };
    static model m;
    double above = 0, saved = 0;
    size_t at_bound = 0, arenas = 0, load_count = 0;
    source = test_random_start();
    for (int g = 0; g < GRAPHS; g++) {
        make_model(&m, 1 + random_below(40));
        CHECK_OK(lay_out(&m));
        CHECK_OK(ln_plan_check(&m.plan));
        if (g % 10 == 0)
            CHECK(is_really_right(&m.plan));
        for (size_t i = 0; i < m.plan.value_count; i++)
            load_count += m.values[i].is_load != 0;
        for (int t = 1; t < LN_MEM_TYPE_SIZE; t++) {
            size_t bound = 0, sum = aligned_sum(&m.plan, (ln_mem_type)t, -1);
            size_t got = m.plan.totals[t].workspace_byte_count;
            for (size_t s = 0; s < m.plan.step_count; s++) {
                size_t alive = aligned_sum(&m.plan, (ln_mem_type)t, (int64_t)s);
                bound = alive > bound ? alive : bound;
            }
            CHECK(got >= bound);
            CHECK(got <= sum);
            if (bound == 0)
                continue;
            arenas++;
            at_bound += got == bound;
            above += (double)(got - bound) / (double)bound;
            saved += 1 - (double)got / (double)sum;
        }
    }
    print_message("%d models, %zu arenas: %.1f %% meet the lower bound, on average %.3f %% above "
                  "it, %.0f %% smaller than without reuse\n",
                  GRAPHS, arenas, 100.0 * (double)at_bound / (double)arenas,
                  100 * above / (double)arenas, 100 * saved / (double)arenas);
    CHECK(above / (double)arenas < 0.01);
    CHECK(load_count > GRAPHS);
}

// ---- Broken at random ----

static void set_lifetimes(model *m)
{
    uint32_t end = m->plan.step_count ? (uint32_t)m->plan.step_count - 1 : 0;
    for (uint32_t i = 0; i < m->plan.value_count; i++) {
        ln_plan_value *v = &m->values[i];
        uint32_t first = end, last = 0;
        for (uint32_t s = 0; s < m->plan.step_count; s++) {
            for (size_t k = 0; k < m->steps[s].read_count + m->steps[s].write_count; k++) {
                uint32_t used = k < m->steps[s].read_count
                                    ? m->steps[s].reads[k]
                                    : m->steps[s].writes[k - m->steps[s].read_count];
                if (used != i)
                    continue;
                first = s < first ? s : first;
                last = s > last ? s : last;
            }
        }
        bool is_always = v->is_input || (v->is_static && !v->is_load);
        v->first_step = is_always ? 0 : first;
        v->last_step = is_always || v->is_output ? end : last;
        if (v->last_step < v->first_step)
            v->last_step = v->first_step;
    }
    for (size_t round = 0; round < m->plan.value_count; round++) {
        for (size_t i = 0; i < m->plan.value_count; i++) {
            const ln_plan_value *v = &m->values[i];
            int o = v->owner ? find_name(&m->plan, v->owner) : -1;
            if (o < 0)
                continue;
            ln_plan_value *owner = &m->values[o];
            owner->first_step =
                v->first_step < owner->first_step ? v->first_step : owner->first_step;
            owner->last_step = v->last_step > owner->last_step ? v->last_step : owner->last_step;
        }
    }
}

static void break_value(model *m)
{
    uint32_t count = (uint32_t)m->plan.value_count;
    ln_plan_value *v = &m->values[random_below(count)], *w = &m->values[random_below(count)];
    size_t offset = v->offset;
    switch (random_below(16)) {
    case 0: v->offset += 64 * (1 + (size_t)random_below(4)); break;
    case 1: v->offset -= 64; break;
    case 2: v->offset += random_below(70); break;
    case 3:
        v->offset = w->offset;
        w->offset = offset;
        break;
    case 4: v->offset = w->offset; break;
    case 5: v->byte_count += 1 + random_below(128); break;
    case 6: v->byte_count -= random_below((uint32_t)v->byte_count + 1); break;
    case 7: v->mtype = (ln_mem_type)random_below(LN_MEM_TYPE_SIZE + 1); break;
    case 8: v->is_static = !v->is_static; break;
    case 9: v->first_step += 1; break;
    case 10: v->last_step -= 1; break;
    case 11: v->owner = random_below(2) ? w->name : NULL; break;
    case 12: v->is_output = !v->is_output; break;
    case 13: v->is_load = !v->is_load; break;
    case 14: v->is_static = v->is_load = !v->is_load; break;
    default: v->is_input = !v->is_input;
    }
}

static void break_step(model *m)
{
    uint32_t count = (uint32_t)m->plan.value_count;
    uint32_t s = random_below((uint32_t)m->plan.step_count);
    uint32_t t = random_below((uint32_t)m->plan.step_count);
    ln_plan_step *step = &m->steps[s], old = *step;
    switch (random_below(9)) {
    case 0:
        *step = m->steps[t];
        m->steps[t] = old;
        break;
    case 1:
        if (step->read_count)
            m->lists[s][0][random_below((uint32_t)step->read_count)] = random_below(count);
        break;
    case 2:
        if (step->write_count)
            m->lists[s][1][random_below((uint32_t)step->write_count)] = random_below(count);
        break;
    case 3: step->aliasing = (ln_plan_aliasing)random_below(4); break;
    case 7: step->over_count = !step->over_count; break;
    case 8:
        if (step->read_count && step->read_count < MAX_LIST)
            add_read(step, step->reads[0]);
        break;
    case 4:
        if (step->read_count)
            step->read_count--;
        break;
    case 5:
        if (step->read_count < MAX_LIST)
            add_read(step, random_below(count));
        break;
    default:
        if (step->write_count)
            step->write_count--;
    }
}

static void break_totals(model *m)
{
    ln_plan_totals *t = &m->plan.totals[random_below(LN_MEM_TYPE_SIZE)];
    size_t *fields[] = {&t->static_byte_count, &t->workspace_byte_count, &t->peak_byte_count,
                        &t->load_byte_count};
    *fields[random_below(4)] += (size_t)(random_below(2) ? 64 : -64);
    if (random_below(2))
        t->peak_byte_count = t->static_byte_count + t->workspace_byte_count;
}

TEST(checker_and_second_opinion_agree_on_broken_plans)
{
    enum { WRONG = 10000, BREAKS = 10 };
    static model good, m;
    size_t right = 0, wrong = 0, loads[2] = {0};
    source = test_random_start();
    for (int g = 0; wrong < WRONG; g++) {
        make_model(&good, 1 + random_below(14));
        CHECK_OK(lay_out(&good));
        for (int b = 0; b < BREAKS; b++) {
            memcpy(&m, &good, sizeof m);
            m.plan.values = m.values;
            m.plan.steps = m.steps;
            for (size_t s = 0; s < m.plan.step_count; s++) {
                m.steps[s].reads = m.lists[s][0];
                m.steps[s].writes = m.lists[s][1];
            }
            uint32_t kind = random_below(20);
            if (kind == 0)
                break_totals(&m);
            else if (kind < 10)
                break_value(&m);
            else
                break_step(&m);
            // Repaired around the break, more plans are wrong in just one way, or not at all.
            if (random_below(3))
                set_lifetimes(&m);
            if (kind && random_below(3))
                exact_totals(&m.plan, m.plan.totals);

            bool is_right = is_really_right(&m.plan);
            ln_error_clear();
            ln_status status = ln_plan_check(&m.plan);
            if (status != (is_right ? LN_OK : LN_INVALID))
                fail_msg("plan %d, break %d is %s, but the checker says %s: %s", g, b,
                         is_right ? "right" : "wrong", ln_status_name(status), ln_error_message());
            right += is_right;
            wrong += !is_right;
            for (size_t i = 0; i < m.plan.value_count; i++)
                loads[is_right] += m.values[i].is_load != 0;
        }
    }
    print_message("all %zu wrong plans are found, and %zu that are still right\n", wrong, right);
    CHECK(right > 500);
    CHECK(loads[false] > 1000 && loads[true] > 300);
}

// ---- Failures ----

TEST(contradictions_are_refused_and_nothing_changes)
{
    static model m, before;
    source = test_random_start();
    do
        make_model(&m, 20);
    while (m.plan.value_count < 20);
    memcpy(&before, &m, sizeof m);

    ln_plan_totals *totals = m.plan.totals;
    size_t n = m.plan.value_count, steps = m.plan.step_count;
    CHECK_FAILS(ln_plan_layout(NULL, m.owners, n, m.steps, steps, totals), LN_INVALID);
    CHECK_FAILS(ln_plan_layout(m.values, NULL, n, m.steps, steps, totals), LN_INVALID);
    CHECK_FAILS(ln_plan_layout(m.values, m.owners, n, NULL, steps, totals), LN_INVALID);
    CHECK_FAILS(ln_plan_layout(m.values, m.owners, n, m.steps, steps, NULL), LN_INVALID);
    CHECK_OK(ln_plan_layout(NULL, NULL, 0, NULL, 0, totals));

    m.owners[3] = 1000;
    CHECK_FAILS(lay_out(&m), LN_INVALID);
    memcpy(&m, &before, sizeof m);
    m.values[3].mtype = LN_MEM_NONE;
    CHECK_FAILS(lay_out(&m), LN_INVALID);
    CHECK_MESSAGE("'v3'");
    memcpy(&m, &before, sizeof m);
    m.values[0].byte_count = SIZE_MAX - 80;
    CHECK_FAILS(lay_out(&m), LN_LIMIT);
    m.values[0].byte_count = before.values[0].byte_count;
    CHECK_MEM_EQ(m.values, before.values, sizeof m.values);
}

TEST(every_allocation_may_fail)
{
    static model m, before;
    source = test_random_start();
    make_model(&m, 20);
    memcpy(&before, &m, sizeof m);
    OOM_SWEEP(n)
    {
        memcpy(&m, &before, sizeof m);
        ln_status status = lay_out(&m);
        CHECK(status == LN_OK || status == LN_NO_MEMORY);
        if (status != LN_OK)
            CHECK_MEM_EQ(m.values, before.values, sizeof m.values);
    }
    OOM_SWEEP(k)
    {
        ln_status status = ln_plan_check(&m.plan);
        CHECK(status == LN_OK || status == LN_NO_MEMORY);
    }
    CHECK_OK(ln_plan_check(&m.plan));
}

TEST_LIST(what_the_planner_makes_the_checker_accepts,
          checker_and_second_opinion_agree_on_broken_plans,
          contradictions_are_refused_and_nothing_changes, every_allocation_may_fail)
