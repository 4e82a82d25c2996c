// SPDX-License-Identifier: Apache-2.0
// What several commands take from their command lines. Each function returns EXIT_OK, or EXIT_USAGE
// after having said what is wrong; `command_name` and `option` stand in the message.

#ifndef LN_CLI_OPTION_VALUES_H
#define LN_CLI_OPTION_VALUES_H

#include <stdint.h>

// A finite number from 0 on.
int take_tolerance(const char *command_name, const char *option, const char *text,
                   double *out_value);

// A whole number from 0 to 2^64 - 1, of --seed.
int take_seed(const char *command_name, const char *text, uint64_t *out_seed);

// A whole number from 1 to `most`.
int take_count(const char *command_name, const char *option, const char *text, int most,
               int *out_count);

// One more text of an option that may be repeated up to `most` times; `what` they are, as a plural.
int take_text(const char *command_name, const char *what, const char *text, int most,
              const char **texts, int *count);

// What is left behind the options: one model.
int take_model(const char *command_name, int argc, char **argv, const char **out_model);

// Says what is wrong with an option that nobody takes: what getopt_long returned of `argv`, with
// options that begin with a colon.
int say_bad_option(const char *command_name, int option, char *const *argv);

#endif
