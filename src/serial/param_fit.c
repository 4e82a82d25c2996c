// SPDX-License-Identifier: Apache-2.0
// Words for numbers, there and back; numbers with a fraction that should have none.

#include "serial/param_fit.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include <lightnet/allocator.h>
#include <lightnet/msg.h>
#include <lightnet/op_info.h>
#include <lightnet/param.h>

const char *ln_number_word(double number)
{
    if (isnan(number))
        return "nan";
    if (!isinf(number))
        return NULL;
    return number > 0 ? "inf" : "-inf";
}

int ln_number_from_word(const char *word, double *out_number)
{
    static const struct {
        const char *word;
        double number;
    } words[] = {{"inf", INFINITY}, {"-inf", -INFINITY}, {"nan", NAN}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(words[i].word, word) == 0) {
            *out_number = words[i].number;
            return 1;
        }
    }
    return 0;
}

static ln_status fit_strings(ln_param_entry *param)
{
    double *numbers = ln_alloc_array((size_t)param->array_len, sizeof *numbers);
    if (!numbers)
        return LN_NO_MEMORY;
    int i = 0;
    while (i < param->array_len && ln_number_from_word(param->value_array_string[i], &numbers[i]))
        i++;
    ln_status status = i < param->array_len
                           ? LN_OK
                           : ln_param_set_satu_array_number(param, param->array_len, numbers);
    ln_free(numbers);
    return status;
}

static ln_status fit(ln_param_entry *param, ln_param_type wanted)
{
    static const char *const no_string;
    static const ln_bool no_bool;
    double number;
    if (wanted == LN_PARAM_NUMBER && param->type == LN_PARAM_STRING &&
        ln_number_from_word(param->value_string, &number))
        return ln_param_set_satu_number(param, number);
    if (wanted == LN_PARAM_ARRAY_NUMBER && param->type == LN_PARAM_ARRAY_STRING)
        return fit_strings(param);
    if (param->type != LN_PARAM_ARRAY_NUMBER || param->array_len > 0)
        return LN_OK;
    if (wanted == LN_PARAM_ARRAY_STRING)
        return ln_param_set_array_string(param, 0, &no_string);
    if (wanted == LN_PARAM_ARRAY_BOOL)
        return ln_param_set_array_bool(param, 0, &no_bool);
    return LN_OK;
}

// ---- Integers ----

// A number with a fraction whose whole part an int holds; others are left for the checks.
static bool has_fraction(double number)
{
    return fabs(number) < 0x1p31 && trunc(number) != number;
}

static void warn_of_cut(const ln_param_entry *param, const char *opname, const char *place,
                        double number)
{
    ln_msg_warn("%s: operator '%s': param '%s' is an integer; %.17g is cut to %.17g", place, opname,
                param->arg_name, number, trunc(number));
}

static ln_status cut_array(ln_param_entry *param, const char *opname, const char *place)
{
    const double *numbers = param->value_array_double;
    int first = 0;
    while (first < param->array_len && !has_fraction(numbers[first]))
        first++;
    if (first == param->array_len)
        return LN_OK;
    double *whole = ln_alloc_array((size_t)param->array_len, sizeof *whole);
    if (!whole)
        return LN_NO_MEMORY;
    for (int i = 0; i < param->array_len; i++) {
        whole[i] = has_fraction(numbers[i]) ? trunc(numbers[i]) : numbers[i];
        if (has_fraction(numbers[i]))
            warn_of_cut(param, opname, place, numbers[i]);
    }
    ln_status status = ln_param_set_satu_array_number(param, param->array_len, whole);
    ln_free(whole);
    return status;
}

static ln_status cut(ln_param_entry *param, const char *opname, const char *place)
{
    if (param->type == LN_PARAM_ARRAY_NUMBER)
        return cut_array(param, opname, place);
    if (param->type != LN_PARAM_NUMBER || !has_fraction(param->value_double))
        return LN_OK;
    warn_of_cut(param, opname, place, param->value_double);
    return ln_param_set_satu_number(param, trunc(param->value_double));
}

// ---- The whole ----

ln_status ln_params_fit(ln_list *params, const ln_op *proto, const char *opname, const char *place)
{
    const ln_op_info *info = proto ? proto->op_arg->info : NULL;
    for (const ln_param_info *p = info ? info->params : NULL; p && p->arg_name; p++) {
        ln_param_entry *param = ln_param_list_find(params, p->arg_name);
        if (param)
            LN_TRY(fit(param, p->ptype));
        if (param && p->is_whole == LN_WHOLE_INT)
            LN_TRY(cut(param, opname, place));
    }
    return LN_OK;
}
