// SPDX-License-Identifier: Apache-2.0
// Pictures and sound as tensors.

#ifndef LN_CLI_INPUTS_MEDIA_H
#define LN_CLI_INPUTS_MEDIA_H

#include <stddef.h>

#include "input_file.h"

// Whether the input takes the bytes of a picture's file, as those of models that decode.
int picture_stays_encoded(const input_wish *wish);

// The picture in `bytes` as the input takes it.
ln_status picture_read(const char *path, const char *bytes, size_t count, const input_wish *wish,
                       const input_options *options, ln_object **out_object);

// The sound in `bytes`: the mean of its channels, -1 to 1, or for integers 16 bits. The input has
// one dimension beside those of 1.
ln_status sound_read(const char *path, const char *bytes, size_t count, const input_wish *wish,
                     const input_options *options, ln_object **out_object);

#endif
