// SPDX-License-Identifier: Apache-2.0
// Words that operators take, by type and parameter.
//
// Each operator reads its own words; tests/api/op_words_test.c holds this list against what they
// take, word by word, and demands a row for each string parameter of the core.

#include "op/op_words.h"

#include <stdio.h>
#include <string.h>

#include <lightnet/act.h>
#include <lightnet/call.h>
#include <lightnet/dtype.h>
#include <lightnet/spelling.h>

#include "op/call.h"
#include "op/elementwise.h"

typedef struct row {
    const char *optypes; // separated by spaces, with their variants; NULL: any other of ours
    const char *param;
    const char *words; // separated by spaces
    const char *(*word_at)(int index);
    int count;
} row;

static const char *act_at(int index)
{
    return ln_act_name((ln_act)index);
}

static const char *dtype_at(int index)
{
    return tl_dtype_name((tl_dtype)index);
}

#define PADS                    "NOTSET VALID SAME_UPPER SAME_LOWER"
#define ELEW_OPS                "TL_MUL TL_DIV TL_SUM TL_SUB TL_MAX TL_MIN TL_POW TL_MEAN TL_MOD TL_REST TL_POWER"
#define FUNC(c, name, function) #name " "
#define COORDINATES                                                                                \
    "half_pixel half_pixel_symmetric pytorch_half_pixel align_corners asymmetric "                 \
    "tf_crop_and_resize tf_half_pixel_for_nn"
#define REDUCTIONS "sum mean prod max min l1 l2 log_sum log_sum_exp sum_square"
#define PADDED                                                                                     \
    "Conv ms_FusedConv ConvTranspose MaxPool AveragePool LpPool ms_QLinearAveragePool "            \
    "ConvInteger QLinearConv"
#define NEAREST "round_prefer_floor round_prefer_ceil floor ceil toward_input"

// clang-format off
static const row rows[] = {
    {"conv2d deconv2d", "act",    "none relu", NULL, 0},
    {"quant_elew", "act",         "none relu clip", NULL, 0},
    {NULL,         "act",         NULL, act_at, LN_ACT_COUNT},
    {NULL,         "expand_act",  NULL, act_at, LN_ACT_COUNT},
    {NULL,         "project_act", NULL, act_at, LN_ACT_COUNT},
    {NULL,         "taps_act",    NULL, act_at, LN_ACT_COUNT},
    {"output",     "dtype",       NULL, NULL, 0}, // any: what a file states
    {NULL,         "dtype",       NULL, dtype_at, TL_DTYPE_SIZE},
    {"quant_elew", "elew_op",     "TL_SUM TL_SUB TL_MUL", NULL, 0},
    {NULL,         "elew_op",     ELEW_OPS, NULL, 0},
    {NULL,         "func",        LN_FUNC_LIST(FUNC), NULL, 0},
    {"compare",    "kind",        "equal not_equal less less_equal greater greater_equal", NULL, 0},
    {"pool",       "kind",        "max average lp", NULL, 0},
    {"reduce",     "kind",        REDUCTIONS, NULL, 0},
    {"rnn",        "kind",        "lstm gru rnn", NULL, 0},
    {"rnn LSTM GRU RNN", "direction", "forward reverse bidirectional", NULL, 0},
    {NULL,         "add",         "first last", NULL, 0},
    {"resize",     "mode",        "TL_NEAREST TL_LINEAR nearest linear cubic", NULL, 0},
    {"resize_nhwc", "mode",       "nearest linear", NULL, 0},
    {"Resize",     "mode",        "nearest linear cubic", NULL, 0},
    {"upsample",   "mode",        "TL_NEAREST TL_LINEAR", NULL, 0},
    {"pad Pad", "mode",  "constant edge reflect wrap", NULL, 0},
    {"resize Resize", "coordinate_transformation_mode", COORDINATES, NULL, 0},
    {"resize_nhwc", "coordinates", COORDINATES, NULL, 0},
    {"resize Resize", "nearest_mode", NEAREST, NULL, 0},
    {"resize_nhwc", "rounding",   NEAREST, NULL, 0},
    {NULL,         "autopad",     PADS, NULL, 0},
    {PADDED,       "auto_pad",    PADS, NULL, 0},
    {"rescale",    "rounding",    "float away q31 q31_single q15 shift", NULL, 0},
    {NULL,         "algorithm",   "direct depthwise winograd2 winograd4 winograd6 narrow", NULL, 0},
    {NULL,         "dir",         "TL_SORT_DIR_ASCENDING TL_SORT_DIR_DESCENDING", NULL, 0},
};
// clang-format on

