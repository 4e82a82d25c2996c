// SPDX-License-Identifier: Apache-2.0
// Making what a context is the face of, when it is first asked for.

#include "program/face.h"

#include <lightnet/allocator.h>

// ---- Shapes ----

ln_status ln_face_list_shapes(const ln_context *ctx, size_t count, const ln_input_shape *shapes,
                              size_t *out_count, ln_input_shape **out_all)
{
    ln_input_shape *all = *out_all = ln_alloc_array(ln_context_input_count(ctx) + 1, sizeof *all);
    *out_count = 0;
    if (!all)
        return LN_NO_MEMORY;
    const ln_tensor_entry *entry;
    for (size_t i = 0; (entry = ln_context_input(ctx, i)); i++) {
        ln_input_shape *shape = &all[(*out_count)++];
        *shape = (ln_input_shape){.tname = entry->name,
                                  .ndim = entry->is_open ? -1 : entry->tensor->ndim,
                                  .dims = entry->tensor->dims};
        for (size_t k = 0; k < count; k++)
            if (ln_streq(shapes[k].tname, entry->name))
                *shape = shapes[k];
    }
    return LN_OK;
}

// ---- Life ----

void ln_face_end_session(ln_face *face)
{
    ln_session_free(face->session);
    ln_program_release(face->program);
    face->session = NULL;
    face->program = NULL;
}

static void destroy(struct ln_follower *base)
{
    ln_face *face = (ln_face *)base;
    if (!face)
        return;
    ln_face_end_session(face);
    ln_instances_destroy(face->instances);
    ln_free(face);
}

static ln_status create(ln_context *ctx, ln_face **out_face)
{
    size_t count;
    ln_input_shape *shapes;
    ln_face *face = *out_face = ln_alloc(sizeof *face);
    if (!face)
        return LN_NO_MEMORY;
    face->base.destroy = destroy;
    ln_status status = ln_face_list_shapes(ctx, 0, NULL, &count, &shapes);
    if (status == LN_OK)
        status = ln_instances_create_changing(ctx, count, shapes, &face->instances);
    ln_free(shapes);
    if (status == LN_OK)
        return LN_OK;
    destroy(&face->base);
    *out_face = NULL;
    return status;
}

ln_status ln_face_need(ln_context *ctx, ln_face **out_face)
{
    *out_face = (ln_face *)ctx->plans->follower;
    if (*out_face)
        return LN_OK;
    LN_TRY(create(ctx, out_face));
    ctx->plans->follower = &(*out_face)->base;
    return LN_OK;
}

static ln_status fill_session(ln_context *ctx, ln_face *face)
{
    LN_TRY(ln_program_create_face(ctx, face->instances, &face->program));
    LN_TRY(ln_session_create(face->program, &face->session));
    face->session->face = ctx;
    return LN_OK;
}

ln_status ln_face_need_session(ln_context *ctx, ln_face *face)
{
    if (face->session)
        return LN_OK;
    ln_status status = fill_session(ctx, face);
    if (status != LN_OK)
        ln_face_end_session(face);
    return status;
}
