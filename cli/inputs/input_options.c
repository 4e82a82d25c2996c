// SPDX-License-Identifier: Apache-2.0
// --mean, --scale, --layout, --bgr, --resize, --rate.

#include "input_options.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

// One number for all three channels, or three.
static int parse_channels(const char *verb, const char *option, const char *text,
                          double out_numbers[3])
{
    const char *at = text;
    int count = 0;
    for (; count < 3; count++) {
        char *end;
        out_numbers[count] = strtod(at, &end);
        if (end == at || !isfinite(out_numbers[count]))
            break;
        at = end;
        if (*at != ',') {
            count++;
            break;
        }
        at++;
    }
    if (*at || (count != 1 && count != 3))
        return say_usage_error(verb, "%s takes one number or three such as 1,2,3, not '%s'", option,
                               text);
    if (count == 1)
        out_numbers[1] = out_numbers[2] = out_numbers[0];
    return EXIT_OK;
}

int take_mean(void *member, const char *verb, const char *text)
{
    input_options *options = member;
    options->has_mean = 1;
    return parse_channels(verb, "--mean", text, options->mean);
}

int take_scale(void *member, const char *verb, const char *text)
{
    input_options *options = member;
    options->has_scale = 1;
    int code = parse_channels(verb, "--scale", text, options->scale);
    for (int c = 0; code == EXIT_OK && c < 3; c++)
        if (options->scale[c] == 0)
            code = say_usage_error(verb, "--scale=%s makes every pixel 0", text);
    return code;
}

int take_resize(void *member, const char *verb, const char *text)
{
    input_options *options = member;
    char *end;
    long width = strtol(text, &end, 10), height = 0;
    const char *second = *end == 'x' ? end + 1 : text;
    if (*end == 'x')
        height = strtol(second, &end, 10);
    if (*end || end == second || width < 1 || height < 1 || width > 65536 || height > 65536)
        return say_usage_error(verb, "--resize takes a size such as 640x480, not '%s'", text);
    options->width = (int)width;
    options->height = (int)height;
    return EXIT_OK;
}

// imagenet: 0.485, 0.456, 0.406 and 0.229, 0.224, 0.225 of 0 to 1, times 255.
static const picture_preset presets[] = {
    {"imagenet", {123.675, 116.28, 103.53}, {1 / 58.395, 1 / 57.12, 1 / 57.375}, 0},
    {"caffe", {103.939, 116.779, 123.68}, {1, 1, 1}, 1},
    {"unit", {0, 0, 0}, {1 / 255.0, 1 / 255.0, 1 / 255.0}, 0},
    {"signed", {127.5, 127.5, 127.5}, {1 / 127.5, 1 / 127.5, 1 / 127.5}, 0},
};

int take_preset(void *member, const char *verb, const char *text)
{
    input_options *options = member;
    for (size_t i = 0; i < sizeof presets / sizeof presets[0]; i++) {
        if (strcmp(presets[i].name, text) == 0) {
            options->preset = &presets[i];
            return EXIT_OK;
        }
    }
    return say_usage_error(verb, "--preset takes imagenet, caffe, unit or signed, not '%s'", text);
}

#define USUAL_CROP 0.875 // 256 to 224, as most networks of ImageNet are evaluated

int take_crop(void *member, const char *verb, const char *text)
{
    input_options *options = member;
    char *end = NULL;
    options->crop = text ? strtod(text, &end) : USUAL_CROP;
    if (!text || (end != text && !*end && options->crop >= 0.01 && options->crop <= 1))
        return EXIT_OK;
    return say_usage_error(verb, "--crop takes a ratio from 0.01 to 1 such as 0.875, not '%s'",
                           text);
}

int take_letterbox(void *member, const char *verb, const char *text)
{
    input_options *options = member;
    char *end;
    long grey = strtol(text, &end, 10);
    if (*end || end == text || grey < 0 || grey > 255)
        return say_usage_error(verb, "--letterbox takes a grey from 0 to 255, not '%s'", text);
    options->has_letterbox = 1;
    options->border = (int)grey;
    return EXIT_OK;
}

int take_rate(void *member, const char *verb, const char *text)
{
    input_options *options = member;
    char *end;
    long rate = strtol(text, &end, 10);
    if (*end || end == text || rate < 1 || rate > 100000000)
        return say_usage_error(verb, "--rate takes samples a second, not '%s'", text);
    options->rate = (int)rate;
    return EXIT_OK;
}

int take_layout(void *member, const char *verb, const char *text)
{
    input_options *options = member;
    if (strcmp(text, "nchw") != 0 && strcmp(text, "nhwc") != 0)
        return say_usage_error(verb, "--layout takes nchw or nhwc, not '%s'", text);
    options->layout = strcmp(text, "nchw") == 0 ? LAYOUT_NCHW : LAYOUT_NHWC;
    return EXIT_OK;
}
