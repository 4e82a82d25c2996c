// SPDX-License-Identifier: Apache-2.0
// Fourier transforms, windows and filters of ONNX, and a few operators on matrices of
// com.microsoft.

#include "tests/api/onnx_outputs.h"

// 1, 2, 3 as real numbers, and their transform.
#define RAMP    F32("x", "[1, 3, 1]", "[1, 2, 3]")
#define HALF_R3 0.86602540378

TEST(transforms_of_any_length_agree_with_their_sums)
{
    static const onnx_output cases[] = {
        {"an impulse has all frequencies",
         F32("x", "[1, 4, 1]", "[1, 0, 0, 0]") "DFT(input=x | output=y |);",
         "1x4x2",
         {1, 0, 1, 0, 1, 0, 1, 0}},
        {"one that is late turns",
         F32("x", "[1, 4, 1]", "[0, 1, 0, 0]") "DFT(input=x | output=y |);",
         "1x4x2",
         {1, 0, 0, -1, -1, 0, 0, 1}},
        {"three points",
         RAMP "DFT(input=x | output=y |);",
         "1x3x2",
         {6, 0, -1.5, HALF_R3, -1.5, -HALF_R3}},
        {"their first half",
         RAMP "DFT(input=x | output=y | onesided=1);",
         "1x2x2",
         {6, 0, -1.5, HALF_R3}},
        {"filled with zeros",
         RAMP I64("n", "[]", "[4]") "DFT(input=x, dft_length=n | output=y |);",
         "1x4x2",
         {6, 0, -2, -2, 2, 0, -2, 2}},
        {"cut",
         RAMP I64("n", "[]", "[2]") "DFT(input=x, dft_length=n | output=y |);",
         "1x2x2",
         {3, 0, -1, 0}},
        {"along the first axis",
         F32("x", "[2, 2, 1]", "[1, 2, 3, 4]")
             I64("a", "[]", "[0]") "DFT(input=x, axis=a | output=y |);",
         "2x2x2",
         {4, 0, 6, 0, -2, 0, -2, 0}},
        {"version 17 has it as a parameter",
         F32("x", "[2, 2, 1]", "[1, 2, 3, 4]") "DFT(input=x | output=y | axis=0, since=17);",
         "2x2x2",
         {4, 0, 6, 0, -2, 0, -2, 0}},
        {"of complex numbers",
         F32("x", "[1, 2, 2]", "[1, 2, 3, 5]") "DFT(input=x | output=y |);",
         "1x2x2",
         {4, 7, -2, -3}},
        {"one point", F32("x", "[1, 1, 1]", "[5]") "DFT(input=x | output=y |);", "1x1x2", {5, 0}},
        {"no lines", F32("x", "[0, 3, 1]", "[0]") "DFT(input=x | output=y |);", "0x3x2", {0}},
    };
    CHECK_OUTPUTS(cases);
}

TEST(inverses_bring_back_what_was)
{
    static const onnx_output cases[] = {
        {"eight points",
         F32("x", "[1, 8, 1]",
             "[1, 2, 3, 4, 5, -6, 7, 0.5]") "DFT(input=x | output=z |); DFT(input=z | output=y | inverse=1);",
         "1x8x2",
         {1, 0, 2, 0, 3, 0, 4, 0, 5, 0, -6, 0, 7, 0, 0.5, 0}},
        {"seven points",
         F32("x", "[1, 7, 1]",
             "[1, 2, 3, 4, 5, -6, 7]") "DFT(input=x | output=z |); DFT(input=z | output=y | inverse=1);",
         "1x7x2",
         {1, 0, 2, 0, 3, 0, 4, 0, 5, 0, -6, 0, 7, 0}},
        {"real numbers from half a spectrum",
         F32("x", "[1, 6, 1]",
             "[1, 2, 3, 4, 5, -6]") "DFT(input=x | output=z | onesided=1); DFT(input=z | output=y | inverse=1, onesided=1);",
         "1x6x1",
         {1, 2, 3, 4, 5, -6}},
        {"an odd number of them",
         F32("x", "[1, 5, 1]", "[1, 2, 3, 4, 5]")
             I64("n", "[]", "[5]") "DFT(input=x | output=z | onesided=1);\n"
                                   "DFT(input=z, dft_length=n | output=y | inverse=1, onesided=1);",
         "1x5x1",
         {1, 2, 3, 4, 5}},
        {"of com.microsoft",
         F32("x", "[2, 4]",
             "[1, 2, 3, 4, 5, 6, 8, 9]") "ms_Rfft(X=x | Y=z |); ms_Irfft(X=z | Y=y |);",
         "2x4",
         {1, 2, 3, 4, 5, 6, 8, 9}},
    };
    CHECK_OUTPUTS(cases);
}

TEST(frames_are_cut_and_weighed)
{
    static const onnx_output cases[] = {
        {"two frames of two samples, two apart",
         F32("x", "[1, 5, 1]", "[1, 2, 3, 5, 9]") I64("s", "[]", "[2]")
             I64("n", "[]", "[2]") "STFT(signal=x, frame_step=s, frame_length=n | output=y |);",
         "1x2x2x2",
         {3, 0, -1, 0, 8, 0, -2, 0}},
        {"a window of 1 and 10",
         F32("x", "[1, 4, 1]", "[1, 2, 3, 5]") I64("s", "[]", "[2]")
             F32("w", "[2]",
                 "[1, 10]") "STFT(signal=x, frame_step=s, window=w | output=y | onesided=0);",
         "1x2x2x2",
         {21, 0, -19, 0, 53, 0, -47, 0}},
        {"too short for a frame",
         F32("x", "[1, 1, 1]", "[1]") I64("s", "[]", "[1]")
             I64("n", "[]", "[2]") "STFT(signal=x, frame_step=s, frame_length=n | output=y |);",
         "1x0x2x2",
         {0}},
    };
    CHECK_OUTPUTS(cases);
}

