// SPDX-License-Identifier: Apache-2.0
// Devices of execution providers: there is one, the CPU.

#include "compat/ort/ort.h"

typedef struct ort_hardware {
    int type; // 0: a CPU
} ort_hardware;

typedef struct ort_device {
    const ort_hardware *hardware;
} ort_device;

static const ort_hardware cpu_hardware = {0};
static const ort_device cpu_device = {&cpu_hardware};

static ort_status *GetEpDevices(const ort_env *env, const ort_device *const **out, size_t *count)
{
    static const ort_device *const devices[] = {&cpu_device};
    OUT(out, NULL);
    OUT(count, 0);
    NEED(env);
    *out = devices;
    *count = 1;
    return NULL;
}

static ort_status *SessionOptionsAppendExecutionProvider_V2(
    ort_session_options *options, ort_env *env, const ort_device *const *devices, size_t count,
    const char *const *keys, const char *const *values, size_t option_count)
{
    (void)keys, (void)values, (void)option_count;
    NEED(options);
    NEED(env);
    NEED(devices);
    if (count == 0)
        return ort_fail(ORT_INVALID_ARGUMENT, "no device is given");
    for (size_t i = 0; i < count; i++)
        if (devices[i] != &cpu_device)
            return ort_fail(ORT_INVALID_ARGUMENT, "device %zu is not the one of GetEpDevices", i);
    return NULL;
}

// Whatever is preferred, there is the CPU.
static ort_status *SessionOptionsSetEpSelectionPolicy(ort_session_options *options, int policy)
{
    (void)policy;
    NEED(options);
    return NULL;
}

static ort_status *GetNumHardwareDevices(const ort_env *env, size_t *out)
{
    OUT(out, 0);
    NEED(env);
    *out = 1;
    return NULL;
}

static ort_status *GetHardwareDevices(const ort_env *env, const ort_hardware **out, size_t count)
{
    NEED(env);
    if (count > 0)
        NEED(out);
    for (size_t i = 0; i < count; i++)
        out[i] = i == 0 ? &cpu_hardware : NULL;
    return NULL;
}

static int HardwareDevice_Type(const ort_hardware *hardware)
{
    return hardware ? hardware->type : 0;
}

static uint32_t no_number(const void *of)
{
    (void)of;
    return 0;
}

static const char *HardwareDevice_Vendor(const ort_hardware *hardware)
{
    (void)hardware;
    return "";
}

static const ort_pairs *no_pairs(const void *of)
{
    (void)of;
    return ort_pairs_none();
}

static const char *EpDevice_EpName(const ort_device *device)
{
    (void)device;
    return "CPUExecutionProvider";
}

static const char *EpDevice_EpVendor(const ort_device *device)
{
    (void)device;
    return "LightNet";
}

static const ort_hardware *EpDevice_Device(const ort_device *device)
{
    return device ? device->hardware : NULL;
}

static const ort_memory *EpDevice_MemoryInfo(const ort_device *device, int memory_type)
{
    return device && memory_type == 0 ? ort_cpu() : NULL;
}

// ---- Of sessions ----

static ort_status *list_devices(const ort_ends *ends, const ort_device **out, size_t count)
{
    if (count > 0)
        NEED(out);
    if (count != ends->count)
        return ort_fail(ORT_INVALID_ARGUMENT, "%zu devices for %zu inputs or outputs", count,
                        ends->count);
    for (size_t i = 0; i < count; i++)
        out[i] = &cpu_device;
    return NULL;
}

static ort_status *SessionGetEpDeviceForInputs(const ort_session *session, const ort_device **out,
                                               size_t count)
{
    NEED(session);
    return list_devices(&session->inputs, out, count);
}

static ort_status *SessionGetEpDeviceForOutputs(const ort_session *session, const ort_device **out,
                                                size_t count)
{
    NEED(session);
    return list_devices(&session->outputs, out, count);
}

const ort_row ort_device_slots[] = {
    SLOT(GetEpDevices),
    SLOT(SessionOptionsAppendExecutionProvider_V2),
    SLOT(SessionOptionsSetEpSelectionPolicy),
    SLOT(GetNumHardwareDevices),
    SLOT(GetHardwareDevices),
    SLOT(HardwareDevice_Type),
    SLOT_AS(HardwareDevice_VendorId, no_number),
    SLOT(HardwareDevice_Vendor),
    SLOT_AS(HardwareDevice_DeviceId, no_number),
    SLOT_AS(HardwareDevice_Metadata, no_pairs),
    SLOT(EpDevice_EpName),
    SLOT(EpDevice_EpVendor),
    SLOT_AS(EpDevice_EpMetadata, no_pairs),
    SLOT_AS(EpDevice_EpOptions, no_pairs),
    SLOT(EpDevice_Device),
    SLOT(EpDevice_MemoryInfo),
    SLOT(SessionGetEpDeviceForInputs),
    SLOT(SessionGetEpDeviceForOutputs),
    SLOT_END,
};
