// SPDX-License-Identifier: Apache-2.0
// Variables in graphs of IF and WHILE. The value of a variable that an operator of the graph reads
// or assigns is one more input of the graph: of a branch the tensor around it, of a body a value
// that goes from pass to pass. What the graph assigns is one more output (control.c).

#include "serial/tflite/builder.h"

#include <lightnet/allocator.h>

const ln_tflite_carried *ln_tflite_find_carried(const ln_tflite_graph *graph, size_t state)
{
    for (size_t i = 0; i < graph->carried_count; i++) {
        if (graph->carried[i].state == state)
            return &graph->carried[i];
    }
    return NULL;
}

bool ln_tflite_is_changed(const ln_tflite_graph *graph, size_t state)
{
    const ln_tflite_carried *carried = ln_tflite_find_carried(graph, state);
    return carried && carried->after != carried->inside;
}

static void add_carried(ln_tflite_builder *b, ln_tflite_graph *graph, size_t state)
{
    ln_tflite_state *variable = &b->states[state - 1];
    if (!graph->carried)
        graph->carried = ln_alloc(LN_TFLITE_MAX_STATES * sizeof *graph->carried);
    if (!graph->carried) {
        ln_tflite_stop(b, LN_NO_MEMORY, "variables");
        return;
    }
    const char *before = variable->now;
    ln_context *into = b->into;
    ln_tflite_flush(b);
    if (graph->is_loop)
        variable->now = ln_tflite_claim(b, b->tensor_names, before);
    b->into = graph->into;
    ln_tflite_add_input(b, variable->now, graph->is_loop ? variable->dtype : TL_OBJECT,
                        !graph->is_loop);
    b->into = into;
    graph->carried[graph->carried_count++] =
        (ln_tflite_carried){.state = state, .before = before, .inside = variable->now};
}

static void reach(ln_tflite_builder *b, ln_tflite_graph *graph, size_t state)
{
    if (!graph || ln_tflite_find_carried(graph, state) || !ln_tflite_is_going(b))
        return;
    reach(b, graph->around, state);
    if (ln_tflite_is_going(b))
        add_carried(b, graph, state);
}

void ln_tflite_reach(ln_tflite_builder *b, size_t state)
{
    reach(b, b->graph, state);
}

void ln_tflite_keep_carried(ln_tflite_builder *b, ln_tflite_graph *graph)
{
    for (size_t i = 0; i < graph->carried_count; i++) {
        ln_tflite_carried *carried = &graph->carried[i];
        ln_tflite_state *variable = &b->states[carried->state - 1];
        carried->after = variable->now;
        variable->now = carried->before;
    }
}

void ln_tflite_carry(ln_tflite_builder *b, ln_tflite_graph *graph, size_t state)
{
    const size_t count = graph->carried_count;
    reach(b, graph, state); // of a branch, where its value has the same name
    if (graph->carried_count > count)
        graph->carried[count].after = graph->carried[count].inside;
}
