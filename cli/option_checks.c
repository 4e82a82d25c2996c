// SPDX-License-Identifier: Apache-2.0
// Checks of the values of options, each by a function that knows its grammar, and of pairs.
//
// Names of archs, passes and formats are looked up here, since the library has all of them, unless
// a plug-in is given, which may add some: then they are looked up with the model.

#include "option_checks.h"

#include <string.h>

#include <lightnet/lightnet.h>

#include "cli.h"
#include "given_options.h"
#include "output_text.h"
#include "shape_text.h"

// ---- Lists ----

// Every name between the commas of `list` has a letter.
static ln_status check_list(const char *list)
{
    for (const char *name = list;; name++) {
        size_t len = strcspn(name, ",");
        if (len == 0)
            return LN_FAIL(LN_INVALID, "a name is missing in '%s', which commas divide", list);
        name += len;
        if (!*name)
            return LN_OK;
    }
}

// ---- Targets ----

static const ln_arch *find_arch(const char *name, size_t len)
{
    char buffer[LN_MAX_NAME_LEN];
    len = len < sizeof buffer ? len : sizeof buffer - 1;
    memcpy(buffer, name, len);
    buffer[len] = '\0';
    if (given_value(OPT_PLUGIN)) // which "echo" of "echo:1" is from
        buffer[strcspn(buffer, ":")] = '\0';
    return ln_arch_find(buffer);
}

static int is_every_arch_known(const char *target)
{
    for (const char *name = target;; name++) {
        size_t len = strcspn(name, ",");
        if (len == 0 || !find_arch(name, len))
            return 0;
        name += len;
        if (!*name)
            return 1;
    }
}

// What the library says of a target or passes, shown a model that every arch takes.
static ln_status probe(const char *target, const ln_optimize_options *options)
{
    static const char model[] = "input(| dst=x | dtype=TL_FLOAT, dims=[1]);\n";
    ln_context *ctx = ln_context_create();
    if (!ctx)
        return LN_NO_MEMORY;
    ln_status status = ln_context_init_mem(ctx, model, sizeof model - 1, "il");
    status = status == LN_OK ? ln_context_optimize_with(ctx, target, options) : LN_OK;
    ln_context_free(ctx);
    return status;
}

static ln_status check_target(const char *target)
{
    if (is_every_arch_known(target))
        return LN_OK;
    ln_optimize_options options = ln_optimize_options_default();
    ln_status status = probe(target, &options);
    int is_plain = status == LN_INVALID || !given_value(OPT_PLUGIN);
    return is_plain ? status : LN_OK;
}

static ln_status check_device(const char *text)
{
    size_t len = strcspn(text, ",");
    if (find_arch(text, len) || given_value(OPT_PLUGIN))
        return LN_OK;
    return LN_FAIL(LN_NOT_FOUND,
                   "--device: there is no arch '%.*s'; `lightnet archs` lists them, and --plugin "
                   "adds some",
                   (int)len, text);
}

// ---- Passes ----

static ln_status check_passes(const char *passes)
{
    ln_optimize_options options = ln_optimize_options_default();
    options.passes = passes;
    LN_TRY(check_list(passes));
    ln_status status = probe("ref", &options);
    return status == LN_NOT_FOUND ? status : LN_OK;
}

static ln_status check_one_pass(const char *pass)
{
    if (strchr(pass, ','))
        return LN_FAIL(LN_INVALID, "'%s' is several passes where one is meant", pass);
    return strcmp(pass, "all") == 0 ? LN_OK : check_passes(pass);
}

static ln_status check_last_pass(const char *pass)
{
    return strcmp(pass, "all") == 0
               ? LN_FAIL(LN_INVALID, "--stop-after takes a pass; without it all of them run")
               : check_one_pass(pass);
}

// ---- Formats ----

static int is_written(const ln_serializer *format)
{
    return format && (format->write || format->write_file);
}

static ln_status check_formats(const char *formats)
{
    char known[256] = "";
    size_t used = 0;
    const ln_serializer *format;
    LN_TRY(check_list(formats));
    for (size_t i = 0; (format = ln_serializer_find_at(i)) && used < sizeof known; i++)
        if (is_written(format))
            used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "",
                                     format->name);
    for (const char *name = formats; *name; name += *name == ',') {
        char word[64];
        size_t len = strcspn(name, ",");
        snprintf(word, sizeof word, "%.*s", (int)(len < sizeof word ? len : sizeof word - 1), name);
        if (!is_written(ln_serializer_find(word)) && !given_value(OPT_PLUGIN))
            return LN_FAIL(LN_NOT_FOUND, "--through: no format '%s' is written; there are: %s",
                           word, known);
        name += len;
    }
    return LN_OK;
}

