/* SPDX-License-Identifier: Apache-2.0 */
/* Memory types, and virtual pools that hand out offsets instead of addresses.
 *
 * Each kind of device has its own memory: a memory type. What the type's memory can do is its
 * `ln_mem_info`; the plug-in that drives the device fills it in. All functions on memory types
 * may be called from any thread.
 *
 *     ln_mem_pool *pool = ln_mem_pool_create(1 << 20, 64);
 *     size_t first = ln_mem_pool_alloc(pool, 1000);       // 64: the first aligned address
 *     size_t second = ln_mem_pool_alloc(pool, 24);        // 1088
 *     ln_mem_pool_dealloc(pool, first);
 *     ln_mem_pool_free(pool);
 */

#ifndef LIGHTNET_MEM_H
#define LIGHTNET_MEM_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <lightnet/export.h>
#include <lightnet/hash.h>
#include <lightnet/status.h>
#include <lightnet/util.h>

LN_CPPSTART

/* Offsets that a plan gives out are multiples of this many bytes, in every memory type. */
#define LN_MEM_ALIGN 64

/* The memory types that the library names: X(name, max_size, align_size), the sizes as long as no
 * device has registered better ones. Values are stable and do not depend on how the library was
 * built. The numbers from the last of them up to LN_MEM_TYPE_SIZE are given out at run time, by
 * `ln_mem_type_add`. */
#define LN_MEM_TYPE_LIST(X)                                                                        \
    X(LN_MEM_NONE, 0, 1)                                                                           \
    X(LN_MEM_CPU, PTRDIFF_MAX, LN_MEM_ALIGN)                                                       \
    X(LN_MEM_CUDA, (size_t)16 << 30, LN_MEM_ALIGN)                                                 \
    X(LN_MEM_DPU, (size_t)512 << 10, LN_MEM_ALIGN)

enum ln_mem_type {
#define LN_MEM_TYPE_ENUM(name, max_size, align_size) name,
    LN_MEM_TYPE_LIST(LN_MEM_TYPE_ENUM)
#undef LN_MEM_TYPE_ENUM
        LN_MEM_TYPE_SIZE = 32 /* how many there may be: the length of arrays by memory type */
};
typedef enum ln_mem_type ln_mem_type;

/* What a memory type can do. The functions are like malloc, free and memset; they are NULL for a
 * type that no plug-in has registered. Memory from `alloc_func` starts at a multiple of
 * `align_size`. */
struct ln_mem_info {
    const char *name;
    void *(*alloc_func)(size_t n);
    void (*free_func)(void *p);
    void *(*memset_func)(void *s, int c, size_t n);
    size_t max_size;   /* bytes that the memory can hold */
    size_t align_size; /* a power of two */
};
typedef struct ln_mem_info ln_mem_info;

/* The name of `mtype` as in the source, such as "LN_MEM_CPU"; "LN_MEM_NONE" for numbers that are
 * not in use. The text of a type that was added lasts until that is removed, as its title does. */
LN_API const char *ln_mem_type_name(ln_mem_type mtype);

/* The name for people, such as "main memory": for text that shows a type. "no memory" for numbers
 * that are not in use. */
LN_API const char *ln_mem_type_title(ln_mem_type mtype);

/* The memory type of that name; -1 when there is none or `name` is NULL. */
LN_API int ln_mem_type_from_str(const char *name);

/* What `mtype` can do; the information of LN_MEM_NONE for numbers that are not in use.
 * CPU memory comes from the library's allocator, not zeroed by promise, aligned to 64 bytes. */
LN_API ln_mem_info ln_mem_type_info(ln_mem_type mtype);

/* The function that copies from `src_mtype` to `dst_mtype`, like memmove: it returns the
 * destination, or NULL when the device failed. NULL where nobody registered one. From CPU to CPU it
 * is memmove. */
LN_API ln_copy_func ln_mem_type_copy_func(ln_mem_type dst_mtype, ln_mem_type src_mtype);

