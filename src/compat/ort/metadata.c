// SPDX-License-Identifier: Apache-2.0
// Metadata of models.

#include "compat/ort/ort.h"

static ort_status *SessionGetModelMetadata(const ort_session *session, ort_metadata **out)
{
    OUT(out, NULL);
    NEED(session);
    ort_metadata *metadata = ln_alloc(sizeof *metadata);
    if (!metadata)
        return ort_fail_memory();
    metadata->program = ln_program_retain(session->runners.program);
    metadata->version = session->version;
    *out = metadata;
    return NULL;
}

static void ReleaseModelMetadata(ort_metadata *metadata)
{
    if (metadata)
        ln_program_release(metadata->program);
    ln_free(metadata);
}

#define METADATA_TEXT(slot, field)                                                                 \
    static ort_status *slot(const ort_metadata *metadata, ort_allocator *allocator, char **out)    \
    {                                                                                              \
        OUT(out, NULL);                                                                            \
        NEED(metadata);                                                                            \
        NEED(allocator);                                                                           \
        return ort_copy_text(allocator, ln_program_info(metadata->program)->field, out);           \
    }
METADATA_TEXT(ModelMetadataGetProducerName, producer)
METADATA_TEXT(ModelMetadataGetGraphName, graph)
METADATA_TEXT(ModelMetadataGetDomain, domain)
METADATA_TEXT(ModelMetadataGetDescription, doc)
METADATA_TEXT(ModelMetadataGetGraphDescription, graph_doc)

static ort_status *ModelMetadataGetVersion(const ort_metadata *metadata, int64_t *out)
{
    OUT(out, 0);
    NEED(metadata);
    *out = metadata->version;
    return NULL;
}

static ort_status *ModelMetadataLookupCustomMetadataMap(const ort_metadata *metadata,
                                                        ort_allocator *allocator, const char *key,
                                                        char **out)
{
    OUT(out, NULL);
    NEED(metadata);
    NEED(allocator);
    NEED(key);
    const char *value = ln_model_info_find(ln_program_info(metadata->program), key);
    return value ? ort_copy_text(allocator, value, out) : NULL; // NULL says that there is none
}

static ort_status *ModelMetadataGetCustomMetadataMapKeys(const ort_metadata *metadata,
                                                         ort_allocator *allocator, char ***out,
                                                         int64_t *count)
{
    OUT(out, NULL);
    OUT(count, 0);
    NEED(metadata);
    NEED(allocator);
    const ln_model_info *info = ln_program_info(metadata->program);
    if (info->property_count == 0)
        return NULL;
    char **keys = allocator->alloc(allocator, info->property_count * sizeof *keys);
    if (!keys)
        return ort_fail_memory();
    for (size_t i = 0; i < info->property_count; i++) {
        ort_status *status = ort_copy_text(allocator, info->properties[i].key, &keys[i]);
        if (status) {
            while (i-- > 0)
                allocator->free(allocator, keys[i]);
            allocator->free(allocator, keys);
            return status;
        }
    }
    *out = keys;
    *count = (int64_t)info->property_count;
    return NULL;
}

const ort_row ort_metadata_slots[] = {
    SLOT(SessionGetModelMetadata),
    SLOT(ModelMetadataGetProducerName),
    SLOT(ModelMetadataGetGraphName),
    SLOT(ModelMetadataGetDomain),
    SLOT(ModelMetadataGetDescription),
    SLOT(ModelMetadataLookupCustomMetadataMap),
    SLOT(ModelMetadataGetVersion),
    SLOT(ReleaseModelMetadata),
    SLOT(ModelMetadataGetCustomMetadataMapKeys),
    SLOT(ModelMetadataGetGraphDescription),
    SLOT_END,
};
