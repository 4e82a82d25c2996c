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
    return parse_channels(verb, "--mean", text, options->mean);
}

int take_scale(void *member, const char *verb, const char *text)
{
    input_options *options = member;
    options->has_scale = 1;
    return parse_channels(verb, "--scale", text, options->scale);
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
