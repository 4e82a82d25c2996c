// SPDX-License-Identifier: Apache-2.0
// The life of an operator in call form: its arguments by position, checks that its description
// states, shapes, and values that are known before the model runs.

#include "op/call.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lightnet/allocator.h>
#include <lightnet/context.h>
#include <lightnet/op_support.h>
#include <lightnet/spelling.h>

#include "ir/context.h"
#include "ir/op_life.h"
#include "ir/open.h"
#include "ir/param_words.h"
#include "ir/phase.h"
#include "op/call_prepare.h"
#include "op/onnx/graphs.h"

// The most tensors a variadic argument of an operator in call form takes.
#define MAX_VARIADIC 4096

// Values of at most so many bytes are computed while a model is planned.
#define MAX_KNOWN_BYTES 65536

// And that cost no more work units than this each; LN_PLAN_WORK limits their sum, so that a small
// file is not long in planning.
#define MAX_KNOWN_WORK 2e7

ln_op *(*ln_call_find_reference)(const char *optype);

// ---- Arguments by position ----

static bool is_variadic(const ln_arg_info *info)
{
    return (info->flags & LN_ARG_VARIADIC) != 0;
}

static int fixed_count(const ln_arg_info *infos)
{
    int count = 0;
    while (infos[count].arg_name && !is_variadic(&infos[count]) &&
           !(infos[count].flags & LN_ARG_ATTRIBUTE))
        count++;
    return count;
}

const ln_arg_info *ln_call_info_at(const ln_arg_info *infos, int position)
{
    int fixed = fixed_count(infos);
    return &infos[position < fixed ? position : fixed];
}

int ln_arg_number(const char *name, const char *prefix)
{
    size_t len = strlen(prefix);
    if (strncmp(name, prefix, len) != 0)
        return 0;
    const char *digits = name + len;
    size_t count = strspn(digits, "0123456789");
    if (count == 0 || count > 4 || digits[count] || digits[0] == '0')
        return 0;
    return (int)strtol(digits, NULL, 10);
}

// The position of `arg_name` among real arguments; -1 for attributes and captured tensors, -2 for
// names that are not described.
static int position_of(const ln_arg_info *infos, const char *arg_name)
{
    int fixed = fixed_count(infos);
    for (int i = 0; i < fixed; i++)
        if (strcmp(infos[i].arg_name, arg_name) == 0)
            return i;
    const ln_arg_info *rest = &infos[fixed];
    if (rest->arg_name && is_variadic(rest)) {
        int number = ln_arg_number(arg_name, rest->arg_name);
        if (number > 0)
            return number <= MAX_VARIADIC ? fixed + number - 1 : -2;
    }
    for (; rest->arg_name; rest++)
        if ((rest->flags & LN_ARG_ATTRIBUTE) && strcmp(rest->arg_name, arg_name) == 0)
            return -1;
    return -2;
}

static bool has_graph(const ln_op_arg *arg)
{
    const ln_param_entry *param;
    LN_LIST_FOREACH (param, arg->params) {
        if (param->type == LN_PARAM_STRING && arg->context && param->value_string &&
            ln_context_find_graph(arg->context, param->value_string))
            return true;
    }
    return false;
}

// What no description lists: tensors from around a graph, and the workspace.
static bool is_extra(const ln_op_arg *arg, const ln_list *listed, const char *arg_name)
{
    if (listed == arg->tensors_out)
        return ln_op_is_scratch(arg, arg_name);
    return ln_arg_number(arg_name, "capture") > 0 && has_graph(arg);
}

// Names that are known, for the message about one that is not.
typedef struct known_names {
    char text[512];
    ln_nearest nearest;
} known_names;

static void add_name(known_names *known, const char *name, const char *more)
{
    size_t used = strlen(known->text);
    ln_nearest_try(&known->nearest, name);
    snprintf(known->text + used, sizeof known->text - used, "%s%s%s", used ? ", " : "", name, more);
}

