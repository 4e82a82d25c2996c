// SPDX-License-Identifier: Apache-2.0
// Shapes of the operators on strings.

#include "op/onnx/text.h"

#include <limits.h>
#include <string.h>

#include "base/utf8.h"
#include "op/functions.h"
#include "op/onnx/letters.h"

ln_status ln_infer_strings(ln_call *call)
{
    int ndim = ln_call_count(call, "dims");
    if (ndim > TL_MAXDIM)
        return ln_call_fail(call, LN_INVALID, "%d dimensions are more than %d", ndim, TL_MAXDIM);
    int64_t dims[TL_MAXDIM], len = 1;
    for (int i = 0; i < ndim; i++) {
        dims[i] = ln_call_int_at(call, "dims", i);
        if (dims[i] < 0 || dims[i] > INT_MAX || (dims[i] > 0 && len > INT_MAX / dims[i]))
            return ln_call_fail(call, LN_LIMIT, "dims that make no tensor");
        len *= dims[i];
    }
    if (len != ln_call_count(call, "data"))
        return ln_call_fail(call, LN_INVALID, "%d strings for %lld elements",
                            ln_call_count(call, "data"), (long long)len);
    return ln_call_out64(call, 0, TL_STRING, ndim, dims);
}

ln_status ln_infer_string_concat(ln_call *call)
{
    const tl_tensor *tensors[] = {ln_call_in(call, 0), ln_call_in(call, 1)};
    int ndim, dims[TL_MAXDIM];
    LN_TRY(ln_call_broadcast(call, 2, tensors, &ndim, dims));
    return ln_call_out(call, 0, TL_STRING, ndim, dims);
}

ln_status ln_infer_tf_idf_vectorizer(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    if (src->ndim > 2)
        return ln_call_fail(call, LN_INVALID, "rank %d is more than 2", src->ndim);
    int64_t last = -1;
    size_t count;
    const double *indexes = ln_call_floats(call, "ngram_indexes", &count);
    for (size_t i = 0; i < count; i++) {
        int64_t index = ln_call_to_int(indexes[i]);
        if (index < 0 || index >= INT_MAX)
            return ln_call_fail(call, LN_INVALID, "ngram_indexes has %lld", (long long)index);
        last = index > last ? index : last;
    }
    if (last < 0)
        return ln_call_fail(call, LN_INVALID, "ngram_indexes is empty");
    int64_t dims[] = {src->ndim == 2 ? src->dims[0] : 0, last + 1};
    return src->ndim == 2 ? ln_call_out64(call, 0, TL_FLOAT, 2, dims)
                          : ln_call_out64(call, 0, TL_FLOAT, 1, dims + 1);
}

// ---- StringSplit ----

static const char *skip_space(const char *s, bool wants_space)
{
    uint32_t code;
    while (*s) {
        size_t len = ln_utf8_get(s, &code);
        if (ln_is_space(code) != wants_space)
            break;
        s += len;
    }
    return s;
}

ln_splitter ln_split_start(const ln_call *call, const char *string)
{
    const char *delimiter =
        ln_call_has(call, "delimiter") ? ln_call_string(call, "delimiter") : NULL;
    ln_splitter splitter = {
        .rest = string ? string : "",
        .delimiter = delimiter ? delimiter : "",
        .cuts = ln_call_has(call, "maxsplit") ? ln_call_int(call, "maxsplit") : -1,
    };
    return splitter;
}

bool ln_split_next(ln_splitter *splitter, const char **out_part, size_t *out_len)
{
    if (!splitter->rest)
        return false;
    bool is_space = splitter->delimiter[0] == '\0';
    if (is_space) {
        splitter->rest = skip_space(splitter->rest, true);
        if (!*splitter->rest)
            return false;
    }
    const char *start = splitter->rest, *end = NULL;
    if (splitter->cuts != 0)
        end = is_space ? skip_space(start, false) : strstr(start, splitter->delimiter);
    if (splitter->cuts > 0)
        splitter->cuts--;
    *out_part = start;
    *out_len = end ? (size_t)(end - start) : strlen(start);
    splitter->rest = end ? end + strlen(splitter->delimiter) : NULL;
    return true;
}

