// SPDX-License-Identifier: Apache-2.0
// Objects of JSON: members of the outermost ones on lines of their own, inner ones on one line.

#include "json_out.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <lightnet/lightnet.h>

#include "cli.h"

enum { LINES_DEPTH = 2 }; // down to here each member has a line of its own

// ---- The object ----

ln_status json_begin_item(json_out *j)
{
    *j = (json_out){0};
    j->file = open_memstream(&j->text, &j->size);
    if (!j->file)
        return LN_FAIL(LN_NO_MEMORY, "out of memory for an object of JSON");
    fputc('{', j->file);
    j->depth = LINES_DEPTH + 1;
    return LN_OK;
}

ln_status json_begin(json_out *j)
{
    LN_TRY(json_begin_item(j));
    j->depth = 1;
    return LN_OK;
}

void json_discard(json_out *j)
{
    if (j->file)
        fclose(j->file);
    free(j->text);
    *j = (json_out){0};
}

// Whether all of it is in j->text.
static ln_status close_text(json_out *j)
{
    int is_whole = !ferror(j->file);
    is_whole &= fclose(j->file) == 0;
    j->file = NULL;
    if (j->is_too_deep)
        return LN_FAIL(LN_LIMIT, "values are nested more than %d deep", JSON_MAX_DEPTH);
    return is_whole ? LN_OK : LN_FAIL(LN_NO_MEMORY, "out of memory for an object of JSON");
}

ln_status json_finish_item(json_out *j, char **out_text)
{
    *out_text = NULL;
    fputc('}', j->file);
    ln_status status = close_text(j);
    if (status == LN_OK) {
        *out_text = j->text;
        j->text = NULL;
    }
    json_discard(j);
    return status;
}

static int is_written_once;

void json_note_written(void)
{
    is_written_once = 1;
}

static ln_status write_whole(const char *path, const char *text, size_t size)
{
    int is_stdout = strcmp(path, "-") == 0;
    json_note_written();
    FILE *file = is_stdout ? stdout : fopen(path, "w");
    if (!file)
        return LN_FAIL(LN_IO, "cannot write %s: %s", path, strerror(errno));
    int is_written = fwrite(text, 1, size, file) == size;
    is_written &= (is_stdout ? fflush(file) : fclose(file)) == 0;
    return is_written ? LN_OK
                      : LN_FAIL(LN_IO, "cannot write %s: %s", is_stdout ? "standard output" : path,
                                strerror(errno));
}

ln_status json_finish(json_out *j, const char *path)
{
    fputs("\n}\n", j->file);
    ln_status status = close_text(j);
    if (status == LN_OK)
        status = write_whole(path, j->text, j->size);
    json_discard(j);
    return status;
}

void json_write_error(const char *path)
{
    ln_status status;
    const char *message = last_error(&status);
    json_out j;
    if (is_written_once || !message || json_begin(&j) != LN_OK)
        return;
    json_open(&j, "error", '{');
    json_text(&j, "status", status == LN_OK ? NULL : ln_status_name(status));
    json_text(&j, "message", message);
    json_close(&j, '}');
    (void)json_finish(&j, path); // what failed has been said
}

// ---- Members ----

static void begin_member(json_out *j, const char *key)
{
    int depth = j->depth < JSON_MAX_DEPTH ? j->depth : JSON_MAX_DEPTH - 1;
    if (j->depth <= LINES_DEPTH)
        fprintf(j->file, "%s\n%*s", j->has_items[depth] ? "," : "", 2 * j->depth, "");
    else if (j->has_items[depth])
        fputs(", ", j->file);
    j->has_items[depth] = 1;
    if (key) {
        print_json_string(j->file, key);
        fputs(": ", j->file);
    }
}

void json_open(json_out *j, const char *key, char bracket)
{
    begin_member(j, key);
    fputc(bracket, j->file);
    j->depth++;
    if (j->depth < JSON_MAX_DEPTH)
        j->has_items[j->depth] = 0;
    else
        j->is_too_deep = 1;
}

void json_close(json_out *j, char bracket)
{
    int has_items = j->depth < JSON_MAX_DEPTH && j->has_items[j->depth];
    j->depth--;
    if (has_items && j->depth < LINES_DEPTH)
        fprintf(j->file, "\n%*s", 2 * j->depth, "");
    fputc(bracket, j->file);
}

