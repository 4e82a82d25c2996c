// SPDX-License-Identifier: Apache-2.0
// `--json`: one object, held in memory until it is whole, then written.
//
//     json_out j;
//     LN_TRY(json_begin(&j));
//     json_text(&j, "model", path);
//     json_open(&j, "outputs", '[');
//     ...
//     json_close(&j, ']');
//     return json_finish(&j, "-");
//
// Numbers read back as what they were: floats have the fewest digits of which that is true, a point
// or an exponent, and their sign where they are 0; integers have all digits. NaN and infinities,
// which JSON lacks, are the strings "NaN", "Infinity" and "-Infinity".

#ifndef LN_CLI_JSON_OUT_H
#define LN_CLI_JSON_OUT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <lightnet/object.h>
#include <lightnet/status.h>
#include <lightnet/tensor.h>

enum { JSON_MAX_DEPTH = 64 };

typedef struct json_out {
    FILE *file; // in memory
    char *text;
    size_t size;
    int depth;                      // brackets that are open
    char has_items[JSON_MAX_DEPTH]; // at each depth
    int is_too_deep;
} json_out;

// Opens the object. Fails: LN_NO_MEMORY. json_finish or json_discard frees it.
ln_status json_begin(json_out *j);

// The same for an object that becomes an item of another, in json_raw.
ln_status json_begin_item(json_out *j);

// Closes the object and writes it to the file `path`, or for "-" to standard output. Fails: LN_IO,
// LN_NO_MEMORY; LN_LIMIT if values are nested too deep. Nothing is written then, or a part of it
// to the file.
ln_status json_finish(json_out *j, const char *path);

// For objects that are written in another way: that it is written, whole or not.
void json_note_written(void);

// After a command with --json that ended with an error and without an object: writes one with
// "error" to `path`.
void json_write_error(const char *path);

// Closes the object. *out_text is its text, which the caller frees with free().
ln_status json_finish_item(json_out *j, char **out_text);

void json_discard(json_out *j); // accepts all zero, and what is finished

// ---- Members and items: `key` is NULL for an item of an array ----

void json_open(json_out *j, const char *key, char bracket);     // '{' or '['
void json_close(json_out *j, char bracket);                     // '}' or ']'
void json_text(json_out *j, const char *key, const char *text); // NULL: null
void json_size(json_out *j, const char *key, size_t number);
void json_int(json_out *j, const char *key, int64_t number);
void json_bool(json_out *j, const char *key, int is_true);
void json_number(json_out *j, const char *key, double number);
void json_null(json_out *j, const char *key);
void json_raw(json_out *j, const char *key, const char *json); // the text of a value

// "[1, 3, 224, 224]"
void json_shape(json_out *j, const char *key, int ndim, const int *dims);

// Element `index`: a number, true or false, a string, or of a complex number [real, imaginary].
void json_element(json_out *j, const char *key, const tl_tensor *tensor, int index);

// All elements, in row-major order, on one line.
void json_elements(json_out *j, const char *key, const tl_tensor *tensor);

#endif
