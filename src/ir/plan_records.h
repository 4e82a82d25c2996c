// SPDX-License-Identifier: Apache-2.0
// A model as the records of plan/: operators become steps, their outputs become values, and what
// descriptions say about places becomes choices.

#ifndef LN_IR_PLAN_RECORDS_H
#define LN_IR_PLAN_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <lightnet/context.h>
#include <lightnet/plan.h>

#include "plan/share.h"

// A plan with the arrays it points into.
typedef struct ln_plan_records {
    ln_plan plan; // first, so that a pointer to it is one to all
    ln_plan_value *values;
    ln_tensor_entry **entries; // entries[i] is the tensor of value i
    uint32_t *owners;          // index of the value that value i is in, or i
    uint32_t *roots;           // index of the value at the end of the chain of owners
    uint8_t *aligns;           // bytes of an element
    bool *is_described;        // the operator itself says in what its output is
    ln_plan_step *steps;
    uint32_t *indexes;   // the steps' reads and writes
    ln_plan_over *overs; // of all steps, one after the other
    size_t over_count;
    size_t over_room;
    ln_share *choices; // in the order of the steps
    size_t choice_count;
    ln_hash *index_of; // tensor name -> index + 1
} ln_plan_records;

// The records of a context whose operators are checked, with offsets and owners as its tensors
// have them, and no lifetimes. Names are borrowed from the context.
ln_status ln_plan_records_create(const ln_context *ctx, ln_plan_records **out_records);
void ln_plan_records_destroy(ln_plan_records *records); // NULL is fine

// Finds the value of a tensor; false if there is none.
bool ln_plan_records_find(const ln_plan_records *records, const char *tname, uint32_t *out_index);

// Frees all but values, owners and steps, which is what an order is found from. The records are
// then good for nothing else.
void ln_plan_records_trim(ln_plan_records *records);

// Sets the offset of each value to what its operator says: where it begins in its owner, 0 without
// one. The operators may look at the offsets of the tensors, which become 0.
void ln_plan_records_ask_offsets(const ln_context *ctx, ln_plan_records *records);

// Lets static values be computed over the constants that nobody else needs: as owners, before the
// layout. The constants cannot be changed then without the others.
ln_status ln_plan_records_freeze(ln_plan_records *records);

// Plans: offsets, lifetimes, totals, how steps use their places. Uses the choices if `is_sharing`.
ln_status ln_plan_records_layout(ln_plan_records *records, bool is_sharing);

// How many bytes of workspace that takes, with the choices; `limit` if not less, which is found out
// faster. The records are then good for nothing else.
ln_status ln_plan_records_measure(ln_plan_records *records, size_t limit, size_t *out_byte_count);

// The other way round, for offsets and owners that are there: lifetimes as the steps need them, and
// how steps use their places. LN_INVALID if owners lead round in a circle, or if what an operator
// would leave alone is in another place than it should.
ln_status ln_plan_records_derive(ln_plan_records *records);

#endif
