// SPDX-License-Identifier: Apache-2.0
// Text to numbers, with what is wrong in the words of the command line.

#include "option_values.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "cli.h"

int parse_number(const char *text, double *out_value)
{
    char *end;
    *out_value = strtod(text, &end);
    return end != text && !*end && *out_value >= 0 && !isinf(*out_value);
}

int take_number(const char *verb, const char *option, const char *text, double *out_value)
{
    if (!parse_number(text, out_value))
        return say_usage_error(verb, "%s takes a number from 0 on, not '%s'", option, text);
    return EXIT_OK;
}

int take_seed(const char *verb, const char *option, const char *text, uint64_t *out_seed)
{
    char *end;
    errno = 0;
    *out_seed = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end || errno != 0)
        return say_usage_error(verb, "%s takes an integer from 0 to 2^64 - 1, not '%s'", option,
                               text);
    return EXIT_OK;
}

int take_count(const char *verb, const char *option, const char *text, int max, int *out_count)
{
    char *end;
    long count = strtol(text, &end, 10);
    if (*end || end == text || count < 1 || count > max)
        return say_usage_error(verb, "%s takes 1 to %d, not '%s'", option, max, text);
    *out_count = (int)count;
    return EXIT_OK;
}
