// SPDX-License-Identifier: Apache-2.0
// Messages of the library on standard error, those that the options ask for.

#define LN_COMPAT_RETURNS
#include <lightnet/compat.h>

static unsigned shown; // a bit for each level

static void print(const ln_msg *msg, void *user)
{
    (void)user;
    if (shown >> msg->level & 1)
        fprintf(stderr, "%s: %s\n", ln_msg_level_name(msg->level), msg->text);
}

void ln_msg_init(const ln_option *option)
{
    enum { WARN = 1 << LN_MSG_WARN | 1 << LN_MSG_WARN_SYS };
    enum { INTER = 1 << LN_MSG_INTER_WARN | 1 << LN_MSG_INTER_WARN_SYS };
    shown = (1U << LN_MSG_WARN) - 1; // errors
    shown |= 1U << LN_MSG_INFO;
    if (option && option->Wwarn)
        shown |= WARN | (option->Winter ? INTER : 0);
    if (option && option->debug)
        shown |= 1U << LN_MSG_DEBUG;
    ln_msg_set_handler(print, NULL);
}

void ln_msg_cleanup(void)
{
    ln_msg_set_handler(NULL, NULL);
}
