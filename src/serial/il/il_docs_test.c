// SPDX-License-Identifier: Apache-2.0
// The examples of docs/il.md do what the page says.
//
// A block "il" is parsed; a block "json" after it is what it gives, a block "message" is what it is
// refused with.

#include "serial/il/il_testing.h"

typedef struct block {
    char kind[16];
    char *text;
    int line;
} block;

// Cuts the first fenced block out of the page at *inout_page; false when there is none.
static bool next_block(char **inout_page, int *inout_line, block *out)
{
    char *p = *inout_page;
    bool is_open = false;
    *out = (block){0};
    while (*p) {
        char *end = strchr(p, '\n');
        bool is_fence = strncmp(p, "```", 3) == 0;
        ++*inout_line;
        if (!end)
            return false;
        if (is_fence && is_open) {
            *p = '\0';
            *inout_page = end + 1;
            return true;
        }
        if (is_fence) {
            is_open = true;
            snprintf(out->kind, sizeof out->kind, "%.*s", (int)(end - p - 3), p + 3);
            out->text = end + 1;
            out->line = *inout_line;
        }
        p = end + 1;
    }
    return false;
}

static void check_example(const block *example, const block *result)
{
    ln_document *document;
    ln_text text = {0};
    ln_status status =
        ln_il_parse(example->text, strlen(example->text), "model.net", NULL, &document);
    if (strcmp(result->kind, "message") == 0)
        ln_text_printf(&text, "%s\n", status == LN_OK ? "no error" : ln_error_message());
    else if (status != LN_OK)
        fail_msg("docs/il.md:%d: %s", example->line, ln_error_message());
    else
        ln_value_print(ln_document_root(document), &text);
    if (strcmp(result->kind, "json") == 0)
        ln_text_puts(&text, "\n");
    if (*result->kind && strcmp(result->kind, "il") != 0 && strcmp(text.bytes, result->text) != 0)
        fail_msg("docs/il.md:%d: gives\n%s", example->line, text.bytes);
    ln_text_deinit(&text);
    ln_document_destroy(document);
}

TEST(the_examples_of_the_page_are_right)
{
    char *page;
    int line = 0, example_count = 0;
    CHECK_OK(ln_text_read_file(LN_SOURCE_DIR "/docs/il.md", 1 << 20, &page, NULL));
    char *p = page;
    block example, result;
    bool has_block = next_block(&p, &line, &example);
    while (has_block) {
        bool is_example = strcmp(example.kind, "il") == 0;
        has_block = next_block(&p, &line, &result);
        bool is_result = strcmp(result.kind, "json") == 0 || strcmp(result.kind, "message") == 0;
        if (is_example)
            check_example(&example, is_result ? &result : &(block){0});
        example_count += is_example;
        example = result;
    }
    CHECK(example_count >= 10);
    ln_free(page);
}

TEST_LIST(the_examples_of_the_page_are_right)
