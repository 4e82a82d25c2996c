// SPDX-License-Identifier: Apache-2.0
// The keys of a deviation.

#include "compare_json.h"

#include <math.h>

#include <lightnet/lightnet.h>

static void put_position(json_out *j, const tl_tensor *like, int index)
{
    int position[LN_MAXDIM] = {0};
    for (int i = like->ndim - 1; i >= 0; i--) {
        position[i] = like->dims[i] ? index % like->dims[i] : 0;
        index = like->dims[i] ? index / like->dims[i] : 0;
    }
    json_shape(j, "position", like->ndim, position);
}

void put_deviation(json_out *j, const deviation *d, const tl_tensor *like, int is_wrong)
{
    int has_numbers = !d->fault;
    json_text(j, "result", is_wrong ? "wrong" : d->excess > 0 ? "near" : "same");
    json_number(j, "excess", d->excess);
    json_int(j, "wrong_elements", d->wrong_count);
    json_text(j, "fault", d->fault);
    if (like)
        put_position(j, like, d->index);
    else
        json_null(j, "position");
    if (has_numbers) {
        json_number(j, "got", d->got);
        json_number(j, "expected", d->expected);
    } else {
        json_null(j, "got");
        json_null(j, "expected");
    }
    if (has_numbers && d->is_floating)
        json_number(j, "ulp", d->ulps);
    else
        json_null(j, "ulp");
    json_number(j, "largest_difference", d->largest_difference);
    json_number(j, "largest_relative", d->largest_relative);
}
