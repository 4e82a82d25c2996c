// SPDX-License-Identifier: Apache-2.0
// Optimizer descriptions in the old form: what becomes a rule, and what is refused.

#include <lightnet/expander.h>

#include <string.h>

#include <lightnet/allocator.h>

#include "desc/rule.h"
#include "tests/oom.h"
#include "tests/test.h"

#define HEAD "{\"author\": \"A\", \"arch\": \"cpu\", \"name\": \"cpu\", \"ops\": ["

typedef struct sample {
    const char *why;
    const char *text;
    const char *wanted; // the rules, or a part of the message
} sample;

static const sample samples[] = {
    {"a plain change of types, in easy JSON",
     "// Old style.\n" HEAD "{\"optype\": \"relu\", \"rules\": "
     "[{\"cond\": [], \"replace\": [\"relu_cpu\"]},],},]}",
     "# Expander 'cpu'.\nlower relu => relu_cpu\n"},
    {"ordered conditions, the last without",
     HEAD "{\"optype\": \"conv2d\", \"rules\": [{\"cond\": [\"self.ins[src].dtype == TL_FLOAT && "
          "self.ins[weight].isstatic\"], \"replace\": [\"conv2d_cpu\"]}, {\"cond\": [], \"warn\": "
          "\"slow\", \"replace\": [\"conv2d_ref\"]}]}]}",
     "# Expander 'cpu'.\n"
     "lower conv2d => conv2d_cpu where dtype(src, TL_FLOAT), static(weight)\n"
     "# slow\n"
     "lower conv2d => conv2d_ref\n"},
    {"alternatives: in the list, by ||, and distributed over &&",
     HEAD "{\"optype\": \"relu\", \"rules\": [{\"cond\": [\"self.ins[src].ndim == 4\", "
          "\"(self.ins[src].dtype != TL_INT8 || self.ins[src].isstatic == 0) && "
          "self.ins[bias].ndim != 1\"], \"replace\": [\"relu_cpu\"]}]}]}",
     "# Expander 'cpu'.\n"
     "lower relu => relu_cpu where rank(src, 4)\n"
     "lower relu => relu_cpu where not dtype(src, TL_INT8), not rank(bias, 1)\n"
     "lower relu => relu_cpu where not static(src), not rank(bias, 1)\n"},
    {"main memory is where everything is; what is lowered stays",
     HEAD "{\"optype\": \"print\", \"rules\": [{\"cond\": [\"self.ins[src].mtype == LN_MEM_CPU\"], "
          "\"replace\": [\"print_ref\"]}, {\"cond\": [], \"err\": \"no\"}]}, "
          "{\"optype\": \"create_cpu\", \"rules\": [{\"cond\": [], \"match\": false}]}]}",
     "# Expander 'cpu'.\n"
     "lower print => print_ref\n"
     "# print: what no statement above takes is refused\n"
     "# create_cpu: left as it is\n"},
};