/* Fills in a memory type, for the plug-in that drives its device. `info` is copied; its name is
 * ignored. `alloc_func` and `free_func` are required, `max_size` is positive and `align_size` a
 * power of two of at least LN_MEM_ALIGN. NULL takes the registration back: LN_STATE
 * while an arch or memory of a context, program or session uses it.
 * LN_INVALID for bad information and for LN_MEM_NONE and LN_MEM_CPU, which are fixed;
 * LN_EXISTS when the type is registered already. */
LN_API ln_status ln_mem_type_register(ln_mem_type mtype, const ln_mem_info *info);

/* Adds a memory type under the first number that is free, and fills it in as `ln_mem_type_register`
 * does. The name, such as "LN_MEM_ECHO", is what stored models have in place of the number, which
 * may be another one in the next process: letters, digits and '_', fewer than LN_MAX_NAME_LEN; the
 * title is for people, NULL: the name. Both are copied.
 * Fails: LN_INVALID for a bad name or bad information; LN_EXISTS if the name is taken; LN_LIMIT if
 * no number is free. *out_mtype is then LN_MEM_NONE. */
LN_API ln_status ln_mem_type_add(const char *name, const char *title, const ln_mem_info *info,
                                 ln_mem_type *out_mtype);

/* Takes back what `ln_mem_type_add` did, and the copies from and to the type.
 * Fails: LN_STATE while an arch or memory of a context, program or session uses it; LN_NOT_FOUND if
 * the number is not one that was given out. */
LN_API ln_status ln_mem_type_remove(ln_mem_type mtype);

/* Registers the copy from `src_mtype` to `dst_mtype`; NULL takes it back. LN_INVALID for
 * LN_MEM_NONE and for the fixed copy inside the CPU; LN_EXISTS when another one is registered. */
LN_API ln_status ln_mem_type_register_copy(ln_mem_type dst_mtype, ln_mem_type src_mtype,
                                           ln_copy_func copy);

/* A virtual pool: a range of addresses from 1 on, without memory behind it. Address 0 is never
 * given out. One pool belongs to one thread at a time. */
typedef struct ln_mem_pool ln_mem_pool;

/* A pool of the addresses 1 to `size`, which hands out multiples of `align_size`, a power of two.
 * NULL when an argument is out of range (LN_INVALID) or memory is short. */
LN_API ln_mem_pool *ln_mem_pool_create(size_t size, size_t align_size);

/* Frees the pool; NULL is fine. */
LN_API void ln_mem_pool_free(ln_mem_pool *mem_pool);

/* The address of `size` free bytes, from the hole that fits best (the first of equals). Returns 0
 * and records the reason when no hole is large enough (LN_LIMIT), `size` is 0, the pool is NULL
 * or memory is short; the pool is then unchanged. */
LN_API size_t ln_mem_pool_alloc(ln_mem_pool *mem_pool, size_t size);

/* Gives back what `ln_mem_pool_alloc` returned. LN_NOT_FOUND when nothing starts at `addr`. */
LN_API ln_status ln_mem_pool_dealloc(ln_mem_pool *mem_pool, size_t addr);

/* 1 when `addr` was returned by `ln_mem_pool_alloc` and not given back, else 0. */
LN_API int ln_mem_pool_exist(ln_mem_pool *mem_pool, size_t addr);

/* Prints a headline and one line for each block in the order of addresses, such as
 * "0x000000000040-0x000000000428 S": first address, address after the last, and S for used
 * (still in use) or H for hole. LN_INVALID for NULL, LN_IO when writing failed. */
LN_API ln_status ln_mem_pool_dump(ln_mem_pool *mem_pool, FILE *fp);

/* A table with one pool for each memory type in use but LN_MEM_NONE, as large and as aligned as the
 * type says. Keys are `ln_mem_type` values (as `(void *)(intptr_t)mtype`), values are `ln_mem_pool
 * *`. NULL when memory is short. */
LN_API ln_hash *ln_mem_pool_table_create(void);

/* Frees the table and its pools; NULL is fine. */
LN_API void ln_mem_pool_table_free(ln_hash *mpt);

LN_CPPEND

#endif
