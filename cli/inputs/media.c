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

// `values` as a tensor of the type that the input takes.
static ln_status make_tensor(const char *path, const double *values, const input_wish *wish,
                             int ndim, const int *dims, ln_object **out_object)
{
    ln_object *object = ln_object_new_tensor(wish->dtype, ndim, dims, NULL);
    if (!object)
        return ln_error_status();
    tl_tensor *tensor = ln_object_tensor(object);
    ln_status status = input_check_floats(path, wish, TL_DOUBLE, values, (size_t)tensor->len);
    if (status == LN_OK)
        status = tl_convert_n(tensor->data, wish->dtype, values, TL_DOUBLE, (size_t)tensor->len);
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
    if (s->ndim == 2 && options->layout != LAYOUT_AUTO)
        return LN_FAIL(LN_INVALID,
                       "--layout has no effect: input '%s' has no dimension of channels",
                       wish->name);
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
        return LN_FAIL(
            LN_INVALID,
            "%s is a picture, input '%s' takes %d channels; --layout says where they are", path,
            wish->name, s->channel_count);
    if (first && dims[0] != 1 && dims[0] >= 0)
        return LN_FAIL(LN_INVALID, "%s is one picture, input '%s' takes %d; give a .npy of all",
                       path, wish->name, dims[0]);
    return LN_OK;
}

// One side after scaling; at least a pixel.
static int scaled(int side, double scale)
{
    double size = rint(side * scale);
    return size < 1 ? 1 : size > INT32_MAX ? INT32_MAX : (int)size;
}

// Scales, and cuts the rest or adds borders where the proportions stay.
static ln_status bring_to_size(const input_options *options, int width, int height, picture *p)
{
    double x_scale = (double)width / p->width, y_scale = (double)height / p->height;
    if (options->crop > 0) {
        double scale = fmax(x_scale, y_scale) / options->crop;
        int scaled_width = scaled(p->width, scale), scaled_height = scaled(p->height, scale);
        LN_TRY(picture_resize(p, scaled_width, scaled_height));
        return picture_window(p, (scaled_width - width) / 2, (scaled_height - height) / 2, width,
                              height, 0);
    }
    if (options->has_letterbox) {
        double scale = fmin(x_scale, y_scale);
        int scaled_width = scaled(p->width, scale), scaled_height = scaled(p->height, scale);
        LN_TRY(picture_resize(p, scaled_width, scaled_height));
        return picture_window(p, -((width - scaled_width) / 2), -((height - scaled_height) / 2),
                              width, height, options->border);
    }
    return picture_resize(p, width, height);
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
    LN_TRY(bring_to_size(options, width, height, p));
    s->width = width;
    s->height = height;
    if (s->channel_count < 0)
        s->channel_count = 3;
    return picture_set_channels(p, s->channel_count);
}

// What pixels become: explicit options, then the preset, then pixels as they are.
typedef struct pixel_map {
    double mean[3];
    double scale[3];
    int is_bgr;
} pixel_map;

static ln_status find_map(const char *path, const input_options *options, int channel_count,
                          pixel_map *out)
{
    const picture_preset *preset = options->preset;
    *out = (pixel_map){.scale = {1, 1, 1}, .is_bgr = options->is_bgr || (preset && preset->is_bgr)};
    int is_uniform = !preset || preset->mean[0] == preset->mean[2];
    if (channel_count == 1 && !is_uniform && !(options->has_mean && options->has_scale))
        return LN_FAIL(LN_INVALID,
                       "%s: preset %s is for three channels, the input has one; give --mean and "
                       "--scale",
                       path, preset->name);
    if (channel_count == 1 && options->is_bgr)
        return LN_FAIL(LN_INVALID, "%s: --bgr has no effect: the input has one channel", path);
    for (int c = 0; c < 3; c++) {
        // The preset's numbers go with their colours.
        int own = preset && preset->is_bgr != out->is_bgr ? 2 - c : c;
        if (options->has_mean || !preset)
            out->mean[c] = options->mean[c];
        else
            out->mean[c] = preset->mean[own];
        if (options->has_scale)
            out->scale[c] = options->scale[c];
        else if (preset)
            out->scale[c] = preset->scale[own];
    }
    return LN_OK;
}

static int is_any_between(const double numbers[3], double least, double most)
{
    for (int c = 0; c < 3; c++)
        if (numbers[c] > least && numbers[c] < most)
            return 1;
    return 0;
}

// "123.675,116.28,103.53": the numbers times `factor`, or over them.
static void print_channels(char *text, size_t size, const double numbers[3], double factor,
                           int is_inverse, int channel_count)
{
    size_t used = 0;
    for (int c = 0; c < (channel_count == 1 ? 1 : 3) && used < size; c++)
        used += (size_t)snprintf(text + used, size - used, "%s%.6g", c ? "," : "",
                                 is_inverse ? factor / numbers[c] : factor * numbers[c]);
}

