// SPDX-License-Identifier: Apache-2.0
// What was given: for messages, and for options that only together say something.

#include "given_options.h"

#include <string.h>

static given_option given[MAX_OPTION_TEXTS];
static size_t count;

void given_add(option_id id, const char *name, const char *value)
{
    if (count < MAX_OPTION_TEXTS)
        given[count++] = (given_option){id, name, value};
}

size_t given_count(void)
{
    return count;
}

const given_option *given_at(size_t index)
{
    return &given[index];
}

static const given_option *find(option_id id)
{
    for (size_t i = 0; i < count; i++)
        if (given[i].id == id)
            return &given[i];
    return NULL;
}

const char *given_value(option_id id)
{
    const given_option *found = find(id);
    return !found ? NULL : found->value ? found->value : "-";
}

const char *given_first(const option_id *ids, size_t id_count)
{
    const given_option *found = NULL;
    for (size_t i = 0; i < id_count && !found; i++)
        found = find(ids[i]);
    return found ? found->name : NULL;
}

const char *given_path(const char *text, int (*is_it)(const char *path))
{
    const char *at = text;
    while (!is_it(at)) {
        at = strchr(at, '=');
        if (!at)
            return NULL;
        at++;
    }
    return at;
}
