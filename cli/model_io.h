// SPDX-License-Identifier: Apache-2.0
// The inputs and outputs of a model as values.

#ifndef LN_CLI_MODEL_IO_H
#define LN_CLI_MODEL_IO_H

#include <lightnet/context.h>
#include <lightnet/object.h>

#include "input_file.h"
#include "options.h"

// What input `index` of the model takes; it has one of that number.
input_wish model_input_wish(const ln_context *ctx, size_t index);

// Lets the data at `path` have any size in a dimension that has a range, or a size by default only.
// A number for all elements has the largest size, or that one.
void input_wish_open(const ln_context *ctx, const char *path, input_wish *wish);

// The input of that name; NULL if there is none. *out_index is its position.
const ln_tensor_entry *model_find_input(const ln_context *ctx, const char *name, size_t *out_index);

// -s: "NAME=1x3x224x224" gives an input its shape, "SYMBOL=4" a symbolic dimension its size. A
// model that is compiled takes whole shapes, and no range.
ln_status model_set_shapes(ln_context *ctx, const option_texts *texts);

// The same with the upper ends of ranges alone, for one that is compiled many times: the plan for a
// range is made from plans for its shapes.
ln_status model_set_upper_shapes(ln_context *ctx, const option_texts *texts);

// ---- Values from the command line ----

typedef struct given_input {
    char *name;
    ln_object *value;
} given_input;

typedef struct given_inputs {
    given_input *items;
    size_t count;
    const char *sized_by; // a picture or sound that gave a dynamic input its size; NULL: none
    int has_pixels;       // one was a picture that was decoded
    int has_sound;
} given_inputs;

// Reads the files of -i. A file of named arrays without the name of an input, or a folder that
// `run -o` wrote, gives all inputs that it has. *out is to be freed also after a failure. Fails:
// LN_INVALID also if an option of pictures or of sound is given, and no file is one.
ln_status given_inputs_read(const ln_context *ctx, const char *const *texts, size_t count,
                            const input_options *options, given_inputs *out);
void given_inputs_free(given_inputs *given);

// The value given for an input; NULL if there is none.
ln_object *given_inputs_find(const given_inputs *given, const char *name);

// Adds a value, which is retained.
ln_status given_inputs_add(given_inputs *given, const char *name, ln_object *value);

// Makes inputs of the constants that are given by name and that the model lists as inputs with a
// default value. Before the inputs are read.
ln_status given_inputs_override(ln_context *ctx, const char *const *texts, size_t count);

// The same for values that are there already.
ln_status given_inputs_override_values(ln_context *ctx, const given_inputs *given);

// Gives inputs of open shape that of their values, so that all is planned for it. Before compiling.
ln_status given_inputs_bind_shapes(ln_context *ctx, const given_inputs *given);

// The same for dynamic inputs that are not given and will be zeros: where inputs that are given, or
// have a shape, have the symbols of all their dimensions.
ln_status given_inputs_bind_zeros(ln_context *ctx, const given_inputs *given);

// Whether the model, an old one, states a value for the input: random numbers, or its data.
int model_states_input(const ln_context *ctx, const ln_tensor_entry *entry);

// LN_NOT_FOUND, with all of them and how to give them, if inputs have no value and no shape to be
// zeros of. `takes_zeros`: those of known shape need none.
ln_status given_inputs_check(const ln_context *ctx, const given_inputs *given, int takes_zeros);

// LN_NOT_FOUND, with the first of them, if the model takes weights from a data file. The message
// ends with `remedy`.
ln_status model_check_weights(const ln_context *ctx, const char *remedy);

// Sets the inputs of a LOADED model; those that rewriting has left out are passed over.
ln_status given_inputs_set(ln_context *ctx, const given_inputs *given);

// ---- Values of a LOADED model ----

// The value of an output, retained. It may change with the next run.
ln_status model_get_output(ln_context *ctx, const ln_tensor_entry *entry, ln_object **out_object);

#endif
