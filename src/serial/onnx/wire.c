// SPDX-License-Identifier: Apache-2.0
// The bytes of a protocol buffer. Each length is compared with the bytes that are left before it is
// believed, so nothing here can overflow.

#include "serial/onnx/wire.h"

bool ln_wire_varint(const uint8_t **at, const uint8_t *end, uint64_t *out)
{
    uint64_t value = 0;
    const uint8_t *p = *at;
    for (unsigned shift = 0; p < end && shift < 70; shift += 7) {
        uint8_t byte = *p++;
        if (shift == 63 && byte > 1)
            return false; // a 65th bit
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) {
            *at = p;
            *out = value;
            return true;
        }
    }
    return false;
}

// Most tags and lengths are one byte.
static inline bool read_varint(const uint8_t **at, const uint8_t *end, uint64_t *out)
{
    if (*at == end || **at >= 0x80)
        return ln_wire_varint(at, end, out);
    *out = *(*at)++;
    return true;
}

uint32_t ln_wire_fixed32(const uint8_t *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

uint64_t ln_wire_fixed64(const uint8_t *at)
{
    return ln_wire_fixed32(at) | (uint64_t)ln_wire_fixed32(at + 4) << 32;
}

const char *ln_wire_next(const uint8_t **at, const uint8_t *end, ln_wire_field *out)
{
    const uint8_t *p = *at;
    uint64_t tag;
    *out = (ln_wire_field){.at = p};
    if (!read_varint(&p, end, &tag))
        return "the tag of a field is cut off";
    if (tag > UINT32_MAX || tag >> 3 == 0)
        return "a tag without a field number";
    out->number = (uint32_t)(tag >> 3);
    out->type = (ln_wire_type)(tag & 7);
    switch (tag & 7) {
    case LN_WIRE_VARINT:
        if (!read_varint(&p, end, &out->bits))
            return "a number that does not end, or has more than 64 bits";
        break;
    case LN_WIRE_FIXED64:
        if (end - p < 8)
            return "a number of 8 bytes is cut off";
        out->bits = ln_wire_fixed64(p);
        p += 8;
        break;
    case LN_WIRE_BYTES: {
        uint64_t len;
        if (!read_varint(&p, end, &len))
            return "a length is cut off";
        if (len > (uint64_t)(end - p))
            return "a length goes beyond the end";
        out->bytes = (ln_onnx_bytes){.at = p, .len = (size_t)len};
        p += len;
        break;
    }
    case LN_WIRE_FIXED32:
        if (end - p < 4)
            return "a number of 4 bytes is cut off";
        out->bits = ln_wire_fixed32(p);
        p += 4;
        break;
    case 3:
    case 4: return "a group, which ONNX does not have";
    default: return "an unknown wire type";
    }
    *at = p;
    return NULL;
}

bool ln_wire_step(const uint8_t **at, const uint8_t *end, ln_wire_field *out)
{
    return *at < end && !ln_wire_next(at, end, out);
}
