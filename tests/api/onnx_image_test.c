// SPDX-License-Identifier: Apache-2.0
// ImageDecoder in a program that brings no decoder, and in one that does.

#include <lightnet/call.h>
#include <lightnet/op_info.h>
#include <lightnet/op_support.h>

#include "tests/api/values.h"

#define FILE_OF_3 "input(| dst=x | dtype=TL_UINT8, dims=[3]);\n"

static void check_does_not_compile(const char *text, const char *const *fragments)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = open_text(text);
    CHECK_FAILS(ln_context_compile(ctx, "cpu"), LN_UNSUPPORTED);
    for (; *fragments; fragments++)
        if (!strstr(ln_error_message(), *fragments))
            fail_msg("no '%s' in '%s'", *fragments, ln_error_message());
    ln_context_free(ctx);
    ln_arch_cleanup();
}

TEST(without_a_decoder_compiling_names_the_operator_to_register)
{
    check_does_not_compile(FILE_OF_3 "ImageDecoder(encoded_stream=x | image=y |);\n"
                                     "ImageDecoder(encoded_stream=x | image=z |);\n",
                           (const char *const[]){"takes 2 operators", "'ImageDecoder0' (Image",
                                                 "registers an operator 'ImageDecoder_ref'", NULL});
}

TEST(what_a_decoder_never_takes_is_refused_early)
{
    check_fails(FILE_OF_3 "ImageDecoder(encoded_stream=x | image=y | pixel_format=\"rgb\");\n",
                LN_INVALID, "pixel_format is 'rgb' instead of");
    check_fails("input(| dst=x | dtype=TL_UINT8, dims=[1, 3]);\n"
                "ImageDecoder(encoded_stream=x | image=y |);\n",
                LN_INVALID, "2 dimensions");
    check_fails("input(| dst=x | dtype=TL_INT8, dims=[3]);\n"
                "ImageDecoder(encoded_stream=x | image=y |);\n",
                LN_INVALID, "encoded_stream");
}

// ---- A decoder of pictures of one row: the bytes of the file ----

static ln_status infer_row(ln_call *call)
{
    return ln_call_out_open(call);
}

static ln_status compute_row(ln_call *call)
{
    const tl_tensor *file = ln_call_in(call, 0);
    const int dims[] = {1, file->len, 1};
    ln_object *image = ln_object_new_tensor(TL_UINT8, 3, dims, ln_call_meter(call));
    if (!image)
        return ln_call_fail(call, ln_error_status(), "%s", ln_error_message());
    memcpy(ln_object_tensor(image)->data, file->data, (size_t)file->len);
    ln_status status = ln_call_set_object(call, 0, image);
    ln_object_release(image);
    return status;
}

TEST(a_program_registers_its_decoder)
{
    CHECK_OK(ln_arch_init());
    const ln_op *described = ln_op_find("ImageDecoder");
    CHECK_NOT_NULL(described);
    ln_op_info info = *described->op_arg->info;
    info.infer = infer_row;
    info.compute = compute_row;
    ln_op_arg arg = *described->op_arg;
    arg.optype = "ImageDecoder_ref";
    arg.arch = "ref";
    arg.info = &info;
    ln_op row = *described;
    row.op_arg = &arg;
    row.run = ln_call_run;
    CHECK_OK(ln_op_register(&row));

    ln_context *ctx = load_text(FILE_OF_3 "ImageDecoder(encoded_stream=x | image=y |);\n", "cpu");
    CHECK_OK(ln_context_set_data(ctx, "x", "abc"));
    CHECK_OK(ln_context_run(ctx));
    check_numbers(ctx, "y", TL_UINT8, 3, DIMS(1, 3, 1), NUMBERS('a', 'b', 'c'));
    close_context(ctx);
    ln_arch_cleanup();
}

TEST_LIST(without_a_decoder_compiling_names_the_operator_to_register,
          what_a_decoder_never_takes_is_refused_early, a_program_registers_its_decoder)
