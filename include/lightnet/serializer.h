/* SPDX-License-Identifier: Apache-2.0 */
/* A serializer reads and writes one model format.
 *
 * A reader turns bytes into operators of a context, or into an error with a position; it treats
 * the bytes as hostile. Fill in a struct, register it, and `ln_context_init` and
 * `ln_context_print` know the format.
 */

#ifndef LIGHTNET_SERIALIZER_H
#define LIGHTNET_SERIALIZER_H

#include <stddef.h>

#include <lightnet/context.h>
#include <lightnet/export.h>
#include <lightnet/list.h>
#include <lightnet/model_info.h>
#include <lightnet/object.h>
#include <lightnet/preflight.h>
#include <lightnet/status.h>

LN_CPPSTART

typedef struct ln_serializer ln_serializer;

/* One operator as it stands in a file, before it is looked up. All but `own_params`
 * is borrowed for the call. */
typedef struct ln_op_source {
    const char *name;
    const char *optype;
    int version;          /* the format's operator version; 0 where it has none */
    ln_list *tensors_in;  /* of ln_tensor_list_entry */
    ln_list *tensors_out; /* of ln_tensor_list_entry */
    ln_list *params;      /* of ln_param_entry */
    const char *place;    /* "file:line:column" for messages; NULL if unknown */
    ln_list **own_params; /* NULL, or in place of `params` a list that the operator takes, since it
                           * may be long: *own_params is NULL after that */
} ln_op_source;

/* Turns an operator of a file into operators of `ctx`, with `ln_serializer_add_op` for each.
 * Registered from outside for operator types that the library does not know, or to replace how
 * it reads one. */
typedef ln_status (*ln_op_loader)(ln_serializer *serializer, ln_context *ctx,
                                  const ln_op_source *source, void *user);

struct ln_serializer {
    const char *name;              /* "ir" */
    const char *doc;               /* one sentence */
    const char *const *extensions; /* with their dots, NULL-terminated; the first is written */

    /* Called at registration and at its end; optional. */
    ln_status (*init)(ln_serializer *serializer);
    void (*release)(ln_serializer *serializer);

    /* How sure the serializer is that these are the first bytes of its format: 0 no, 100 yes.
     * Below 95, a file that looks like one of another system is refused with what it is, before
     * the serializer reads it. `path` may be NULL. */
    int (*probe)(const ln_serializer *serializer, const char *path, const char *bytes,
                 size_t byte_count);

    /* Appends the operators of a file, or of bytes in memory, to `ctx->ops`; `name` stands in
     * messages. Optional where the format has no reader. On failure the caller cleans up. */
    ln_status (*load_file)(ln_serializer *serializer, ln_context *ctx, const char *path);
    ln_status (*load_mem)(ln_serializer *serializer, ln_context *ctx, const char *bytes,
                          size_t byte_count, const char *name);

    /* 1: `load_file` maps the file, so that `source_byte_count` is no limit for it. */
    int maps_files;

    /* Makes the file's bytes, which the caller frees with `ln_free`; optional. */
    ln_status (*write)(ln_serializer *serializer, const ln_context *ctx, char **out_bytes,
                       size_t *out_byte_count);

    /* Writes into a file, without all of it in memory at once; optional. Flags: LN_WRITE_... of
     * context.h. A failure leaves an old file as it was. */
    ln_status (*write_file)(ln_serializer *serializer, const ln_context *ctx, const char *path,
                            unsigned flags);

    /* Tells what a file holds (`bytes` NULL), or what is in memory (`path` NULL), with every reason
     * why it cannot be read, in `report`; optional. A status for bytes that are malformed. */
    ln_status (*preflight)(ln_serializer *serializer, const char *path, const char *bytes,
                           size_t byte_count, const char *name, ln_preflight *report);

    /* Reads one value out of the format's file for values; optional. */
    ln_status (*read_value)(const void *bytes, size_t byte_count, const char *name,
                            ln_object_kind kind, ln_object **out_object);

    void *priv;

    /* Operator loaders, kept by the two functions below. */
    struct ln_op_loader_table *loaders;

    /* 1: of a compiled model, `write` writes the memory plan, and the reader adopts it. */
    int writes_plan;

    /* Rules `into onnx`: what is written is a copy of the model, rewritten by them. NULL: none. */
    const struct ln_rule_set *rules;

    /* Reads a file (`bytes` NULL), or what is in memory (`path` NULL), as `load_file` and
     * `load_mem` do, in the way that the caller chooses; optional. */
    ln_status (*load_with)(ln_serializer *serializer, ln_context *ctx, const char *path,
                           const char *bytes, size_t byte_count, const char *name,
                           const ln_read_options *options);
};

/* Adds a serializer; the struct is borrowed and must outlive its registration. A second one of
 * that name is refused with LN_EXISTS. Thread-safe, as are all functions here. */
LN_API ln_status ln_serializer_register(ln_serializer *serializer);

/* The same for a structure of `byte_count` bytes, as `ln_arch_register_sized`: what is registered,
 * and what its functions are given, is a copy if the program's is shorter than the library's. */
LN_API ln_status ln_serializer_register_sized(ln_serializer *serializer, size_t byte_count);
#define ln_serializer_register(serializer)                                                         \
    ln_serializer_register_sized(serializer, sizeof(ln_serializer))

/* Fails: LN_STATE while a model is read or written, in any thread; LN_NOT_FOUND. */
LN_API ln_status ln_serializer_unregister(const char *name);
LN_API ln_serializer *ln_serializer_find(const char *name);
LN_API ln_serializer *ln_serializer_find_at(size_t index);
LN_API size_t ln_serializer_count(void);
LN_API void ln_serializer_release(void);

/* The one that is surest of the bytes (ties: registered first); NULL if none knows them. */
LN_API ln_serializer *ln_serializer_probe(const char *path, const char *bytes, size_t byte_count);

/* The one that writes files of this name, by extension; NULL if none does. */
LN_API ln_serializer *ln_serializer_for_path(const char *path);

/* Registers `loader` for an operator type and version (0: any). A second one is refused. Taking it
 * back fails with LN_STATE while a model is read or written. */
LN_API ln_status ln_serializer_register_op_loader(ln_serializer *serializer, const char *optype,
                                                  int version, ln_op_loader loader, void *user);
LN_API ln_status ln_serializer_unregister_op_loader(ln_serializer *serializer, const char *optype,
                                                    int version);

/* Appends one operator to `ctx->ops`: through a registered loader for its type, else by its
 * prototype. The lists are copied, but for `own_params`. Fails if the type is unknown, naming the
 * place and the type nearest in spelling. */
LN_API ln_status ln_serializer_add_op(ln_serializer *serializer, ln_context *ctx,
                                      const ln_op_source *source);

/* The same for a structure of `byte_count` bytes; fields beyond it are 0. */
LN_API ln_status ln_serializer_add_op_sized(ln_serializer *serializer, ln_context *ctx,
                                            const ln_op_source *source, size_t byte_count);
#define ln_serializer_add_op(serializer, ctx, source)                                              \
    ln_serializer_add_op_sized(serializer, ctx, source, sizeof(ln_op_source))

LN_CPPEND

#endif
