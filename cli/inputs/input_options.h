// SPDX-License-Identifier: Apache-2.0
// What the user says about files of inputs: how pictures become numbers, and which rate sound has.

#ifndef LN_CLI_INPUTS_INPUT_OPTIONS_H
#define LN_CLI_INPUTS_INPUT_OPTIONS_H

#include <getopt.h>

typedef enum picture_layout {
    LAYOUT_AUTO = 0, // by the input's shape
    LAYOUT_NCHW,
    LAYOUT_NHWC
} picture_layout;

// All zero is fine: pixels as they are. An element is (pixel - mean) * scale, for each channel in
// the order in which the input takes them.
typedef struct input_options {
    double mean[3];
    double scale[3];
    int has_scale;
    picture_layout layout;
    int is_bgr; // blue first
    int width;  // of --resize; 0: not given
    int height;
    int rate; // that sound must have; 0: any
} input_options;

enum {
    OPTION_MEAN = 1100,
    OPTION_SCALE,
    OPTION_LAYOUT,
    OPTION_BGR,
    OPTION_RESIZE,
    OPTION_RATE,
};

// Rows for an array of long options.
// clang-format off
#define INPUT_OPTIONS                                                                              \
    {"mean", required_argument, NULL, OPTION_MEAN},                                                \
    {"scale", required_argument, NULL, OPTION_SCALE},                                              \
    {"layout", required_argument, NULL, OPTION_LAYOUT},                                            \
    {"bgr", no_argument, NULL, OPTION_BGR},                                                        \
    {"resize", required_argument, NULL, OPTION_RESIZE},                                            \
    {"rate", required_argument, NULL, OPTION_RATE}
// clang-format on

// Their lines in a help text.
#define INPUT_OPTIONS_HELP                                                                          \
    "      --mean=A[,B,C]      pictures: an element is (pixel - mean) * scale, pixels being 0 to\n" \
    "      --scale=X[,Y,Z]     255; one number, or one for each channel in the input's order\n"     \
    "      --layout=LAYOUT     nchw or nhwc (default: where the shape has 1 or 3 channels)\n"       \
    "      --bgr               the input takes blue first\n"                                        \
    "      --resize=WxH        scale pictures to this size (default: the input's own)\n"            \
    "      --rate=HERTZ        refuse sound of another rate\n"

// Takes an option of those above; EXIT_OK or EXIT_USAGE. -1 for any other option.
int input_options_take(input_options *options, const char *command_name, int option,
                       const char *value);

#endif
