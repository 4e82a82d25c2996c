/* SPDX-License-Identifier: Apache-2.0 */
/* The array calls of CVM's runtime, on the arrays of LightNet.
 *
 *     cvm_index_t shape[] = {2, 3};
 *     CVMArrayHandle a;
 *     if (CVMArrayAlloc(shape, 2, kDLInt, 32, 1, kDLCPU, 0, &a) != SUCCEED)
 *         fprintf(stderr, "%s\n", CVMGetLastError());
 *     CVMArrayFree(a);
 *
 * For programs that were written against the old library: names, arguments and codes are the old
 * ones. Every function answers SUCCEED, ERROR_LOGIC (the model or its data are wrong) or
 * ERROR_RUNTIME (everything else: a bad argument, no memory), and CVMGetLastError tells why.
 * Outputs are cleared on failure. What the old library did not check is checked.
 *
 * A handle is an `ln_ndarray` and may be used as one (<lightnet/ndarray.h>). Handles may go from
 * thread to thread; one array is written by one thread at a time.
 */

#ifndef CVM_RUNTIME_C_RUNTIME_API_H
#define CVM_RUNTIME_C_RUNTIME_API_H

#include <stddef.h>
#include <stdint.h>

#include <cvm/dlpack.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CVM_DLL __attribute__((visibility("default")))

/* What functions return. */
enum { SUCCEED = 0, ERROR_LOGIC = 1, ERROR_RUNTIME = 2 };

typedef int64_t cvm_index_t;
typedef DLDataType CVMType;
typedef DLContext CVMContext;
typedef DLTensor CVMArray;
typedef CVMArray *CVMArrayHandle;
typedef void *CVMStreamHandle;

typedef struct {
    const char *data;
    size_t size;
} CVMByteArray;

/* ---- Errors ---- */

/* Why the last failed call of this thread failed; "" if none did. Never NULL; valid until the next
 * failure on the thread. */
CVM_DLL const char *CVMGetLastError(void);

/* Sets that text; NULL is "". */
CVM_DLL void CVMAPISetLastError(const char *msg);

/* ---- Arrays ---- */

/* A new array of zeros. All arrays are in main memory, whichever of the device types 1 to 4 is
 * asked for, and their `ctx` says so. An element is `dtype_lanes` numbers of 8, 16, 32, 64 or 128
 * bits, or a bool (kDLUInt with 1 bit). No dimensions make one element. As in the old library the
 * array's `strides` are NULL: no gaps. */
CVM_DLL int CVMArrayAlloc(const cvm_index_t *shape, int ndim, int dtype_code, int dtype_bits,
                          int dtype_lanes, int device_type, int device_id, CVMArrayHandle *out);

/* Gives one reference back; the last one frees the array. NULL is fine. */
CVM_DLL int CVMArrayFree(CVMArrayHandle handle);

/* Between an array and `nbytes` bytes, which must be the array's. */
CVM_DLL int CVMArrayCopyFromBytes(CVMArrayHandle handle, void *data, size_t nbytes);
CVM_DLL int CVMArrayCopyToBytes(CVMArrayHandle handle, void *data, size_t nbytes);

/* Copies the bytes of an array to another of as many bytes, whatever their shapes and types. The
 * stream is not used. */
CVM_DLL int CVMArrayCopyFromTo(CVMArrayHandle from, CVMArrayHandle to, CVMStreamHandle stream);

/* ---- Assignment ----
 * `indices` are 4 * ndim numbers: starts, ends, steps, sizes. The slice has sizes[i] elements on
 * axis i, from starts[i] on, steps[i] apart, all within the array; ends are not looked at. Elements
 * are converted: a number beyond the range of the type becomes the nearest, and fractions are cut.
 */

CVM_DLL int CVMAssignSliceScalar(CVMArrayHandle target, int *indices, double value);

/* `source` is read in row-major order, whatever its shape, and has as many elements as the slice,
 * or more. */
CVM_DLL int CVMAssignSliceND(CVMArrayHandle target, int *indices, CVMArrayHandle source);

CVM_DLL int CVMAssignAllScalar(CVMArrayHandle target, double value);

/* Both have one element type (else ERROR_LOGIC) and as many bytes. */
CVM_DLL int CVMAssignAllND(CVMArrayHandle target, CVMArrayHandle source);

/* ---- Params dictionaries ---- */

/* `params` are a name (const char *) and an array (CVMArrayHandle) in turn, `params_size` of both
 * together. *ret belongs to the thread and is valid until its next call of this function. */
CVM_DLL int CVMSaveParamsDict(const void **params, int params_size, CVMByteArray *ret);

/* *names are *num strings, *values as many CVMArrayHandle. The caller frees each array; the lists
 * and names belong to the thread and are valid until its next call of this function. ERROR_LOGIC if
 * the names are not right, or a dimension count is negative; ERROR_RUNTIME if an array is not. */
CVM_DLL int CVMLoadParamsDict(const char *data, int datalen, int *num, void ***names,
                              void ***values);

#ifdef __cplusplus
}
#endif

#endif