static ln_status fail_no_name(ln_call *call, const char *what, const known_names *known)
{
    const char *name = known->nearest.name;
    return ln_call_fail(call, LN_INVALID, "has no %s '%s'; known: %s%s%s%s", what,
                        known->nearest.word, known->text[0] ? known->text : "none",
                        name ? "; did you mean '" : "", name ? name : "", name ? "'?" : "");
}

static ln_status fail_no_arg(ln_call *call, const ln_arg_info *infos, const char *name)
{
    known_names known = {.nearest = ln_nearest_to(name)};
    for (; infos->arg_name; infos++)
        add_name(&known, infos->arg_name, is_variadic(infos) ? "1..." : "");
    return fail_no_name(call, "argument", &known);
}

static ln_status fail_no_param(ln_call *call, const char *name)
{
    known_names known = {.nearest = ln_nearest_to(name)};
    for (const ln_param_info *p = call->info->params; p->arg_name; p++)
        add_name(&known, p->arg_name, "");
    return fail_no_name(call, "param", &known);
}

static ln_status count_args(ln_call *call, const ln_list *listed, const ln_arg_info *infos,
                            int *out_count)
{
    int count = 0;
    const ln_tensor_list_entry *l;
    LN_LIST_FOREACH (l, listed) {
        int position = position_of(infos, l->arg_name);
        if (position == -2 && !is_extra(call->op_arg, listed, l->arg_name))
            return fail_no_arg(call, infos, l->arg_name);
        if (position >= count)
            count = position + 1;
    }
    *out_count = count;
    return LN_OK;
}

static ln_status fill_ins(ln_call *call)
{
    const ln_op_arg *arg = call->op_arg;
    const ln_tensor_list_entry *l;
    LN_LIST_FOREACH (l, arg->tensors_in) {
        int position = position_of(call->info->ins, l->arg_name);
        ln_tensor_entry *entry = ln_tensor_table_find(arg->tensor_table, l->name);
        if (!entry)
            return ln_call_fail(call, LN_INVALID,
                                "tensor '%s' (%s) should have been defined before", l->name,
                                l->arg_name);
        call->takes_open = call->takes_open || entry->is_open;
        call->takes_extra = call->takes_extra || position < 0;
        if (position < 0)
            continue;
        if (call->ins[position])
            return ln_call_fail(call, LN_INVALID, "input '%s' is there twice", l->arg_name);
        call->ins[position] = entry;
        call->step.tensors[position] = entry->tensor;
    }
    return LN_OK;
}

static ln_status fill_outs(ln_call *call)
{
    const ln_tensor_list_entry *l;
    LN_LIST_FOREACH (l, call->op_arg->tensors_out) {
        int position = position_of(call->info->outs, l->arg_name);
        if (position < 0)
            continue;
        if (call->outs[position].is_wanted)
            return ln_call_fail(call, LN_INVALID, "output '%s' is there twice", l->arg_name);
        call->outs[position].is_wanted = true;
    }
    return LN_OK;
}

static ln_status count_all(ln_call *call)
{
    const ln_op_arg *arg = call->op_arg;
    LN_TRY(count_args(call, arg->tensors_in, call->info->ins, &call->in_count));
    return count_args(call, arg->tensors_out, call->info->outs, &call->out_count);
}

// ---- Checks that the description states ----

static ln_status check_outputs_present(ln_call *call)
{
    const ln_arg_info *outs = call->info->outs;
    int fixed = fixed_count(outs);
    for (int i = 0; i < fixed; i++)
        if (!(outs[i].flags & LN_ARG_OPTIONAL) &&
            (i >= call->out_count || !call->outs[i].is_wanted))
            return ln_call_fail(call, LN_INVALID, "needs a `%s` output tensor", outs[i].arg_name);
    return LN_OK;
}

