// SPDX-License-Identifier: Apache-2.0
// Signatures of foreign files: one table of first bytes, and functions for what has no signature.

#define _GNU_SOURCE // memmem, strncasecmp

#include "tensor/foreign.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

// The first bytes of a file.
typedef struct sight {
    const char *path; // "" if unknown
    const unsigned char *bytes;
    size_t count;
} sight;

// ---- Looks ----

static bool has_bytes(const sight *s, size_t offset, const char *bytes, size_t count)
{
    return s->count >= offset + count && memcmp(s->bytes + offset, bytes, count) == 0;
}

static bool is_named(const sight *s, const char *ending)
{
    size_t len = strlen(s->path), ending_len = strlen(ending);
    return len > ending_len && strcasecmp(s->path + len - ending_len, ending) == 0;
}

static bool contains(const sight *s, const char *text)
{
    return memmem(s->bytes, s->count, text, strlen(text)) != NULL;
}

static size_t skip_blank(const sight *s)
{
    size_t at = s->count >= 3 && memcmp(s->bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    while (at < s->count && strchr(" \t\r\n", s->bytes[at]) && s->bytes[at])
        at++;
    return at;
}

// <html> or <!doctype html> in capital or small letters.
static bool is_web_page(const sight *s)
{
    static const char *const starts[] = {"<!doctype html", "<html", "<head"};
    const char *at = (const char *)s->bytes + skip_blank(s);
    size_t rest = s->count - skip_blank(s);
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
        if (rest >= strlen(starts[i]) && strncasecmp(at, starts[i], strlen(starts[i])) == 0)
            return true;
    }
    return false;
}

// XML whose root is "net", as OpenVINO writes it.
static bool is_openvino(const sight *s)
{
    size_t at = skip_blank(s), most = s->count - at < 256 ? s->count - at : 256;
    char head[257];
    memcpy(head, s->bytes + at, most);
    head[most] = '\0';
    return strncmp(head, "<?xml", 5) == 0 && strstr(head, "<net ");
}

// The graph of NNVM, which CVM and MXNet write: an object whose first member is "nodes".
static bool is_nnvm_graph(const sight *s)
{
    size_t at = skip_blank(s);
    if (at >= s->count || s->bytes[at] != '{')
        return false;
    sight inner = {"", s->bytes + at + 1, s->count - at - 1};
    at = skip_blank(&inner);
    return has_bytes(&inner, at, "\"nodes\"", 7) && !contains(s, "\"ops\"");
}

// A message of Protocol Buffers: a version, then a field whose value begins with a field of its
// own. In ONNX the second field is the producer, which is text.
static bool is_versioned_message(const sight *s)
{
    if (s->count < 6 || s->bytes[0] != 0x08 || s->bytes[1] >= 0x80 || s->bytes[2] != 0x12)
        return false;
    size_t at = 3;
    while (at < s->count && s->bytes[at] >= 0x80)
        at++;
    return at + 1 < s->count && s->bytes[at + 1] == 0x0a;
}

static bool is_caffe(const sight *s)
{
    return is_named(s, ".caffemodel") || is_named(s, ".prototxt");
}

static bool is_coreml(const sight *s)
{
    return is_named(s, ".mlmodel") && s->count > 0 && s->bytes[0] == 0x08;
}

static bool is_saved_model(const sight *s)
{
    return is_versioned_message(s) && s->bytes[1] == 1;
}

static bool is_graph_def(const sight *s)
{
    return is_named(s, ".pb") && s->count > 2 && s->bytes[0] == 0x0a &&
           contains(s, "\x12\x0b"
                       "Placeholder");
}

static bool is_tmfile(const sight *s)
{
    return has_bytes(s, 0, "\2\0\0\0\0\0", 6) && s->count >= 12 &&
           (is_named(s, ".tmfile") || has_bytes(s, 7, "\x40", 1));
}

// Weights of ncnn have no signature.
static bool is_ncnn_weights(const sight *s)
{
    return is_named(s, ".bin") && s->count >= 4 &&
           (has_bytes(s, 0, "\0\0\0\0", 4) || has_bytes(s, 0, "\x47\x6b\x30\x01", 4));
}

