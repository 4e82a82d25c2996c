/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters: the constants that say how an operator works, such as strides and paddings.
 *
 * A number is kept as double, float and int at once; each is the nearest its type can hold:
 *
 *     double -> float   rounded; beyond the range the largest float of that sign; infinities and
 *                       NaN stay what they are
 *     double -> int     the fraction is cut off; beyond the range INT_MIN or INT_MAX; NaN is 0
 *
 * Setting a value that cannot be set (NULL, a length below 0, no memory) returns the reason and
 * leaves the parameter as it was. Strings and arrays are copied. Functions that return a list
 * return it UNCHANGED and record the reason when they fail.
 * A parameter belongs to one thread at a time; reading it from several is fine.
 */

#ifndef LIGHTNET_PARAM_H
#define LIGHTNET_PARAM_H

#include <stdarg.h>

#include <lightnet/export.h>
#include <lightnet/list.h>
#include <lightnet/status.h>
#include <lightnet/util.h>

LN_CPPSTART

/* The one list of parameter types: X(name). Values are stable. */
#define LN_PARAM_TYPE_LIST(X)                                                                      \
    X(LN_PARAM_NULL)                                                                               \
    X(LN_PARAM_STRING)                                                                             \
    X(LN_PARAM_NUMBER)                                                                             \
    X(LN_PARAM_BOOL)                                                                               \
    X(LN_PARAM_ARRAY_STRING)                                                                       \
    X(LN_PARAM_ARRAY_NUMBER)                                                                       \
    X(LN_PARAM_ARRAY_BOOL)                                                                         \
    X(LN_PARAM_INVALID)

enum ln_param_type {
#define LN_PARAM_TYPE_ENUM(name) name,
    LN_PARAM_TYPE_LIST(LN_PARAM_TYPE_ENUM)
#undef LN_PARAM_TYPE_ENUM
};
typedef enum ln_param_type ln_param_type;

/* Only the values of the type are meant; the others are 0 or NULL. A parameter of type
 * LN_PARAM_NULL has no value. */
struct ln_param_entry {
    char *arg_name;     /* argument name in the parameter list */
    ln_param_type type; /* parameter type */
    int array_len;      /* array length if it is an array */
    double value_double;
    float value_float;
    int value_int;
    ln_bool value_bool;
    char *value_string;
    char **value_array_string;
    double *value_array_double;
    float *value_array_float;
    int *value_array_int;
    ln_bool *value_array_bool;
};
typedef struct ln_param_entry ln_param_entry;

/* ---- One parameter ---- */

/* A parameter with the value 0, or no string or array yet. NULL with a recorded failure if the name
 * is NULL or has LN_MAX_NAME_LEN bytes or more, the type is not one of the list or is
 * LN_PARAM_INVALID, or memory is gone. */
LN_API ln_param_entry *ln_param_entry_create(const char *arg_name, ln_param_type type);

/* NULL is fine. */
LN_API void ln_param_entry_free(ln_param_entry *entry);

/* A copy with its own value; NULL for NULL, and with a recorded failure when memory is gone. */
LN_API ln_param_entry *ln_param_entry_copy(const ln_param_entry *pe);

/* The name of the type as in the source, such as "LN_PARAM_NUMBER"; "LN_PARAM_INVALID" for other
 * values. */
LN_API const char *ln_param_type_name(ln_param_type type);

/* The same for people: "a number", "a list of texts"; never NULL. */
LN_API const char *ln_param_type_title(ln_param_type type);

/* The type of that name; LN_PARAM_INVALID for unknown names and NULL. */
LN_API ln_param_type ln_param_type_from_str(const char *name);

/* Sets the value from the arguments after `entry`, by its type: NUMBER a double, STRING a
 * const char *, BOOL an ln_bool; arrays a pointer (const double *, const char **, const ln_bool *)
 * followed by an int length; NULL none. */
LN_API ln_status ln_param_set(ln_param_entry *entry, ...);
LN_API ln_status ln_param_vset(ln_param_entry *entry, va_list ap);

