// SPDX-License-Identifier: Apache-2.0
// Allocators, and descriptions of memory: there is that of the CPU.

#include "compat/ort/ort.h"

#include <string.h>

// ---- Memory ----

void *ort_alloc(size_t size)
{
    return ln_alloc_aligned(size ? size : 1, LN_MEM_ALIGN);
}

void *ort_alloc_raw(size_t size)
{
    return ln_alloc_aligned_raw(size ? size : 1, LN_MEM_ALIGN);
}

void ort_free(void *p)
{
    if (p)
        ln_free_aligned(p);
}

// ---- Descriptions ----

static ort_memory cpu = {.name = "Cpu"};

const ort_memory *ort_cpu(void)
{
    return &cpu;
}

bool ort_is_cpu(const ort_memory *memory)
{
    return strcmp(memory->name, cpu.name) == 0;
}

// Memories that clients may describe, of which only the first has values here; with the number of
// their kind of device: 0 a CPU, 1 a GPU, 3 an NPU.
static const struct ort_place {
    const char *name;
    int device;
} places[] = {
    {"Cpu", 0},          {"Cuda", 1},         {"CudaPinned", 0},   {"WebGPU_Buffer", 1},
    {"WebGPU_Buf", 1},   {"DML", 1},          {"WebNN_Tensor", 1}, {"WebNN_Ten", 1},
    {"OpenVINO_CPU", 0}, {"OpenVINO_GPU", 1}, {"QnnHtpShared", 0},
};

static ort_status *memory_new(const char *name, const ort_memory *like, ort_memory **out)
{
    size_t name_size = strlen(name) + 1;
    ort_memory *memory = ln_alloc(sizeof *memory + name_size);
    if (!memory)
        return ort_fail_memory();
    *memory = *like;
    memcpy(memory->name, name, name_size);
    *out = memory;
    return NULL;
}

static ort_status *CreateMemoryInfo(const char *name, int allocator_type, int id, int mem_type,
                                    ort_memory **out)
{
    OUT(out, NULL);
    NEED(name);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (strcmp(name, places[i].name) == 0)
            return memory_new(name,
                              &(ort_memory){.device = places[i].device,
                                            .allocator_type = allocator_type,
                                            .id = id,
                                            .mem_type = mem_type},
                              out);
    return ort_fail(ORT_INVALID_ARGUMENT, "memory '%s' is not known; there is 'Cpu'", name);
}

static ort_status *CreateMemoryInfo_V2(const char *name, int device, uint32_t vendor, int32_t id,
                                       int device_mem_type, size_t alignment, int allocator_type,
                                       ort_memory **out)
{
    OUT(out, NULL);
    NEED(name);
    if (device < 0 || device > 3)
        return ort_fail(ORT_INVALID_ARGUMENT, "device type %d is not 0 to 3", device);
    if (alignment & (alignment - 1))
        return ort_fail(ORT_INVALID_ARGUMENT, "alignment %zu is no power of two", alignment);
    return memory_new(name,
                      &(ort_memory){.device = device,
                                    .allocator_type = allocator_type,
                                    .id = id,
                                    .vendor = vendor,
                                    .device_mem_type = device_mem_type},
                      out);
}

static ort_status *CreateCpuMemoryInfo(int allocator_type, int mem_type, ort_memory **out)
{
    return CreateMemoryInfo(cpu.name, allocator_type, 0, mem_type, out);
}

static ort_status *CompareMemoryInfo(const ort_memory *a, const ort_memory *b, int *out)
{
    OUT(out, -1);
    NEED(a);
    NEED(b);
    *out = strcmp(a->name, b->name) == 0 && a->id == b->id && a->mem_type == b->mem_type &&
                   a->allocator_type == b->allocator_type && a->vendor == b->vendor &&
                   a->device == b->device && a->device_mem_type == b->device_mem_type
               ? 0
               : -1;
    return NULL;
}

static ort_status *MemoryInfoGetName(const ort_memory *memory, const char **out)
{
    OUT(out, NULL);
    NEED(memory);
    *out = memory->name;
    return NULL;
}

#define MEMORY_FIELD(slot, field)                                                                  \
    static ort_status *slot(const ort_memory *memory, int *out)                                    \
    {                                                                                              \
        OUT(out, 0);                                                                               \
        NEED(memory);                                                                              \
        *out = memory->field;                                                                      \
        return NULL;                                                                               \
    }
MEMORY_FIELD(MemoryInfoGetId, id)
MEMORY_FIELD(MemoryInfoGetMemType, mem_type)
MEMORY_FIELD(MemoryInfoGetType, allocator_type)

static void MemoryInfoGetDeviceType(const ort_memory *memory, int *out)
{
    if (out)
        *out = memory ? memory->device : 0;
}

static int MemoryInfoGetDeviceMemType(const ort_memory *memory)
{
    return memory ? memory->device_mem_type : 0;
}

static uint32_t MemoryInfoGetVendorId(const ort_memory *memory)
{
    return memory ? memory->vendor : 0;
}

