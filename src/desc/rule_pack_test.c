// SPDX-License-Identifier: Apache-2.0
// Packed rules: all that is known of a rule survives.

#include "desc/rule_pack.h"

#include <lightnet/allocator.h>

#include "base/pack.h"
#include "tests/oom.h"
#include "tests/test.h"

#define RULES                                                                                      \
    "rule two [rounds] a = f(b | p=[1, -0.5], q=v, s=\"x\\\"\", t=true) b, _ = g(x)\n"             \
    "where rank(b, 2), not dtype(x, TL_FLOAT) => a = h(src=x | params(b), q=rank(x) * 0.1)\n"      \
    "after expand\n"                                                                               \
    "rule three [exact] y = f(x, xs...) => y = forward(x)\n"                                       \
    "lower * => *_k where dtype(src, TL_FLOAT)"

// Packs the rules that `text` has.
static void pack(const char *text, ln_text *raw)
{
    ln_rule_set *set;
    CHECK_OK(ln_rule_set_parse(text, strlen(text), "k.rules", &set));
    ln_rule_pack((const ln_rule_set *const *)&set, 1, raw);
    CHECK_OK(raw->status);
    ln_rule_set_destroy(set);
}

TEST(rules_that_were_unpacked_pack_to_the_same_bytes)
{
    ln_text raw = {0}, packed = {0}, again = {0};
    pack(RULES, &raw);
    ln_pack_compress(&raw, &packed);
    CHECK_OK(packed.status);
    ln_rule_set from = {.file = "k.rules", .packed = (const unsigned char *)packed.bytes};
    ln_rule_set *set;
    CHECK_OK(ln_rule_set_unpack(&from, &set));
    CHECK_STR_EQ(set->file, "k.rules");
    CHECK_EQ(set->rule_count, 2);
    CHECK_EQ(set->lower_count, 0);
    CHECK_STR_EQ(set->rules[0].name, "two");
    CHECK_STR_EQ(set->rules[0].file, "k.rules");
    CHECK_EQ(set->rules[0].tag, LN_RULE_rounds);
    CHECK_EQ(set->rules[0].pattern_count, 2);
    CHECK_EQ(set->rules[0].condition_count, 2);
    CHECK_EQ(set->rules[1].stage, LN_RULE_AFTER_EXPAND);
    CHECK_EQ(set->rules[1].line, 4);
    CHECK(set->rules[1].pattern[0].ins[1].is_rest);

    ln_rule_pack((const ln_rule_set *const *)&set, 1, &again);
    CHECK_EQ(again.len, raw.len);
    CHECK(memcmp(again.bytes, raw.bytes, raw.len) == 0);
    ln_rule_set_destroy(set);
    ln_text_deinit(&again);
    ln_text_deinit(&packed);
    ln_text_deinit(&raw);
}

TEST(out_of_memory_gives_no_set)
{
    ln_text raw = {0}, packed = {0};
    pack(RULES, &raw);
    ln_pack_compress(&raw, &packed);
    ln_rule_set from = {.file = "k.rules", .packed = (const unsigned char *)packed.bytes};
    OOM_SWEEP(n)
    {
        ln_rule_set *set;
        if (ln_rule_set_unpack(&from, &set) == LN_OK)
            ln_rule_set_destroy(set);
        else
            CHECK_NULL(set);
    }
    ln_text_deinit(&packed);
    ln_text_deinit(&raw);
}

TEST_LIST(rules_that_were_unpacked_pack_to_the_same_bytes, out_of_memory_gives_no_set)
