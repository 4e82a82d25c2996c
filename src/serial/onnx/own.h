// SPDX-License-Identifier: Apache-2.0
// What operators of LightNet are written in ONNX with: their parameters, and nodes in one line.

#ifndef LN_SERIAL_ONNX_OWN_H
#define LN_SERIAL_ONNX_OWN_H

#include "serial/onnx/writer.h"

// Parameters of w->op, the default where they are not given.
const ln_param_entry *ln_own_param(const ln_onnx_writer *w, const char *name);
int ln_own_int(const ln_onnx_writer *w, const char *name);
double ln_own_number(const ln_onnx_writer *w, const char *name);
const char *ln_own_string(const ln_onnx_writer *w, const char *name); // "": none
const int *ln_own_ints(const ln_onnx_writer *w, const char *name, int *out_count);

// Names of its tensors; NULL: it has none.
const char *ln_own_in(const ln_onnx_writer *w, const char *arg_name);
const char *ln_own_out(const ln_onnx_writer *w, const char *arg_name);
const tl_tensor *ln_own_tensor(const ln_onnx_writer *w, const char *name);

// ---- Whole nodes ----

void ln_own_node1(ln_onnx_writer *w, const char *type, const char *in, const char *out);
void ln_own_node2(ln_onnx_writer *w, const char *type, const char *in1, const char *in2,
                  const char *out);
void ln_own_cast(ln_onnx_writer *w, const char *in, tl_dtype to, const char *out);

// The same to a new tensor, whose name is written to `out`, of LN_MAX_NAME_LEN bytes.
void ln_own_new1(ln_onnx_writer *w, const char *type, const char *in, char *out);
void ln_own_new2(ln_onnx_writer *w, const char *type, const char *in1, const char *in2, char *out);
ln_status ln_own_new_slice(ln_onnx_writer *w, const char *in, int axis, int start, int end,
                           char *out);

// To the shape of `out`, a tensor of the model.
ln_status ln_own_reshape(ln_onnx_writer *w, const char *in, const char *out);

// The elements [start, end) on one axis.
ln_status ln_own_slice(ln_onnx_writer *w, const char *in, int axis, int start, int end,
                       const char *out);

// ---- own_detect.c ----

ln_status ln_own_write_boxes(ln_onnx_writer *w); // transform_bboxSQD
ln_status ln_own_write_yolo(ln_onnx_writer *w);  // detect_yolov3

#endif