static ln_status check_present(ln_call *call)
{
    const ln_arg_info *ins = call->info->ins;
    int fixed = fixed_count(ins);
    for (int i = 0; i < fixed; i++)
        if (!(ins[i].flags & LN_ARG_OPTIONAL) && (i >= call->in_count || !call->ins[i]))
            return ln_call_fail(call, LN_INVALID, "needs a `%s` input tensor", ins[i].arg_name);
    const ln_arg_info *rest = &ins[fixed];
    if (!rest->arg_name || !is_variadic(rest))
        return LN_OK;
    if (!(rest->flags & LN_ARG_OPTIONAL) && call->in_count <= fixed)
        return ln_call_fail(call, LN_INVALID, "needs at least one `%s1` input tensor",
                            rest->arg_name);
    // One that is optional checks its tensors itself: the first of Scan 8 may be left out.
    for (int i = fixed; i < call->in_count && !(rest->flags & LN_ARG_OPTIONAL); i++)
        if (!call->ins[i])
            return ln_call_fail(call, LN_INVALID, "needs a `%s%d` input tensor", rest->arg_name,
                                i - fixed + 1);
    return LN_OK;
}

// What computes in one memory cannot read another: a `copy` has to be between them.
static ln_status check_memory(ln_call *call, const ln_arg_info *info, const ln_tensor_entry *entry)
{
    if (info->mtype == LN_MEM_NONE || entry->mtype == LN_MEM_NONE || info->mtype == entry->mtype)
        return LN_OK;
    return ln_call_fail(call, LN_INVALID,
                        "reads input '%s' in %s, but tensor '%s' is in %s; put a 'copy' between "
                        "them",
                        info->arg_name, ln_mem_type_title(info->mtype), entry->name,
                        ln_mem_type_title(entry->mtype));
}

static ln_status check_types(ln_call *call)
{
    for (int i = 0; i < call->in_count; i++) {
        const ln_tensor_entry *entry = call->ins[i];
        if (!entry)
            continue;
        const ln_arg_info *info = ln_call_info_at(call->info->ins, i);
        LN_TRY(check_memory(call, info, entry));
        if (entry->is_open && !entry->held)
            continue;
        tl_dtype dtype = entry->tensor->dtype;
        if (info->types && !(info->types >> dtype & 1))
            return ln_call_fail(call, LN_INVALID, "does not take %s for input '%s'",
                                tl_dtype_title(dtype), info->arg_name);
        int same = info->same ? position_of(call->info->ins, info->same) : -1;
        if (info->same && is_variadic(info) && strcmp(info->same, info->arg_name) == 0)
            same = fixed_count(call->info->ins);
        if (same < 0 || same >= call->in_count || !call->ins[same] ||
            (call->ins[same]->is_open && !call->ins[same]->held))
            continue;
        if (call->ins[same]->tensor->dtype != dtype)
            return ln_call_fail(call, LN_INVALID, "input '%s' is %s, but '%s' is %s",
                                info->arg_name, tl_dtype_title(dtype), info->same,
                                tl_dtype_title(call->ins[same]->tensor->dtype));
    }
    return LN_OK;
}

const ln_param_info *ln_op_info_find_param(const ln_op_info *info, const char *name)
{
    for (const ln_param_info *p = info->params; p && p->arg_name; p++)
        if (strcmp(p->arg_name, name) == 0)
            return p;
    return NULL;
}

// An empty array has no type of its own in JSON. An element type may be named instead of numbered.
static bool is_kind(const ln_param_entry *param, ln_param_type ptype)
{
    if (param->type == ptype)
        return true;
    if (ptype == LN_PARAM_NUMBER && param->type == LN_PARAM_STRING)
        return ln_onnx_dtype_from_name(param->value_string) != TL_DTYPE_INVALID;
    bool is_array = ptype == LN_PARAM_ARRAY_NUMBER || ptype == LN_PARAM_ARRAY_STRING ||
                    ptype == LN_PARAM_ARRAY_BOOL;
    bool is_empty_array =
        (param->type == LN_PARAM_ARRAY_NUMBER || param->type == LN_PARAM_ARRAY_STRING ||
         param->type == LN_PARAM_ARRAY_BOOL) &&
        param->array_len == 0;
    return is_array && is_empty_array;
}

