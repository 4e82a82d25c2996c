// SPDX-License-Identifier: Apache-2.0
// The options of the command: one table, which all verbs take theirs from.
//
// To add an option:
// 1. Add a row to OPTION_LIST in options_list.h: its long name, letter, the name of its value, what
//    kind of value that is, and its line of help. A letter means one thing in all verbs.
// 2. In the verb that takes it, add a row to the verb's `takes`, with the member of the verb's
//    struct that receives the value:       TAKES(RUNS, bench_options, runs),
//    A value that needs a look of its own is received by a function:
//                                           CALLS(MEAN, run_options, files, take_mean),
//    which gets a pointer to the member `files`, and says what is wrong with say_usage_error.
//    NOTE(...) instead of TAKES adds words to the line of help that hold for one verb only.
// The parser, `--help`, `lightnet help VERB`, near spellings, the completions of the shells and the
// man page's list come from there.

#ifndef LN_CLI_OPTIONS_H
#define LN_CLI_OPTIONS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "options_list.h"

// What an option writes to the verb's struct.
typedef enum option_kind {
    OPTION_FLAG,   // int: 1. No value
    OPTION_CLEAR,  // int: 0. No value
    OPTION_TEXT,   // const char *: borrowed from the command line
    OPTION_TEXTS,  // option_texts: each time one more
    OPTION_COUNT,  // int: 1 to the bound of its row
    OPTION_NUMBER, // double: finite, 0 or more
    OPTION_SEED,   // uint64_t
    OPTION_MAYBE,  // const char *, whose value may be left out: "-" then
    OPTION_CALL,   // anything: the verb's function receives the value
    OPTION_HELP,   // prints the help text and ends
} option_kind;

#define MAX_OPTION_TEXTS 256

typedef struct option_texts {
    const char *items[MAX_OPTION_TEXTS];
    int count;
} option_texts;

typedef enum option_id {
#define OPTION_ENUM(id, name, letter, value, kind, max, help) OPT_##id,
    OPTION_LIST(OPTION_ENUM)
#undef OPTION_ENUM
        OPT_COUNT
} option_id;

typedef struct option_row {
    const char *name;  // of the long form
    char letter;       // 0: none
    const char *value; // its name in a help text; NULL: it takes none
    option_kind kind;
    int max; // of a count
    const char *help;
} option_row;

extern const option_row option_rows[OPT_COUNT];

// Receives the value of an option, NULL where none is given; EXIT_OK, or another exit code after
// having said why: EXIT_USAGE unless a file decides. In place of what the kind does, which only
// OPTION_CALL needs.
typedef int (*option_function)(void *member, const char *verb, const char *value);

// An option that a verb takes.
typedef struct verb_option {
    option_id id;
    size_t offset; // of the member in the verb's struct
    option_function take;
    const char *note; // after the line of help: "(default 3)"; NULL
    char old_letter;  // accepted, but not shown: an older spelling; 0: none
} verb_option;

#define TAKES(id, type, member)                                                                    \
    {                                                                                              \
        OPT_##id, offsetof(type, member), NULL, NULL, 0                                            \
    }
#define NOTE(id, type, member, words)                                                              \
    {                                                                                              \
        OPT_##id, offsetof(type, member), NULL, words, 0                                           \
    }
#define CALLS(id, type, member, take)                                                              \
    {                                                                                              \
        OPT_##id, offsetof(type, member), take, NULL, 0                                            \
    }
#define TAKES_HELP                                                                                 \
    {                                                                                              \
        OPT_HELP, 0, NULL, NULL, 0                                                                 \
    }
#define END_OF_OPTIONS                                                                             \
    {                                                                                              \
        OPT_COUNT, 0, NULL, NULL, 0                                                                \
    }

// What a verb's command line looks like.
typedef struct verb_usage {
    const char *name;           // NULL: `lightnet` without a verb
    const char *synopsis;       // what follows the name; a line for each form
    const char *about;          // paragraphs, with an empty line between them
    const char *trailer;        // a paragraph after the options; NULL: none
    const verb_option *options; // ends with END_OF_OPTIONS
    int has_long_only;          // long options may have one dash
    int has_words;              // operands are words, not files
} verb_usage;

// ---- Parsing ----

// Reads the options of a command line into `dest`, the verb's struct. *out_argc and *out_argv
// receive the operands. EXIT_OK to go on; -1 if help was asked for, and is printed; EXIT_USAGE
// after having said what is wrong, EXIT_FAILED if that is a plug-in's file. Names of options are
// not abbreviated, a value is given once unless its option takes several, no value is empty, those
// in option_checks.c are of their grammar, and no option writes over a file that an operand or
// another option reads.
int options_parse(const verb_usage *verb, int argc, char **argv, void *dest, int *out_argc,
                  char ***out_argv);

// The same for a verb with one operand: the `what`, such as "model".
int options_parse_one(const verb_usage *verb, const char *what, int argc, char **argv, void *dest,
                      const char **out_operand);

// EXIT_USAGE if one of `count` options was given: "--seed has no effect without --verify"; `why` is
// what follows "no effect".
int options_check_unused(const verb_usage *verb, const option_id *ids, size_t count,
                         const char *why);

// EXIT_USAGE after a message if `written`, the value of -o or its default, is the file `read`.
int options_check_overwrite(const verb_usage *verb, const char *written, const char *read);

// ---- Printing ----

// " --shape=batch=2 --seed=7": the options that were given and that `verb` takes as well, but for
// `count` of them; as a shell reads them.
void options_print_given(FILE *out, const verb_usage *verb, const option_id *except, size_t count);

// A command to go on with: `start`, the options as above, and `model` as a shell reads it. The
// caller gives it back with free; NULL without memory.
char *options_command(const char *start, const verb_usage *verb, const option_id *except,
                      size_t count, const char *model);

// A word as a shell reads it, quoted where that is needed.
void print_word(FILE *out, const char *word);

// The help text of a verb.
void options_print_help(const verb_usage *verb, FILE *out);

// "-t, --target=TARGET", as a help text has it; in `buffer` of `size` bytes.
void option_form(const verb_option *option, char *buffer, size_t size);

// The row of the option, with its note, as one paragraph; in `buffer` of `size` bytes.
void option_words(const verb_option *option, char *buffer, size_t size);

#endif
