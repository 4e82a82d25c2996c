/* SPDX-License-Identifier: Apache-2.0 */
/* The records of DLPack 1.1: how libraries hand each other tensors without copying.
 *
 * Only the records; what makes, checks and frees them is in <lightnet/ndarray.h>. Names, values and
 * layouts are those that every producer and consumer agrees on, so this header and the one that
 * DLPack installs stand for each other: the first that is included defines the records, the other
 * adds nothing. If DLPack's own header comes first it must be version 1.0 or newer.
 */

#ifndef LIGHTNET_DLPACK_H
#define LIGHTNET_DLPACK_H

#include <stddef.h>
#include <stdint.h>

#ifdef DLPACK_DLPACK_H_

#ifndef DLPACK_MAJOR_VERSION
#error "include a dlpack.h of version 1.0 or newer, or include <lightnet/dlpack.h> first"
#endif

/* DLPack's own header has the struct only; saying it twice would do no harm. */
typedef struct DLManagedTensorVersioned DLManagedTensorVersioned;

#else /* DLPack's own header finds its guard taken and adds nothing. */
#define DLPACK_DLPACK_H_

#ifdef __cplusplus
extern "C" {
#endif

#define DLPACK_MAJOR_VERSION 1
#define DLPACK_MINOR_VERSION 1

/* A consumer reads the other fields only if it knows `major`; a larger `minor` only adds. */
typedef struct DLPackVersion {
    uint32_t major;
    uint32_t minor;
} DLPackVersion;

#ifdef __cplusplus
typedef enum : int32_t {
#else
typedef enum {
#endif
    kDLCPU = 1,
    kDLCUDA = 2,
    kDLCUDAHost = 3, /* main memory, pinned for CUDA */
    kDLOpenCL = 4,
    kDLVulkan = 7,
    kDLMetal = 8,
    kDLVPI = 9,
    kDLROCM = 10,
    kDLROCMHost = 11, /* main memory, pinned for ROCm */
    kDLExtDev = 12,
    kDLCUDAManaged = 13, /* reachable from both sides */
    kDLOneAPI = 14,
    kDLWebGPU = 15,
    kDLHexagon = 16,
    kDLMAIA = 17,
    kDLTrn = 18
} DLDeviceType;

/* Where data is. `device_id` tells devices of one type apart; 0 for main memory. */
typedef struct {
    DLDeviceType device_type;
    int32_t device_id;
} DLDevice;

typedef enum {
    kDLInt = 0U,
    kDLUInt = 1U,
    kDLFloat = 2U,
    kDLOpaqueHandle = 3U,
    kDLBfloat = 4U,
    kDLComplex = 5U,
    kDLBool = 6U,
    kDLFloat8_e3m4 = 7U,
    kDLFloat8_e4m3 = 8U,
    kDLFloat8_e4m3b11fnuz = 9U,
    kDLFloat8_e4m3fn = 10U,
    kDLFloat8_e4m3fnuz = 11U,
    kDLFloat8_e5m2 = 12U,
    kDLFloat8_e5m2fnuz = 13U,
    kDLFloat8_e8m0fnu = 14U,
    kDLFloat6_e2m3fn = 15U,
    kDLFloat6_e3m2fn = 16U,
    kDLFloat4_e2m1fn = 17U
} DLDataTypeCode;

/* An element: `lanes` numbers of `bits` bits. A float is {kDLFloat, 32, 1}. */
typedef struct {
    uint8_t code; /* DLDataTypeCode */
    uint8_t bits;
    uint16_t lanes;
} DLDataType;

/* A tensor, all of it borrowed. Element (i, j, ...) is at `data` + `byte_offset` +
 * (i * strides[0] + j * strides[1] + ...) * the bytes of an element. */
typedef struct DLTensor {
    void *data; /* may be NULL if there are no elements */
    union {
        DLDevice device;
        DLDevice ctx; /* the field's old name */
    };
    int32_t ndim;
    DLDataType dtype;
    int64_t *shape;   /* `ndim` of them; may be NULL if there are none */
    int64_t *strides; /* in elements; NULL: row-major without gaps */
    uint64_t byte_offset;
} DLTensor;

/* A tensor and who to tell when it is no longer needed, without a version. The consumer calls
 * `deleter` once, unless it is NULL, and touches nothing of it afterwards. */
typedef struct DLManagedTensor {
    DLTensor dl_tensor;
    void *manager_ctx; /* the producer's own */
    void (*deleter)(struct DLManagedTensor *self);
} DLManagedTensor;

/* Bits of `flags` below. */
#define DLPACK_FLAG_BITMASK_READ_ONLY              (1UL << 0UL) /* nobody may write */
#define DLPACK_FLAG_BITMASK_IS_COPIED              (1UL << 1UL) /* made for this consumer alone */
#define DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED (1UL << 2UL) /* one number a byte */

/* The same since DLPack 1.0. With an unknown `version.major` only `deleter` may be used. */
typedef struct DLManagedTensorVersioned {
    DLPackVersion version;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensorVersioned *self);
    uint64_t flags;
    DLTensor dl_tensor;
} DLManagedTensorVersioned;

#ifdef __cplusplus
}
#endif

#endif

#endif