static bool is_torch_archive(const sight *s)
{
    return has_bytes(s, 0, "PK\3\4", 4) &&
           (contains(s, "data.pkl") || contains(s, "constants.pkl") || is_named(s, ".pt") ||
            is_named(s, ".pth"));
}

static bool is_keras_archive(const sight *s)
{
    return has_bytes(s, 0, "PK\3\4", 4) && is_named(s, ".keras");
}

static bool is_pickle(const sight *s)
{
    return s->count > 2 && s->bytes[0] == 0x80 && s->bytes[1] >= 2 && s->bytes[1] <= 5;
}

static bool is_safetensors(const sight *s)
{
    return s->count > 9 && s->bytes[8] == '{' && has_bytes(s, 4, "\0\0\0\0", 4);
}

static bool is_wav(const sight *s)
{
    return has_bytes(s, 0, "RIFF", 4) && has_bytes(s, 8, "WAVE", 4);
}

static bool is_webp(const sight *s)
{
    return has_bytes(s, 0, "RIFF", 4) && has_bytes(s, 8, "WEBP", 4);
}

// ---- The table ----

// The four bytes after the size of the file are 0.
static bool is_bmp(const sight *s)
{
    return has_bytes(s, 0, "BM", 2) && has_bytes(s, 6, "\0\0\0\0", 4);
}

// "P6" and a size or a comment on the next line.
static bool is_pnm(const sight *s)
{
    const unsigned char *b = s->bytes;
    return s->count > 3 && b[0] == 'P' && b[1] >= '1' && b[1] <= '6' &&
           (b[2] == '\n' || b[2] == ' ') && ((b[3] >= '0' && b[3] <= '9') || b[3] == '#');
}

#define TF2ONNX "convert it to ONNX, with tf2onnx: python -m tf2onnx.convert "
#define TORCH   "export it to ONNX from PyTorch, with torch.onnx.export"
#define PICTURE "give it to a model with -i"
#define WEIGHTS "give it with -f beside the model that it belongs to"
#define ORIGIN  "export the model that it was made from to ONNX"

typedef struct row {
    const char *bytes; // NULL: `is` alone
    size_t offset, count;
    bool (*is)(const sight *s);
    ln_foreign found;
} row;

#define AT(offset, bytes) bytes, offset, sizeof bytes - 1, NULL
#define BY(is)            NULL, 0, 0, is