void json_null(json_out *j, const char *key)
{
    begin_member(j, key);
    fputs("null", j->file);
}

void json_text(json_out *j, const char *key, const char *text)
{
    begin_member(j, key);
    if (text)
        print_json_string(j->file, text);
    else
        fputs("null", j->file);
}

void json_size(json_out *j, const char *key, size_t number)
{
    begin_member(j, key);
    fprintf(j->file, "%zu", number);
}

void json_int(json_out *j, const char *key, int64_t number)
{
    begin_member(j, key);
    fprintf(j->file, "%" PRId64, number);
}

void json_bool(json_out *j, const char *key, int is_true)
{
    begin_member(j, key);
    fputs(is_true ? "true" : "false", j->file);
}

void json_raw(json_out *j, const char *key, const char *json)
{
    begin_member(j, key);
    fputs(json, j->file);
}

void json_shape(json_out *j, const char *key, int ndim, const int *dims)
{
    begin_member(j, key);
    for (int i = 0; i < ndim; i++)
        fprintf(j->file, "%s%d", i ? ", " : "[", dims[i]);
    fputs(ndim ? "]" : "[]", j->file);
}

// ---- Numbers ----

// The shortest text that `is_float ? strtof : strtod` reads back as `number`.
static void put_number(FILE *file, double number, int is_float)
{
    char text[40];
    if (!isfinite(number)) {
        fputs(isnan(number) ? "\"NaN\"" : number > 0 ? "\"Infinity\"" : "\"-Infinity\"", file);
        return;
    }
    int max_digits = is_float ? 9 : 17;
    for (int digits = is_float ? 6 : 15; digits <= max_digits; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, number);
        if (is_float ? strtof(text, NULL) == (float)number : strtod(text, NULL) == number)
            break;
    }
    fprintf(file, "%s%s", text, strpbrk(text, ".e") ? "" : ".0");
}

void json_number(json_out *j, const char *key, double number)
{
    begin_member(j, key);
    put_number(j->file, number, 0);
}

static double real_at(const tl_tensor *tensor, int index)
{
    double value = 0;
    (void)tl_convert(&value, TL_DOUBLE, tl_padd(tensor->data, index, tl_size_of(tensor->dtype)),
                     tensor->dtype);
    return value;
}

static void put_string(FILE *file, const char *text)
{
    print_json_string(file, text ? text : "");
}

static void put_element(FILE *file, const tl_tensor *tensor, int index)
{
    const void *data = tensor->data;
    switch (tensor->dtype) {
    case TL_DOUBLE: put_number(file, ((const double *)data)[index], 0); return;
    case TL_FLOAT: put_number(file, (double)((const float *)data)[index], 1); return;
    case TL_INT64: fprintf(file, "%" PRId64, ((const int64_t *)data)[index]); return;
    case TL_UINT64: fprintf(file, "%" PRIu64, ((const uint64_t *)data)[index]); return;
    case TL_BOOL: fputs(real_at(tensor, index) != 0 ? "true" : "false", file); return;
    case TL_STRING: put_string(file, ((const char *const *)data)[index]); return;
    case TL_OBJECT: fputs("null", file); return;
    case TL_COMPLEX64:
    case TL_COMPLEX128: {
        tl_tensor parts = *tensor;
        parts.dtype = tensor->dtype == TL_COMPLEX64 ? TL_FLOAT : TL_DOUBLE;
        for (int i = 0; i < 2; i++) {
            parts.data = tl_padd(tensor->data, index, tl_size_of(tensor->dtype));
            fputs(i ? ", " : "[", file);
            put_element(file, &parts, i);
        }
        fputc(']', file);
        return;
    }
    default: break;
    }
    if (TL_DTYPE_IS_NARROW(tensor->dtype))
        put_number(file, real_at(tensor, index), 1);
    else
        fprintf(file, "%.0f", real_at(tensor, index));
}

void json_element(json_out *j, const char *key, const tl_tensor *tensor, int index)
{
    begin_member(j, key);
    put_element(j->file, tensor, index);
}

void json_elements(json_out *j, const char *key, const tl_tensor *tensor)
{
    begin_member(j, key);
    fputc('[', j->file);
    for (int i = 0; i < tensor->len; i++) {
        fputs(i ? ", " : "", j->file);
        put_element(j->file, tensor, i);
    }
    fputc(']', j->file);
}
