// SPDX-License-Identifier: Apache-2.0
// What the user says about files of inputs: how pictures become numbers, and which rate sound has.

#ifndef LN_CLI_INPUTS_INPUT_OPTIONS_H
#define LN_CLI_INPUTS_INPUT_OPTIONS_H

typedef enum picture_layout {
    LAYOUT_AUTO = 0, // by the input's shape
    LAYOUT_NCHW,
    LAYOUT_NHWC
} picture_layout;

// How a family of networks takes pictures.
typedef struct picture_preset {
    const char *name;
    double mean[3]; // in the order in which the input takes the channels
    double scale[3];
    int is_bgr;
} picture_preset;

// All zero is fine: pixels as they are. An element is (pixel - mean) * scale, for each channel in
// the order in which the input takes them. What is given explicitly goes before the preset.
typedef struct input_options {
    double mean[3];
    double scale[3];
    int has_mean;
    int has_scale;
    const picture_preset *preset; // NULL: none
    double crop;                  // part of the shorter side that fills the input; 0: no crop
    int has_letterbox;
    int border; // its grey
    picture_layout layout;
    int is_bgr; // blue first
    int width;  // of --resize; 0: not given
    int height;
    int is_quiet; // nothing is said of pictures
    int rate;     // that sound must have; 0: any
} input_options;

// Rows of a verb's options; `member` is its input_options.
#define INPUT_OPTIONS(type, member)                                                                \
    CALLS(MEAN, type, member, take_mean), CALLS(SCALE, type, member, take_scale),                  \
        CALLS(LAYOUT, type, member, take_layout), TAKES(BGR, type, member.is_bgr),                 \
        CALLS(RESIZE, type, member, take_resize), CALLS(PRESET, type, member, take_preset),        \
        CALLS(CROP, type, member, take_crop), CALLS(LETTERBOX, type, member, take_letterbox),      \
        CALLS(RATE, type, member, take_rate)

// The options of pictures, and of all files of inputs.
#define PICTURE_OPTION_IDS                                                                         \
    OPT_MEAN, OPT_SCALE, OPT_LAYOUT, OPT_BGR, OPT_RESIZE, OPT_PRESET, OPT_CROP, OPT_LETTERBOX
#define INPUT_OPTION_IDS PICTURE_OPTION_IDS, OPT_RATE

int take_mean(void *options, const char *verb, const char *text);
int take_scale(void *options, const char *verb, const char *text);
int take_layout(void *options, const char *verb, const char *text);
int take_resize(void *options, const char *verb, const char *text);
int take_preset(void *options, const char *verb, const char *text);
int take_crop(void *options, const char *verb, const char *text);
int take_letterbox(void *options, const char *verb, const char *text);
int take_rate(void *options, const char *verb, const char *text);

#endif
