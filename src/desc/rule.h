// SPDX-License-Identifier: Apache-2.0
// Rewrite rules as structs: what a .rules file says. docs/rules.md explains the language.
//
// The library's own rules are text in it too, without comments (rule_gen.h), which the build has
// parsed once to see that it is right. It wrote an index of them by the type of the root, so that a
// compilation parses those only whose roots the model has.
//
// The names of a rule are numbered. A number stands for a tensor (`x`) or for a parameter's value
// (`epsilon=e`); `names` has the spelling, for messages and for names of new tensors.

#ifndef LN_DESC_RULE_H
#define LN_DESC_RULE_H

#include <stdbool.h>
#include <stddef.h>

#include <lightnet/export.h>
#include <lightnet/status.h>

LN_CPPSTART

#define LN_RULE_MAX_BYTES      (1 << 20) // of one file
#define LN_RULE_MAX_RULES      1024      // in one file, lower statements counted apart
#define LN_RULE_MAX_STATEMENTS 48        // in a pattern, and in a result
#define LN_RULE_MAX_NAMES      64        // in one rule
#define LN_RULE_MAX_ARGS       32        // inputs, outputs or parameters of one statement
#define LN_RULE_MAX_CONDITIONS 32        // of one rule
#define LN_RULE_MAX_ELEMENTS   64        // of one array
#define LN_RULE_MAX_COLUMNS    4         // of the rows of a rule
#define LN_RULE_MAX_CODE       128       // steps of one expression
#define LN_RULE_MAX_NESTING    16        // brackets within brackets in an expression
#define LN_RULE_MAX_WORD       128       // bytes of a name or string

// What a rewrite does to the numbers: X(tag, meaning).
#define LN_RULE_TAG_LIST(X)                                                                        \
    X(exact, "the same bits")                                                                      \
    X(reorders, "sums in another order")                                                           \
    X(rounds, "other roundings")

typedef enum ln_rule_tag {
#define LN_RULE_TAG_ENUM(name, meaning) LN_RULE_##name,
    LN_RULE_TAG_LIST(LN_RULE_TAG_ENUM)
#undef LN_RULE_TAG_ENUM
        LN_RULE_TAG_COUNT
} ln_rule_tag;

// The list is rule_predicates.inc.
typedef enum ln_rule_predicate {
#define P(name, signature, meaning) LN_RULE_PREDICATE_##name,
#include "desc/rule_predicates.inc"
#undef P
    LN_RULE_PREDICATE_COUNT
} ln_rule_predicate;

// The list is rule_functions.inc.
typedef enum ln_rule_function {
#define F(name, signature, sign, meaning) LN_RULE_FUNCTION_##name,
#include "desc/rule_functions.inc"
#undef F
    LN_RULE_FUNCTION_COUNT
} ln_rule_function;

// One step of an expression, for a machine with a stack of values: each step takes what it needs
// off the stack and puts one value on it.
typedef enum ln_rule_step_kind {
    LN_RULE_STEP_NUMBER, // puts `number`
    LN_RULE_STEP_STRING, // puts `string`
    LN_RULE_STEP_BOOL,   // puts `number` != 0
    LN_RULE_STEP_VALUE,  // puts the parameter's value that name `index` stands for
    LN_RULE_STEP_TENSOR, // puts the tensor, or tensors, that name `index` stands for
    LN_RULE_STEP_ARRAY,  // takes `index` numbers, puts their array
    LN_RULE_STEP_CALL,   // takes the arguments of function `index`, puts its result
} ln_rule_step_kind;

typedef struct ln_rule_step {
    ln_rule_step_kind kind;
    int index;
    double number;
    const char *string;
} ln_rule_step;

typedef enum ln_rule_value_kind {
    LN_RULE_NUMBER,
    LN_RULE_STRING, // also a word in a condition
    LN_RULE_BOOL,
    LN_RULE_ARRAY,  // of numbers, strings or bools, all alike; may be empty
    LN_RULE_NAME,   // the value or tensor that a name stands for
    LN_RULE_EXPR,   // what `code` computes; never in a pattern
    LN_RULE_ABSENT, // in a pattern: the parameter is not given
} ln_rule_value_kind;

