// SPDX-License-Identifier: Apache-2.0
// Shapes of the operators on sequences and optionals.

#include "op/functions.h"

ln_status ln_infer_gives_object(ln_call *call)
{
    return ln_call_out_object(call, 0);
}

ln_status ln_infer_in_run(ln_call *call)
{
    return ln_call_out_open(call);
}

ln_status ln_infer_optional_has_element(ln_call *call)
{
    return ln_call_out(call, 0, TL_BOOL, 0, NULL);
}
