// SPDX-License-Identifier: Apache-2.0
// Memory types: the table of what each one can do, filled in by plug-ins.
//
// A registry, so the one kind of global state there is; all access goes through one lock. Nobody
// reads it while a model runs: functions are looked up when a model is loaded.

#include <lightnet/mem.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <lightnet/allocator.h>

#include "plan/mem_device.h"
#include "plan/mem_use.h"

static void *cpu_alloc(size_t n)
{
    return ln_alloc_aligned(n, LN_MEM_ALIGN);
}

#define TYPE_COUNTED(type, max, align) +1
enum { NAMED_COUNT = 0 LN_MEM_TYPE_LIST(TYPE_COUNTED) }; // by the library; the others are added
#undef TYPE_COUNTED

static const ln_mem_info initial_infos[NAMED_COUNT] = {
#define INFO_ROW(type, max, align) [type] = {.name = #type, .max_size = max, .align_size = align},
    LN_MEM_TYPE_LIST(INFO_ROW)
#undef INFO_ROW
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static ln_mem_info registered_infos[LN_MEM_TYPE_SIZE]; // name is NULL where nobody registered
static ln_copy_func copies[LN_MEM_TYPE_SIZE][LN_MEM_TYPE_SIZE]; // [dst][src]

// Of the types that were added. What is in use does not change, so it is read without the lock.
typedef struct added_type {
    atomic_bool is_used;
    atomic_bool is_of_devices;
    char name[LN_MAX_NAME_LEN];
    char title[LN_MAX_NAME_LEN];
} added_type;

static added_type added[LN_MEM_TYPE_SIZE - NAMED_COUNT];

static atomic_size_t uses[LN_MEM_TYPE_SIZE];

static bool is_named(ln_mem_type mtype)
{
    return (size_t)mtype < NAMED_COUNT;
}

// The added type of that number, which may be free; NULL for other numbers.
static added_type *added_at(ln_mem_type mtype)
{
    size_t number = (size_t)mtype;
    return number >= NAMED_COUNT && number < LN_MEM_TYPE_SIZE ? &added[number - NAMED_COUNT] : NULL;
}

bool ln_mem_type_is_used(ln_mem_type mtype)
{
    added_type *a = added_at(mtype);
    return is_named(mtype) || (a && atomic_load_explicit(&a->is_used, memory_order_acquire));
}

static ln_mem_info cpu_info(void)
{
    ln_mem_info info = initial_infos[LN_MEM_CPU];
    info.alloc_func = cpu_alloc;
    info.free_func = ln_free_aligned;
    info.memset_func = memset;
    return info;
}

const char *ln_mem_type_name(ln_mem_type mtype)
{
    if (!ln_mem_type_is_used(mtype))
        return initial_infos[LN_MEM_NONE].name;
    return is_named(mtype) ? initial_infos[mtype].name : added_at(mtype)->name;
}

const char *ln_mem_type_title(ln_mem_type mtype)
{
    switch (mtype) {
    case LN_MEM_CPU: return "main memory";
    case LN_MEM_CUDA: return "CUDA memory";
    case LN_MEM_DPU: return "DPU memory";
    default:
        return mtype != LN_MEM_NONE && ln_mem_type_is_used(mtype) ? added_at(mtype)->title
                                                                  : "no memory";
    }
}

int ln_mem_type_from_str(const char *name)
{
    for (int i = 0; name && i < LN_MEM_TYPE_SIZE; i++) {
        if (ln_mem_type_is_used((ln_mem_type)i) &&
            strcmp(name, ln_mem_type_name((ln_mem_type)i)) == 0)
            return i;
    }
    return -1;
}

ln_mem_info ln_mem_type_info(ln_mem_type mtype)
{
    if (!ln_mem_type_is_used(mtype))
        return initial_infos[LN_MEM_NONE];
    if (mtype == LN_MEM_CPU)
        return cpu_info();

    pthread_mutex_lock(&lock);
    ln_mem_info info = is_named(mtype) && !registered_infos[mtype].name ? initial_infos[mtype]
                                                                        : registered_infos[mtype];
    pthread_mutex_unlock(&lock);
    return info;
}

ln_copy_func ln_mem_type_copy_func(ln_mem_type dst_mtype, ln_mem_type src_mtype)
{
    if (!ln_mem_type_is_used(dst_mtype) || !ln_mem_type_is_used(src_mtype))
        return NULL;
    if (dst_mtype == LN_MEM_CPU && src_mtype == LN_MEM_CPU)
        return memmove;

    pthread_mutex_lock(&lock);
    ln_copy_func copy = copies[dst_mtype][src_mtype];
    pthread_mutex_unlock(&lock);
    return copy;
}

static ln_status check_sizes(const char *name, const ln_mem_info *info)
{
    if (info->max_size == 0 || info->max_size > PTRDIFF_MAX)
        return LN_FAIL(LN_INVALID, "%s: a max_size of %zu bytes is not possible", name,
                       info->max_size);
    if (info->align_size < LN_MEM_ALIGN || (info->align_size & (info->align_size - 1)) != 0)
        return LN_FAIL(LN_INVALID, "%s: align_size %zu is not a power of two from %d on", name,
                       info->align_size, LN_MEM_ALIGN);
    return LN_OK;
}

static ln_status check_info(const char *name, const ln_mem_info *info)
{
    if (!info->alloc_func || !info->free_func)
        return LN_FAIL(LN_INVALID, "%s needs a function to allocate and one to free", name);
    return check_sizes(name, info);
}

// ---- Use ----

void ln_mem_type_hold(ln_mem_type mtype)
{
    if ((size_t)mtype < LN_MEM_TYPE_SIZE)
        atomic_fetch_add(&uses[mtype], 1);
}

void ln_mem_type_drop(ln_mem_type mtype)
{
    if ((size_t)mtype < LN_MEM_TYPE_SIZE)
        atomic_fetch_sub(&uses[mtype], 1);
}

size_t ln_mem_type_use_count(ln_mem_type mtype)
{
    return (size_t)mtype < LN_MEM_TYPE_SIZE ? atomic_load(&uses[mtype]) : 0;
}

static ln_status check_unused(ln_mem_type mtype)
{
    size_t count = ln_mem_type_use_count(mtype);
    if (count > 0)
        return LN_FAIL(LN_STATE,
                       "%s is in use by %zu block%s or arch%s: free the contexts, programs and "
                       "sessions that are there, and unregister its archs, first",
                       ln_mem_type_title(mtype), count, count == 1 ? "" : "s",
                       count == 1 ? "" : "s");
    return LN_OK;
}

// ---- Types that the library names ----

ln_status ln_mem_type_register(ln_mem_type mtype, const ln_mem_info *info)
{
    if (!is_named(mtype) || mtype == LN_MEM_NONE || mtype == LN_MEM_CPU)
        return LN_FAIL(
            LN_INVALID,
            "memory type %d (%s) cannot be registered; ln_mem_type_add gives out a number",
            (int)mtype, ln_mem_type_title(mtype));
    if (info)
        LN_TRY(check_info(ln_mem_type_title(mtype), info));
    else
        LN_TRY(check_unused(mtype));

    pthread_mutex_lock(&lock);
    bool is_taken = info && registered_infos[mtype].name;
    if (!is_taken) {
        registered_infos[mtype] = info ? *info : (ln_mem_info){0};
        registered_infos[mtype].name = info ? initial_infos[mtype].name : NULL;
    }
    pthread_mutex_unlock(&lock);

    if (is_taken)
        return LN_FAIL(LN_EXISTS, "%s is registered already", ln_mem_type_title(mtype));
    return LN_OK;
}

// ---- Types that are added ----

static ln_status check_name(const char *name)
{
    size_t len = name ? strlen(name) : 0;
    bool is_word = len > 0 && strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                           "0123456789_") == len;
    if (!is_word || len >= LN_MAX_NAME_LEN)
        return LN_FAIL(LN_INVALID,
                       "'%s' cannot be the name of a memory type: letters, digits and '_', fewer "
                       "than %d",
                       name ? name : "(null)", LN_MAX_NAME_LEN);
    return LN_OK;
}