TEST(windows_are_periodic_or_symmetric)
{
    static const onnx_output cases[] = {
        {"hann", I64("n", "[]", "[4]") "HannWindow(size=n | output=y |);", "4", {0, 0.5, 1, 0.5}},
        {"hann, symmetric",
         I64("n", "[]", "[3]") "HannWindow(size=n | output=y | periodic=0);",
         "3",
         {0, 1, 0}},
        {"hamming",
         I64("n", "[]", "[2]") "HammingWindow(size=n | output=y |);",
         "2",
         {4.0 / 46, 1}},
        {"blackman",
         I32("n", "[]", "[4]") "BlackmanWindow(size=n | output=y |);",
         "4",
         {0, 0.34, 1, 0.34}},
        {"as double",
         I64("n", "[]", "[2]") "HannWindow(size=n | output=y | output_datatype=11);",
         "2",
         {0, 1}},
        {"of no samples", I64("n", "[]", "[0]") "HannWindow(size=n | output=y |);", "0", {0}},
    };
    CHECK_OUTPUTS(cases);
}

#define MEL(bins, n)                                                                               \
    I64("b", "[]", "[" bins "]")                                                                   \
    I64("n", "[]", "[" n "]")                                                                      \
    I64("r", "[]", "[16]")                                                                         \
    F32("l", "[]", "[0]")                                                                          \
    F32("u", "[]", "[8]")                                                                          \
    "MelWeightMatrix(num_mel_bins=b, dft_length=n, sample_rate=r, lower_edge_hertz=l, "            \
    "upper_edge_hertz=u | output=y |);"

TEST(mel_filters_are_triangles)
{
    // Nearly linear at these frequencies: the points are 0, 2, 4, 6 hertz, less a trifle each, at
    // bins 0, 2, 4 and 6 of 17 * f / 16.
    static const onnx_output cases[] = {
        {"two filters",
         MEL("2", "16"),
         "9x2",
         {0, 0, 0.5, 0, 1, 0, 0.5, 0.5, 0, 1, 0, 0.5, 0, 0, 0, 0, 0, 0}},
        {"none", MEL("0", "4"), "3x0", {0}},
    };
    CHECK_OUTPUTS(cases);
}

TEST(matrices_of_com_microsoft)
{
    static const onnx_output cases[] = {
        {"an inverse that needs another row first",
         F32("x", "[1, 2, 2]", "[0, 2, 4, 1]") "ms_Inverse(X=x | Y=y |);",
         "1x2x2",
         {-0.125, 0.25, 0.5, 0}},
        {"above the diagonal",
         F32("x", "[2, 2]", "[1, 2, 3, 4]") "ms_Trilu(X=x | Y=y |);",
         "2x2",
         {1, 2, 0, 4}},
        {"below a diagonal far away",
         I64("x", "[2, 2]", "[1, 2, 3, 4]")
             I64("k", "[]", "[-9000000000000000000]") "ms_Trilu(X=x, k=k | Y=y | upper=0);",
         "2x2",
         {0, 0, 0, 0}},
    };
    CHECK_OUTPUTS(cases);
}

TEST(what_cannot_be_transformed_is_told)
{
    static const onnx_refusal cases[] = {
        {"no points", RAMP I64("n", "[]", "[0]") "DFT(input=x, dft_length=n | output=y |);",
         "cannot transform 0 points"},
        {"more than memory has",
         RAMP I64("n", "[]", "[4000000000]") "DFT(input=x, dft_length=n | output=y |);",
         "cannot transform 4000000000 points"},
        {"two lengths", RAMP I64("n", "[2]", "[3, 3]") "DFT(input=x, dft_length=n | output=y |);",
         "DFT"},
        {"the axis of the parts", RAMP I64("a", "[]", "[-1]") "DFT(input=x, axis=a | output=y |);",
         "along the parts"},
        {"an axis too many", RAMP I64("a", "[]", "[3]") "DFT(input=x, axis=a | output=y |);",
         "axis"},
        {"three parts", F32("x", "[1, 2, 3]", "[0]") "DFT(input=x | output=y |);", "1 or 2 parts"},
        {"half the spectrum of complex numbers",
         F32("x", "[1, 2, 2]", "[0]") "DFT(input=x | output=y | onesided=1);", "1 parts"},
        {"frames that do not move on",
         RAMP I64("s", "[]", "[0]")
             I64("n", "[]", "[2]") "STFT(signal=x, frame_step=s, frame_length=n | output=y |);",
         "0 apart"},
        {"a window of another length",
         RAMP I64("s", "[]", "[1]") I64("n", "[]", "[2]")
             F32("w", "[3]",
                 "[1]") "STFT(signal=x, frame_step=s, window=w, frame_length=n | output=y |);",
         "window of 3 samples for frames of 2"},
        {"a negative size", I64("n", "[]", "[-1]") "HannWindow(size=n | output=y |);",
         "HannWindow"},
        {"a matrix without inverse", F32("x", "[2, 2]", "[1, 2, 2, 4]") "ms_Inverse(X=x | Y=y |);",
         "without inverse"},
    };
    CHECK_REFUSALS(cases);
}

TEST_LIST(transforms_of_any_length_agree_with_their_sums, inverses_bring_back_what_was,
          frames_are_cut_and_weighed, windows_are_periodic_or_symmetric, mel_filters_are_triangles,
          matrices_of_com_microsoft, what_cannot_be_transformed_is_told)
