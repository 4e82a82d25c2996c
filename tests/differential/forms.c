// SPDX-License-Identifier: Apache-2.0
// Lists forms from the descriptions in the library.

#include "tests/differential/forms.h"

#include <string.h>

#include <lightnet/act.h>
#include <lightnet/arch.h>

#include "op_prose.h"
#include "tests/differential/patterns.h"

typedef struct form {
    const char *optype;
    int param;      // number of the parameter that is not at its default; -1: all are
    char value[48]; // "": drawn
    tl_dtype dtype; // of the first operand; TL_DTYPE_INVALID: what comes
} form;

static form *forms;
static size_t count, capacity;

static bool add(const char *optype, int param, const char *value, size_t len)
{
    if (count == capacity) {
        size_t more = capacity ? 2 * capacity : 512;
        form *grown = realloc(forms, more * sizeof *forms);
        if (!grown)
            return false;
        forms = grown;
        capacity = more;
    }
    form *f = &forms[count++];
    *f = (form){.optype = optype, .param = param, .dtype = TL_DTYPE_INVALID};
    if (len < sizeof f->value)
        memcpy(f->value, value, len);
    return true;
}

static const char *const core_types[] = {
#define W(type, weight, sinks, steps) #type,
#define N(type, weight, sinks, steps)
#include "desc/core_types.inc"
#undef W
#undef N
};

static bool is_core(const char *type)
{
    for (size_t i = 0; i < sizeof core_types / sizeof core_types[0]; i++)
        if (strcmp(type, core_types[i]) == 0)
            return true;
    return false;
}

static bool is_leaf_type(const char *type)
{
    static const char *const types[] = {"input", "output", "create", "print", "fprint", "zeros"};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strcmp(type, types[i]) == 0)
            return true;
    return false;
}

static const char *prose_of(const char *optype, int param)
{
    const op_prose *prose = op_prose_find(ln_op_find(optype));
    return prose && prose->params && prose->params[param] ? prose->params[param] : "";
}

// Words of sentences that no parameter takes.
static bool is_plain_word(const char *word, size_t len)
{
    static const char list[] =
        " or to with ties no padding as many outputs strides in src an odd at the end beginning "
        "stride times inputs whether addend comes before activation mirrored element from other "
        "which place of input has but for and mode is where axis becomes smaller else ";
    for (const char *at = list; (at = strchr(at, ' ')); at++)
        if (strncmp(at + 1, word, len) == 0 && at[len + 1] == ' ')
            return true;
    return false;
}

// The words of a description that the operator may take: names of elements, modes and the like are
// among them, and what is no word of the kind is refused when it is tried.
static bool add_words(const char *optype, int param, const char *name)
{
    if (strcmp(name, "act") == 0) {
#define ACT(constant, word, doc)                                                                   \
    if (!add(optype, param, word, strlen(word)))                                                   \
        return false;
        LN_ACT_LIST(ACT)
#undef ACT
        return true;
    }
    if (strcmp(name, "dtype") == 0)
        return true;
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";
    for (const char *at = prose_of(optype, param); *at;) {
        size_t len = strspn(at, letters);
        if (len > 1 && !is_plain_word(at, len) && !add(optype, param, at, len))
            return false;
        at += len ? len : 1;
    }
    return true;
}

static bool add_type(const char *optype, bool is_plain)
{
    const ln_op_info *info = operator_info(optype);
    if (!info || !info->ins || !info->ins[0].arg_name)
        return true;
    bool has_words = false;
    for (int i = 0; !is_plain && info->params && info->params[i].arg_name; i++) {
        const ln_param_info *p = &info->params[i];
        if (strcmp(p->arg_name, "since") == 0 || strcmp(p->arg_name, "dst_channels") == 0)
            continue;
        if (p->ptype == LN_PARAM_STRING) {
            has_words = has_words || p->is_required;
            if (!add_words(optype, i, p->arg_name))
                return false;
        } else if (!add(optype, i, "", 0))
            return false;
    }
    if (!has_words && !add(optype, -1, "", 0))
        return false;
    for (int dtype = 0; !is_plain && dtype < TL_DTYPE_SIZE; dtype++) {
        uint64_t types = info->ins[0].types;
        if ((types && !(types & LN_TYPE(dtype))) || dtype == TL_STRING || dtype == TL_OBJECT ||
            dtype == TL_COMPLEX64 || dtype == TL_COMPLEX128) // no numbers in IL
            continue;
        if (!add(optype, -1, "", 0))
            return false;
        forms[count - 1].dtype = (tl_dtype)dtype;
    }
    return true;
}

