// SPDX-License-Identifier: Apache-2.0
// Elements out of files. The loops are plain integer arithmetic, which compilers turn into vectors.

#include "tensor/packing.h"

#include <assert.h>
#include <string.h>

#include "tensor/narrow.h"

size_t ln_packed_size(ln_packing packing, tl_dtype dtype)
{
    switch (packing) {
    case LN_PACKED_BOOL: return 1;
    case LN_PACKED_F16:
    case LN_PACKED_BF16: return 2;
    default: return tl_size_of(dtype);
    }
}

static void unpack_bools(tl_bool *data, const unsigned char *packed, size_t count)
{
    for (size_t i = 0; i < count; i++)
        data[i] = packed[i] != 0;
}

static void unpack_halves(uint32_t *data, const unsigned char *packed, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint16_t half;
        memcpy(&half, packed + 2 * i, sizeof half);
        data[i] = ln_half_widened(half);
    }
}

static void unpack_bfloats(uint32_t *data, const unsigned char *packed, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint16_t upper;
        memcpy(&upper, packed + 2 * i, sizeof upper);
        data[i] = (uint32_t)upper << 16;
    }
}

void ln_unpack(void *data, tl_dtype dtype, const void *packed, ln_packing packing, size_t count)
{
    switch (packing) {
    case LN_PACKED_BOOL:
        assert(dtype == TL_BOOL);
        unpack_bools(data, packed, count);
        break;
    case LN_PACKED_F16:
        assert(dtype == TL_FLOAT);
        unpack_halves(data, packed, count);
        break;
    case LN_PACKED_BF16:
        assert(dtype == TL_FLOAT);
        unpack_bfloats(data, packed, count);
        break;
    default: tl_memcpy(data, packed, count * tl_size_of(dtype)); break;
    }
}