static void ReleaseMemoryInfo(ort_memory *memory)
{
    if (memory != &cpu)
        ln_free(memory);
}

// ---- Allocators ----

static void *cpu_alloc(ort_allocator *self, size_t size)
{
    (void)self;
    return ort_alloc(size);
}

static void cpu_free(ort_allocator *self, void *p)
{
    (void)self;
    ort_free(p);
}

static const ort_memory *cpu_info(const ort_allocator *self)
{
    (void)self;
    return &cpu;
}

ort_allocator ort_cpu_allocator = {17, cpu_alloc, cpu_free, cpu_info, cpu_alloc, {NULL}};

ort_status *ort_copy_text(ort_allocator *allocator, const char *text, char **out)
{
    size_t size = strlen(text) + 1;
    *out = allocator->alloc(allocator, size);
    if (!*out)
        return ort_fail_memory();
    memcpy(*out, text, size);
    return NULL;
}

static ort_status *GetAllocatorWithDefaultOptions(ort_allocator **out)
{
    OUT(out, &ort_cpu_allocator);
    return NULL;
}

static ort_status *CreateAllocator(const ort_session *session, const ort_memory *memory,
                                   ort_allocator **out)
{
    OUT(out, NULL);
    NEED(session);
    NEED(memory);
    if (!ort_is_cpu(memory))
        return ort_fail(ORT_INVALID_ARGUMENT, "there is no allocator for '%s', only for 'Cpu'",
                        memory->name);
    *out = &ort_cpu_allocator;
    return NULL;
}

static void ReleaseAllocator(ort_allocator *allocator)
{
    (void)allocator;
}

static ort_status *AllocatorAlloc(ort_allocator *allocator, size_t size, void **out)
{
    OUT(out, NULL);
    NEED(allocator);
    *out = allocator->alloc(allocator, size);
    return *out ? NULL : ort_fail_memory();
}

static ort_status *AllocatorFree(ort_allocator *allocator, void *p)
{
    NEED(allocator);
    allocator->free(allocator, p);
    return NULL;
}

static ort_status *AllocatorGetInfo(const ort_allocator *allocator, const ort_memory **out)
{
    OUT(out, NULL);
    NEED(allocator);
    *out = allocator->info(allocator);
    return NULL;
}

// NULL says that there is none for that memory.
static ort_status *GetSharedAllocator(const ort_env *env, const ort_memory *memory,
                                      ort_allocator **out)
{
    OUT(out, NULL);
    NEED(env);
    NEED(memory);
    *out = ort_is_cpu(memory) ? &ort_cpu_allocator : NULL;
    return NULL;
}

// ---- Arenas, which are asked for and not needed: the memory of a run is planned ----

typedef struct ort_arena {
    char none;
} ort_arena;

static ort_status *CreateArenaCfg(size_t max_memory, int strategy, int chunk_size, int max_dead,
                                  ort_arena **out)
{
    (void)max_memory, (void)strategy, (void)chunk_size, (void)max_dead;
    OUT(out, NULL);
    *out = ln_alloc(sizeof **out);
    return *out ? NULL : ort_fail_memory();
}

static ort_status *CreateArenaCfgV2(const char *const *keys, const size_t *values, size_t count,
                                    ort_arena **out)
{
    OUT(out, NULL);
    if (count > 0) {
        NEED(keys);
        NEED(values);
    }
    return CreateArenaCfg(0, 0, 0, 0, out);
}

static void ReleaseArenaCfg(ort_arena *arena)
{
    ln_free(arena);
}

static ort_status *CreateAndRegisterAllocator(ort_env *env, const ort_memory *memory,
                                              const ort_arena *arena)
{
    (void)arena;
    NEED(env);
    NEED(memory);
    if (!ort_is_cpu(memory))
        return ort_fail(ORT_INVALID_ARGUMENT, "there is no allocator for '%s', only for 'Cpu'",
                        memory->name);
    return NULL;
}

const ort_row ort_memory_slots[] = {
    SLOT(GetAllocatorWithDefaultOptions),
    SLOT(CreateAllocator),
    SLOT(ReleaseAllocator),
    SLOT(AllocatorAlloc),
    SLOT(AllocatorFree),
    SLOT(AllocatorGetInfo),
    SLOT(GetSharedAllocator),
    SLOT(CreateMemoryInfo),
    SLOT(CreateMemoryInfo_V2),
    SLOT(CreateCpuMemoryInfo),
    SLOT(CompareMemoryInfo),
    SLOT(MemoryInfoGetName),
    SLOT(MemoryInfoGetId),
    SLOT(MemoryInfoGetMemType),
    SLOT(MemoryInfoGetType),
    SLOT(MemoryInfoGetDeviceType),
    SLOT(MemoryInfoGetDeviceMemType),
    SLOT(MemoryInfoGetVendorId),
    SLOT(ReleaseMemoryInfo),
    SLOT(CreateArenaCfg),
    SLOT(CreateArenaCfgV2),
    SLOT(ReleaseArenaCfg),
    SLOT(CreateAndRegisterAllocator),
    SLOT_END,
};