// A text in place of a number may be meant as an element type.
static ln_status fail_kind(ln_call *call, const ln_param_info *info, const ln_param_entry *param)
{
    char words[512] = "";
    bool is_dtype = strcmp(info->arg_name, "dtype") == 0 || strcmp(info->arg_name, "to") == 0;
    if (is_dtype && param->type == LN_PARAM_STRING)
        return ln_call_fail(call, LN_INVALID, "param '%s': '%s' is no element type%s",
                            param->arg_name, param->value_string,
                            ln_dtype_words(param->value_string, words, sizeof words));
    return ln_call_fail(call, LN_INVALID, "param '%s' should be %s, but is %s", param->arg_name,
                        ln_param_type_title(info->ptype), ln_param_type_title(param->type));
}

// What ln_call_int would cut.
static bool has_fraction(double number)
{
    return !(floor(number) == number);
}

static ln_status check_no_fraction(ln_call *call, const ln_param_entry *param)
{
    if (param->type == LN_PARAM_NUMBER && has_fraction(param->value_double))
        return ln_call_fail(call, LN_INVALID, "param '%s' should be an integer, but is %.9g",
                            param->arg_name, param->value_double);
    for (int i = 0; param->type == LN_PARAM_ARRAY_NUMBER && i < param->array_len; i++)
        if (has_fraction(param->value_array_double[i]))
            return ln_call_fail(call, LN_INVALID,
                                "param '%s' should hold integers, but its element %d is %.9g",
                                param->arg_name, i, param->value_array_double[i]);
    return LN_OK;
}

static ln_status check_params(ln_call *call)
{
    ln_op_arg *arg = call->op_arg;
    const ln_param_entry *param;
    LN_LIST_FOREACH (param, arg->params) {
        if (strcmp(param->arg_name, "since") == 0 && call->info->since && call->info->since[0])
            continue;
        const ln_param_info *info = ln_op_info_find_param(call->info, param->arg_name);
        if (!info)
            return fail_no_param(call, param->arg_name);
        if (ln_param_list_find(arg->params, param->arg_name) != param)
            return ln_call_fail(call, LN_INVALID, "param '%s' is there twice", param->arg_name);
        if (!is_kind(param, info->ptype))
            return fail_kind(call, info, param);
        LN_TRY(ln_op_check_param_value(arg, param));
        if (info->is_whole == LN_WHOLE_INT)
            LN_TRY(ln_op_check_whole(arg, param));
        else if (info->is_whole)
            LN_TRY(check_no_fraction(call, param));
    }
    for (const ln_param_info *info = call->info->params; info->arg_name; info++)
        if (info->is_required && !ln_param_list_find(arg->params, info->arg_name))
            return ln_call_fail(call, LN_INVALID, "needs a `%s` param", info->arg_name);
    return LN_OK;
}

static ln_status fail_since(ln_call *call)
{
    char known[256] = "";
    for (const int *since = call->info->since; *since; since++) {
        size_t len = strlen(known);
        snprintf(known + len, sizeof known - len, "%s%d", len ? ", " : "", *since);
    }
    return ln_call_fail(call, LN_INVALID, "param 'since' should be one of %s", known);
}

static ln_status find_since(ln_call *call)
{
    const int *since = call->info->since;
    if (!since || !since[0])
        return LN_OK;
    const ln_param_entry *param = ln_param_list_find(call->op_arg->params, "since");
    for (; *since; since++) {
        call->since = *since;
        if (param && param->type == LN_PARAM_NUMBER && param->value_double == *since)
            return LN_OK;
    }
    return param ? fail_since(call) : LN_OK;
}

// ---- Making and freeing ----

static void destroy(ln_call *call)
{
    if (!call)
        return;
    ln_call_release_scratch(call);
    ln_call_drop_prepared(call);
    ln_call_release_captured(call);
    ln_free(call->captured);
    ln_free(call);
}

