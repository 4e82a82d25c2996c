// SPDX-License-Identifier: Apache-2.0
// The first circle of headers is enough to run a model, and does not bring the others.

#include <lightnet/use.h>

#if defined(LIGHTNET_ARCH_H) || defined(LIGHTNET_CALL_H) || defined(LIGHTNET_SERIALIZER_H) ||      \
    defined(LIGHTNET_QUEUE_H) || defined(LIGHTNET_EXTEND_H) || defined(LIGHTNET_CLASSIC_H)
#error "lightnet/use.h includes headers of another circle"
#endif

#include "tests/test.h"

TEST(the_first_circle_runs_a_model)
{
    static const char text[] = "input(| dst=x | dtype=TL_FLOAT, dims=[2]); relu(src=x | dst=y |);";
    CHECK_OK(ln_arch_init());
    ln_context *ctx = ln_context_create();
    CHECK_NOT_NULL(ctx);
    CHECK_OK(ln_context_init_mem(ctx, text, sizeof text - 1, "model.net"));
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    CHECK(ln_context_peak_bytes(ctx, LN_MEM_CPU) > 0);
    CHECK_OK(ln_context_load(ctx, NULL));
    const char *in = ln_context_input_name(ctx, 0), *out = ln_context_output_name(ctx, 0);
    const float x[2] = {-1, 2};
    float y[2];
    CHECK_OK(ln_context_set_data_n(ctx, in, x, sizeof x));
    CHECK_OK(ln_context_run(ctx));
    CHECK_OK(ln_context_get_data_n(ctx, out, y, sizeof y));
    CHECK_NEAR(y[0] + y[1], 2, 0);
    ln_context_free(ctx);
    ln_arch_cleanup();
}

TEST_LIST(the_first_circle_runs_a_model)
