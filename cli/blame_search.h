// SPDX-License-Identifier: Apache-2.0
// Which firings make a model wrong: searched for by halves.

#ifndef LN_CLI_BLAME_SEARCH_H
#define LN_CLI_BLAME_SEARCH_H

#include "compare.h"
#include "trial.h"

// A model with what it should compute.
typedef struct suspect {
    const ln_context *model; // READY
    const char *target;
    const char *const *rule_files;
    size_t rule_file_count;
    const trial_data *data;
    tolerance allowed;
    int outputs_only;      // other tensors may be wrong
    double seconds;        // that the search may take; 0: as long as it needs
    double start;          // when it began, as seconds_now() said
    ln_context *reference; // LOADED, and has run
} suspect;

typedef struct fired_list {
    ln_firing *items; // in the order of their numbers; their texts are owned
    size_t count;
} fired_list;

// What is not to fire: a rule at an operator. By its name and not by a number, since numbers after
// a firing that is left out may change. All texts are borrowed.
typedef struct refusal {
    const char *rule;
    const char *file; // NULL: an arch's function
    int line;
    const char *op; // NULL: everywhere
} refusal;

#define MAX_CULPRITS 32
#define MAX_REFUSALS (2 * MAX_CULPRITS + 4096)

// Which firings happen.
typedef struct choice {
    size_t limit;
    const size_t *skip; // by number; only for a start
    size_t skip_count;
    const refusal *refusals;
    size_t refusal_count;
    int avoids_winograd;
    const char *until; // only the operators up to the one that makes this tensor run; NULL: all
} choice;

// What comes of a choice.
typedef struct verdict {
    int is_wrong;
    ln_status status;   // not LN_OK: compiling or running fails, which is wrong too
    char message[1024]; // then: why
    comparison compared;
    // Of the nearest convolution from which the first wrong tensor comes, if it is a Winograd one.
    char algorithm[32];
    char convolution[LN_MAX_NAME_LEN]; // its name
    char conv_type[LN_MAX_NAME_LEN];
} verdict;

// A firing that makes the model wrong: with all before it, it is right; with it too, wrong.
typedef struct culprit {
    ln_firing firing;    // texts are owned
    verdict with;        // what comes of the firings up to it, as far as the first wrong tensor
    verdict with_all;    // and of all firings, but for the culprits before
    size_t same_rule;    // index of the first culprit of the same rule: its own, or an earlier one
    int is_of_algorithm; // right with direct convolutions: the kernels of `with.algorithm` are
                         // wrong
    size_t together_count; // other firings of the rule, left out with it without a search
} culprit;

typedef struct findings {
    culprit culprits[MAX_CULPRITS];
    size_t count;
    refusal refusals[MAX_REFUSALS]; // leave all of them out, and what was skipped from the start
    size_t refusal_count;
    int is_right;        // and without all these, the model is right
    fired_list left_out; // the firings then, those that are left out marked as skipped
    fired_list start;    // the firings at the start
} findings;

// Seconds of a clock that only goes forward.
double seconds_now(void);

// Judges a choice. Fails only if nothing can be said about it, such as when memory is gone.
// `out_fired`, if not NULL, receives the firings, skipped ones too; the caller frees them.
ln_status suspect_judge(const suspect *s, const choice *c, verdict *out_verdict,
                        fired_list *out_fired);

// Finds what makes the model wrong, but for the firings with the numbers `skip`: the first culprit,
// or all that are independent of each other. LN_TIMEOUT, with where the next culprit is as far as
// is known, once its time is up. The caller releases the findings, whatever the result.
ln_status suspect_search(const suspect *s, const size_t *skip, size_t skip_count, int is_first_only,
                         findings *out_findings);

void findings_release(findings *found);
void fired_list_release(fired_list *list);

#endif
