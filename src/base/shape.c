// SPDX-License-Identifier: Apache-2.0
// Shapes: element counts, texts, rounding up.

#include <lightnet/shape.h>

#include <stdint.h>

int ln_compute_length(int ndim, const int *dims)
{
    if (ndim < 0 || ndim > LN_MAXDIM || (ndim > 0 && !dims)) {
        ln_fail(LN_INVALID, "a shape has 0..%d dimensions, not %d", LN_MAXDIM, ndim);
        return -1;
    }
    for (int i = 0; i < ndim; i++) {
        if (dims[i] < 0) {
            ln_fail(LN_INVALID, "dimension %d is negative: %d", i, dims[i]);
            return -1;
        }
        if (dims[i] == 0)
            return 0;
    }
    int length = 1;
    for (int i = 0; i < ndim; i++) {
        if (__builtin_mul_overflow(length, dims[i], &length)) {
            char text[LN_SHAPE_TEXT_BYTES];
            ln_fail(LN_LIMIT, "too many elements in shape %s",
                    ln_sprint_shape(text, sizeof text, ndim, dims));
            return -1;
        }
    }
    return length;
}

char *ln_sprint_shape(char *text, size_t byte_count, int ndim, const int *dims)
{
    if (!text || byte_count == 0)
        return text;
    if (ndim < 0 || ndim > LN_MAXDIM || (ndim > 0 && !dims)) {
        snprintf(text, byte_count, "[?]");
        return text;
    }
    char whole[LN_SHAPE_TEXT_BYTES] = "[";
    size_t len = 1;
    for (int i = 0; i < ndim; i++)
        len += (size_t)snprintf(whole + len, sizeof whole - len, i ? ", %d" : "%d", dims[i]);
    snprintf(whole + len, sizeof whole - len, "]");
    snprintf(text, byte_count, "%s", whole);
    return text;
}

void ln_print_shape(FILE *fp, int ndim, const int *dims)
{
    char text[LN_SHAPE_TEXT_BYTES];
    if (fp)
        fputs(ln_sprint_shape(text, sizeof text, ndim, dims), fp);
}

int ln_next_multiple_power2(int n, int power2)
{
    if (power2 <= 0 || (power2 & (power2 - 1)) != 0) {
        ln_fail(LN_INVALID, "%d is no power of two", power2);
        return n;
    }
    int padded;
    if (__builtin_add_overflow(n, power2 - 1, &padded)) {
        ln_fail(LN_LIMIT, "the next multiple of %d after %d does not fit an int", power2, n);
        return n;
    }
    return padded & -power2;
}