// ---- Inputs and outputs ----

static ln_status check_input(const char *text)
{
    size_t len = strlen(text);
    if (text[len - 1] != '=')
        return LN_OK;
    return LN_FAIL(LN_INVALID, "-i %s has neither a file nor a value after it", text);
}

static ln_status check_input_pair(const char *first, const char *second)
{
    const char *equals = strchr(first, '=');
    size_t len = equals ? (size_t)(equals - first) : 0;
    // With more than one '=' the first may be of the name.
    int is_same = strcmp(first, second) == 0 ||
                  (equals && !strchr(equals + 1, '=') && strncmp(first, second, len + 1) == 0 &&
                   !strchr(second + len + 1, '='));
    if (!is_same)
        return LN_OK;
    if (!equals)
        return LN_FAIL(LN_INVALID, "-i %s is given twice", first);
    return LN_FAIL(LN_INVALID, "input '%.*s' is given twice, with '%s' and '%s'", (int)len, first,
                   first, second);
}

// ---- All ----

static const struct {
    option_id id;
    ln_status (*check)(const char *value);
    ln_status (*check_pair)(const char *first, const char *second); // NULL: any two
} checks[] = {
    {OPT_SHAPE, shape_check, shape_check_pair},
    {OPT_INPUT, check_input, check_input_pair},
    {OPT_OUTDIR, output_text_check, NULL},
    {OPT_TARGET, check_target, NULL},
    {OPT_A, check_target, NULL},
    {OPT_B, check_target, NULL},
    {OPT_DEVICE, check_device, NULL},
    {OPT_PASSES, check_passes, NULL},
    {OPT_STOP_AFTER, check_last_pass, NULL},
    {OPT_DUMP_AFTER, check_one_pass, NULL},
    {OPT_INPUTS, check_list, NULL},
    {OPT_THROUGH, check_formats, NULL},
};

static ln_status check_given(size_t index)
{
    const given_option *given = given_at(index);
    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++) {
        if (checks[i].id != given->id)
            continue;
        LN_TRY(checks[i].check(given->value));
        for (size_t k = 0; k < index && checks[i].check_pair; k++)
            if (given_at(k)->id == given->id)
                LN_TRY(checks[i].check_pair(given_at(k)->value, given->value));
    }
    return LN_OK;
}

// --rules=none: the model as it was read.
static ln_status check_as_read(void)
{
    const char *none = NULL, *rules = NULL;
    for (size_t i = 0; i < given_count(); i++) {
        if (given_at(i)->id != OPT_RULES)
            continue;
        int is_none = strcmp(given_at(i)->value, "none") == 0;
        *(is_none ? &none : &rules) = given_at(i)->value;
    }
    if (none && rules)
        return LN_FAIL(LN_INVALID, "--rules=none takes no rules, and --rules=%s gives some", rules);
    static const option_id of_rewriting[] = {OPT_SKIP, OPT_TUNE, OPT_KEEP_HALVES};
    const char *unused = given_first(of_rewriting, sizeof of_rewriting / sizeof of_rewriting[0]);
    if (none && unused)
        return LN_FAIL(LN_INVALID, "--%s has no effect with --rules=none, the model as it was read",
                       unused);
    const char *target = none ? given_value(OPT_TARGET) : NULL;
    const ln_arch *arch = target ? find_arch(target, strlen(target)) : NULL;
    if (target && !(arch && arch->is_reference) && !given_value(OPT_PLUGIN))
        return LN_FAIL(LN_INVALID,
                       "--rules=none is the model as it was read, which runs on ref, not on %s",
                       target);
    return LN_OK;
}

int option_checks(const verb_usage *verb)
{
    ln_status status = LN_OK;
    for (size_t i = 0; i < given_count() && status == LN_OK; i++)
        status = check_given(i);
    if (status == LN_OK)
        status = check_as_read();
    if (status == LN_OK && given_value(OPT_CROP) && given_value(OPT_LETTERBOX))
        status = LN_FAIL(LN_INVALID, "--crop fills the input and --letterbox does not; give one");
    if (status == LN_NO_MEMORY)
        return say_failure();
    return status == LN_OK ? EXIT_OK : say_usage_error(verb->name, "%s", ln_error_message());
}
