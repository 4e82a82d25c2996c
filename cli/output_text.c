// SPDX-License-Identifier: Apache-2.0
// Folders and files of outputs, told apart by their names.

#include "output_text.h"

#include <string.h>

#include <lightnet/lightnet.h>

static int ends_with(const char *text, const char *ending)
{
    size_t len = strlen(text), ending_len = strlen(ending);
    return len >= ending_len && strcmp(text + len - ending_len, ending) == 0;
}

int is_output_file(const char *text)
{
    static const char *const endings[] = {
        ".npy", ".npz",  ".txt", ".json", ".csv", ".raw", ".bin", ".pb",   ".png",
        ".jpg", ".jpeg", ".bmp", ".tiff", ".wav", ".h5",  ".mat", ".onnx", ".safetensors"};
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++)
        if (ends_with(text, endings[i]))
            return 1;
    return !*text || strcmp(text, "-") == 0 || strchr(text, '=') != NULL;
}

ln_status output_text_check(const char *text)
{
    const char *equals = strchr(text, '='), *path = equals ? equals + 1 : text;
    if (!is_output_file(text) || (ends_with(path, ".npy") && strcmp(path, ".npy") != 0))
        return LN_OK;
    return LN_FAIL(LN_INVALID, "-o takes a folder, FILE.npy or NAME=FILE.npy, not '%s'", text);
}
