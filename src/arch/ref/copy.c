// SPDX-License-Identifier: Apache-2.0
// Copies between memories; and what is left of waiting for
// devices where there are none.

#include "arch/ref/functions.h"

#include <lightnet/mem.h>

#include "op/call.h"
#include "plan/mem_copy.h"

static ln_mem_type memory_of(const ln_tensor_entry *entry)
{
    return entry->mtype == LN_MEM_NONE ? LN_MEM_CPU : entry->mtype;
}

ln_status ln_ref_prepare_copy(ln_call *call)
{
    ln_mem_type from = memory_of(call->ins[0]), to = memory_of(call->outs[0].entry);
    if (ln_mem_can_copy(to, from))
        return LN_OK;
    return ln_call_fail(call, LN_UNSUPPORTED, "no device copies from %s to %s",
                        ln_mem_type_title(from), ln_mem_type_title(to));
}

ln_status ln_ref_copy(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    const tl_tensor *dst = ln_call_dst(call, 0);
    ln_status status = ln_mem_copy(memory_of(call->outs[0].entry), dst->data,
                                   memory_of(call->ins[0]), src->data, tl_tensor_size(src));
    if (status == LN_OK)
        return LN_OK;
    return ln_call_fail(call, status, "tensor '%s': %s", call->ins[0]->name, ln_error_message());
}

// Contexts and frames wait for groups; this is where there is none.
ln_status ln_ref_wait(ln_call *call)
{
    (void)call;
    return LN_OK;
}