typedef struct ln_rule_value ln_rule_value;
struct ln_rule_value {
    ln_rule_value_kind kind;
    double number;
    const char *string;
    bool boolean;
    int name;
    const ln_rule_value *elements;
    const ln_rule_step *code;
    size_t count; // of elements or steps
};

// One input or output of a statement.
#define LN_RULE_ANY (-1) // `_`
typedef struct ln_rule_arg {
    const char *arg_name; // NULL: by position
    int name;
    bool is_rest;  // `xs...`: any number of tensors
    bool is_maybe; // `x?`: one tensor or none
} ln_rule_arg;

typedef struct ln_rule_param {
    const char *arg_name;
    ln_rule_value value;
} ln_rule_param;

// any(NAME) "why"
typedef struct ln_rule_waiver {
    const char *arg_name;
    const char *why;
    int line;
} ln_rule_waiver;

// OUTPUTS = OPTYPE(INPUTS | PARAMETERS)
typedef struct ln_rule_op {
    const char *optype;
    int line;
    const ln_rule_arg *outs;
    size_t out_count;
    const ln_rule_arg *ins;
    size_t in_count;
    const ln_rule_param *params;
    size_t param_count;
    // In a pattern: parameters that may have any value, and why; see ln_rule_names_param.
    const ln_rule_waiver *waivers;
    size_t waiver_count;
    // In a result: the statement of the pattern whose parameters are copied; else -1.
    int params_from;
    // In a pattern: it is found from what it makes, which a statement before it reads; else from
    // what it reads, which one before it reads or makes.
    bool is_producer;
    // In a pattern: the result reads from it, or from what reads from it, so it stays.
    bool is_kept;
    // In a result: all it reads is static by the conditions, so it does not run.
    bool is_static;
    // In a pattern: its type is a word of the rule's rows, so what it waives need not be there.
    bool is_of_rows;
    // In a result: `y = x`, written as a `forward`; readers of y shall read x.
    bool is_alias;
    // In a result: an operator for each tensor of the only output `ys...`, for which this name
    // stands; else LN_RULE_ANY.
    int each;
} ln_rule_op;

typedef struct ln_rule_condition {
    ln_rule_predicate predicate;
    bool is_negated;           // `not`
    bool has_other;            // `or`: the next condition may hold instead
    const ln_rule_value *args; // as many as the signature has; tensors are LN_RULE_NAME, or in a
    size_t arg_count;          // `lower` statement LN_RULE_STRING, an argument's name
} ln_rule_condition;

typedef enum ln_rule_stage {
    LN_RULE_BEFORE_EXPAND, // on operators of arch `none`
    LN_RULE_TO_CORE,       // the same, before all others: into types of the core
    LN_RULE_TO_ONNX,       // for a model that is written in ONNX: into its types
    LN_RULE_AFTER_EXPAND,  // on what they were lowered to
} ln_rule_stage;

typedef struct ln_rule {
    const char *name;
    ln_rule_tag tag;
    ln_rule_stage stage;
    const char *file; // as in the set it was read with
    int line;
    const char *const *names;
    size_t name_count;
    const ln_rule_op *pattern; // the first is the root
    size_t pattern_count;
    const ln_rule_condition *conditions;
    size_t condition_count;
    const ln_rule_op *result; // each reads only what the pattern or an earlier one gives
    size_t result_count;
    // The result makes outputs of other operators than the root, or the pattern has statements
    // that are found from what they read: new operators may have to stand elsewhere than the root.
    bool is_wide;
    // It runs as many operators as it removes, of the same weight, and moves those that sink
    // towards the outputs; see rule_weight.h.
    bool is_sinking;
} ln_rule;

// lower FROM => TO
typedef struct ln_rule_lower {
    const char *from; // NULL: any
    const char *to;   // what follows the `*`, if there is one
    bool has_star;    // TO begins with the operator's own type
    ln_rule_tag tag;
    int line;
    const ln_rule_condition *conditions;
    size_t condition_count;
} ln_rule_lower;