/* These set the value and make the parameter's type that of the function. */
LN_API ln_status ln_param_set_null(ln_param_entry *entry);
LN_API ln_status ln_param_set_bool(ln_param_entry *entry, ln_bool bool_value);
LN_API ln_status ln_param_set_string(ln_param_entry *entry, const char *string);
LN_API ln_status ln_param_set_satu_number(ln_param_entry *entry, double number);
LN_API ln_status ln_param_set_satu_array_number(ln_param_entry *entry, int array_len,
                                                const double *array_number);
LN_API ln_status ln_param_set_satu_array_double(ln_param_entry *entry, int array_len,
                                                const double *array_number);
LN_API ln_status ln_param_set_satu_array_float(ln_param_entry *entry, int array_len,
                                               const float *array_number);
LN_API ln_status ln_param_set_satu_array_int(ln_param_entry *entry, int array_len,
                                             const int *array_number);
LN_API ln_status ln_param_set_array_string(ln_param_entry *entry, int array_len,
                                           const char *const *array_string);
LN_API ln_status ln_param_set_array_bool(ln_param_entry *entry, int array_len,
                                         const ln_bool *array_bool);

/* ---- Parameters of an operator: lists of ln_param_entry ---- */

/* Append a parameter; `append_empty` one with the value 0, or no string or array yet. */
LN_API ln_list *ln_param_list_append_empty(ln_list *list, const char *arg_name,
                                           ln_param_type ptype);
LN_API ln_list *ln_param_list_append_string(ln_list *list, const char *arg_name,
                                            const char *string);
LN_API ln_list *ln_param_list_append_number(ln_list *list, const char *arg_name, double number);
LN_API ln_list *ln_param_list_append_double(ln_list *list, const char *arg_name, double number);
LN_API ln_list *ln_param_list_append_float(ln_list *list, const char *arg_name, float number);
LN_API ln_list *ln_param_list_append_int(ln_list *list, const char *arg_name, int number);
LN_API ln_list *ln_param_list_append_bool(ln_list *list, const char *arg_name, ln_bool bool_value);
LN_API ln_list *ln_param_list_append_null(ln_list *list, const char *arg_name);
LN_API ln_list *ln_param_list_append_array_string(ln_list *list, const char *arg_name,
                                                  int array_len, const char *const *array_string);
LN_API ln_list *ln_param_list_append_array_number(ln_list *list, const char *arg_name,
                                                  int array_len, const double *array_number);
LN_API ln_list *ln_param_list_append_array_double(ln_list *list, const char *arg_name,
                                                  int array_len, const double *array_number);
LN_API ln_list *ln_param_list_append_array_float(ln_list *list, const char *arg_name, int array_len,
                                                 const float *array_number);
LN_API ln_list *ln_param_list_append_array_int(ln_list *list, const char *arg_name, int array_len,
                                               const int *array_int);
LN_API ln_list *ln_param_list_append_array_bool(ln_list *list, const char *arg_name, int array_len,
                                                const ln_bool *array_bool);

/* Appends `entry`, which the list then owns; on failure it stays with the caller. */
LN_API ln_status ln_param_list_push(ln_list **list, ln_param_entry *entry);

/* Frees a list with its parameters. NULL is fine. */
LN_API void ln_param_list_free(ln_list *list);

/* A new list of copies; NULL for NULL, and with a recorded failure when memory is gone. */
LN_API ln_list *ln_param_list_copy(const ln_list *list);

/* The first parameter of that name; NULL if there is none. */
LN_API ln_param_entry *ln_param_list_find(const ln_list *list, const char *arg_name);

/* The first parameter named `<arg_name1>_<arg_name2>`; NULL if there is none. */
LN_API ln_param_entry *ln_param_list_find2(const ln_list *list, const char *arg_name1,
                                           const char *arg_name2);

LN_API int ln_param_list_length(const ln_list *list);

/* Writes to `buf`, of LN_MAX_NAME_LEN bytes, an argument name that is not in the list: `prefix` and
 * a number, one more than the largest with that prefix, or 0. Returns the number, or -1 with a
 * recorded failure if a pointer is NULL, the name is too long or the number too large. */
LN_API int ln_param_list_unique_arg_name(const ln_list *list, char *buf, const char *prefix);

LN_CPPEND

#endif
