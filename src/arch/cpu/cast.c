// SPDX-License-Identifier: Apache-2.0
// Conversions between the common types of numbers, one loop for each pair.

#include <math.h>

#include "arch/cpu/broadcast_rows.h"
#include "arch/cpu/call.h"
#include "arch/cpu/functions.h"
#include "tensor/narrow.h"

typedef struct conversion {
    const void *src;
    void *dst;
} conversion;

// The nearest integer towards 0, the last one beyond; 0 for NaN.
static int64_t whole64(double x)
{
    if (isnan(x))
        return 0;
    return x >= 0x1p63 ? INT64_MAX : x <= -0x1p63 ? INT64_MIN : (int64_t)x;
}

static int32_t whole32(double x)
{
    if (isnan(x))
        return 0;
    return x >= 0x1p31 ? INT32_MAX : x <= -0x1p31 ? INT32_MIN : (int32_t)x;
}

#define TO_REAL(type, x)   (type)(x)
#define TO_WHOLE(type, x)  (type)(x) // the low bits
#define TO_INT32(type, x)  whole32((double)(x))
#define TO_INT64(type, x)  whole64((double)(x))
#define TO_BYTE(type, x)   (type)(uint64_t) whole64((double)(x)) // of an integer the low bits
#define TO_BOOL(type, x)   (x) != 0
#define OF_HALF(type, x)   ln_half_value(x)
#define OF_BFLOAT(type, x) ln_bfloat_value(x)
#define TO_HALF(type, x)   ln_half_nearest(x)
#define TO_BFLOAT(type, x) ln_bfloat_nearest(x)

#define DEFINE_CAST(from, to, from_type, to_type, convert)                                         \
    static void from##_to_##to(const void *self, size_t n, const size_t *at, const size_t *step,   \
                               size_t start)                                                       \
    {                                                                                              \
        const conversion *c = self;                                                                \
        const from_type *src = (const from_type *)c->src + start;                                  \
        to_type *dst = (to_type *)c->dst + start;                                                  \
        (void)at;                                                                                  \
        (void)step;                                                                                \
        for (size_t i = 0; i < n; i++)                                                             \
            dst[i] = convert(to_type, src[i]);                                                     \
    }

// The one list: X(from, to, type of from, type of to, how).
#define CAST_LIST(X)                                                                               \
    X(FLOAT, DOUBLE, float, double, TO_REAL)                                                       \
    X(FLOAT, INT32, float, int32_t, TO_INT32)                                                      \
    X(FLOAT, INT64, float, int64_t, TO_INT64)                                                      \
    X(FLOAT, UINT8, float, uint8_t, TO_BYTE)                                                       \
    X(FLOAT, INT8, float, int8_t, TO_BYTE)                                                         \
    X(FLOAT, BOOL, float, tl_bool, TO_BOOL)                                                        \
    X(FLOAT, FLOAT16, float, uint16_t, TO_HALF)                                                    \
    X(FLOAT, BFLOAT16, float, uint16_t, TO_BFLOAT)                                                 \
    X(FLOAT16, FLOAT, uint16_t, float, OF_HALF)                                                    \
    X(BFLOAT16, FLOAT, uint16_t, float, OF_BFLOAT)                                                 \
    X(DOUBLE, FLOAT, double, float, TO_REAL)                                                       \
    X(DOUBLE, INT64, double, int64_t, TO_INT64)                                                    \
    X(INT32, FLOAT, int32_t, float, TO_REAL)                                                       \
    X(INT32, DOUBLE, int32_t, double, TO_REAL)                                                     \
    X(INT32, INT64, int32_t, int64_t, TO_WHOLE)                                                    \
    X(INT32, UINT8, int32_t, uint8_t, TO_WHOLE)                                                    \
    X(INT32, BOOL, int32_t, tl_bool, TO_BOOL)                                                      \
    X(INT32, INT16, int32_t, int16_t, TO_WHOLE)                                                    \
    X(INT32, INT8, int32_t, int8_t, TO_WHOLE)                                                      \
    X(INT16, FLOAT, int16_t, float, TO_REAL)                                                       \
    X(INT16, INT32, int16_t, int32_t, TO_WHOLE)                                                    \
    X(INT64, FLOAT, int64_t, float, TO_REAL)                                                       \
    X(INT64, DOUBLE, int64_t, double, TO_REAL)                                                     \
    X(INT64, INT32, int64_t, int32_t, TO_WHOLE)                                                    \
    X(INT64, BOOL, int64_t, tl_bool, TO_BOOL)                                                      \
    X(UINT8, FLOAT, uint8_t, float, TO_REAL)                                                       \
    X(UINT8, INT32, uint8_t, int32_t, TO_WHOLE)                                                    \
    X(UINT8, BOOL, uint8_t, tl_bool, TO_BOOL)                                                      \
    X(INT8, FLOAT, int8_t, float, TO_REAL)                                                         \
    X(INT8, INT32, int8_t, int32_t, TO_WHOLE)                                                      \
    X(BOOL, FLOAT, tl_bool, float, TO_FLAG)                                                        \
    X(BOOL, INT32, tl_bool, int32_t, TO_FLAG)                                                      \
    X(BOOL, INT64, tl_bool, int64_t, TO_FLAG)                                                      \
    X(BOOL, UINT8, tl_bool, uint8_t, TO_FLAG)

#define TO_FLAG(type, x) (type)((x) != 0)

CAST_LIST(DEFINE_CAST)

static ln_cpu_row_fn *cast_of(tl_dtype from, tl_dtype to)
{
#define CAST_ENTRY(from_name, to_name, from_type, to_type, convert)                                \
    {TL_##from_name, TL_##to_name, from_name##_to_##to_name},
    static const struct {
        tl_dtype from, to;
        ln_cpu_row_fn *run;
    } table[] = {CAST_LIST(CAST_ENTRY)};
#undef CAST_ENTRY
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (table[i].from == from && table[i].to == to)
            return table[i].run;
    return NULL;
}

ln_status ln_cpu_accepts_cast(ln_call *call)
{
    tl_dtype to;
    LN_TRY(ln_call_dtype(call, "to", &to));
    if (!cast_of(ln_call_in(call, 0)->dtype, to))
        return ln_call_fail(call, LN_UNSUPPORTED, "is not for these types here");
    return LN_OK;
}

ln_status ln_cpu_cast(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    tl_tensor *dst = ln_call_dst(call, 0);
    const conversion c = {src->data, dst->data};
    ln_cpu_rows rows;
    ln_cpu_rows_init(&rows, dst, &src, 1);
    ln_cpu_rows_run(&rows, ln_cpu_call_pool(call), cast_of(src->dtype, dst->dtype), &c);
    return LN_OK;
}
