// SPDX-License-Identifier: Apache-2.0
// Operator descriptions, read and checked: what an operator takes, gives and demands.
//
// docs/op-description.md explains the language. Descriptions of one run may build on each other, so
// they are read into one set: first the files that only give bases, then those to use.
//
//     ln_opdesc_set set = {0};
//     LN_TRY(ln_opdesc_read_file(&set, "relu.op", false));
//     for (const ln_opdesc *op = set.first; op; op = op->next) ...
//     ln_opdesc_set_deinit(&set);

#ifndef LN_DESC_OPDESC_H
#define LN_DESC_OPDESC_H

#include <stdbool.h>
#include <stddef.h>

#include "base/value.h"

LN_CPPSTART

#define LN_OPDESC_MAX_BYTES   (1 << 20) // bytes of one file
#define LN_OPDESC_MAX_OPS     4096      // descriptions in one set
#define LN_OPDESC_MAX_MEMBERS 256       // keys of one object, elements of one array

// A key that may be absent, false or true.
typedef enum ln_desc_flag { LN_DESC_ABSENT = 0, LN_DESC_FALSE, LN_DESC_TRUE } ln_desc_flag;

// Strings are NULL when the key is absent. Expressions keep a number's spelling.
// `checks` lists are arrays whose elements are strings or objects {check}.

typedef struct ln_opdesc_tensor {
    const ln_value *source; // for places in messages
    const char *arg_name;
    const char *doc;
    const char *mtype;
    const char *dtype; // input: the name of a dtype; output: an expression
    const char *ndim;
    const char *len;
    const char *custom;
    ln_desc_flag is_static;
    ln_desc_flag is_variadic;
    ln_desc_flag is_optional;
    ln_desc_flag is_attribute; // inputs only, as the next eight
    ln_desc_flag is_shape_only;
    ln_desc_flag is_weight;
    const char *types; // a mask of dtypes, in C
    const char *sametype;
    const char *sameshape;
    const char *check;
    const ln_value *checks;
    ln_desc_flag is_scratch; // outputs only, as what follows
    const ln_value *dims;    // a string, or an array of numbers and strings
    const char *shape;
    const char *owner;
    const char *cleanup;
    const ln_value *inplace;       // a string or an array of strings
    const ln_value *inplace_first; // the same
    const char *part_of;
    const char *joins;
} ln_opdesc_tensor;

enum { LN_DESC_EQ, LN_DESC_GT, LN_DESC_GE, LN_DESC_LT, LN_DESC_LE, LN_DESC_NE, LN_DESC_BOUNDS };

typedef struct ln_opdesc_param {
    const ln_value *source;
    const char *arg_name;
    const char *doc;
    const char *ptype;
    const char *realtype;
    const char *from_func;
    const char *bounds[LN_DESC_BOUNDS]; // expressions
    const char *len;
    const char *check;
    const ln_value *checks;
    const char *custom;
    const ln_value *default_value;
    ln_desc_flag is_required; // call form only
} ln_opdesc_param;

typedef struct ln_opdesc_priv {
    const ln_value *source;
    const char *type;
    const char *name;
} ln_opdesc_priv;

typedef struct ln_opdesc ln_opdesc;
struct ln_opdesc {
    const ln_value *source;
    const char *optype;
    const char *author;
    const char *arch;
    const char *doc;
    const char *dtypes;
    const char *nan;
    const char *example;
    const char *macs;
    const char *cost;
    double step_cost; // 0 when absent
    const char *commutes;
    double rtol; // 0 when absent
    ln_desc_flag autogen;
    ln_desc_flag is_base;
    ln_desc_flag any_dtype;
    ln_desc_flag variable_length;
    const ln_value *include;      // the operator's; a string or an array of strings, or NULL
    const ln_value *file_include; // the file's
    const char *check;
    const ln_value *checks;
    const char *custom;
    const char *static_run;
    const char *run;
    const char *post_run;
    const char *calc_offset;
    const char *infer; // names of C functions; an operator with `infer` has call form
    const char *compute;
    const char *accepts;
    const char *prepare;
    const char *workspace;
    const char *is_random; // the name of a C function
    ln_desc_flag any_address;
    const char *domain;
    const ln_value *since;
    const ln_value *step_cost_value; // the following as found; see the arrays below
    const ln_value *rtol_value;
    const ln_value *extra_privs;
    const ln_value *tensors_in;
    const ln_value *tensors_out;
    const ln_value *param_values;

    ln_opdesc_priv *privs;
    size_t priv_count;
    ln_opdesc_tensor *ins;
    size_t in_count;
    ln_opdesc_tensor *outs;
    size_t out_count;
    ln_opdesc_param *params;
    size_t param_count;
    ln_opdesc *next;
};

typedef struct ln_opdesc_name {
    const char *name;
    const ln_value *object; // merged with its bases
    bool is_base;           // of a file that is only inherited from
} ln_opdesc_name;

// Start with {0}.
typedef struct ln_opdesc_set {
    const char *mtype;  // memory of tensors that do not say theirs, of archs other than `none`;
                        // NULL: LN_MEM_CPU
    ln_document *arena; // merged values and the structs above
    ln_document **documents;
    size_t document_count;
    ln_opdesc_name *names;
    size_t name_count;
    ln_opdesc *first; // of the files that are not only bases, in order, bases included
    ln_opdesc *last;
} ln_opdesc_set;

// Reads one file, or a text that messages call `file`. Errors have file, line and column. After a
// failure the set can only be deinitialised. Descriptions of a file with `is_base` are not added
// to the set's list and not checked further than their syntax.
ln_status ln_opdesc_read_file(ln_opdesc_set *set, const char *path, bool is_base);
ln_status ln_opdesc_read_text(ln_opdesc_set *set, const char *text, size_t len, const char *file,
                              bool is_base);
void ln_opdesc_set_deinit(ln_opdesc_set *set);

// Whether it only gives what others inherit, or documents: `base: true`, `autogen: false`. It may
// lack keys.
bool ln_opdesc_is_only_base(const ln_value *object);

// Whether code is to be made for it.
bool ln_opdesc_is_generated(const ln_opdesc *op);

// Whether its numbers are whole and in the range of int.
bool ln_opdesc_is_whole(const ln_opdesc_param *param);

// The name of what `is_whole` of its ln_param_info is.
const char *ln_opdesc_wholeness(const ln_opdesc_param *param);

// Whether it is written as functions on an `ln_call` (lightnet/call.h).
static inline bool ln_opdesc_is_call(const ln_opdesc *op)
{
    return op->infer != NULL;
}

// The text of element `check` of a `checks` list.
const char *ln_opdesc_check_text(const ln_value *check);

// Makes the checked struct of one merged description. Strings and arrays live in `arena`; `mtype`
// is that of the set. (opdesc_check.c; called by the readers above)
ln_status ln_opdesc_from_value(ln_document *arena, const ln_value *object, const char *mtype,
                               ln_opdesc **out_op);

LN_CPPEND

#endif
