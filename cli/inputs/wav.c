// SPDX-License-Identifier: Apache-2.0
// .wav: a list of chunks, among them "fmt " and then "data". Each has a size and is filled up to an
// even one.

#include "wav.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cursor.h"

enum {
    FORMAT_INTEGER = 1,
    FORMAT_FLOAT = 3,
    FORMAT_EXTENSIBLE = 0xfffe,
    MAX_CHANNELS = 64,
};

#define UNKNOWN_SIZE UINT32_MAX // of who writes to a pipe: the data go on to the end

typedef struct wav_format {
    unsigned code;
    unsigned channel_count;
    unsigned rate;
    unsigned frame_size; // bytes of all channels at one time
    unsigned bits;
    int is_known;
} wav_format;

int wav_is(const char *bytes, size_t count)
{
    return count >= 12 && memcmp(bytes, "RIFF", 4) == 0 && memcmp(bytes + 8, "WAVE", 4) == 0;
}

static ln_status parse_format(const char *path, const unsigned char *at, size_t size, wav_format *f)
{
    if (size < 16)
        return LN_FAIL(LN_SYNTAX, "%s: the format of the sound is cut off", path);
    *f = (wav_format){.code = little16(at),
                      .channel_count = little16(at + 2),
                      .rate = little32(at + 4),
                      .frame_size = little16(at + 12),
                      .bits = little16(at + 14),
                      .is_known = 1};
    if (f->code == FORMAT_EXTENSIBLE && size >= 26)
        f->code = little16(at + 24);
    int is_supported = f->code == FORMAT_INTEGER
                           ? f->bits == 8 || f->bits == 16 || f->bits == 24 || f->bits == 32
                           : f->code == FORMAT_FLOAT && (f->bits == 32 || f->bits == 64);
    if (!is_supported)
        return LN_FAIL(LN_UNSUPPORTED,
                       "%s: sound of format %u with %u bits is not supported; save it as PCM with "
                       "8, 16, 24 or 32 bits, or as float",
                       path, f->code, f->bits);
    if (f->channel_count < 1 || f->channel_count > MAX_CHANNELS ||
        f->frame_size != f->channel_count * (f->bits / 8))
        return LN_FAIL(LN_SYNTAX, "%s: %u channels of %u bits do not make %u bytes", path,
                       f->channel_count, f->bits, f->frame_size);
    return LN_OK;
}

// An integer of `bits`, with the sign of its highest bit, as -1 to 1; 8 bits have no sign.
static double integer_sample(const unsigned char *at, unsigned bits)
{
    switch (bits) {
    case 8: return ((int)at[0] - 128) / 128.0;
    case 16: return (int16_t)little16(at) / 32768.0;
    case 24: return (int32_t)(little16(at) << 8 | (uint32_t)at[2] << 24) / 2147483648.0;
    default: return (int32_t)little32(at) / 2147483648.0;
    }
}

static double float_sample(const unsigned char *at, unsigned bits)
{
    if (bits == 32) {
        uint32_t pattern = little32(at);
        float value;
        memcpy(&value, &pattern, sizeof value);
        return value;
    }
    uint64_t pattern = little64(at);
    double value;
    memcpy(&value, &pattern, sizeof value);
    return value;
}

static ln_status mix(const char *path, const wav_format *f, const unsigned char *data, size_t size,
                     wav_sound *sound)
{
    sound->rate = f->rate;
    sound->channel_count = f->channel_count;
    sound->sample_count = size / f->frame_size;
    sound->samples = malloc(sound->sample_count * sizeof *sound->samples + 1);
    if (!sound->samples)
        return LN_FAIL(LN_NO_MEMORY, "out of memory reading %s", path);
    for (size_t i = 0; i < sound->sample_count; i++) {
        double sum = 0;
        for (unsigned c = 0; c < f->channel_count; c++, data += f->bits / 8)
            sum += f->code == FORMAT_FLOAT ? float_sample(data, f->bits)
                                           : integer_sample(data, f->bits);
        sound->samples[i] = (float)(sum / f->channel_count);
    }
    return LN_OK;
}

ln_status wav_parse(const char *path, const char *bytes, size_t count, wav_sound *out_sound)
{
    *out_sound = (wav_sound){0};
    const unsigned char *file = (const unsigned char *)bytes;
    wav_format format = {0};
    size_t at = 12;
    while (is_within(at, 8, count)) {
        const unsigned char *chunk = file + at;
        size_t size = little32(chunk + 4), left = count - at - 8;
        int is_data = memcmp(chunk, "data", 4) == 0;
        if (is_data && size == UNKNOWN_SIZE)
            size = left;
        if (size > left)
            return LN_FAIL(LN_SYNTAX, "%s is cut off: %zu bytes of data where %zu are left", path,
                           size, left);
        if (memcmp(chunk, "fmt ", 4) == 0)
            LN_TRY(parse_format(path, chunk + 8, size, &format));
        if (is_data && format.is_known)
            return mix(path, &format, chunk + 8, size, out_sound);
        at += 8 + size + (size & 1);
    }
    return LN_FAIL(LN_SYNTAX, "%s holds no sound after a format", path);
}
