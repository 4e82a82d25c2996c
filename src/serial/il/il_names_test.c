// SPDX-License-Identifier: Apache-2.0
// The map of names.

#include "serial/il/il_names.h"

#include <stdio.h>

#include "serial/il/il_testing.h"

TEST(an_empty_map_has_no_names)
{
    ln_il_names names = {0};
    CHECK_NULL(ln_il_names_find(&names, "a", 1));
}

TEST(names_that_begin_alike_are_different)
{
    static const char *const texts[] = {"", "a", "ab", "abc", "b", "\xff", "\x01", "aa", "a\x01"};
    ln_il_names names = {0};
    ln_document *arena;
    CHECK_OK(ln_document_create(NULL, &arena));
    for (size_t i = 0; i < LENGTH(texts); i++) {
        CHECK_NULL(ln_il_names_find(&names, texts[i], strlen(texts[i])));
        ln_il_names_add(&names, arena, texts[i], strlen(texts[i]))->number = i + 1;
    }
    for (size_t i = 0; i < LENGTH(texts); i++) {
        CHECK_EQ(ln_il_names_find(&names, texts[i], strlen(texts[i]))->number, i + 1);
        CHECK_EQ(ln_il_names_add(&names, arena, texts[i], strlen(texts[i]))->number, i + 1);
    }
    ln_document_destroy(arena);
}

TEST(many_names_are_all_found)
{
    enum { COUNT = 20000 };
    static char texts[COUNT][12];
    ln_il_names names = {0};
    ln_document *arena;
    CHECK_OK(ln_document_create(NULL, &arena));
    for (int i = 0; i < COUNT; i++) {
        snprintf(texts[i], sizeof texts[i], "x%d", i * 7919 % COUNT);
        CHECK_NOT_NULL(ln_il_names_add(&names, arena, texts[i], strlen(texts[i])));
    }
    for (int i = 0; i < COUNT; i++)
        CHECK_PTR_EQ(ln_il_names_find(&names, texts[i], strlen(texts[i]))->text, texts[i]);
    CHECK_NULL(ln_il_names_find(&names, "x20000", 6));
    ln_document_destroy(arena);
}

TEST_LIST(an_empty_map_has_no_names, names_that_begin_alike_are_different, many_names_are_all_found)
