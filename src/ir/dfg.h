// SPDX-License-Identifier: Apache-2.0
// The data flow graph inside the library.

#ifndef LN_IR_DFG_H
#define LN_IR_DFG_H

#include <lightnet/dfg.h>

// Removes all operators. Allocates nothing, so it always succeeds.
void ln_dfg_clear(ln_dfg *dfg);

// The operator that makes `tname`; NULL if none does. One look into one table.
ln_op *ln_dfg_maker(const ln_dfg *dfg, const char *tname);

// A walk over those who read `tname`; an operator that reads it twice comes twice in a row. It ends
// when the graph changes.
//
//     ln_dfg_readers readers = ln_dfg_find_readers(dfg, tname);
//     while ((reader = ln_dfg_next_reader(&readers)) != NULL)
typedef struct ln_dfg_readers {
    const char *tname;
    const ln_list *edges; // those not looked at yet
} ln_dfg_readers;

ln_dfg_readers ln_dfg_find_readers(const ln_dfg *dfg, const char *tname);
ln_op *ln_dfg_next_reader(ln_dfg_readers *readers); // NULL: there are no more

// All who read `tname`, each once, for those who change the graph meanwhile: `ln_dfg_nexts` with a
// status. The caller frees the list, which is NULL where there are none.
ln_status ln_dfg_list_readers(const ln_dfg *dfg, const char *tname, ln_list **out_readers);

#endif