static ln_status add_locked(const char *name, const char *title, const ln_mem_info *info,
                            bool is_of_devices, ln_mem_type *out_mtype)
{
    if (ln_mem_type_from_str(name) >= 0)
        return LN_FAIL(LN_EXISTS, "memory type '%s' exists already", name);
    int number = NAMED_COUNT;
    while (number < LN_MEM_TYPE_SIZE && ln_mem_type_is_used((ln_mem_type)number))
        number++;
    if (number == LN_MEM_TYPE_SIZE)
        return LN_FAIL(
            LN_LIMIT,
            "there are %d memory types, which is the most: %d have fixed names, and each "
            "device with memory of its own has one from when it is named first until "
            "its arch is unregistered; unregister an arch, or remove a type",
            LN_MEM_TYPE_SIZE, NAMED_COUNT);
    added_type *a = added_at((ln_mem_type)number);
    snprintf(a->title, sizeof a->title, "%s", title ? title : name);
    snprintf(a->name, sizeof a->name, "%s", name);
    registered_infos[number] = *info;
    registered_infos[number].name = a->name;
    atomic_store(&a->is_of_devices, is_of_devices);
    atomic_store_explicit(&a->is_used, true, memory_order_release);
    *out_mtype = (ln_mem_type)number;
    return LN_OK;
}

