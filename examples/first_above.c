/* A program with an operator of its own, which first_above.op describes.
 *     lightnet gen-op -o first_above_op.c first_above.op
 *     cc -o first_above first_above.c first_above_op.c $(pkg-config --cflags --libs lightnet)
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <lightnet/lightnet.h>

extern ln_op ln_opimpl_first_above, ln_opimpl_first_above_ref; /* in first_above_op.c */

/* ---- The operator ---- */

ln_status infer_first_above(ln_call *call);
ln_status compute_first_above(ln_call *call);

/* The types were checked against the description; shapes come from a model, and were not. */
ln_status infer_first_above(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    if (src->ndim == 0)
        return ln_call_fail(call, LN_INVALID, "src has no dimension");
    return ln_call_out(call, 0, TL_INT64, src->ndim - 1, src->dims);
}

ln_status compute_first_above(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0), *dst = ln_call_dst(call, 0);
    const float *row = src->data;
    int64_t *result = dst->data;
    double limit = ln_call_float(call, "limit");
    int columns = src->dims[src->ndim - 1];
    for (int i = 0; i < dst->len; i++, row += columns) {
        result[i] = -1;
        for (int c = columns - 1; c >= 0; c--)
            result[i] = (double)row[c] > limit ? c : result[i];
    }
    return LN_OK;
}

/* ---- The program ---- */

static const char model[] = "input(| dst=x | dtype=TL_FLOAT, dims=[2, 3]);\n"
                            "first_above(src=x | dst=y | limit=0.5);\n";

static ln_status find(ln_context *ctx, int64_t *places)
{
    static const float rows[6] = {0.25f, 0.75f, 1, 0, 0, 0};
    LN_TRY(ln_context_init_mem(ctx, model, strlen(model), "model.net"));
    LN_TRY(ln_context_compile(ctx, "cpu"));
    LN_TRY(ln_context_load(ctx, NULL));
    LN_TRY(ln_context_set_data_n(ctx, "x", rows, sizeof rows));
    LN_TRY(ln_context_run(ctx));
    return ln_context_get_data_n(ctx, "y", places, 2 * sizeof *places);
}

int main(void)
{
    int64_t places[2];
    ln_context *ctx = NULL;
    ln_status status = ln_arch_init();
    if (status == LN_OK)
        status = ln_op_register(&ln_opimpl_first_above);
    if (status == LN_OK)
        status = ln_op_register(&ln_opimpl_first_above_ref);
    if (status == LN_OK)
        status = (ctx = ln_context_create()) ? find(ctx, places) : LN_NO_MEMORY;
    if (status == LN_OK)
        printf("%" PRId64 " %" PRId64 "\n", places[0], places[1]);
    else
        fprintf(stderr, "%s\n", ln_error_message());
    ln_context_free(ctx);
    ln_arch_cleanup();
    return status != LN_OK;
}
