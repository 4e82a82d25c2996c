/* SPDX-License-Identifier: Apache-2.0 */
/* What a model's file states about the model besides its operators: who made it, and properties of
 * the maker's own, such as names of classes.
 */

#ifndef LIGHTNET_MODEL_INFO_H
#define LIGHTNET_MODEL_INFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <lightnet/context.h>
#include <lightnet/export.h>
#include <lightnet/status.h>

LN_CPPSTART

/* The field `custom metadata map` of ONNX: `metadata_props`. */
typedef struct ln_model_property {
    const char *key;
    const char *value;
} ln_model_property;

/* Texts are UTF-8 and never NULL, "" where the file states nothing. */
typedef struct ln_model_info {
    const char *producer;         /* "pytorch" */
    const char *producer_version; /* "2.1.0" */
    const char *domain;           /* "com.example.vision" */
    const char *doc;              /* what the model does, for people */
    const char *graph;            /* name of the graph */
    const char *graph_doc;
    int64_t version;                     /* of the model, as its maker counts; 0: none */
    const ln_model_property *properties; /* in the order of the file */
    size_t property_count;
    const char *const *defaults; /* inputs with a default value, which are constants unless
                                    `ln_context_make_input` says otherwise */
    size_t default_count;
} ln_model_info;

/* How a model is read; a field that is NULL is as `ln_context_init` reads it. */
typedef struct ln_read_options {
    const char *signature; /* one entry of a file that has several; NULL: the first one */
    const char *rounding;  /* of int8 and uint8 in a TensorFlow Lite model: "float", as XNNPACK
                              rounds, or "reference", as its reference kernels do, to the bit;
                              NULL: "float" */
    bool is_resizable;     /* dimensions of a TensorFlow Lite model are open, but for the last one
                              of each input, and have the sizes of the file until others are given,
                              as if its converter had left them open; false: those alone that the
                              file leaves open */
} ln_read_options;

/* As `ln_context_init` and `ln_context_init_mem`, with options of `byte_count` bytes, as the
 * program knows the structure (the macros say so), which are borrowed for the call; NULL: none.
 * Fails also: LN_NOT_FOUND for another signature, with those that there are; LN_INVALID for another
 * rounding; LN_UNSUPPORTED if the format has no such choice. */
LN_API ln_status ln_context_init_with_sized(ln_context *ctx, const char *source,
                                            const ln_read_options *options, size_t byte_count);
LN_API ln_status ln_context_init_mem_with_sized(ln_context *ctx, const void *bytes,
                                                size_t model_byte_count, const char *name,
                                                const ln_read_options *options, size_t byte_count);
#define ln_context_init_with(ctx, source, options)                                                 \
    ln_context_init_with_sized(ctx, source, options, sizeof(ln_read_options))
#define ln_context_init_mem_with(ctx, bytes, byte_count, name, options)                            \
    ln_context_init_mem_with_sized(ctx, bytes, byte_count, name, options, sizeof(ln_read_options))

/* As `ln_context_init` and `ln_context_init_mem`, of one entry of a file that has several by name:
 * the properties `signature NAME` of a TensorFlow Lite model. NULL: the first one. Fails also:
 * LN_NOT_FOUND, with the names that there are, LN_UNSUPPORTED if the format has no entries. */
LN_API ln_status ln_context_init_signature(ln_context *ctx, const char *source,
                                           const char *signature);
LN_API ln_status ln_context_init_signature_mem(ln_context *ctx, const void *bytes,
                                               size_t byte_count, const char *name,
                                               const char *signature);

/* Of a context that has a model; never NULL. Formats without metadata have empty texts. Borrowed
 * from the context, until it is cleaned up. */
LN_API const ln_model_info *ln_context_info(const ln_context *ctx);

/* The value of property `key`, borrowed likewise; NULL if there is none. */
LN_API const char *ln_model_info_find(const ln_model_info *info, const char *key);

/* For readers of models: `*info` is copied, NULL texts are "". Fails: LN_INVALID if a property has
 * no key, LN_NO_MEMORY; the context has what it had then. */
LN_API ln_status ln_context_set_info(ln_context *ctx, const ln_model_info *info);

LN_CPPEND

#endif
