// SPDX-License-Identifier: Apache-2.0
// Weights from one format into another: the library reads them all and writes them all.

#include "convert_weights.h"

#include "cli.h"
#include "progress.h"

// .wts has a length for each array, no shape.
static void warn_about_shapes(const ln_tensor_file *file, const char *outfile)
{
    int lost = 0, first = -1;
    for (int i = 0; i < ln_tensor_file_count(file); i++) {
        if (ln_tensor_file_describe(file, i)->ndim == 1)
            continue;
        first = first < 0 ? i : first;
        lost++;
    }
    if (lost > 0)
        say_warning("%s holds no shapes: %d tensor%s, such as '%s', %s only a length", outfile,
                    lost, lost == 1 ? "" : "s", ln_tensor_file_name(file, first),
                    lost == 1 ? "keeps" : "keep");
}

static ln_status write_all(const ln_tensor_file *file, const char *outfile,
                           ln_tensor_file_format format)
{
    size_t count = (size_t)ln_tensor_file_count(file);
    ln_named_tensor *tensors = ln_alloc_array(count, sizeof *tensors);
    ln_status status = tensors ? LN_OK : LN_NO_MEMORY;
    for (size_t i = 0; i < count && status == LN_OK; i++) {
        tensors[i] = (ln_named_tensor){ln_tensor_file_name(file, (int)i),
                                       ln_tensor_file_tensor(file, (int)i)};
        status = tensors[i].tensor ? LN_OK : ln_error_status();
        progress_set(i + 1, count);
    }
    if (status == LN_OK)
        status = ln_tensor_file_save(outfile, format, tensors, count);
    ln_free(tensors);
    return status;
}

int convert_weights(const char *path, const char *outfile, ln_tensor_file_format format)
{
    progress_begin("converting %s", path);
    ln_tensor_file *file;
    ln_status status = ln_tensor_file_open(path, &file);
    if (status == LN_OK)
        status = write_all(file, outfile, format);
    progress_end();
    if (status == LN_OK && format == LN_TENSOR_FILE_WTS)
        warn_about_shapes(file, outfile);
    ln_tensor_file_close(file);
    return status == LN_OK ? EXIT_OK : say_failure();
}

int is_weights(const char *path)
{
    ln_tensor_file *file;
    int is_open = ln_tensor_file_open(path, &file) == LN_OK;
    ln_tensor_file_close(file);
    return is_open;
}
