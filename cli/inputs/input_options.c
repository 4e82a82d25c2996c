// SPDX-License-Identifier: Apache-2.0
// --mean, --scale, --layout, --bgr, --resize, --rate.

#include "input_options.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

// One number for all three channels, or three.
static int parse_channels(const char *command_name, const char *option, const char *text,
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
        return say_usage_error(command_name, "%s takes one number or three such as 1,2,3, not '%s'",
                               option, text);
    if (count == 1)
        out_numbers[1] = out_numbers[2] = out_numbers[0];
    return EXIT_OK;
}

static int parse_size(const char *command_name, const char *text, input_options *options)
{
    char *end;
    long width = strtol(text, &end, 10), height = 0;
    const char *second = *end == 'x' ? end + 1 : text;
    if (*end == 'x')
        height = strtol(second, &end, 10);
    if (*end || end == second || width < 1 || height < 1 || width > 65536 || height > 65536)
        return say_usage_error(command_name, "--resize takes a size such as 640x480, not '%s'",
                               text);
    options->width = (int)width;
    options->height = (int)height;
    return EXIT_OK;
}

static int parse_rate(const char *command_name, const char *text, input_options *options)
{
    char *end;
    long rate = strtol(text, &end, 10);
    if (*end || end == text || rate < 1 || rate > 100000000)
        return say_usage_error(command_name, "--rate takes samples a second, not '%s'", text);
    options->rate = (int)rate;
    return EXIT_OK;
}

static int parse_layout(const char *command_name, const char *text, input_options *options)
{
    if (strcmp(text, "nchw") != 0 && strcmp(text, "nhwc") != 0)
        return say_usage_error(command_name, "--layout takes nchw or nhwc, not '%s'", text);
    options->layout = strcmp(text, "nchw") == 0 ? LAYOUT_NCHW : LAYOUT_NHWC;
    return EXIT_OK;
}

int input_options_take(input_options *options, const char *command_name, int option,
                       const char *value)
{
    switch (option) {
    case OPTION_MEAN: return parse_channels(command_name, "--mean", value, options->mean);
    case OPTION_SCALE:
        options->has_scale = 1;
        return parse_channels(command_name, "--scale", value, options->scale);
    case OPTION_LAYOUT: return parse_layout(command_name, value, options);
    case OPTION_BGR: options->is_bgr = 1; return EXIT_OK;
    case OPTION_RESIZE: return parse_size(command_name, value, options);
    case OPTION_RATE: return parse_rate(command_name, value, options);
    default: return -1;
    }
}
