// SPDX-License-Identifier: Apache-2.0
// Arrays inside the library: what is after the DLTensor, and what is checked about one.

#ifndef LN_TENSOR_NDARRAY_H
#define LN_TENSOR_NDARRAY_H

#include <stdatomic.h>

#include <lightnet/ndarray.h>

// The memory of one or more arrays. Ours is after this record, in one block with it:
//     | record | padding to 64 | data ... |
// Other memory is somebody's who wants to hear when it is no longer held.
typedef struct ln_nd_memory {
    atomic_size_t count;            // arrays and exports
    bool is_read_only;              // nobody may write in place
    bool is_foreign;                // somebody beyond the count may look
    void (*on_release)(void *user); // NULL: nobody to tell
    void *user;
} ln_nd_memory;

struct ln_ndarray {
    DLTensor tensor; // first: a pointer to one is a pointer to the other
    atomic_size_t count;
    ln_nd_memory *memory;
    bool has_overlap;       // elements overlap
    const int64_t *strides; // as in `tensor`, where it may be NULL for readers that expect that
    int64_t dims[];         // shape, strides
};

// ---- Memory ----

// Somebody else's memory; the caller holds it. On failure `on_release` is not called.
ln_status ln_nd_memory_create(bool is_read_only, bool is_foreign, void (*on_release)(void *user),
                              void *user, ln_nd_memory **out_memory);
ln_nd_memory *ln_nd_memory_retain(ln_nd_memory *memory);
void ln_nd_memory_release(ln_nd_memory *memory); // NULL is fine

// ---- Records ----

// Bytes of one element; it begins at a whole byte.
static inline size_t ln_dl_elem_bytes(DLDataType dtype)
{
    return ((size_t)dtype.bits * dtype.lanes + 7) / 8;
}

// True if the CPU can reach the memory of `device`.
bool ln_dl_is_main_memory(DLDevice device);

// "float32", "uint8x4", "type 9 of 7 bits"; returns `text`.
#define LN_DL_TEXT_BYTES 40
char *ln_dl_dtype_text(char text[LN_DL_TEXT_BYTES], DLDataType dtype);

// LN_OK if the type has whole bytes; `is_padded`: fewer than 8 bits are in a byte of their own.
ln_status ln_dl_check_dtype(DLDataType dtype, bool is_padded);

// Dimensions in range whose product, in bytes, fits the address space. *out_elem_count receives the
// product. The type was checked.
ln_status ln_dl_check_shape(const DLTensor *tensor, size_t *out_elem_count);

// Every field of a record that somebody else made.
ln_status ln_dl_check(const DLTensor *tensor, bool is_padded, size_t *out_elem_count);

// ---- Arrays ----

// An array as `tensor` describes it, which was checked, in `memory`, which it holds from then on
// (one count more). Strides NULL: row-major.
ln_status ln_ndarray_make(const DLTensor *tensor, ln_nd_memory *memory, ln_ndarray **out_array);

// A new array of zeros of a type that was checked.
ln_status ln_ndarray_make_own(int ndim, const int64_t *shape, DLDataType dtype,
                              ln_ndarray **out_array);

// LN_OK if `array` is one whose elements the CPU reaches; `is_write`: and may change in place.
ln_status ln_ndarray_check_access(const ln_ndarray *array, bool is_write, const char *what);

// The address of element 0. The array is not empty.
char *ln_ndarray_first(const ln_ndarray *array);

// "[2, 3]"; returns `text`.
#define LN_ND_SHAPE_TEXT_BYTES 256
char *ln_nd_shape_text(char text[LN_ND_SHAPE_TEXT_BYTES], int ndim, const int64_t *shape);

#endif
