// SPDX-License-Identifier: Apache-2.0
// A file of the user as the value of an input: arrays, pictures, sound, raw bytes.

#ifndef LN_CLI_INPUTS_INPUT_FILE_H
#define LN_CLI_INPUTS_INPUT_FILE_H

#include <lightnet/object.h>
#include <lightnet/tensor.h>

#include "input_options.h"

// What an input takes.
typedef struct input_wish {
    const char *name;
    tl_dtype dtype;      // TL_OBJECT: a sequence or an optional
    int ndim;            // -1: any
    int dims[TL_MAXDIM]; // -1: any
    ln_object_kind kind; // of a TL_OBJECT; 0: unknown
    tl_dtype elem_dtype; // of what a TL_OBJECT holds; TL_DTYPE_INVALID: unknown
} input_wish;

// A tensor of `like`, in its type and shape.
input_wish input_wish_like(const char *name, const tl_tensor *like);

// 1 if all dimensions are known.
int input_wish_is_static(const input_wish *wish);

// "[1, 3, ?, ?]" in `text`, which has `byte_count` bytes. Returns `text`.
const char *input_wish_shape_text(const input_wish *wish, char *text, size_t byte_count);

// The value that `path` holds for the input, in its type and shape. By content: .npy; .npz,
// safetensors and params dictionary (the tensor of the input's name, or the only one); pictures
// (picture.h); WAV. By the ending of the name: .pb, ONNX's form of one value. Anything else is raw
// bytes of the right size, or one string a line. Numbers of another type are converted, which is
// said: what the type does not hold is refused; unsigned integers are the bits of
// types that NumPy lacks. `options` NULL: the defaults.
ln_status input_read(const char *path, const input_wish *wish, const input_options *options,
                     ln_object **out_object);

// Whether the file begins as a picture does. What cannot be opened does not.
int input_is_picture(const char *path);
int input_is_sound(const char *path);

// Whether the file becomes pixels or samples for the input, not bytes: those of an input of as many
// bytes are the file's own, and pictures stay encoded where bytes in one dimension are taken.
int input_is_pixels(const char *path, const input_wish *wish);
int input_is_samples(const char *path, const input_wish *wish);

// `object` as the input takes it, which is retained then: itself, or converted and reshaped.
ln_status input_fit(const char *path, const input_wish *wish, ln_object *object,
                    ln_object **out_object);

// LN_INVALID for a finite number that the input's floating type does not hold, of `count` elements
// of type `dtype`: 70000 for a float16, which would become 65504.
ln_status input_check_floats(const char *what, const input_wish *wish, tl_dtype dtype,
                             const void *elems, size_t count);

// Whether elements of type `from` can stand for the bits of type `to`, which NumPy lacks.
int input_are_patterns(tl_dtype from, tl_dtype to);

#endif