// Of counts, and of axes of operators that count them from the front only.
static const struct {
    const char *optypes, *params; // separated by spaces
    double least;
} least_numbers[] = {
    {"conv deconv quant_conv conv2d deconv2d", "stride dilation group", 1},
    {"pool maxpool2d avgpool2d", "size stride dilation", 1},
    {"conv2d deconv2d", "size", 1},
    {"slice", "axis start len", 0},
    {"concat", "axis", 0},
    {"transpose", "axes", 0},
    {"batchnorm layernorm", "epsilon", 0},
};

// One of `types`, or its variant on one of our arches.
static bool is_variant(const char *optype, const char *types)
{
    for (const char *type = types; *type; type += strspn(type, " ")) {
        size_t len = strcspn(type, " ");
        const char *rest = strncmp(optype, type, len) == 0 ? optype + len : "?";
        if (!*rest || strcmp(rest, "_ref") == 0 || strcmp(rest, "_cpu") == 0)
            return true;
        type += len;
    }
    return false;
}

// Operators of others may have parameters of these names and words of their own.
static bool is_ours(const ln_op_arg *op_arg)
{
    static const char *const types[] = {
#define W(optype, weight, sinks, steps) #optype,
#define N(optype, weight, sinks, steps) #optype,
#include "desc/core_types.inc"
#undef N
#undef W
        "conv2d", "deconv2d", "maxpool2d", "avgpool2d", "submean", "arange", "sort1d"};
    if (strcmp(op_arg->arch, "cpu") == 0 || strcmp(op_arg->arch, "ref") == 0)
        return true;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strcmp(types[i], op_arg->optype) == 0)
            return true;
    return false;
}

static const row *find_row(const ln_op_arg *op_arg, const char *param)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(rows[i].param, param) == 0 &&
            (rows[i].optypes ? is_variant(op_arg->optype, rows[i].optypes) : is_ours(op_arg)))
            return rows[i].words || rows[i].word_at ? &rows[i] : NULL;
    return NULL;
}

void ln_op_each_word(const ln_op_arg *op_arg, const char *param, ln_op_word_func take, void *user)
{
    const row *r = find_row(op_arg, param);
    for (int i = 0; r && r->word_at && i < r->count; i++)
        take(user, r->word_at(i));
    for (const char *at = r ? r->words : NULL; at && *at;) {
        char word[64];
        size_t len = strcspn(at, " ");
        snprintf(word, sizeof word, "%.*s", (int)len, at);
        take(user, word);
        at += len + strspn(at + len, " ");
    }
}

typedef struct search {
    const char *word;
    ln_nearest nearest;
    bool is_found;
    char near[64]; // a copy: words of the list do not live long
    char *known;
    size_t len;
} search;

static void look_at(void *user, const char *word)
{
    search *s = user;
    s->is_found = s->is_found || strcmp(s->word, word) == 0;
}

static void hint_at(void *user, const char *word)
{
    search *s = user;
    ln_nearest_try(&s->nearest, word);
    if (s->nearest.name == word)
        s->nearest.name = memcpy(s->near, word, strlen(word) + 1);
    if (s->len < LN_OP_WORDS_BYTES)
        s->len += (size_t)snprintf(s->known + s->len, LN_OP_WORDS_BYTES - s->len, "%s%s",
                                   s->len ? ", " : "; known: ", word);
}

bool ln_op_takes_word(const ln_op_arg *op_arg, const char *param, const char *word,
                      bool *out_is_listed)
{
    search s = {.word = word};
    const row *r = find_row(op_arg, param);
    if (out_is_listed)
        *out_is_listed = r != NULL;
    ln_op_each_word(op_arg, param, look_at, &s);
    // As operators read them: without the prefix, and an empty word for no padding of its own.
    bool is_type = strcmp(param, "dtype") == 0, is_pad = strncmp(param, "auto", 4) == 0;
    return !r || s.is_found || (is_type && (int)ln_onnx_dtype_from_name(word) >= 0) ||
           (is_pad && !word[0]);
}

const char *ln_op_word_hint(const ln_op_arg *op_arg, const char *param, const char *word,
                            char buffer[LN_OP_WORDS_BYTES])
{
    search s = {.word = word, .nearest = ln_nearest_to(word), .known = buffer};
    buffer[0] = '\0';
    ln_op_each_word(op_arg, param, hint_at, &s);
    if (s.nearest.name)
        snprintf(buffer, LN_OP_WORDS_BYTES, "; did you mean '%s'?", s.nearest.name);
    return buffer;
}

bool ln_op_least_number(const ln_op_arg *op_arg, const char *param, double *out_least)
{
    *out_least = 0;
    for (size_t i = 0; i < sizeof least_numbers / sizeof least_numbers[0]; i++) {
        *out_least = least_numbers[i].least;
        for (const char *at = least_numbers[i].params; at && *at; at += strspn(at, " ")) {
            const size_t len = strcspn(at, " ");
            if (strlen(param) == len && strncmp(param, at, len) == 0 &&
                is_variant(op_arg->optype, least_numbers[i].optypes))
                return true;
            at += len;
        }
    }
    return false;
}