ln_status ln_infer_string_split(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    const char *const *strings = ln_call_value(call, 0);
    if (!strings && src->len > 0)
        return ln_call_out_open(call);
    if (src->ndim == TL_MAXDIM)
        return ln_call_fail(call, LN_INVALID, "rank %d leaves no room for the parts", src->ndim);
    int64_t most = 0;
    for (int i = 0; i < src->len; i++) {
        ln_splitter splitter = ln_split_start(call, strings[i]);
        const char *part;
        size_t len;
        int64_t count = 0;
        while (ln_split_next(&splitter, &part, &len))
            count++;
        most = count > most ? count : most;
    }
    int64_t dims[TL_MAXDIM];
    for (int i = 0; i < src->ndim; i++)
        dims[i] = src->dims[i];
    dims[src->ndim] = most;
    LN_TRY(ln_call_out64(call, 0, TL_STRING, src->ndim + 1, dims));
    return ln_call_out(call, 1, TL_INT64, src->ndim, src->dims);
}

// ---- StringNormalizer ----

// Whether two strings are equal but for the case of their letters.
static bool are_alike(const char *a, const char *b)
{
    while (*a && *b) {
        uint32_t code_a, code_b;
        a += ln_utf8_get(a, &code_a);
        b += ln_utf8_get(b, &code_b);
        if (ln_letter_lower(code_a) != ln_letter_lower(code_b))
            return false;
    }
    return *a == *b;
}

bool ln_is_stop_word(const ln_call *call, const char *string)
{
    bool is_case_sensitive = ln_call_int(call, "is_case_sensitive") != 0;
    size_t count;
    const char *const *words = ln_call_strings(call, "stopwords", &count);
    for (size_t i = 0; i < count; i++) {
        if (is_case_sensitive ? strcmp(words[i], string) == 0 : are_alike(words[i], string))
            return true;
    }
    return false;
}

ln_status ln_infer_string_normalizer(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    if ((src->ndim != 1 && src->ndim != 2) || (src->ndim == 2 && src->dims[0] != 1))
        return ln_call_fail(call, LN_INVALID, "the shape is neither [C] nor [1, C]");
    const char *const *strings = ln_call_value(call, 0);
    if (!strings && src->len > 0)
        return ln_call_out_open(call);
    int left = 0;
    for (int i = 0; i < src->len; i++)
        left += !ln_is_stop_word(call, strings[i] ? strings[i] : "");
    int dims[] = {1, left ? left : 1};
    return src->ndim == 2 ? ln_call_out(call, 0, TL_STRING, 2, dims)
                          : ln_call_out(call, 0, TL_STRING, 1, dims + 1);
}

// ---- Tokenizer ----

// How many tokens there are only the regular expressions say.
ln_status ln_infer_ms_tokenizer(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    int separators = ln_call_count(call, "separators");
    int64_t chars = ln_call_int(call, "mincharnum");
    bool is_by_chars = separators == 1 && !*ln_call_string_at(call, "separators", 0);
    if (src->ndim != 1 && src->ndim != 2)
        return ln_call_fail(call, LN_INVALID, "X has rank %d instead of 1 or 2", src->ndim);
    if (separators == 0 && (!ln_call_has(call, "tokenexp") || !*ln_call_string(call, "tokenexp")))
        return ln_call_fail(call, LN_INVALID, "there are neither separators nor a tokenexp");
    if (chars < 1 || (is_by_chars && chars != 1))
        return ln_call_fail(call, LN_INVALID, "mincharnum is %lld%s", (long long)chars,
                            is_by_chars ? ", and tokens are single characters" : "");
    return ln_call_out_open(call);
}
