// SPDX-License-Identifier: Apache-2.0
// Copies between memories, by the functions that devices register; and what is left of waiting for
// devices where there are none.

#include "arch/ref/functions.h"

#include <lightnet/mem.h>

#include "op/call.h"

// Looked up once: the table of memory types has a lock.
typedef struct copy_block {
    ln_copy_func copy;
} copy_block;

static ln_mem_type memory_of(const ln_tensor_entry *entry)
{
    return entry->mtype == LN_MEM_NONE ? LN_MEM_CPU : entry->mtype;
}

ln_status ln_ref_prepare_copy(ln_call *call)
{
    copy_block *block = ln_call_keep(call, 1, sizeof *block);
    if (!block)
        return LN_NO_MEMORY;
    ln_mem_type from = memory_of(call->ins[0]), to = memory_of(call->outs[0].entry);
    block->copy = ln_mem_type_copy_func(to, from);
    return block->copy ? LN_OK
                       : ln_call_fail(call, LN_UNSUPPORTED, "no device copies from %s to %s",
                                      ln_mem_type_title(from), ln_mem_type_title(to));
}

ln_status ln_ref_copy(ln_call *call)
{
    const copy_block *block = ln_call_prepared(call);
    const tl_tensor *src = ln_call_in(call, 0);
    const tl_tensor *dst = ln_call_dst(call, 0);
    size_t byte_count = tl_tensor_size(src);
    if (byte_count == 0 || block->copy(dst->data, src->data, byte_count))
        return LN_OK;
    ln_mem_type from = memory_of(call->ins[0]), to = memory_of(call->outs[0].entry);
    return ln_call_fail(call, LN_IO, "%zu bytes of '%s' could not be copied from %s to %s",
                        byte_count, call->ins[0]->name, ln_mem_type_title(from),
                        ln_mem_type_title(to));
}

// Contexts and frames wait for groups; this is where there is none.
ln_status ln_ref_wait(ln_call *call)
{
    (void)call;
    return LN_OK;
}
