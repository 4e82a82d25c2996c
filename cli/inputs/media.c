// SPDX-License-Identifier: Apache-2.0
// Pictures and sound in the type and shape of an input.

#include "media.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <lightnet/lightnet.h>

#include "cli.h"
#include "npy_types.h"
#include "picture.h"
#include "wav.h"

// `values` as a tensor of the type.
static ln_status make_tensor(const char *path, const double *values, tl_dtype dtype, int ndim,
                             const int *dims, ln_object **out_object)
{
    ln_object *object = ln_object_new_tensor(dtype, ndim, dims, NULL);
    if (!object)
        return ln_error_status();
    tl_tensor *tensor = ln_object_tensor(object);
    ln_status status = tl_convert_n(tensor->data, dtype, values, TL_DOUBLE, (size_t)tensor->len);
    if (status != LN_OK) {
        ln_object_release(object);
        return ln_fail_prefix("%s", path);
    }
    *out_object = object;
    return LN_OK;
}

// What is no number cannot be computed from pixels or samples.
static ln_status check_is_number(const char *path, const char *what, const input_wish *wish)
{
    if (wish->dtype != TL_STRING && wish->dtype != TL_OBJECT)
        return LN_OK;
    return LN_FAIL(LN_INVALID, "%s is %s, input '%s' takes %s", path, what, wish->name,
                   wish->dtype == TL_OBJECT ? "a sequence or an optional" : "strings");
}

// ---- Pictures ----

// The place of each dimension of a picture in an input's shape, and what is wanted there.
typedef struct picture_shape {
    int ndim;
    int batch_at; // -1: there is none, here and below
    int channel_at;
    int height_at;
    int width_at;
    int channel_count; // 1 or 3; -1: any
    int height;        // -1: any
    int width;
} picture_shape;

static int is_channel_count(int dim)
{
    return dim == 1 || dim == 3;
}

static int is_channels_last(const input_wish *wish, const input_options *options, int first)
{
    if (options->layout != LAYOUT_AUTO)
        return options->layout == LAYOUT_NHWC;
    return !is_channel_count(wish->dims[first]) && is_channel_count(wish->dims[wish->ndim - 1]);
}

static ln_status find_shape(const char *path, const input_wish *wish, const input_options *options,
                            picture_shape *s)
{
    *s = (picture_shape){.ndim = wish->ndim, .batch_at = -1, .channel_at = -1, .channel_count = 1};
    int any[4] = {-1, -1, -1, -1};
    const int *dims = wish->ndim < 0 ? any : wish->dims;
    if (wish->ndim < 0)
        s->ndim = 4;
    if (s->ndim < 2 || s->ndim > 4)
        return LN_FAIL(LN_INVALID, "%s is a picture, input '%s' has %d dimensions", path,
                       wish->name, s->ndim);
    int first = s->ndim == 4;
    s->batch_at = first ? 0 : -1;
    s->height_at = first;
    if (s->ndim > 2) {
        int is_last = wish->ndim < 0 ? options->layout == LAYOUT_NHWC
                                     : is_channels_last(wish, options, first);
        s->channel_at = is_last ? s->ndim - 1 : first;
        s->height_at = is_last ? first : first + 1;
        s->channel_count = dims[s->channel_at];
    }
    s->width_at = s->height_at + 1;
    s->height = dims[s->height_at];
    s->width = dims[s->width_at];
    if (s->channel_count >= 0 && !is_channel_count(s->channel_count))
        return ln_fail(
            LN_INVALID,
            "%s is a picture, input '%s' takes %d channels; --layout says where they are", path,
            wish->name, s->channel_count);
    if (first && dims[0] != 1 && dims[0] >= 0)
        return LN_FAIL(LN_INVALID, "%s is one picture, input '%s' takes %d; give a .npy of all",
                       path, wish->name, dims[0]);
    return LN_OK;
}

// The size and channels that the input takes.
static ln_status adapt(const char *path, const input_wish *wish, const input_options *options,
                       picture_shape *s, picture *p)
{
    int width = options->width ? options->width : s->width >= 0 ? s->width : p->width;
    int height = options->height ? options->height : s->height >= 0 ? s->height : p->height;
    if ((s->width >= 0 && s->width != width) || (s->height >= 0 && s->height != height))
        return LN_FAIL(LN_INVALID, "--resize=%dx%d: input '%s' takes %d x %d pixels", width, height,
                       wish->name, s->width, s->height);
    if (width == 0 || height == 0)
        return LN_FAIL(LN_INVALID, "%s is a picture, input '%s' takes none: its shape is empty",
                       path, wish->name);
    if (width != p->width || height != p->height)
        say_info("%s: scaled from %d x %d to %d x %d pixels", path, p->width, p->height, width,
                 height);
    LN_TRY(picture_resize(p, width, height));
    s->width = width;
    s->height = height;
    if (s->channel_count < 0)
        s->channel_count = 3;
    return picture_set_channels(p, s->channel_count);
}

// Pixels in the order of the shape.
static void place(const picture *p, const picture_shape *s, const input_options *options,
                  double *values)
{
    size_t plane = (size_t)p->width * (size_t)p->height, channels = (size_t)p->channel_count;
    int is_last = s->channel_at > s->width_at;
    for (size_t c = 0; c < channels; c++) {
        size_t from = options->is_bgr ? channels - 1 - c : c;
        double scale = options->has_scale ? options->scale[c] : 1;
        for (size_t i = 0; i < plane; i++)
            values[is_last ? i * channels + c : c * plane + i] =
                (p->pixels[i * channels + from] - options->mean[c]) * scale;
    }
}

