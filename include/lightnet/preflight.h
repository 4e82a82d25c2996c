/* SPDX-License-Identifier: Apache-2.0 */
/* What is in a model file, and all that keeps it from running, found without stopping at the first.
 *
 *     ln_preflight *report;
 *     if (ln_preflight_create("model.onnx", &report) == LN_OK) {
 *         for (size_t i = 0; i < report->problem_count; i++)
 *             printf("%s\n", report->problems[i].reason);
 *         ln_preflight_destroy(report);
 *     }
 *
 * A file that is malformed gives no report but a status, as reading it does.
 */

#ifndef LIGHTNET_PREFLIGHT_H
#define LIGHTNET_PREFLIGHT_H

#include <stddef.h>
#include <stdint.h>

#include <lightnet/export.h>
#include <lightnet/status.h>

LN_CPPSTART

/* Problems that are kept; more are only counted. */
#define LN_PREFLIGHT_MAX_PROBLEMS 100

/* One reason why a node, or the model as a whole, cannot be read. Texts are never NULL. */
typedef struct ln_preflight_problem {
    char *node;   /* its name, or what stands for one; "" for the model as a whole */
    char *optype; /* as the file has it; "" as above */
    char *domain; /* "ai.onnx" where the file has none */
    int opset;    /* the version of the domain's operator set; 0: not said */
    char *place;  /* where the node stands: "graph", "then_branch of 'If_3'", "function 'f'" */
    char *reason; /* "there is no operator 'Convv'" */
    char *help;   /* what would help: "did you mean 'Conv'?"; "" if nothing is known to */
} ln_preflight_problem;

typedef struct ln_preflight_opset {
    char *domain;
    int version;
} ln_preflight_opset;

/* An input or output. */
typedef struct ln_preflight_tensor {
    char *name;
    char *type; /* "FLOAT[N, 3, 224, 224]", "INT64[]", "FLOAT[?]" for any rank, "seq(STRING[?])" */
} ln_preflight_tensor;

/* An operator type and how many nodes have it, those of bodies and functions each time. */
typedef struct ln_preflight_type {
    char *optype; /* with its domain in front unless that is ai.onnx: "com.microsoft:Gelu" */
    size_t count;
    size_t bad_count; /* of these, how many have problems */
} ln_preflight_type;

typedef struct ln_preflight {
    char *format;   /* "onnx" */
    char *producer; /* "pytorch 2.1"; "" if not said */
    int ir_version;
    ln_preflight_opset *opsets;
    size_t opset_count;
    ln_preflight_tensor *inputs;
    size_t input_count;
    ln_preflight_tensor *outputs;
    size_t output_count;
    ln_preflight_type *types; /* by name */
    size_t type_count;
    size_t node_count;      /* functions inlined */
    size_t bad_node_count;  /* of these, how many have problems */
    size_t parameter_count; /* elements of weights */
    ln_preflight_problem *problems;
    size_t problem_count;
    size_t more_problem_count; /* beyond LN_PREFLIGHT_MAX_PROBLEMS */
} ln_preflight;

/* LN_UNSUPPORTED for a format that has no preflight. The caller frees *out_report. */
LN_API ln_status ln_preflight_create(const char *path, ln_preflight **out_report);
LN_API ln_status ln_preflight_create_mem(const void *bytes, size_t byte_count, const char *name,
                                         ln_preflight **out_report);
LN_API void ln_preflight_destroy(ln_preflight *report); /* NULL is fine */

/* ---- For readers: all texts are copied, NULL is "" ---- */

LN_API ln_preflight *ln_preflight_new(const char *format);
LN_API ln_status ln_preflight_add_problem(ln_preflight *report,
                                          const ln_preflight_problem *problem);
LN_API ln_status ln_preflight_add_opset(ln_preflight *report, const char *domain, int version);
LN_API ln_status ln_preflight_add_input(ln_preflight *report, const char *name, const char *type);
LN_API ln_status ln_preflight_add_output(ln_preflight *report, const char *name, const char *type);

/* Counts a node of a type. */
LN_API ln_status ln_preflight_count_node(ln_preflight *report, const char *optype, int is_bad);

/* Records LN_UNSUPPORTED with one line for each problem, as many as a message holds. */
LN_API ln_status ln_preflight_fail(const ln_preflight *report, const char *name);

LN_CPPEND

#endif