bool forms_open(void)
{
    for (size_t i = 0; i < sizeof core_types / sizeof core_types[0]; i++)
        if (!is_leaf_type(core_types[i]) && !add_type(core_types[i], false))
            return false;
    for (size_t i = 0; i < pattern_count(); i++) {
        const char *type = pattern_root(i);
        bool is_there = !type || is_core(type);
        for (size_t k = 0; !is_there && k < count; k++)
            is_there = strcmp(forms[k].optype, type) == 0;
        if (!is_there && !add_type(type, true))
            return false;
    }
    return true;
}

void forms_close(void)
{
    free(forms);
    forms = NULL;
    count = capacity = 0;
}

size_t form_count(void)
{
    return count;
}

const char *form_name(size_t index)
{
    static char name[160];
    const form *f = &forms[index];
    if (f->dtype != TL_DTYPE_INVALID)
        snprintf(name, sizeof name, "%s of %s", f->optype, tl_dtype_name(f->dtype));
    else if (f->param < 0)
        snprintf(name, sizeof name, "%s", f->optype);
    else
        snprintf(name, sizeof name, "%s %s=%s", f->optype,
                 operator_info(f->optype)->params[f->param].arg_name, f->value);
    return name;
}

const char *form_hole(size_t index)
{
    static const struct {
        const char *form, *reason;
    } holes[] = {
#define H(form, reason) {form, reason},
#include "tests/differential/holes.inc"
#undef H
        {NULL, NULL},
    };
    const char *name = form_name(index);
    for (size_t i = 0; holes[i].form; i++)
        if (strncmp(name, holes[i].form, strlen(holes[i].form)) == 0)
            return holes[i].reason;
    return NULL;
}

bool form_append(model *m, test_random *random, const sizes *s, size_t index, int tensor,
                 tl_dtype dtype)
{
    const form *f = &forms[index];
    const ln_op_info *info = operator_info(f->optype);
    preset p = {.optype = f->optype, .has_plain_params = true};
    if (f->param >= 0) {
        p.params[0].arg_name = info->params[f->param].arg_name;
        snprintf(p.params[0].value, sizeof p.params[0].value, "%s", f->value);
        p.param_count = 1;
        p.is_drawn = !f->value[0];
        if (strcmp(f->optype, "pool") == 0 && p.is_drawn) // of windows
            p.params[p.param_count++].arg_name = "size";
    }
    if (tensor >= 0) {
        uint64_t types = info->ins[0].types;
        if (types && !(types & LN_TYPE(m->tensors[tensor].dtype)))
            return false;
        snprintf(p.ins[0].arg_name, MODEL_NAME,
                 info->ins[0].flags & LN_ARG_VARIADIC ? "%.50s1" : "%.50s", info->ins[0].arg_name);
        p.ins[0].tensor = tensor;
        p.in_count = 1;
    }
    sizes of_type = *s;
    if (f->dtype != TL_DTYPE_INVALID)
        of_type.dtype = f->dtype;
    else if (dtype != TL_DTYPE_INVALID)
        of_type.dtype = dtype;
    if (tensor >= 0 && f->dtype != TL_DTYPE_INVALID && m->tensors[tensor].dtype != f->dtype)
        return false;
    return operator_add(m, random, &of_type, &p, NULL);
}
