// SPDX-License-Identifier: Apache-2.0
// Allocators, and descriptions of memory: there is that of the CPU.

#include "compat/ort/ort.h"

#include <string.h>

ort_memory ort_cpu = {"Cpu", 0, 0, 0, 0};

static void *cpu_alloc(ort_allocator *self, size_t size)
{
    (void)self;
    return malloc(size ? size : 1);
}

static void cpu_free(ort_allocator *self, void *p)
{
    (void)self;
    free(p);
}

static const ort_memory *cpu_info(const ort_allocator *self)
{
    (void)self;
    return &ort_cpu;
}

static ort_allocator ort_cpu_allocator = {17, cpu_alloc, cpu_free, cpu_info, cpu_alloc, {NULL}};

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
    if (strcmp(memory->name, ort_cpu.name) != 0)
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

// Memories that clients may describe, of which only the first has values here; with the number of
// their kind of device: 0 a CPU, 1 a GPU, 3 an NPU.
static const struct ort_place {
    const char *name;
    int device;
} ort_places[] = {
    {"Cpu", 0},          {"Cuda", 1},         {"CudaPinned", 0},   {"WebGPU_Buffer", 1},
    {"WebGPU_Buf", 1},   {"DML", 1},          {"WebNN_Tensor", 1}, {"WebNN_Ten", 1},
    {"OpenVINO_CPU", 0}, {"OpenVINO_GPU", 1}, {"QnnHtpShared", 0},
};

static ort_status *CreateMemoryInfo(const char *name, int allocator_type, int id, int mem_type,
                                    ort_memory **out)
{
    OUT(out, NULL);
    NEED(name);
    for (size_t i = 0; i < sizeof ort_places / sizeof *ort_places; i++)
        if (strcmp(name, ort_places[i].name) == 0) {
            ort_memory *memory = malloc(sizeof *memory);
            if (!memory)
                return ort_fail_memory();
            *memory = (ort_memory){ort_places[i].name, ort_places[i].device, allocator_type, id,
                                   mem_type};
            *out = memory;
            return NULL;
        }
    return ort_fail(ORT_INVALID_ARGUMENT, "memory '%s' is not known; there is 'Cpu'", name);
}

static ort_status *CreateCpuMemoryInfo(int allocator_type, int mem_type, ort_memory **out)
{
    return CreateMemoryInfo(ort_cpu.name, allocator_type, 0, mem_type, out);
}

static ort_status *CompareMemoryInfo(const ort_memory *a, const ort_memory *b, int *out)
{
    OUT(out, -1);
    NEED(a);
    NEED(b);
    *out = strcmp(a->name, b->name) == 0 && a->id == b->id && a->mem_type == b->mem_type &&
                   a->allocator_type == b->allocator_type
               ? 0
               : -1;
    return NULL;
}

#define MEMORY_FIELD(slot, type, field)                                                            \
    static ort_status *slot(const ort_memory *memory, type *out)                                   \
    {                                                                                              \
        OUT(out, 0);                                                                               \
        NEED(memory);                                                                              \
        *out = memory->field;                                                                      \
        return NULL;                                                                               \
    }
MEMORY_FIELD(MemoryInfoGetName, const char *, name)
MEMORY_FIELD(MemoryInfoGetId, int, id)
MEMORY_FIELD(MemoryInfoGetMemType, int, mem_type)
MEMORY_FIELD(MemoryInfoGetType, int, allocator_type)

static void MemoryInfoGetDeviceType(const ort_memory *memory, int *out)
{
    if (out)
        *out = memory ? memory->device : 0;
}

static void ReleaseMemoryInfo(ort_memory *memory)
{
    if (memory != &ort_cpu)
        free(memory);
}

const ort_row ort_memory_slots[] = {
    SLOT(CreateMemoryInfo),
    SLOT(CreateCpuMemoryInfo),
    SLOT(CompareMemoryInfo),
    SLOT(MemoryInfoGetName),
    SLOT(MemoryInfoGetId),
    SLOT(MemoryInfoGetMemType),
    SLOT(MemoryInfoGetType),
    SLOT(AllocatorAlloc),
    SLOT(AllocatorFree),
    SLOT(AllocatorGetInfo),
    SLOT(GetAllocatorWithDefaultOptions),
    SLOT(ReleaseMemoryInfo),
    SLOT(CreateAllocator),
    SLOT(ReleaseAllocator),
    SLOT(MemoryInfoGetDeviceType),
    SLOT_END,
};
