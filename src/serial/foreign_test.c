// SPDX-License-Identifier: Apache-2.0
// What files of other systems are taken for.

#include "tensor/foreign.h"

#include "serial/choose.h"
#include "tests/test.h"

#define BYTES(text) text, sizeof text - 1

TEST(knows_files_that_are_no_models)
{
    static const struct {
        const char *path, *bytes;
        size_t count;
        const char *what, *remedy;
    } cases[] = {
        {"m.onnx", BYTES("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\n"),
         "pointer of Git LFS", "git lfs pull"},
        {"m.onnx", BYTES("\n <!DOCTYPE HTML>\n<html>"), "web page", "download"},
        {NULL, BYTES("<html lang=en>"), "web page", "download"},
        {"m.tflite", BYTES("\x18\0\0\0TFL3\0\0\x0e\0"), "TensorFlow Lite", "tf2onnx"},
        {"a", BYTES("\2\0\0\0\0\0\0\x40\x04\xce\0\0MXNet"), "Tengine", "ONNX"},
        {"a.param", BYTES("7767517\n75 83\nInput data 0 1 data 0=227\n"), "ncnn", "ONNX"},
        {"a.bin", BYTES("\x47\x6b\x30\x01\x9a\x2c"), ".bin file of an ncnn", "ONNX"},
        {"symbol", BYTES("{\n  \"nodes\": [\n    {\"op\": \"null\""), "CVM", "ONNX"},
        {"a.pt", BYTES("PK\3\4\0\0\10\10archive/data.pkl"), "PyTorch", "torch.onnx.export"},
        {"a.keras", BYTES("PK\3\4\0\0"), "Keras", "saved-model"},
        {"a.pth", BYTES("\x80\2\x8a\x0al\xfc\x9c"), "pickle", "torch.onnx.export"},
        {"a.h5", BYTES("\x89HDF\r\n\x1a\n\0"), "HDF5", "--keras"},
        {"a.mlmodel", BYTES("\x08\5\x12\x20\x0a\x10\x0a\5image"), "Core ML", "ONNX"},
        {"saved_model.pb", BYTES("\x08\1\x12\xc8\x03\x0a\x20\x12\5serve"), "SavedModel",
         "--saved-model"},
        {"g.pb", BYTES("\x0a\x2a\x0a\1x\x12\x0bPlaceholder*\x0b"), "graph of TensorFlow",
         "--graphdef"},
        {"m.onnx.gz", BYTES("\x1f\x8b\x08\x08"), "gzip", "gunzip"},
        {"m.onnx", BYTES("\x1f\x8b\x08\x08"), "gzip", "gunzip"},
        {"m.xz",
         BYTES("\xfd"
               "7zXZ\0\0"),
         "xz", "unxz"},
        {"m.zip", BYTES("PK\3\4\x14\0\0\0"), "zip archive", "unzip"},
        {"p.jpg", BYTES("\xff\xd8\xff\xe0\0\x10JFIF"), "JPEG", "-i"},
        {"p.png", BYTES("\x89PNG\r\n\x1a\n\0"), "PNG", "-i"},
        {"x.npy", BYTES("\x93NUMPY\1\0"), ".npy", "-i"},
        {"w.params", BYTES("\xb7\x9c\x04\x05\x4f\x8d\xe5\xf7\0"), "params dictionary", "-f"},
        {"w", BYTES("\x40\0\0\0\0\0\0\0{\"a\":"), "safetensors", "-f"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const ln_foreign *found = ln_foreign_find(cases[i].path, cases[i].bytes, cases[i].count);
        if (!found)
            fail_msg("%s is not known", cases[i].what);
        CHECK(strstr(found->what, cases[i].what));
        CHECK(strstr(found->remedy, cases[i].remedy));
    }
}

TEST(leaves_models_alone)
{
    static const struct {
        const char *path, *bytes;
        size_t count;
    } cases[] = {
        {"m.onnx", BYTES("\x08\7\x12\7pytorch\x1a\0031.4")}, // ONNX with a producer
        {"m.pb", BYTES("\x08\3\x12\x0d"
                       "backend-test:\x52")},
        {"m.onnx", BYTES("\x12\3abc")},
        {"m.json", BYTES("{\n  \"ops\": [\n    {\"name\": \"nodes\"")},
        {"m.json", BYTES("{\"nodes\": 1, \"ops\": []}")}, // unknown keys are skipped
        {"m.net", BYTES("relu(src=x | dst=y |);\n")},
        {"m.net", BYTES("// <html>\n")},
        {"m.net", BYTES("")},
        {NULL, BYTES("PK")},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const ln_foreign *found = ln_foreign_find(cases[i].path, cases[i].bytes, cases[i].count);
        if (found)
            fail_msg("case %zu is taken for %s", i, found->what);
    }
}

TEST(says_to_register_formats_first)
{
    ln_serializer *serializer;
    CHECK_FAILS(ln_serializer_choose("m.onnx", "\x08\7", 2, "m.onnx", &serializer), LN_STATE);
    CHECK_MESSAGE("m.onnx: no format is registered; call ln_arch_init first");
    CHECK_NULL(serializer);
}

TEST_LIST(knows_files_that_are_no_models, leaves_models_alone, says_to_register_formats_first)