// One block:   | ln_call | outputs ... | inputs ... | tensors of both ... |
static ln_call *alloc_call(ln_op_arg *op_arg)
{
    ln_call counted = {.op_arg = op_arg, .info = op_arg->info};
    if (count_all(&counted) != LN_OK)
        return NULL;
    size_t out_count = (size_t)counted.out_count, in_count = (size_t)counted.in_count;
    ln_call *call = ln_alloc(sizeof *call + out_count * sizeof *call->outs +
                             in_count * sizeof *call->ins + // at most MAX_VARIADIC and a few
                             (in_count + out_count) * sizeof *call->step.tensors);
    if (!call) {
        (void)ln_op_fail_recorded(op_arg);
        return NULL;
    }
    *call = counted;
    call->step_cost = op_arg->info->step_cost > 0 ? op_arg->info->step_cost : 1;
    call->workspace_bytes = SIZE_MAX;
    call->cost = -1;
    call->outs = (ln_call_output *)(call + 1);
    call->ins = (ln_tensor_entry **)(call->outs + out_count);
    call->step.tensors = (tl_tensor **)(call->ins + in_count);
    return call;
}

static ln_call *create(ln_op_arg *op_arg)
{
    ln_call *call = alloc_call(op_arg);
    if (!call)
        return NULL;
    if (fill_ins(call) != LN_OK || fill_outs(call) != LN_OK || check_present(call) != LN_OK ||
        check_outputs_present(call) != LN_OK || check_types(call) != LN_OK ||
        check_params(call) != LN_OK || find_since(call) != LN_OK) {
        destroy(call);
        return NULL;
    }
    return call;
}

// ---- Inferring ----

static void show_known(ln_tensor_entry *entry, bool is_shown)
{
    bool is_known = is_shown && !entry->is_input;
    entry->tensor->data = is_known ? (void *)(uintptr_t)entry->known : NULL;
}

void ln_call_show_known(ln_call *call, bool is_shown)
{
    for (int i = 0; i < call->in_count; i++)
        if (call->ins[i])
            show_known(call->ins[i], is_shown);
    const ln_tensor_list_entry *l;
    LN_LIST_FOREACH (l, call->takes_extra ? call->op_arg->tensors_in : NULL)
        show_known(ln_tensor_table_find(call->op_arg->tensor_table, l->name), is_shown);
}

static ln_status infer(ln_call *call)
{
    call->is_open = call->is_over_budget = false;
    call->has_read_values = call->has_read_constants = false;
    for (int i = 0; i < call->out_count; i++)
        call->outs[i].is_stated = call->outs[i].is_object = false;
    if (!call->is_run)
        ln_call_show_known(call, true);
    ln_status status = call->info->infer(call);
    if (!call->is_run) {
        ln_call_show_known(call, false);
        call->infer_bytes = call->scratch_bytes;
    }
    if (status == LN_LIMIT && call->is_over_budget) {
        call->op_arg->status = LN_OK; // the shape is found out in the run
        call->is_open = true;
        return LN_OK;
    }
    if (status != LN_OK)
        return ln_op_fail(call->op_arg, status, "%s", ln_error_message());
    for (int i = 0; i < call->out_count && !call->is_open; i++)
        if (call->outs[i].is_wanted && !call->outs[i].is_stated)
            return ln_call_fail(call, LN_INTERNAL, "does not say the shape of output %d", i);
    return LN_OK;
}

// ---- Values known before a run ----

static bool are_inputs_known(const ln_call *call)
{
    const ln_tensor_list_entry *l;
    LN_LIST_FOREACH (l, call->op_arg->tensors_in) {
        const ln_tensor_entry *entry = ln_tensor_table_find(call->op_arg->tensor_table, l->name);
        int position = position_of(call->info->ins, l->arg_name);
        if (position >= 0 && entry &&
            (ln_call_info_at(call->info->ins, position)->flags & LN_ARG_SHAPE_ONLY))
            continue;
        if (!entry || !entry->known || entry->is_input ||
            tl_tensor_size(entry->tensor) > MAX_KNOWN_BYTES)
            return false;
    }
    return call->op_arg->tensors_in != NULL;
}