ln_status ln_mem_type_add(const char *name, const char *title, const ln_mem_info *info,
                          ln_mem_type *out_mtype)
{
    *out_mtype = LN_MEM_NONE;
    LN_TRY(check_name(name));
    if (!info)
        return LN_FAIL(LN_INVALID, "memory type '%s' needs information", name);
    LN_TRY(check_info(name, info));
    pthread_mutex_lock(&lock);
    ln_status status = add_locked(name, title, info, false, out_mtype);
    pthread_mutex_unlock(&lock);
    return status;
}

ln_status ln_mem_type_add_of_devices(const char *name, const char *title, size_t max_size,
                                     size_t align_size, ln_mem_type *out_mtype)
{
    const ln_mem_info info = {.max_size = max_size, .align_size = align_size};
    *out_mtype = LN_MEM_NONE;
    LN_TRY(check_name(name));
    LN_TRY(check_sizes(name, &info));
    pthread_mutex_lock(&lock);
    ln_status status = add_locked(name, title, &info, true, out_mtype);
    pthread_mutex_unlock(&lock);
    return status;
}

size_t ln_mem_type_align(ln_mem_type mtype)
{
    size_t align = ln_mem_type_info(mtype).align_size;
    return align > LN_MEM_ALIGN ? align : LN_MEM_ALIGN;
}

bool ln_mem_type_is_of_devices(ln_mem_type mtype)
{
    added_type *a = added_at(mtype);
    return a && ln_mem_type_is_used(mtype) && atomic_load(&a->is_of_devices);
}

static void remove_locked(ln_mem_type mtype)
{
    if (added_at(mtype))
        atomic_store_explicit(&added_at(mtype)->is_used, false, memory_order_release);
    registered_infos[mtype] = (ln_mem_info){0};
    for (int i = 0; i < LN_MEM_TYPE_SIZE; i++)
        copies[mtype][i] = copies[i][mtype] = NULL;
}

void ln_mem_type_forget(ln_mem_type mtype)
{
    if ((size_t)mtype >= LN_MEM_TYPE_SIZE || mtype == LN_MEM_NONE || mtype == LN_MEM_CPU)
        return;
    pthread_mutex_lock(&lock);
    remove_locked(mtype);
    pthread_mutex_unlock(&lock);
}

ln_status ln_mem_type_remove(ln_mem_type mtype)
{
    LN_TRY(check_unused(mtype));
    pthread_mutex_lock(&lock);
    bool is_added = added_at(mtype) && ln_mem_type_is_used(mtype);
    if (is_added)
        remove_locked(mtype);
    pthread_mutex_unlock(&lock);
    return is_added ? LN_OK
                    : LN_FAIL(LN_NOT_FOUND, "memory type %d is none that was added", (int)mtype);
}

ln_status ln_mem_type_register_copy(ln_mem_type dst_mtype, ln_mem_type src_mtype, ln_copy_func copy)
{
    if (!ln_mem_type_is_used(dst_mtype) || !ln_mem_type_is_used(src_mtype) ||
        dst_mtype == LN_MEM_NONE || src_mtype == LN_MEM_NONE ||
        (dst_mtype == LN_MEM_CPU && src_mtype == LN_MEM_CPU))
        return LN_FAIL(LN_INVALID,
                       "the copy from memory type %d (%s) to %d (%s) is not open to "
                       "registration",
                       (int)src_mtype, ln_mem_type_title(src_mtype), (int)dst_mtype,
                       ln_mem_type_title(dst_mtype));

    pthread_mutex_lock(&lock);
    ln_copy_func *slot = &copies[dst_mtype][src_mtype];
    bool is_taken = copy && *slot && *slot != copy;
    if (!is_taken)
        *slot = copy;
    pthread_mutex_unlock(&lock);

    if (is_taken)
        return LN_FAIL(LN_EXISTS, "a copy from %s to %s is registered already",
                       ln_mem_type_title(src_mtype), ln_mem_type_title(dst_mtype));
    return LN_OK;
}
