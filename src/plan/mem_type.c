// SPDX-License-Identifier: Apache-2.0
// Memory types: the table of what each one can do, filled in by plug-ins.
//
// A registry, so the one kind of global state there is; all access goes through one lock. Nobody
// reads it while a model runs: functions are looked up when a model is loaded.

#include <lightnet/mem.h>

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include <lightnet/allocator.h>

static void *cpu_alloc(size_t n)
{
    return ln_alloc_aligned(n, LN_MEM_ALIGN);
}

static const ln_mem_info initial_infos[LN_MEM_TYPE_SIZE] = {
#define INFO_ROW(type, max, align) [type] = {.name = #type, .max_size = max, .align_size = align},
    LN_MEM_TYPE_LIST(INFO_ROW)
#undef INFO_ROW
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static ln_mem_info registered_infos[LN_MEM_TYPE_SIZE]; // name is NULL where nobody registered
static ln_copy_func copies[LN_MEM_TYPE_SIZE][LN_MEM_TYPE_SIZE]; // [dst][src]

static bool is_mem_type(ln_mem_type mtype)
{
    return (size_t)mtype < LN_MEM_TYPE_SIZE;
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
    return initial_infos[is_mem_type(mtype) ? mtype : LN_MEM_NONE].name;
}

const char *ln_mem_type_title(ln_mem_type mtype)
{
    switch (mtype) {
    case LN_MEM_CPU: return "main memory";
    case LN_MEM_CUDA: return "CUDA memory";
    case LN_MEM_DPU: return "DPU memory";
    default: return "no memory";
    }
}

int ln_mem_type_from_str(const char *name)
{
    for (int i = 0; name && i < LN_MEM_TYPE_SIZE; i++) {
        if (strcmp(name, initial_infos[i].name) == 0)
            return i;
    }
    return -1;
}

ln_mem_info ln_mem_type_info(ln_mem_type mtype)
{
    if (!is_mem_type(mtype))
        return initial_infos[LN_MEM_NONE];
    if (mtype == LN_MEM_CPU)
        return cpu_info();

    pthread_mutex_lock(&lock);
    ln_mem_info info =
        registered_infos[mtype].name ? registered_infos[mtype] : initial_infos[mtype];
    pthread_mutex_unlock(&lock);
    return info;
}

ln_copy_func ln_mem_type_copy_func(ln_mem_type dst_mtype, ln_mem_type src_mtype)
{
    if (!is_mem_type(dst_mtype) || !is_mem_type(src_mtype))
        return NULL;
    if (dst_mtype == LN_MEM_CPU && src_mtype == LN_MEM_CPU)
        return memmove;

    pthread_mutex_lock(&lock);
    ln_copy_func copy = copies[dst_mtype][src_mtype];
    pthread_mutex_unlock(&lock);
    return copy;
}

static ln_status check_info(ln_mem_type mtype, const ln_mem_info *info)
{
    const char *name = ln_mem_type_title(mtype);
    if (!info->alloc_func || !info->free_func)
        return LN_FAIL(LN_INVALID, "%s needs a function to allocate and one to free", name);
    if (info->max_size == 0 || info->max_size > PTRDIFF_MAX)
        return LN_FAIL(LN_INVALID, "%s: a max_size of %zu bytes is not possible", name,
                       info->max_size);
    if (info->align_size < LN_MEM_ALIGN || (info->align_size & (info->align_size - 1)) != 0)
        return LN_FAIL(LN_INVALID, "%s: align_size %zu is not a power of two from %d on", name,
                       info->align_size, LN_MEM_ALIGN);
    return LN_OK;
}

ln_status ln_mem_type_register(ln_mem_type mtype, const ln_mem_info *info)
{
    if (!is_mem_type(mtype) || mtype == LN_MEM_NONE || mtype == LN_MEM_CPU)
        return LN_FAIL(LN_INVALID, "memory type %d (%s) cannot be registered", (int)mtype,
                       ln_mem_type_title(mtype));
    if (info)
        LN_TRY(check_info(mtype, info));

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

ln_status ln_mem_type_register_copy(ln_mem_type dst_mtype, ln_mem_type src_mtype, ln_copy_func copy)
{
    if (!is_mem_type(dst_mtype) || !is_mem_type(src_mtype) || dst_mtype == LN_MEM_NONE ||
        src_mtype == LN_MEM_NONE || (dst_mtype == LN_MEM_CPU && src_mtype == LN_MEM_CPU))
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
