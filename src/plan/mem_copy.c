// SPDX-License-Identifier: Apache-2.0
// Copies between memory types, by the functions that devices register.

#include "plan/mem_copy.h"

#include <lightnet/allocator.h>

bool ln_mem_can_copy(ln_mem_type dst_mtype, ln_mem_type src_mtype)
{
    return ln_mem_type_copy_func(dst_mtype, src_mtype) != NULL;
}

ln_status ln_mem_copy(ln_mem_type dst_mtype, void *dst, ln_mem_type src_mtype, const void *src,
                      size_t byte_count)
{
    ln_copy_func copy = ln_mem_type_copy_func(dst_mtype, src_mtype);
    if (!copy)
        return LN_FAIL(LN_UNSUPPORTED, "no device copies from %s to %s",
                       ln_mem_type_title(src_mtype), ln_mem_type_title(dst_mtype));
    if (byte_count == 0 || copy(dst, src, byte_count))
        return LN_OK;
    return LN_FAIL(LN_IO, "%zu bytes could not be copied from %s to %s", byte_count,
                   ln_mem_type_title(src_mtype), ln_mem_type_title(dst_mtype));
}

ln_status ln_mem_clear(ln_mem_type mtype, void *start, size_t byte_count)
{
    ln_mem_info info = ln_mem_type_info(mtype);
    if (info.memset_func) {
        info.memset_func(start, 0, byte_count);
        return LN_OK;
    }
    if (byte_count == 0)
        return LN_OK;
    void *zeros = ln_alloc(byte_count);
    if (!zeros)
        return LN_NO_MEMORY;
    ln_status status = ln_mem_copy(mtype, start, LN_MEM_CPU, zeros, byte_count);
    ln_free(zeros);
    return status;
}
