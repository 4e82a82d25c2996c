// SPDX-License-Identifier: Apache-2.0
// Compiled forms go through files, as those of `lightnet -c` do: the weights of one are beside it,
// those of the other in a data file of the model's own names.

#include "compiled_forms.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <lightnet/lightnet.h>

#include "cli.h"
#include "compare.h"
#include "write_option.h"

enum { MAX_PATH = 4096, ROOM_FOR_NAME = 32 };

struct compiled_forms {
    char folder[MAX_PATH - ROOM_FOR_NAME];
    int has_weights; // there is a file of them for the form without
};

static const char with_json[] = "with.json", with_weights[] = "with.safetensors",
                  bare_json[] = "bare.json", bare_weights[] = "bare.safetensors";

static const char *in_folder(const compiled_forms *forms, const char *name, char path[MAX_PATH])
{
    snprintf(path, MAX_PATH, "%s/%s", forms->folder, name);
    return path;
}

static ln_status make_folder(compiled_forms *forms)
{
    const char *parent = getenv("TMPDIR");
    int len = snprintf(forms->folder, sizeof forms->folder, "%s/lightnet-XXXXXX",
                       parent && *parent ? parent : P_tmpdir);
    if (len < 0 || len >= (int)sizeof forms->folder)
        return LN_FAIL(LN_INVALID, "TMPDIR is too long a path: %s", parent);
    if (mkdtemp(forms->folder))
        return LN_OK;
    ln_status status = LN_FAIL(LN_IO, "cannot create %s: %s", forms->folder, strerror(errno));
    forms->folder[0] = '\0';
    return status;
}

// Storing changes the context, so it is done to a clone.
static ln_status write_with(const compiled_forms *forms, const ln_context *ctx)
{
    char path[MAX_PATH];
    size_t count;
    ln_context *clone;
    LN_TRY(ln_context_clone(ctx, &clone));
    ln_status status = ln_context_store(clone, NULL, in_folder(forms, with_weights, path), &count);
    if (status == LN_OK)
        status = ln_context_print(clone, in_folder(forms, with_json, path));
    ln_context_free(clone);
    return status;
}

static ln_status write_bare(compiled_forms *forms, const ln_context *ctx)
{
    char path[MAX_PATH];
    size_t count;
    LN_TRY(ln_context_save_weights(ctx, in_folder(forms, bare_weights, path), &count));
    forms->has_weights = count > 0;
    return ln_context_print(ctx, in_folder(forms, bare_json, path));
}

ln_status compiled_forms_create(const ln_context *ctx, compiled_forms **out_forms)
{
    *out_forms = NULL;
    compiled_forms *forms = ln_alloc(sizeof *forms);
    if (!forms)
        return LN_NO_MEMORY;
    ln_status status = make_folder(forms);
    if (status == LN_OK)
        status = write_with(forms, ctx);
    if (status == LN_OK)
        status = write_bare(forms, ctx);
    if (status != LN_OK) {
        compiled_forms_destroy(forms);
        return ln_fail_prefix("writing its compiled forms");
    }
    *out_forms = forms;
    return LN_OK;
}

void compiled_forms_destroy(compiled_forms *forms)
{
    static const char *const names[] = {with_json, with_weights, bare_json, bare_weights};
    char path[MAX_PATH];
    if (!forms)
        return;
    for (size_t i = 0; forms->folder[0] && i < sizeof names / sizeof names[0]; i++)
        unlink(in_folder(forms, names[i], path));
    if (forms->folder[0])
        rmdir(forms->folder);
    ln_free(forms);
}

// ---- Comparing ----

static ln_status compare_output(ln_object *got, ln_object *expected, const char *name,
                                int is_shape_only)
{
    tolerance allowed = {.is_exact = !is_shape_only, .atol = INFINITY};
    deviation d;
    char place[64], words[512];
    if (!compare_values(got, expected, &allowed, &d, place, sizeof place))
        return LN_OK;
    if (is_shape_only && !d.fault)
        return LN_OK;
    describe_deviation(&d, place[0] ? NULL : ln_object_tensor(expected), words, sizeof words);
    return LN_FAIL(LN_INVALID, "output '%s' is not the model's own: %s", name,
                   d.fault ? d.fault : words);
}

static ln_status compare_outputs(const ln_context *form, const ln_context *ctx, int is_shape_only)
{
    size_t count = ln_context_output_count(ctx);
    if (ln_context_output_count(form) != count)
        return LN_FAIL(LN_INVALID, "it has %zu outputs, the model %zu",
                       ln_context_output_count(form), count);
    for (size_t i = 0; i < count; i++) {
        const ln_tensor_entry *entry = ln_context_output(ctx, i);
        ln_object *expected, *got = NULL;
        LN_TRY(model_get_output((ln_context *)(uintptr_t)ctx, entry, &expected));
        ln_status status =
            model_get_output((ln_context *)(uintptr_t)form, ln_context_output(form, i), &got);
        if (status == LN_OK)
            status = compare_output(got, expected, entry->name, is_shape_only);
        ln_object_release(expected);
        ln_object_release(got);
        LN_TRY(status);
    }
    return LN_OK;
}

static ln_status run_form(ln_context *form, const char *path, const char *datafile,
                          const given_inputs *given)
{
    LN_TRY(ln_context_init(form, path));
    silence_model(form);
    LN_TRY(load_model(form, datafile));
    LN_TRY(given_inputs_set(form, given));
    return ln_context_run(form);
}

static ln_status check_form(const char *path, const char *datafile, const ln_context *ctx,
                            const given_inputs *given, int is_shape_only)
{
    ln_context *form = ln_context_create();
    if (!form)
        return LN_NO_MEMORY;
    ln_status status = run_form(form, path, datafile, given);
    if (status == LN_OK)
        status = compare_outputs(form, ctx, is_shape_only);
    ln_context_free(form);
    return status;
}

ln_status compiled_forms_check(const compiled_forms *forms, const ln_context *ctx,
                               const given_inputs *given, int is_shape_only)
{
    char path[MAX_PATH], weights[MAX_PATH];
    in_folder(forms, with_json, path);
    ln_status status = check_form(path, NULL, ctx, given, is_shape_only);
    if (status != LN_OK)
        return ln_fail_prefix("its compiled form with weights");
    in_folder(forms, bare_json, path);
    in_folder(forms, bare_weights, weights);
    status = check_form(path, forms->has_weights ? weights : NULL, ctx, given, is_shape_only);
    return status == LN_OK ? LN_OK : ln_fail_prefix("its compiled form without weights");
}