static ln_status picture_to_tensor(const char *path, const picture *p, const picture_shape *s,
                                   const input_wish *wish, const input_options *options,
                                   ln_object **out_object)
{
    size_t count = (size_t)p->width * (size_t)p->height * (size_t)p->channel_count;
    double *values = malloc(count * sizeof *values);
    if (!values)
        return LN_FAIL(LN_NO_MEMORY, "out of memory for %s", path);
    place(p, s, options, values);
    int dims[4] = {1, 1, 1, 1};
    dims[s->height_at] = s->height;
    dims[s->width_at] = s->width;
    if (s->channel_at >= 0)
        dims[s->channel_at] = s->channel_count;
    ln_status status = make_tensor(path, values, wish->dtype, s->ndim, dims, out_object);
    free(values);
    return status;
}

static int takes_encoded(const input_wish *wish)
{
    return wish->dtype == TL_UINT8 && wish->ndim == 1;
}

static ln_status take_encoded(const char *bytes, size_t count, ln_object **out_object)
{
    if (count > INT32_MAX)
        return LN_FAIL(LN_LIMIT, "a picture of %zu bytes", count);
    int dim = (int)count;
    *out_object = ln_object_new_tensor(TL_UINT8, 1, &dim, NULL);
    if (!*out_object)
        return ln_error_status();
    memcpy(ln_object_tensor(*out_object)->data, bytes, count);
    return LN_OK;
}

ln_status picture_read(const char *path, const char *bytes, size_t count, const input_wish *wish,
                       const input_options *options, ln_object **out_object)
{
    *out_object = NULL;
    if (takes_encoded(wish))
        return take_encoded(bytes, count, out_object);
    LN_TRY(check_is_number(path, "a picture", wish));
    picture_shape shape;
    LN_TRY(find_shape(path, wish, options, &shape));
    picture p;
    LN_TRY(picture_parse(path, bytes, count, &p));
    ln_status status = adapt(path, wish, options, &shape, &p);
    if (status == LN_OK)
        status = picture_to_tensor(path, &p, &shape, wish, options, out_object);
    picture_free(&p);
    return status;
}

// ---- Sound ----

// The dimension that counts samples: the first open one, else the only one that is not 1.
static ln_status find_sample_axis(const char *path, const input_wish *wish, int *out_axis)
{
    int axis = wish->ndim > 0 ? wish->ndim - 1 : 0, long_count = 0;
    for (int i = wish->ndim - 1; i >= 0; i--) {
        if (wish->dims[i] == 1)
            continue;
        // A batch of unknown size in front of a known number of samples is a batch of one.
        if (wish->dims[i] < 0 && long_count > 0)
            continue;
        axis = i;
        long_count++;
    }
    if (long_count > 1 || wish->ndim == 0)
        return LN_FAIL(LN_INVALID,
                       "%s is a row of samples, input '%s' takes %d dimensions of more than 1",
                       path, wish->name, long_count);
    *out_axis = axis;
    return LN_OK;
}

static double *sound_values(const wav_sound *sound, tl_dtype dtype)
{
    double *values = malloc(sound->sample_count * sizeof *values + 1);
    int is_integer =
        dtype == TL_INT8 || dtype == TL_INT16 || dtype == TL_INT32 || dtype == TL_INT64;
    for (size_t i = 0; values && i < sound->sample_count; i++)
        values[i] = is_integer ? rint(sound->samples[i] * 32768.0) : (double)sound->samples[i];
    return values;
}

static ln_status sound_to_tensor(const char *path, const wav_sound *sound, const input_wish *wish,
                                 ln_object **out_object)
{
    int dims[TL_MAXDIM] = {1, 1, 1, 1, 1, 1, 1, 1}, ndim = wish->ndim < 0 ? 1 : wish->ndim, axis;
    LN_TRY(find_sample_axis(path, wish, &axis));
    int wanted = wish->ndim < 0 ? -1 : wish->dims[axis];
    if (sound->sample_count > INT32_MAX || (wanted >= 0 && (size_t)wanted != sound->sample_count))
        return LN_FAIL(LN_INVALID, "%s has %zu samples, input '%s' takes %d", path,
                       sound->sample_count, wish->name, wanted);
    dims[axis] = (int)sound->sample_count;
    double *values = sound_values(sound, wish->dtype);
    if (!values)
        return LN_FAIL(LN_NO_MEMORY, "out of memory for %s", path);
    ln_status status = make_tensor(path, values, wish->dtype, ndim, dims, out_object);
    free(values);
    return status;
}

ln_status sound_read(const char *path, const char *bytes, size_t count, const input_wish *wish,
                     const input_options *options, ln_object **out_object)
{
    *out_object = NULL;
    LN_TRY(check_is_number(path, "sound", wish));
    wav_sound sound;
    LN_TRY(wav_parse(path, bytes, count, &sound));
    ln_status status = LN_OK;
    if (options->rate && (unsigned)options->rate != sound.rate)
        status = LN_FAIL(LN_INVALID,
                         "%s has %u samples a second, not %d; convert it, or leave out --rate",
                         path, sound.rate, options->rate);
    else
        say_info("%s: %zu samples, %u a second, %u channel%s", path, sound.sample_count, sound.rate,
                 sound.channel_count, sound.channel_count == 1 ? "" : "s");
    if (status == LN_OK)
        status = sound_to_tensor(path, &sound, wish, out_object);
    free(sound.samples);
    return status;
}
