// SPDX-License-Identifier: Apache-2.0
// Options of devices: the arch's structure, and its text.

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lightnet/allocator.h>
#include <lightnet/util.h>

#include "arch/device.h"
#include "base/sized.h"

static size_t size_of(const ln_device_option *option)
{
    switch (option->kind) {
    case LN_DEVICE_INT: return sizeof(int64_t);
    case LN_DEVICE_FLOAT: return sizeof(double);
    case LN_DEVICE_BOOL:
    case LN_DEVICE_WORD: return sizeof(int);
    }
    return 0;
}

// ---- Values ----

static ln_status fail_value(const ln_device_option *option, const char *text, const char *what)
{
    return LN_FAIL(LN_INVALID, "option '%s': '%.60s' is not %s", option->name, text, what);
}

static ln_status set_int(const ln_device_option *option, const char *text, void *member)
{
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (end == text || *end || errno)
        return fail_value(option, text, "a whole number");
    int64_t stored = value;
    memcpy(member, &stored, sizeof stored);
    return LN_OK;
}

static ln_status set_float(const ln_device_option *option, const char *text, void *member)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !isfinite(value))
        return fail_value(option, text, "a finite number");
    memcpy(member, &value, sizeof value);
    return LN_OK;
}

static ln_status set_word(const ln_device_option *option, const char *text, void *member)
{
    static const char *const truths[] = {"false", "true", NULL};
    const char *const *words = option->kind == LN_DEVICE_BOOL ? truths : option->words;
    char list[160] = "";
    size_t used = 0;
    for (int i = 0; words[i]; i++) {
        if (strcmp(words[i], text) == 0) {
            memcpy(member, &i, sizeof i);
            return LN_OK;
        }
        if (used < sizeof list)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "one of ",
                                     words[i]);
    }
    return fail_value(option, text, list);
}

static ln_status set(const ln_device_option *option, const char *text, void *options)
{
    void *member = (char *)options + option->offset;
    switch (option->kind) {
    case LN_DEVICE_INT: return set_int(option, text, member);
    case LN_DEVICE_FLOAT: return set_float(option, text, member);
    case LN_DEVICE_BOOL:
    case LN_DEVICE_WORD: return set_word(option, text, member);
    }
    return LN_FAIL(LN_INVALID, "option '%s' is of no kind", option->name);
}

// What a program has put into a structure is a value that a text could have set.
static ln_status check_value(const ln_device_option *option, const void *options)
{
    const void *member = (const char *)options + option->offset;
    if (option->kind == LN_DEVICE_FLOAT) {
        double value;
        memcpy(&value, member, sizeof value);
        return isfinite(value) ? LN_OK
                               : LN_FAIL(LN_INVALID, "option '%s': %g is not a finite number",
                                         option->name, value);
    }
    if (option->kind != LN_DEVICE_BOOL && option->kind != LN_DEVICE_WORD)
        return LN_OK;
    int value, count = option->kind == LN_DEVICE_BOOL ? 2 : 0;
    memcpy(&value, member, sizeof value);
    while (option->kind == LN_DEVICE_WORD && option->words[count])
        count++;
    return value >= 0 && value < count ? LN_OK
                                       : LN_FAIL(LN_INVALID, "option '%s': %d is not from 0 to %d",
                                                 option->name, value, count - 1);
}

// ---- The table ----

static ln_status check_option(const ln_arch *arch, const ln_device_option *option)
{
    size_t size = size_of(option);
    if (option->name[strcspn(option->name, ",= \t\n")] || !*option->name)
        return LN_FAIL(
            LN_INVALID,
            "no text can set option '%s': its name is empty, or has a comma, an equals sign or a space",
            option->name);
    if (size == 0)
        return LN_FAIL(LN_INVALID,
                       "option '%s' is of kind %d, which is none of ln_device_option_kind",
                       option->name, (int)option->kind);
    if (option->offset % size != 0)
        return LN_FAIL(LN_INVALID, "option '%s' is at %zu, which is no multiple of its %zu bytes",
                       option->name, option->offset, size);
    if (option->offset > arch->option_byte_count || size > arch->option_byte_count - option->offset)
        return LN_FAIL(LN_INVALID, "option '%s' is not inside of the %zu bytes of options",
                       option->name, arch->option_byte_count);
    if (option->kind == LN_DEVICE_WORD && (!option->words || !option->words[0]))
        return LN_FAIL(LN_INVALID, "option '%s' has no words", option->name);
    if (!option->first)
        return LN_FAIL(LN_INVALID, "option '%s' has no default", option->name);
    return LN_OK;
}

