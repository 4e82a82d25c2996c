// SPDX-License-Identifier: Apache-2.0
// Nodes that several operators of LightNet become.

#include "serial/onnx/own.h"

#include <string.h>

#include <lightnet/call.h>
#include <lightnet/tensor_entry.h>

void ln_own_node1(ln_onnx_writer *w, const char *type, const char *in, const char *out)
{
    ln_onnx_begin(w, type);
    ln_onnx_in(w, in);
    ln_onnx_out_name(w, out);
    ln_onnx_end(w);
}

void ln_own_node2(ln_onnx_writer *w, const char *type, const char *in1, const char *in2,
                  const char *out)
{
    ln_onnx_begin(w, type);
    ln_onnx_in(w, in1);
    ln_onnx_in(w, in2);
    ln_onnx_out_name(w, out);
    ln_onnx_end(w);
}

void ln_own_cast(ln_onnx_writer *w, const char *in, tl_dtype to, const char *out)
{
    ln_onnx_begin(w, "Cast");
    ln_onnx_in(w, in);
    ln_onnx_out_name(w, out);
    ln_onnx_attr_int(w, "to", ln_onnx_dtype_to_number(to));
    ln_onnx_end(w);
}

void ln_own_new1(ln_onnx_writer *w, const char *type, const char *in, char *out)
{
    ln_onnx_new_name(w, out);
    ln_own_node1(w, type, in, out);
}

void ln_own_new2(ln_onnx_writer *w, const char *type, const char *in1, const char *in2, char *out)
{
    ln_onnx_new_name(w, out);
    ln_own_node2(w, type, in1, in2, out);
}

ln_status ln_own_new_slice(ln_onnx_writer *w, const char *in, int axis, int start, int end,
                           char *out)
{
    ln_onnx_new_name(w, out);
    return ln_own_slice(w, in, axis, start, end, out);
}

static int has_zero(const tl_tensor *t)
{
    for (int i = 0; i < t->ndim; i++) {
        if (t->dims[i] == 0)
            return 1;
    }
    return 0;
}

// A 0 stands for the input's dimension unless the node says otherwise, which it can since opset 14.
ln_status ln_own_reshape(ln_onnx_writer *w, const char *in, const char *out)
{
    const tl_tensor *t = ln_own_tensor(w, out);
    char shape[LN_MAX_NAME_LEN];
    LN_TRY(ln_onnx_add_ints(w, t->ndim, t->dims, shape));
    ln_onnx_begin(w, "Reshape");
    ln_onnx_in(w, in);
    ln_onnx_in(w, shape);
    ln_onnx_out_name(w, out);
    if (has_zero(t) && w->opsets[LN_DOMAIN_ONNX] < 14)
        return ln_onnx_write_fail(w, LN_UNSUPPORTED,
                                  "a dimension of 0 needs opset 14, the model has an older one");
    if (has_zero(t))
        ln_onnx_attr_int(w, "allowzero", 1);
    ln_onnx_end(w);
    return LN_OK;
}

ln_status ln_own_slice(ln_onnx_writer *w, const char *in, int axis, int start, int end,
                       const char *out)
{
    const int values[3] = {start, end, axis};
    char names[3][LN_MAX_NAME_LEN];
    for (int i = 0; i < 3; i++)
        LN_TRY(ln_onnx_add_ints(w, 1, &values[i], names[i]));
    ln_onnx_begin(w, "Slice");
    ln_onnx_in(w, in);
    for (int i = 0; i < 3; i++)
        ln_onnx_in(w, names[i]);
    ln_onnx_out_name(w, out);
    ln_onnx_end(w);
    return LN_OK;
}