// The first that fits is taken.
static const row rows[] = {
    {AT(0, "version https://git-lfs"),
     {"a pointer of Git LFS in place of the file",
      "fetch the file itself: `git lfs pull` in its repository"}},
    {BY(is_web_page),
     {"a web page (HTML)", "the download has failed: open the address in a browser, and fetch the "
                           "file itself"}},
    {AT(4, "TFL3"), {"a TensorFlow Lite model", TF2ONNX "--tflite FILE --output model.onnx"}},
    {BY(is_tmfile), {"a tmfile of Tengine", ORIGIN}},
    {AT(0, "7767517\n"), {"the .param file of an ncnn model", ORIGIN}},
    {AT(0, "7767517\r\n"), {"the .param file of an ncnn model", ORIGIN}},
    {BY(is_ncnn_weights), {"the .bin file of an ncnn model", ORIGIN}},
    {BY(is_nnvm_graph), {"a graph of NNVM, as CVM and MXNet write it", ORIGIN}},
    {BY(is_keras_archive),
     {"a Keras model", "save it with model.export(\"folder\"), and " TF2ONNX
                       "--saved-model folder --output model.onnx"}},
    {BY(is_torch_archive), {"a file of PyTorch", TORCH}},
    {AT(0, "\x89HDF\r\n\x1a\n"),
     {"an HDF5 file, such as Keras writes", TF2ONNX "--keras FILE --output model.onnx"}},
    {BY(is_caffe), {"a Caffe model", "convert it to ONNX, with caffe2onnx"}},
    {BY(is_coreml), {"a Core ML model", ORIGIN}},
    {BY(is_saved_model),
     {"a SavedModel of TensorFlow", TF2ONNX "--saved-model FOLDER --output model.onnx"}},
    {BY(is_graph_def),
     {"a graph of TensorFlow", TF2ONNX "--graphdef FILE --inputs X:0 --outputs Y:0 --output "
                                       "model.onnx"}},
    {AT(0, "\x1f\x8b"), {"packed with gzip", "unpack it: gunzip FILE"}},
    {AT(0, "\xfd"
           "7zXZ\0"),
     {"packed with xz", "unpack it: unxz FILE"}},
    {AT(0, "BZh"), {"packed with bzip2", "unpack it: bunzip2 FILE"}},
    {AT(0, "\x28\xb5\x2f\xfd"), {"packed with zstd", "unpack it: unzstd FILE"}},
    {AT(0, "PK\3\4"), {"a zip archive", "unpack it: unzip FILE"}},
    {AT(257, "ustar"), {"a tar archive", "unpack it: tar -xf FILE"}},
    {BY(is_pickle), {"a pickle of Python, such as PyTorch writes", TORCH}},
    {AT(0, "GGUF"), {"a GGUF model", ORIGIN}},
    {AT(0, "ftrt"), {"an engine of TensorRT", ORIGIN}},
    {AT(0, "ptrt"), {"an engine of TensorRT", ORIGIN}},
    {BY(is_openvino), {"a model of OpenVINO", ORIGIN}},
    {AT(0, "\xff\xd8\xff"), {"a JPEG picture", PICTURE}},
    {AT(0, "\x89PNG\r\n\x1a\n"), {"a PNG picture", PICTURE}},
    {BY(is_webp), {"a WebP picture", PICTURE}},
    {BY(is_bmp), {"a BMP picture", PICTURE}},
    {BY(is_pnm), {"a picture (PNM)", PICTURE}},
    {AT(0, "GIF8"), {"a GIF picture", "save it as PNG, and " PICTURE}},
    {AT(0, "II*\0"), {"a TIFF picture", PICTURE}},
    {AT(0, "MM\0*"), {"a TIFF picture", PICTURE}},
    {BY(is_wav), {"sound (WAV)", PICTURE}},
    {AT(0, "\x93NUMPY"), {"an array (.npy)", PICTURE}},
    {AT(0, "\xb7\x9c\x04\x05\x4f\x8d\xe5\xf7"),
     {"a params dictionary, which holds weights", WEIGHTS}},
    {BY(is_safetensors), {"a safetensors file, which holds weights", WEIGHTS}},
};

// An empty file may have no bytes at all.
static sight sight_of(const char *path, const char *bytes, size_t byte_count)
{
    return (sight){path ? path : "", (const unsigned char *)(bytes ? bytes : ""), byte_count};
}

const ln_foreign *ln_foreign_find(const char *path, const char *bytes, size_t byte_count)
{
    const sight s = sight_of(path, bytes, byte_count);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const row *r = &rows[i];
        if (r->is ? r->is(&s) : has_bytes(&s, r->offset, r->bytes, r->count))
            return &r->found;
    }
    return NULL;
}

// The version of the format, and one of the fields that follow it.
static bool is_onnx(const sight *s)
{
    return s->count > 2 && s->bytes[0] == 0x08 && s->bytes[1] > 0 && s->bytes[1] < 64 &&
           memchr("\x12\x1a\x22\x28\x32\x3a\x42", s->bytes[2], 7) != NULL;
}

const char *ln_foreign_kind(const char *bytes, size_t byte_count)
{
    const sight s = sight_of(NULL, bytes, byte_count);
    const ln_foreign *found = ln_foreign_find(NULL, bytes, byte_count);
    const size_t at = skip_blank(&s);
    return found                                 ? found->what
           : is_onnx(&s)                         ? "an ONNX model"
           : at < byte_count && bytes[at] == '{' ? "JSON, as models are"
                                                 : NULL;
}