// Numbers that other programs take, for pixels from 0 to 1 or for a division, are most often meant
// otherwise than they are taken here.
static void question_map(const input_options *options, int channel_count)
{
    char mean[96], scale[96];
    int is_deviation = options->has_scale && is_any_between(options->scale, 0.1, 1);
    print_channels(mean, sizeof mean, options->mean, 255, 0, channel_count);
    if (options->has_mean && is_any_between(options->mean, 0, 1)) {
        if (is_deviation)
            print_channels(scale, sizeof scale, options->scale, 1 / 255.0, 1, channel_count);
        else
            snprintf(scale, sizeof scale, "1 / (255 * deviation)");
        say_warning("--mean is taken from pixels of 0 to 255; if it is one for 0 to 1, give "
                    "--mean=%s and --scale=%s",
                    mean, scale);
    } else if (options->has_scale && is_any_between(options->scale, 1, INFINITY)) {
        print_channels(scale, sizeof scale, options->scale, 1, 1, channel_count);
        say_warning("--scale multiplies; to divide by it, as by a deviation, give --scale=%s",
                    scale);
    }
}

// An input of bytes, as quantized models have, takes integers: of real numbers little is left.
static void question_bytes(const input_wish *wish, double least, double most)
{
    int is_signed = wish->dtype == TL_INT8;
    int low = is_signed ? -128 : 0, high = low + 255;
    if (wish->dtype != TL_INT8 && wish->dtype != TL_UINT8)
        return;
    if (least > low - 1 && most < high + 1 && most - least > 127)
        return;
    say_warning(
        "input '%s' is %s: values %.4g..%.4g become integers of %d to %d; if it takes whole "
        "pixels, %s",
        wish->name, tl_dtype_title(wish->dtype), least, most, low, high,
        is_signed ? "give --mean=128 alone" : "leave out --mean, --scale and --preset");
}

static void say_picture(const char *path, const picture *from, const picture_shape *s,
                        const input_wish *wish, const input_options *options, const pixel_map *map)
{
    if (options->is_quiet)
        return;
    double least = INFINITY, most = -INFINITY;
    for (int c = 0; c < s->channel_count; c++) {
        double black = (0 - map->mean[c]) * map->scale[c];
        double white = (255 - map->mean[c]) * map->scale[c];
        least = fmin(least, fmin(black, white));
        most = fmax(most, fmax(black, white));
    }
    char preset[64] = "no preset";
    if (options->preset)
        snprintf(preset, sizeof preset, "preset %s%s%s", options->preset->name,
                 options->has_mean ? ", --mean" : "", options->has_scale ? ", --scale" : "");
    say_info("picture %s %dx%d -> %dx%d%s%s%s, %s, values %.4g..%.4g (%s)", path, from->width,
             from->height, s->width, s->height, options->crop > 0 ? ", cropped" : "",
             options->has_letterbox ? ", letterboxed" : "",
             from->orientation > 1 ? ", turned as EXIF says" : "",
             s->channel_count == 1 ? "grey"
             : map->is_bgr         ? "BGR"
                                   : "RGB",
             least, most, preset);
    if (options->has_mean || options->has_scale)
        question_map(options, s->channel_count);
    question_bytes(wish, least, most);
}

// Pixels in the order of the shape.
static void place(const picture *p, const picture_shape *s, const pixel_map *map, double *values)
{
    size_t plane = (size_t)p->width * (size_t)p->height, channels = (size_t)p->channel_count;
    int is_last = s->channel_at > s->width_at;
    for (size_t c = 0; c < channels; c++) {
        size_t from = map->is_bgr ? channels - 1 - c : c;
        for (size_t i = 0; i < plane; i++)
            values[is_last ? i * channels + c : c * plane + i] =
                (p->pixels[i * channels + from] - map->mean[c]) * map->scale[c];
    }
}

static ln_status picture_to_tensor(const char *path, const picture *p, const picture_shape *s,
                                   const input_wish *wish, const pixel_map *map,
                                   ln_object **out_object)
{
    size_t count = (size_t)p->width * (size_t)p->height * (size_t)p->channel_count;
    double *values = malloc(count * sizeof *values);
    if (!values)
        return LN_FAIL(LN_NO_MEMORY, "out of memory for %s", path);
    place(p, s, map, values);
    int dims[4] = {1, 1, 1, 1};
    dims[s->height_at] = s->height;
    dims[s->width_at] = s->width;
    if (s->channel_at >= 0)
        dims[s->channel_at] = s->channel_count;
    ln_status status = make_tensor(path, values, wish, s->ndim, dims, out_object);
    free(values);
    return status;
}

int picture_stays_encoded(const input_wish *wish)
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
    if (picture_stays_encoded(wish))
        return take_encoded(bytes, count, out_object);
    LN_TRY(check_is_number(path, "a picture", wish));
    picture_shape shape;
    LN_TRY(find_shape(path, wish, options, &shape));
    picture p;
    LN_TRY(picture_parse(path, bytes, count, &p));
    picture file = p; // its size
    pixel_map map;
    ln_status status = picture_orient(&p);
    if (status == LN_OK)
        status = adapt(path, wish, options, &shape, &p);
    if (status == LN_OK)
        status = find_map(path, options, shape.channel_count, &map);
    if (status == LN_OK)
        status = picture_to_tensor(path, &p, &shape, wish, &map, out_object);
    if (status == LN_OK)
        say_picture(path, &file, &shape, wish, options, &map);
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
    ln_status status = make_tensor(path, values, wish, ndim, dims, out_object);
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
