// SPDX-License-Identifier: Apache-2.0
// Sound: .wav files as samples.

#ifndef LN_CLI_INPUTS_WAV_H
#define LN_CLI_INPUTS_WAV_H

#include <stddef.h>

#include <lightnet/status.h>

typedef struct wav_sound {
    unsigned rate; // samples a second
    unsigned channel_count;
    size_t sample_count;
    float *samples; // the mean of the channels, -1 to 1; given back with free
} wav_sound;

// 1 if the bytes begin as a .wav file does.
int wav_is(const char *bytes, size_t count);

// Reads integer samples of 8, 16, 24 or 32 bits and floating ones of 32 or 64. `path` stands in
// messages.
ln_status wav_parse(const char *path, const char *bytes, size_t count, wav_sound *out_sound);

#endif