static ln_status check_is_once(const ln_arch *arch, const ln_device_option *option)
{
    for (const ln_device_option *o = arch->options; o != option; o++)
        if (ln_streq(o->name, option->name))
            return LN_FAIL(LN_INVALID, "two options are called '%s'", option->name);
        else if (o->offset < option->offset + size_of(option) &&
                 option->offset < o->offset + size_of(o))
            return LN_FAIL(LN_INVALID, "options '%s' and '%s' are at the same bytes", o->name,
                           option->name);
    return LN_OK;
}

ln_status ln_device_options_check(const ln_arch *arch)
{
    void *options;
    for (const ln_device_option *o = arch->options; o && o->name; o++)
        if (check_option(arch, o) != LN_OK || check_is_once(arch, o) != LN_OK)
            return ln_fail_prefix("arch '%s'", arch->arch_name);
    LN_TRY(ln_device_options_create(arch, NULL, 0, &options));
    ln_free(options);
    return LN_OK;
}

ln_status ln_device_options_create(const ln_arch *arch, const void *given, size_t byte_count,
                                   void **out_options)
{
    *out_options = NULL;
    if (given && !arch->options)
        return LN_FAIL(LN_UNSUPPORTED, "device '%s' has no options", arch->arch_name);
    void *options = ln_alloc(arch->option_byte_count);
    if (!options)
        return LN_NO_MEMORY;
    ln_status status = LN_OK;
    for (const ln_device_option *o = arch->options; o && o->name && status == LN_OK; o++)
        status = set(o, o->first, options);
    if (status == LN_OK && given)
        status = ln_sized_read(options, arch->option_byte_count, given, byte_count, 1, "options");
    for (const ln_device_option *o = arch->options; given && o && o->name && status == LN_OK; o++)
        status = check_value(o, options);
    if (status != LN_OK) {
        ln_free(options);
        (void)ln_fail_prefix("device '%s'", arch->arch_name);
        return status;
    }
    *out_options = options;
    return LN_OK;
}

// ---- Text ----

static ln_status fail_unknown(const ln_arch *arch, const char *name)
{
    char list[256] = "";
    size_t used = 0;
    for (const ln_device_option *o = arch->options; o && o->name && used < sizeof list; o++)
        used +=
            (size_t)snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", o->name);
    return LN_FAIL(LN_INVALID, "device '%s' has no option '%.60s'%s%s", arch->arch_name, name,
                   used ? "; there are: " : ", nor any other", list);
}

// One "name=value", in a buffer.
static ln_status parse_one(const ln_arch *arch, char *text, void *options)
{
    char *equals = strchr(text, '=');
    if (!equals)
        return LN_FAIL(LN_INVALID, "'%.60s' is not an option: write NAME=VALUE", text);
    *equals = '\0';
    const ln_device_option *o = arch->options;
    while (o && o->name && strcmp(o->name, text) != 0)
        o++;
    if (!o || !o->name)
        return fail_unknown(arch, text);
    if (set(o, equals + 1, options) == LN_OK)
        return LN_OK;
    return ln_fail_prefix("device '%s'", arch->arch_name);
}

ln_status ln_device_options_parse(const ln_arch *arch, const char *text, void *options)
{
    while (*text) {
        char one[256];
        size_t len = strcspn(text, ",");
        if (len >= sizeof one)
            return LN_FAIL(LN_LIMIT, "device '%s': an option has %zu bytes or more",
                           arch->arch_name, sizeof one);
        memcpy(one, text, len);
        one[len] = '\0';
        LN_TRY(parse_one(arch, one, options));
        text += len;
        text += *text == ',';
    }
    return LN_OK;
}
