// SPDX-License-Identifier: Apache-2.0
// Copies between memory types, by the functions that devices register, or by
// open devices.

#include "plan/mem_copy.h"

#include <lightnet/allocator.h>

#include "base/error_state.h"
#include "plan/mem_device.h"

static bool is_of_devices(ln_mem_type a, ln_mem_type b)
{
    return ln_mem_type_is_of_devices(a) || ln_mem_type_is_of_devices(b);
}

bool ln_mem_can_copy(ln_mem_type dst_mtype, ln_mem_type src_mtype)
{
    if (is_of_devices(dst_mtype, src_mtype))
        return dst_mtype == src_mtype || dst_mtype == LN_MEM_CPU || src_mtype == LN_MEM_CPU;
    return ln_mem_type_copy_func(dst_mtype, src_mtype) != NULL;
}

static ln_status copy_by_device(ln_mem_type dst_mtype, void *dst, ln_mem_type src_mtype,
                                const void *src, size_t byte_count)
{
    const ln_mem_device *to = dst_mtype == LN_MEM_CPU ? NULL : ln_mem_device_at(dst);
    const ln_mem_device *from = src_mtype == LN_MEM_CPU ? NULL : ln_mem_device_at(src);
    if ((dst_mtype != LN_MEM_CPU && !to) || (src_mtype != LN_MEM_CPU && !from))
        return LN_FAIL(LN_INTERNAL, "no open device has the address that is to be copied");
    if (to && from && to != from)
        return LN_FAIL(LN_UNSUPPORTED, "the memory is that of another context's device");
    if (to && from)
        return to->copy_within(to->device, dst, src, byte_count);
    return to ? to->copy_in(to->device, dst, src, byte_count)
              : from->copy_out(from->device, dst, src, byte_count);
}

static ln_status copy(ln_mem_type dst_mtype, void *dst, ln_mem_type src_mtype, const void *src,
                      size_t byte_count)
{
    if (is_of_devices(dst_mtype, src_mtype))
        return copy_by_device(dst_mtype, dst, src_mtype, src, byte_count);
    ln_copy_func function = ln_mem_type_copy_func(dst_mtype, src_mtype);
    return function && function(dst, src, byte_count) ? LN_OK : LN_IO;
}

ln_status ln_mem_copy(ln_mem_type dst_mtype, void *dst, ln_mem_type src_mtype, const void *src,
                      size_t byte_count)
{
    if (!ln_mem_can_copy(dst_mtype, src_mtype))
        return LN_FAIL(LN_UNSUPPORTED, "no device copies from %s to %s",
                       ln_mem_type_title(src_mtype), ln_mem_type_title(dst_mtype));
    if (byte_count == 0)
        return LN_OK;
    ln_error_clear();
    ln_status status = copy(dst_mtype, dst, src_mtype, src, byte_count);
    if (status == LN_OK)
        return LN_OK;
    return ln_fail_of_device(status, "%zu bytes could not be copied from %s to %s", byte_count,
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
    if (status != LN_OK)
        return ln_fail_prefix("the block cannot be filled with zeros");
    return LN_OK;
}