// A file of rules as the library has it.
typedef struct ln_rule_text {
    const char *file; // for messages
    const char *text;
} ln_rule_text;

// Where the text of a rule, or of a `lower` statement, is. A rule with rows is there once for each
// type of their roots.
typedef struct ln_rule_entry {
    unsigned root; // in `roots` of the set; an empty string for a `lower` statement
    unsigned at;   // in the text: its first byte ...
    unsigned len;  // ... and how many there are
    unsigned short text;
    unsigned short line;
    unsigned short stage;
} ln_rule_entry;

typedef struct ln_rule_set {
    const char *file; // for messages
    const ln_rule *rules;
    size_t rule_count;
    const ln_rule_lower *lowers;
    size_t lower_count;
    // Of a set that the build has made, in place of the members above; see ln_rule_set_open.
    const ln_rule_text *texts;    // ends with NULL
    const ln_rule_entry *entries; // by root, those of one root in the order of the texts
    size_t entry_count;
    const char *roots;             // types of roots, one after the other
    struct ln_rule_reader *reader; // of a set that was opened: what was parsed of the texts
    struct ln_document *arena;     // of a set that was parsed or opened: where it lives
} ln_rule_set;

// Reads the rules of a file, or of an optimizer description (lightnet/expander.h), where places are
// those in the rules that it becomes; "-" is standard input. The caller gives *out_set back with
// ln_rule_set_destroy, and may use it from several threads meanwhile.
// LN_IO, LN_SYNTAX, LN_LIMIT or LN_NO_MEMORY; *out_set is then NULL, and the message of LN_SYNTAX
// has file, line and column. Operators are not looked up here: ln_rule_set_check in pass does that.
ln_status ln_rule_set_read(const char *file, ln_rule_set **out_set);

// The text of such a file as rules. The caller gives *out_text back with ln_free; NULL on failure.
ln_status ln_rule_text_read(const char *file, char **out_text, size_t *out_len);

// The same as `read` from a text that messages call `file`.
ln_status ln_rule_set_parse(const char *text, size_t len, const char *file, ln_rule_set **out_set);

// The same from texts, which end with NULL, as one set of the name `file`.
ln_status ln_rule_set_parse_texts(const char *file, const ln_rule_text *texts,
                                  ln_rule_set **out_set);

// A set that the build has made, to be used by one thread: its `lower` statements are parsed, and
// its rules when ln_rule_set_read_root asks for them.
ln_status ln_rule_set_open(const ln_rule_set *own, ln_rule_set **out_set);

// The rules of a set whose root is of type `optype`, in their order; others may be between them.
// They live as long as the set.
ln_status ln_rule_set_read_root(const ln_rule_set *set, const char *optype,
                                const ln_rule **out_rules, size_t *out_count);

bool ln_rule_set_has_root(const ln_rule_set *set, const char *optype);
bool ln_rule_set_has_stage(const ln_rule_set *set, ln_rule_stage stage);

// Frees a set that was parsed or opened, with all it points to. NULL is fine.

// Whether a rule of a set that was parsed computes with sizes, or with elements that may follow
// from them: what it makes of one shape need not be right for another one.
bool ln_rule_set_asks_sizes(const ln_rule_set *set);

void ln_rule_set_destroy(ln_rule_set *set);

// Whether a statement of a pattern names the parameter, or waives it, as rule_waivers.inc does for
// all patterns. One that it does not must have its default, unless the result copies it.
bool ln_rule_names_param(const ln_rule_op *statement, const char *arg_name);

// Whether a statement of the result copies the parameter from statement `index` of the pattern, if
// its type has it.
bool ln_rule_copies_param(const ln_rule_op *result, size_t index, const char *arg_name);

const char *ln_rule_tag_name(ln_rule_tag tag);
const char *ln_rule_predicate_name(ln_rule_predicate predicate);
const char *ln_rule_predicate_signature(ln_rule_predicate predicate);
const char *ln_rule_function_name(ln_rule_function function);

// One letter an argument, then `>` and the result's letter; see rule_functions.inc.
const char *ln_rule_function_signature(ln_rule_function function);

LN_CPPEND

#endif
