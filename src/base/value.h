// SPDX-License-Identifier: Apache-2.0
// A tree of values with places: what JSON, easy JSON and operator descriptions parse into, and
// what models are printed from.
//
// One reader serves all dialects, because each is JSON with more freedom. It is iterative and
// bounded. All nodes and strings of a document live in its arena and die with it. Numbers are read
// and printed with a point whatever the process locale says.

#ifndef LN_BASE_VALUE_H
#define LN_BASE_VALUE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

LN_CPPSTART

typedef enum ln_value_kind {
    LN_VALUE_NULL,
    LN_VALUE_BOOL,
    LN_VALUE_NUMBER,
    LN_VALUE_STRING,
    LN_VALUE_ARRAY,
    LN_VALUE_OBJECT,
    LN_VALUE_DELETE, // `-` in an operator description: removes an inherited entry
} ln_value_kind;

typedef struct ln_value ln_value;
struct ln_value {
    ln_value_kind kind;
    bool boolean;
    ln_place place;     // of the value's first byte
    const char *key;    // in an object: the member's name, else NULL
    ln_place key_place; // of the key's first byte
    double number;
    const char *text; // a string's bytes, decoded, NUL-terminated; a number's spelling; of a named
                      // object: the name of its base or NULL (see LN_DIALECT_OP)
    size_t text_len;
    ln_value *first; // an array's or object's children in order, linked by `next`
    ln_value *last;
    ln_value *next;
    size_t count; // number of children
};

typedef struct ln_document ln_document;

// The dialects, each a superset of the one before.
//   JSON      JSON with // and /* */ comments; text is UTF-8 without NUL
//   EASY      and trailing commas, '''heredoc''' strings: what the IR is read as
//   OP        and bare keys, "..." '...' `...` strings over lines, `-` deletes; and a text may be a
//             sequence of named objects instead of one value
//
// A heredoc opens with ''' and a line end. Its content is the following lines as they are, up to
// the first line whose first non-blank bytes are '''; the line end before that line is no part of
// it. In OP, "..." knows the escapes of JSON and a backslash before any punctuation; in '...' and
// `...` only the quote itself can be escaped, every other backslash stands for itself.
//
// Named objects: `NAME { ... }` or `NAME : BASE { ... }`, a comma after each is optional. The root
// is then an object whose `text` is "" (else NULL), whose members are the objects in order; the
// `text` of such a member is BASE, or NULL without one.
typedef enum ln_dialect {
    LN_DIALECT_JSON,
    LN_DIALECT_EASY,
    LN_DIALECT_OP,
} ln_dialect;

#define LN_VALUE_MAX_DEPTH  32        // nesting of arrays and objects
#define LN_VALUE_MAX_NODES  16000000  // values in one document
#define LN_VALUE_MAX_BYTES  (1 << 30) // bytes of one text
#define LN_VALUE_MAX_DIGITS 1200      // bytes of one number's spelling

// ---- Reading ----

// Parses one value and nothing after it. A duplicate key is an error that names both places (found
// by sorting when the object ends, so that no choice of keys makes it slow). `file` is copied.
// *out_document is NULL on failure: LN_SYNTAX, LN_LIMIT or LN_NO_MEMORY; the message of the first
// two has file, line and column.
ln_status ln_document_parse(const char *text, size_t len, const char *file, ln_dialect dialect,
                            ln_document **out_document);

// The member `key` of an object; NULL when `object` is NULL, no object, or has no such member.
// Looks at one member after the other: walk `first`/`next` where an object may be large.
const ln_value *ln_value_get(const ln_value *object, const char *key);

// "null", "a bool", "a number", "a string", "an array", "an object", "a deletion", for messages.
const char *ln_value_kind_text(ln_value_kind kind);

// ---- Making ----

ln_status ln_document_create(const char *file, ln_document **out_document);
void ln_document_destroy(ln_document *document); // accepts NULL
ln_value *ln_document_root(ln_document *document);
void ln_document_set_root(ln_document *document, ln_value *root);
const char *ln_document_file(const ln_document *document); // lives as long as the document

// New nodes, not yet part of a parent; NULL and a recorded failure when memory is gone.
ln_value *ln_value_new(ln_document *document, ln_value_kind kind, ln_place place);
ln_value *ln_value_new_string(ln_document *document, const char *text, ln_place place);
ln_value *ln_value_new_number(ln_document *document, double number, ln_place place);
ln_value *ln_value_new_bool(ln_document *document, bool boolean, ln_place place);

// Whether a string may stand in a document that is to be read again: UTF-8.
bool ln_value_is_utf8(const char *text);

// Appends `child` (NULL passes a failure on: returns the thread's status). `key` is copied; NULL
// for arrays. That keys differ is up to the caller.
ln_status ln_value_append(ln_document *document, ln_value *parent, const char *key,
                          ln_value *child);

// The same where `key` outlives the document, as a literal does: it is not copied.
ln_status ln_value_append_literal(ln_value *parent, const char *key, ln_value *child);

// Memory that lives as long as the document; NULL and a recorded failure when there is none.
void *ln_document_alloc(ln_document *document, size_t byte_count);
char *ln_document_strdup(ln_document *document, const char *s, size_t len);

// ---- Printing ----

// Canonical JSON: four spaces a level; an object or array whose members are all scalars (or flat
// arrays) on one line, but an empty array that is a member of a broken object on two; numbers in
// the fewest digits that read back to the same double (integers without a point). Non-finite
// numbers, deletions and nesting over LN_VALUE_MAX_DEPTH fail (in `text->status`). NULL prints
// nothing. Ends without a newline.
void ln_value_print(const ln_value *value, ln_text *text);

// The same, but numbers that were read from JSON keep their spelling.
void ln_value_print_as_read(const ln_value *value, ln_text *text);

// The fewest digits that read back to the same double, at most 32 bytes with the NUL: "1", "-0",
// "0.1", "1e+20". Integers below 2^53 have neither point nor exponent. Non-finite numbers,
// which no dialect can read, give "inf", "-inf" and "nan".
void ln_number_print(double number, char buffer[32]);

LN_CPPEND

#endif
