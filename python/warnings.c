// SPDX-License-Identifier: Apache-2.0
// Warnings of the library as warnings of Python. They come without the GIL, in the thread that
// called, which raises them when it has the GIL again.

#include "core.h"

#include <stdio.h>

enum { NOTED_COUNT = 4, NOTED_BYTES = 512 };

static _Thread_local struct {
    size_t count;
    char texts[NOTED_COUNT][NOTED_BYTES];
} noted;

static void note(const ln_msg *msg, void *user)
{
    (void)user;
    if (msg->level != LN_MSG_WARN || noted.count == NOTED_COUNT)
        return;
    snprintf(noted.texts[noted.count++], NOTED_BYTES, "%s", msg->text);
}

void core_warnings_note(void)
{
    ln_msg_set_handler(note, NULL);
}

int core_warnings_raise(void)
{
    int result = 0;
    for (size_t i = 0; i < noted.count && result == 0; i++)
        result = PyErr_WarnEx(PyExc_RuntimeWarning, noted.texts[i], 2);
    noted.count = 0;
    return result;
}
