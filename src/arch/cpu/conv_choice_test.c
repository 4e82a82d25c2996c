// SPDX-License-Identifier: Apache-2.0
// Which algorithm a convolution takes: the layers of common networks, and those that have no
// choice.

#include "arch/cpu/conv_choice.h"

#include "tests/test.h"

typedef struct choice {
    const char *why;
    int in, out, side; // 3x3, stride 1, square outputs
    const char *algorithm;
} choice;

static const choice choices[] = {
    {"resnet18, one row of tiles more would not pay", 128, 128, 28, "winograd4"},
    {"resnet18", 64, 64, 56, "winograd4"},
    {"resnet18", 256, 256, 14, "winograd4"},
    {"resnet18, weights of larger tiles take longer to read than products", 512, 512, 7,
     "winograd2"},
    {"vgg16, three channels", 3, 64, 224, "direct"},
    {"vgg16", 64, 64, 224, "winograd6"},
    {"vgg16", 64, 128, 112, "winograd6"},
    {"vgg16", 128, 128, 112, "winograd6"},
    {"vgg16", 256, 256, 56, "winograd4"},
    {"vgg16", 512, 512, 28, "winograd4"},
    {"vgg16", 512, 512, 14, "winograd4"},
    {"squeezenet", 16, 64, 55, "winograd4"},
    {"squeezenet", 32, 128, 27, "winograd4"},
    {"squeezenet", 48, 192, 13, "winograd4"},
    {"squeezenet", 64, 256, 13, "winograd4"},
    {"inception", 64, 192, 56, "winograd4"},
    {"inception", 96, 128, 28, "winograd4"},
    {"inception", 16, 32, 28, "winograd4"},
    {"inception", 144, 288, 14, "winograd4"},
    {"inception", 160, 320, 7, "winograd2"},
    {"densenet", 128, 32, 56, "winograd4"},
    {"densenet", 128, 32, 28, "winograd4"},
    {"densenet", 128, 32, 14, "winograd4"},
    {"densenet, a map of padding more than of tiles", 128, 32, 7, "direct"},
    {"yolov3-tiny", 3, 16, 416, "direct"},
    {"yolov3-tiny", 16, 32, 208, "winograd6"},
    {"yolov3-tiny", 32, 64, 104, "winograd4"},
    {"yolov3-tiny", 64, 128, 52, "winograd4"},
    {"yolov3-tiny", 256, 512, 13, "winograd4"},
    {"yolov3-tiny", 512, 1024, 13, "winograd4"},
    {"yolov8n", 64, 64, 80, "winograd4"},
    {"yolov8n", 80, 80, 80, "winograd4"},
    {"yolov8n", 128, 128, 20, "winograd4"},
    {"an image of three channels at the end", 32, 3, 256, "narrow"},
    {"a mask", 16, 1, 128, "narrow"},
    {"three channels of a small image", 32, 3, 7, "direct"},
    {"channels that lanes do not divide", 24, 3, 128, "winograd4"},
    {"one of each", 1, 1, 1, "direct"},
    {"few of each", 8, 8, 4, "direct"},
    {"points of larger tiles would not fit a tensor", 8000, 8000, 60, "winograd2"},
    {"the largest numbers", 2147483647, 2147483647, 2147483647, "direct"},
    {"no output", 64, 64, 0, "direct"},
};

TEST(layers_take_the_algorithm_that_is_fastest)
{
    const int ones[2] = {1, 1};
    for (size_t i = 0; i < sizeof choices / sizeof choices[0]; i++) {
        const choice *c = &choices[i];
        const int weight_dims[4] = {c->out, c->in, 3, 3}, size_out[2] = {c->side, c->side};
        ln_conv_algorithm algorithm = ln_cpu_choose_conv(weight_dims, 1, size_out, ones, ones);
        if (strcmp(ln_conv_algorithm_name(algorithm), c->algorithm) != 0)
            fail_msg("%s: %d to %d channels, %d^2: %s instead of %s", c->why, c->in, c->out,
                     c->side, ln_conv_algorithm_name(algorithm), c->algorithm);
    }
}

typedef struct fixed_choice {
    const char *why;
    int weight_dims[4], group, stride, dilation;
    ln_conv_algorithm algorithm;
} fixed_choice;

static const fixed_choice fixed_choices[] = {
    {"stride 2", {64, 64, 3, 3}, 1, 2, 1, LN_CONV_DIRECT},
    {"dilation", {64, 64, 3, 3}, 1, 1, 2, LN_CONV_DIRECT},
    {"groups", {64, 32, 3, 3}, 2, 1, 1, LN_CONV_DIRECT},
    {"1x1", {64, 64, 1, 1}, 1, 1, 1, LN_CONV_DIRECT},
    {"5x5", {64, 64, 5, 5}, 1, 1, 1, LN_CONV_DIRECT},
    {"a group for each channel", {64, 1, 3, 3}, 64, 1, 1, LN_CONV_DEPTHWISE},
    {"two outputs for each channel", {128, 1, 3, 3}, 64, 1, 1, LN_CONV_DIRECT},
};

TEST(an_algorithm_is_taken_only_where_it_fits)
{
    const int size_out[2] = {56, 56};
    for (size_t i = 0; i < sizeof fixed_choices / sizeof fixed_choices[0]; i++) {
        const fixed_choice *c = &fixed_choices[i];
        const int stride[2] = {c->stride, c->stride}, dilation[2] = {c->dilation, c->dilation};
        ln_conv_algorithm algorithm =
            ln_cpu_choose_conv(c->weight_dims, c->group, size_out, stride, dilation);
        if (algorithm != c->algorithm)
            fail_msg("%s: %s", c->why, ln_conv_algorithm_name(algorithm));
        CHECK(ln_conv_algorithm_fits(algorithm, c->weight_dims, c->group, stride, dilation));
    }
}

TEST_LIST(layers_take_the_algorithm_that_is_fastest, an_algorithm_is_taken_only_where_it_fits)