static bool is_output_small(const ln_call *call)
{
    for (int i = 0; i < call->out_count; i++) {
        const ln_tensor_entry *entry = call->outs[i].entry;
        if (entry && (entry->is_open || tl_tensor_size(entry->tensor) > MAX_KNOWN_BYTES))
            return false;
    }
    return true;
}

static const ln_op_info *find_reference(const char *optype)
{
    const ln_op *proto = ln_call_find_reference ? ln_call_find_reference(optype) : NULL;
    return proto ? proto->op_arg->info : NULL;
}

// The variant that computes it; NULL: none.
static const ln_op_info *find_compute(const ln_call *call)
{
    if (call->info->compute)
        return call->info;
    const ln_op_info *info = find_reference(call->op_arg->optype);
    return info && info->compute ? info : NULL;
}

static double step_cost_of(const ln_op_info *info)
{
    return info->step_cost > 0 ? info->step_cost : 1;
}

// Without the call itself, which is counted before its shapes are known.
static double units_of_steps(const ln_call *call, const ln_op_info *info)
{
    return ln_call_cost(call->op_arg) * step_cost_of(info);
}

static ln_status give_blocks(ln_call *call)
{
    for (int i = 0; i < call->out_count; i++) {
        ln_tensor_entry *entry = call->outs[i].entry;
        if (!entry)
            continue;
        size_t byte_count = tl_tensor_size(entry->tensor);
        entry->known_block = ln_alloc(byte_count ? byte_count : 1);
        if (!entry->known_block)
            return LN_NO_MEMORY;
        entry->tensor->data = entry->known_block;
    }
    return LN_OK;
}

// An operator that fails here, on a bad index say, fails again when the model runs; until then its
// values are not known.
static void compute_known(ln_call *call, const ln_op_info *info)
{
    call->is_run = true;
    ln_call_show_known(call, true);
    ln_status status = give_blocks(call);
    if (status == LN_OK)
        status = ln_call_need_prepared(call, info);
    if (status == LN_OK)
        status = info->compute(call);
    ln_call_show_known(call, false);
    call->is_run = false;
    ln_call_release_scratch(call);
    ln_call_drop_prepared(call); // many operators never run in this form
    for (int i = 0; i < call->out_count; i++) {
        ln_tensor_entry *entry = call->outs[i].entry;
        if (!entry)
            continue;
        entry->tensor->data = NULL;
        if (status == LN_OK) {
            entry->known = entry->known_block;
        } else {
            ln_free(entry->known_block);
            entry->known_block = NULL;
        }
    }
    call->op_arg->status = LN_OK;
}

// What the values take, as long as they are known.
static bool take_bytes(const ln_call *call)
{
    double cost = 0;
    ln_tensor_entry *first = NULL;
    for (int i = 0; i < call->out_count; i++) {
        ln_tensor_entry *entry = call->outs[i].entry;
        if (!entry)
            continue;
        cost += (double)tl_tensor_size(entry->tensor);
        first = first ? first : entry;
    }
    return first && ln_context_take_known(call->op_arg->context, first, (size_t)cost);
}

// Shape arithmetic is written in operators of ONNX. What others make of constants follows these
// when they are set.
static void find_known(ln_call *call)
{
    if (call->since == 0 || !are_inputs_known(call) || !is_output_small(call) ||
        ln_op_is_random(call->op_arg))
        return;
    const ln_op_info *info = find_compute(call);
    if (!info)
        return;
    double units = LN_CALL_COST + units_of_steps(call, info), own = call->step_cost;
    if (!(units <= MAX_KNOWN_WORK) || !ln_context_take_known_work(call->op_arg->context, units) ||
        !take_bytes(call))
        return;
    call->step_cost = step_cost_of(info);
    compute_known(call, info);
    call->step_cost = own;
}

// ---- The functions of operators in call form ----

