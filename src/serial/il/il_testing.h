// SPDX-License-Identifier: Apache-2.0
// What the tests of this folder share. Not part of the library.

#ifndef LN_SERIAL_IL_IL_TESTING_H
#define LN_SERIAL_IL_IL_TESTING_H

#include <stdio.h>
#include <stdlib.h>

#include <lightnet/allocator.h>

#include "serial/il/il_parse.h"
#include "serial/il/il_preprocess.h"
#include "serial/il/il_print.h"
#include "tests/test.h"

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

// The canonical JSON of a text, or its error message. The caller frees it.
__attribute__((unused)) static char *il_to_json(const char *il, size_t len)
{
    ln_document *document;
    if (ln_il_parse(il, len, "m.net", NULL, &document) != LN_OK) {
        CHECK_NULL(document);
        return ln_strdup(ln_error_message());
    }
    ln_text text = {0};
    char *bytes;
    ln_value_print(ln_document_root(document), &text);
    CHECK_OK(ln_text_take(&text, &bytes, NULL));
    ln_document_destroy(document);
    return bytes;
}

// The IL that the tree of a text prints as, or its error message. The caller frees it.
__attribute__((unused)) static char *il_to_il(const char *il)
{
    ln_document *document;
    if (ln_il_parse(il, strlen(il), "m.net", NULL, &document) != LN_OK)
        return ln_strdup(ln_error_message());
    ln_text text = {0};
    char *bytes;
    CHECK_OK(ln_il_print(ln_document_root(document), &text));
    CHECK_OK(ln_text_take(&text, &bytes, NULL));
    ln_document_destroy(document);
    return bytes;
}

// The tokens of a text with one space between them, or its error message. The caller frees it.
__attribute__((unused)) static char *il_to_tokens(const char *il)
{
    ln_document *document;
    CHECK_OK(ln_document_create("m.net", &document));
    ln_il_preprocessor *pp = ln_alloc(sizeof *pp);
    ln_status status = ln_il_preprocessor_init(pp, document, il, strlen(il), NULL, "");
    ln_text text = {0};
    if (status == LN_OK) {
        ln_il_token token = {.kind = LN_IL_NAME};
        while ((status = ln_il_preprocessor_next(pp, &token)) == LN_OK && token.kind != LN_IL_END) {
            if (text.len > 0)
                ln_text_puts(&text, " ");
            ln_text_append(&text, token.text, token.len);
        }
        ln_il_preprocessor_deinit(pp);
    }
    ln_free(pp);
    ln_document_destroy(document);
    char *bytes;
    CHECK_OK(ln_text_take(&text, &bytes, NULL));
    if (status == LN_OK)
        return bytes;
    ln_free(bytes);
    return ln_strdup(ln_error_message());
}

// An allocator that fails the allocation with number `il_fail_at`, counted from 0, and counts what
// is not given back.
static size_t il_fail_at, il_alloc_count, il_live_count;

static void *il_failing_resize(void *user, void *p, size_t size)
{
    (void)user;
    if (il_alloc_count++ == il_fail_at)
        return NULL;
    il_live_count += p == NULL;
    return realloc(p, size);
}

static void il_failing_release(void *user, void *p)
{
    (void)user;
    il_live_count--;
    free(p);
}

__attribute__((unused)) static void il_allocator_fail_at(size_t number)
{
    static const ln_allocator failing = {il_failing_resize, il_failing_release, NULL};
    il_fail_at = number;
    il_alloc_count = 0;
    il_live_count = 0;
    ln_allocator_set(&failing);
}

#endif
