// SPDX-License-Identifier: Apache-2.0
// Spellings of tags and predicates.

#include "desc/rule.h"

static const char *const tag_names[] = {
#define TAG_NAME(name, meaning) #name,
    LN_RULE_TAG_LIST(TAG_NAME)
#undef TAG_NAME
};

static const struct {
    const char *name;
    const char *signature;
} predicates[] = {
#define P(name, signature, meaning) {#name, signature},
#include "desc/rule_predicates.inc"
#undef P
};

const char *ln_rule_tag_name(ln_rule_tag tag)
{
    return (unsigned)tag < LN_RULE_TAG_COUNT ? tag_names[tag] : "unknown";
}

const char *ln_rule_predicate_name(ln_rule_predicate predicate)
{
    return (unsigned)predicate < LN_RULE_PREDICATE_COUNT ? predicates[predicate].name : "unknown";
}

const char *ln_rule_predicate_signature(ln_rule_predicate predicate)
{
    return (unsigned)predicate < LN_RULE_PREDICATE_COUNT ? predicates[predicate].signature : "";
}