static const sample refused[] = {
    {"several operators",
     HEAD
     "\n{\"optype\": \"batchnorm\", \"rules\": [{\"cond\": [],\n\"replace\": [\"bn2scale_wts_cpu "
     "wts\", \"tensorrt sc\"], \"details\": []}]}]}",
     "f.json:3:12: batchnorm becomes 2 operators with arguments of their own"},
    {"a named one",
     HEAD "{\"optype\": \"relu\", \"rules\": [{\"cond\": [], \"replace\": [\"relu_x r\"], "
          "\"details\": [\"r.ins[src] = self.ins[src]\"]}]}]}",
     "relu becomes 1 operator with arguments of their own"},
    {"an operator that goes",
     HEAD "{\"optype\": \"forward\", \"rules\": [{\"cond\": [], \"replace\": []}]}]}",
     "y = forward(x) => y = x"},
    {"who reads it",
     HEAD "{\"optype\": \"create\", \"rules\": [{\"cond\": [\"self.outs[dst]=>relu.ins[src]\"], "
          "\"replace\": [\"create_cpu\"]}]}]}",
     "who reads a tensor cannot be asked"},
    {"a parameter",
     HEAD "{\"optype\": \"conv2d\", \"rules\": [{\"cond\": [\"self.params[group] == 1\"], "
          "\"replace\": [\"conv2d_cpu\"]}]}]}",
     "asks about inputs of the operator only"},
    {"a dimension",
     HEAD "{\"optype\": \"relu\", \"rules\": [{\"cond\": [\"self.ins[src].dims[1] > 3\"], "
          "\"replace\": [\"relu_cpu\"]}]}]}",
     "a rule can ask for dimensions"},
    {"other memory",
     HEAD "{\"optype\": \"relu\", \"rules\": [{\"cond\": [\"self.ins[src].mtype == "
          "LN_MEM_CUDA\"], \"replace\": [\"relu_cuda\"]}]}]}",
     "memory types are no condition of a rule"},
    {"one that stays under a condition",
     HEAD "{\"optype\": \"relu\", \"rules\": [{\"cond\": [\"self.ins[src].isstatic\"], \"match\": "
          "false}, {\"cond\": [], \"replace\": [\"relu_cpu\"]}]}]}",
     "relu is left as it is under a condition"},
    {"C", HEAD "{\"optype\": \"relu\", \"rules\": [], \"custom_before\": \"f();\"}]}",
     "\"custom_before\" is C"},
    {"no name", "{\"ops\": []}", "\"name\" is missing"},
    {"no conditions", HEAD "{\"optype\": \"relu\", \"rules\": [{\"replace\": [\"relu_cpu\"]}]}]}",
     "\"cond\" is missing"},
    {"a type that is none", HEAD "{\"optype\": \"a b\", \"rules\": []}]}",
     "'a b' is no operator type"},
    {"a bracket",
     HEAD "{\"optype\": \"relu\", \"rules\": [{\"cond\": [\"(self.ins[src].isstatic\"], "
          "\"replace\": [\"relu_cpu\"]}]}]}",
     "a bracket of the condition is not closed"},
    {"text after it",
     HEAD "{\"optype\": \"relu\", \"rules\": [{\"cond\": [\"self.ins[src].isstatic )\"],"
          " \"replace\": [\"relu_cpu\"]}]}]}",
     "the condition ends before ')'"},
    {"deep brackets",
     HEAD
     "{\"optype\": \"relu\", \"rules\": [{\"cond\": [\"((((((((((((((((((1\"], \"replace\": []}]}]}",
     "nested too deeply"},
    {"nothing", "", "f.json"},
};

TEST(what_lower_statements_can_say_becomes_one)
{
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
        const sample *s = &samples[i];
        char *rules;
        ln_rule_set *set;
        CHECK(ln_expander_probe(s->text, strlen(s->text)));
        CHECK_OK(ln_expander_to_rules(s->text, strlen(s->text), "f.json", &rules));
        CHECK_STR_EQ(rules, s->wanted);
        CHECK_OK(ln_rule_set_parse(rules, strlen(rules), "f.rules", &set));
        ln_rule_set_destroy(set);
        ln_free(rules);
    }
}

TEST(what_they_cannot_say_is_refused_with_the_reason)
{
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        const sample *s = &refused[i];
        char *rules;
        CHECK(ln_expander_to_rules(s->text, strlen(s->text), "f.json", &rules) != LN_OK);
        CHECK_NULL(rules);
        CHECK_MESSAGE(s->wanted);
    }
}

TEST(files_of_rules_are_no_descriptions)
{
    CHECK(!ln_expander_probe("# a\nlower * => *_ref\n", 20));
    CHECK(!ln_expander_probe("rule", 4));
    CHECK(!ln_expander_probe(NULL, 0));
    CHECK(ln_expander_probe(" \n{", 3));
}

TEST(conversion_survives_refused_memory)
{
    OOM_SWEEP(n)
    {
        char *rules;
        if (ln_expander_to_rules(samples[2].text, strlen(samples[2].text), "f.json", &rules) ==
            LN_OK)
            ln_free(rules);
    }
}

TEST_LIST(what_lower_statements_can_say_becomes_one,
          what_they_cannot_say_is_refused_with_the_reason, files_of_rules_are_no_descriptions,
          conversion_survives_refused_memory)
