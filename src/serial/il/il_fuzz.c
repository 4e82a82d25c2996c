// SPDX-License-Identifier: Apache-2.0
// Any bytes give a model or an error; what is printed reads back to the same print.

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <lightnet/allocator.h>

#include "serial/il/il_parse.h"
#include "serial/il/il_print.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *print(ln_document *document)
{
    ln_text text = {0};
    char *bytes;
    if (ln_il_print(ln_document_root(document), &text) != LN_OK ||
        ln_text_take(&text, &bytes, NULL) != LN_OK)
        abort();
    return bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ln_document *document, *again;
    if (ln_il_parse((const char *)data, size, "fuzz", NULL, &document) != LN_OK)
        return 0;
    char *first = print(document);
    if (ln_il_parse(first, strlen(first), "again", NULL, &again) != LN_OK)
        abort();
    char *second = print(again);
    if (strcmp(first, second) != 0)
        abort();
    ln_free(first);
    ln_free(second);
    ln_document_destroy(document);
    ln_document_destroy(again);
    return 0;
}
