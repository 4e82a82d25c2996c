// SPDX-License-Identifier: Apache-2.0
// Finding what archs know about operators with a parameter `algorithm`.

#include "pass/choice.h"

#include <lightnet/arch.h>
#include <lightnet/op_info.h>
#include <lightnet/util.h>

// Whose type of operator, or of what packs for it, that is.
static const ln_choice *find(const char *optype, bool is_pack)
{
    const ln_arch *arch;
    for (size_t i = 0; (arch = ln_arch_find_at(i)); i++)
        for (const ln_choice *choice = arch->choices; choice && choice->optype; choice++)
            if (ln_streq(is_pack ? choice->pack_type : choice->optype, optype))
                return choice;
    return NULL;
}

const ln_choice *ln_choice_find(const char *optype)
{
    return find(optype, false);
}

bool ln_choice_packs(const char *optype)
{
    return find(optype, true) != NULL;
}

const char *ln_choice_made(const ln_choice *choice, const ln_op *op)
{
    const ln_param_entry *param = ln_param_list_find(op->op_arg->params, "algorithm");
    return param ? param->value_string : choice->algorithms[0];
}

// After the parameters that the description lists before it.
static int position_of_algorithm(const ln_op_info *info, const ln_list *params)
{
    int position = 0, index = 0;
    const ln_param_entry *param;
    LN_LIST_FOREACH (param, params) {
        index++;
        for (int i = 0; !ln_streq(info->params[i].arg_name, "algorithm"); i++)
            if (ln_streq(info->params[i].arg_name, param->arg_name))
                position = index;
    }
    return position;
}

static ln_status add_algorithm(const ln_op_info *info, ln_list **params, const char *algorithm)
{
    ln_list *one = ln_param_list_append_string(NULL, "algorithm", algorithm);
    if (!one)
        return LN_NO_MEMORY;
    ln_status status = ln_list_push_nth(params, one->data, position_of_algorithm(info, *params));
    if (status == LN_OK)
        ln_list_free(one);
    else
        ln_param_list_free(one);
    return status;
}

ln_status ln_choice_make(const ln_choice *choice, const ln_op *op, const char *algorithm,
                         ln_list **params)
{
    ln_param_entry *param = ln_param_list_find(*params, "algorithm");
    if (!ln_streq(algorithm, choice->algorithms[0]))
        return param ? ln_param_set_string(param, algorithm)
                     : add_algorithm(op->op_arg->info, params, algorithm);
    *params = ln_list_remove(*params, param);
    ln_param_entry_free(param);
    return LN_OK;
}