// Fallback: a variant that was chosen before shapes were known, or that the model names, may reject
// its actual inputs; then the reference runs. NULL where there is none.
static const ln_op_info *choose_variant(ln_call *call)
{
    if (!call->info->accepts || call->info->accepts(call) == LN_OK)
        return call->info;
    call->op_arg->status = LN_OK; // that is no refusal of the model
    char optype[LN_MAX_NAME_LEN];
    size_t len = strlen(call->op_arg->optype) - strlen(call->op_arg->arch) - 1;
    snprintf(optype, sizeof optype, "%.*s", (int)len, call->op_arg->optype);
    return find_reference(optype);
}

// Outputs that stay where they are and as they are, whatever the values of inputs.
static bool is_fixed(const ln_call *call)
{
    for (int i = 0; i < call->out_count; i++)
        if (call->outs[i].entry && call->outs[i].entry->is_open)
            return false;
    return !call->is_open && !call->has_read_values && !call->takes_open;
}

// To be called when all is inferred and chosen.
static void note_found(ln_call *call)
{
    call->is_fixed = is_fixed(call);
    call->is_of_constants = call->is_of_constants || call->has_read_constants;
    call->version = ln_call_version(call);
    call->constants_version = ln_call_constants_version(call);
}

// Nothing that was looked at has been set since.
static bool is_as_found(const ln_call *call)
{
    return call->version == ln_call_version(call) &&
           (!call->is_of_constants || call->constants_version == ln_call_constants_version(call));
}

bool ln_call_is_settled(const ln_call *call)
{
    return call->is_settled && is_as_found(call);
}

void ln_call_pre_run(ln_op_arg *op_arg)
{
    op_arg->status = LN_OK;
    ln_call *call = create(op_arg);
    if (!call)
        return;
    ln_status status = call->takes_open ? ln_call_check_graphs(call) : infer(call);
    if (call->takes_open)
        call->is_open = true;
    call->has_late_shapes = call->is_open;
    if (status == LN_OK && !call->is_open)
        call->by = choose_variant(call);
    ln_call_release_scratch(call);
    if (status == LN_OK)
        status = ln_call_define_outputs(call);
    if (status != LN_OK) {
        ln_op_undefine_outputs(op_arg);
        destroy(call);
        return;
    }
    op_arg->priv = call;
    note_found(call);
    call->is_settled = call->is_fixed && !call->is_of_constants; // a data file may give others
    ln_call_note_cost(call);
    if (!call->is_open) {
        find_known(call);
        ln_call_count_workspace(call, call->by);
    }
    if (ln_call_define_workspace(call) != LN_OK)
        ln_call_post_run(op_arg);
}

// Unlike at planning, a missing value is a mistake of the caller.
static ln_status check_values(ln_call *call)
{
    const ln_tensor_list_entry *l;
    LN_LIST_FOREACH (l, call->op_arg->tensors_in) {
        const ln_tensor_entry *entry = ln_tensor_table_find(call->op_arg->tensor_table, l->name);
        if (entry && entry->is_open && !entry->held)
            return ln_call_fail(call, LN_STATE, "tensor '%s' has no value yet", l->name);
    }
    return LN_OK;
}

// Memory of outputs, which may come from the system page by page. Views have none, and are no
// steps.
static double units_of_outputs(const ln_call *call)
{
    double byte_count = 0;
    if (ln_call_cost(call->op_arg) <= 0)
        return 0;
    for (int i = 0; i < call->out_count; i++)
        if (call->outs[i].entry && !call->outs[i].entry->held)
            byte_count += (double)tl_tensor_size(call->outs[i].entry->tensor);
    return byte_count * LN_FRESH_BYTE_COST;
}

// What has its shapes only now is in no sum that was checked before.
static ln_status charge_late(ln_call *call)
{
    if (!call->has_late_shapes || !call->by)
        return LN_OK;
    double units = units_of_steps(call, call->by), fresh = units_of_outputs(call);
    ln_context *ctx = call->op_arg->context;
    const ln_context *root = ctx ? ln_context_root(ctx) : NULL;
    ln_status status =
        !root || units + fresh <= root->work_left
            ? ln_call_charge_units(call, units)
            : ln_call_fail(call, LN_LIMIT,
                           "costs %.4g work units with its shapes in this run, more than the %.4g "
                           "that are left of the limit of %.4g (--work, ln_limits.work)",
                           units + fresh, root->work_left > 0 ? root->work_left : 0,
                           root->work_limit);
    if (status != LN_OK)
        ln_call_drop_outputs(call);
    return status;
}

