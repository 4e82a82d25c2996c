// SPDX-License-Identifier: Apache-2.0
// What several commands take from their command lines.

#include "option_values.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>

#include "cli.h"

int take_tolerance(const char *command_name, const char *option, const char *text,
                   double *out_value)
{
    char *end;
    *out_value = strtod(text, &end);
    if (end == text || *end || !(*out_value >= 0) || isinf(*out_value))
        return say_usage_error(command_name, "%s takes a number from 0 on, not '%s'", option, text);
    return EXIT_OK;
}

int take_seed(const char *command_name, const char *text, uint64_t *out_seed)
{
    char *end;
    errno = 0;
    *out_seed = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end || errno != 0)
        return say_usage_error(command_name,
                               "--seed takes a whole number from 0 to 2^64 - 1, not '%s'", text);
    return EXIT_OK;
}

int take_count(const char *command_name, const char *option, const char *text, int most,
               int *out_count)
{
    char *end;
    long count = strtol(text, &end, 10);
    if (*end || end == text || count < 1 || count > most)
        return say_usage_error(command_name, "%s takes 1 to %d, not '%s'", option, most, text);
    *out_count = (int)count;
    return EXIT_OK;
}

int take_text(const char *command_name, const char *what, const char *text, int most,
              const char **texts, int *count)
{
    if (*count == most)
        return say_usage_error(command_name, "more than %d %s", most, what);
    texts[(*count)++] = text;
    return EXIT_OK;
}

int take_model(const char *command_name, int argc, char **argv, const char **out_model)
{
    if (optind + 1 != argc)
        return say_usage_error(command_name, optind == argc ? "no model" : "one model at a time");
    *out_model = argv[optind];
    return EXIT_OK;
}

int say_bad_option(const char *command_name, int option, char *const *argv)
{
    const char *text = argv[optind - 1];
    if (option == ':')
        return say_usage_error(command_name, "option %s needs a value", text);
    return say_usage_error(command_name, "unknown option %s", text);
}