// What planning has found out, where it could not know or where something was set since.
static ln_status settle(ln_call *call)
{
    bool is_chosen = call->by && !call->takes_open && is_as_found(call);
    LN_TRY(check_values(call));
    LN_TRY(check_types(call));
    LN_TRY(infer(call));
    ln_call_show_outputs(call);
    if (!is_chosen)
        call->by = choose_variant(call);
    LN_TRY(charge_late(call));
    LN_TRY(ln_call_prepare_outputs(call));
    note_found(call);
    call->is_settled = call->is_fixed;
    return LN_OK;
}

static ln_status compute(ln_call *call)
{
    if (!ln_call_is_settled(call))
        LN_TRY(settle(call));
    if (!call->by)
        return ln_call_fail(call, LN_UNSUPPORTED, "is given what it does not take");
    call->step_cost = step_cost_of(call->by);
    LN_TRY(ln_call_need_prepared(call, call->by));
    ln_status status = call->by->compute(call);
    if (status != LN_OK)
        return ln_op_fail(call->op_arg, status, "%s", ln_error_message());
    if (call->is_settled && ln_call_stays_prepared(call))
        call->step.compute = call->by->compute;
    return call->is_settled ? LN_OK : ln_call_finish_outputs(call);
}

bool ln_call_is_complete(const ln_call *call)
{
    bool is_prepared =
        call->by && (!call->by->prepare || (call->prepared && ln_call_stays_prepared(call)));
    return ln_call_is_settled(call) && is_prepared;
}

void ln_call_complete(ln_call *call)
{
    call->step_cost = step_cost_of(call->by);
    call->step.compute = call->by->compute;
}

static ln_status run(ln_call *call, ln_call_func function)
{
    call->is_run = true;
    ln_status status = function(call);
    call->is_run = false;
    ln_call_release_scratch(call);
    ln_call_release_captured(call);
    return status;
}

void ln_call_settle(ln_op_arg *op_arg)
{
    ln_call *call = ln_call_of(op_arg);
    if (!call || !call->is_fixed || ln_call_is_settled(call) || run(call, settle) == LN_OK)
        return;
    call->is_settled = false; // the run fails likewise, unless the constant is set before
    op_arg->status = LN_OK;
    ln_error_clear();
}

void ln_call_run(ln_op_arg *op_arg)
{
    (void)run(op_arg->priv, compute);
}

ln_status ln_call_run_step(ln_call *call)
{
    ln_op_arg *arg = call->op_arg;
    arg->status = LN_OK;
    ln_status status = run(call, call->step.compute ? call->step.compute : compute);
    return status == LN_OK ? arg->status : ln_op_fail(arg, status, "%s", ln_error_message());
}

void ln_call_reset_step(ln_call *call)
{
    call->step.compute = NULL;
}

void ln_call_post_run(ln_op_arg *op_arg)
{
    destroy(op_arg->priv);
    op_arg->priv = NULL;
    ln_op_undefine_outputs(op_arg);
}

void ln_call_check(ln_op_arg *op_arg)
{
    op_arg->status = LN_OK;
    ln_call *call = create(op_arg);
    if (!call)
        return;
    call->is_checking = true;
    // What a variant accepts depends on shapes: of an open input the run decides, in
    // choose_variant.
    ln_status status = call->takes_open ? LN_OK : infer(call);
    if (status == LN_OK && call->info->accepts && !call->takes_open) {
        status = call->info->accepts(call);
        if (status != LN_OK)
            (void)ln_op_fail(op_arg, status, "%s", ln_error_message());
    }
    destroy(call);
}
