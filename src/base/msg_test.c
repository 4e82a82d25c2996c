// SPDX-License-Identifier: Apache-2.0
// Messages: their text, their way to the handler, and what they record.

#include <lightnet/msg.h>

#include <errno.h>

#include "tests/oom.h"
#include "tests/test.h"

TEST(levels_keep_their_numbers)
{
    CHECK_EQ(LN_MSG_ERROR, 0);
    CHECK_EQ(LN_MSG_ERROR_SYS, 1);
    CHECK_EQ(LN_MSG_INTER_ERROR, 2);
    CHECK_EQ(LN_MSG_INTER_ERROR_SYS, 3);
    CHECK_EQ(LN_MSG_WARN, 4);
    CHECK_EQ(LN_MSG_WARN_SYS, 5);
    CHECK_EQ(LN_MSG_INTER_WARN, 6);
    CHECK_EQ(LN_MSG_INTER_WARN_SYS, 7);
    CHECK_EQ(LN_MSG_DEBUG, 8);
    CHECK_EQ(LN_MSG_INFO, 9);
    CHECK_EQ(LN_MSG_LEVEL_SIZE, 10);
    CHECK_STR_EQ(ln_msg_level_name(LN_MSG_INTER_WARN_SYS), "internal warning");
    CHECK_STR_EQ(ln_msg_level_name(LN_MSG_LEVEL_SIZE), "unknown");
    CHECK_STR_EQ(ln_msg_level_name((ln_msg_level)-1), "unknown");
}

TEST(a_message_is_formatted)
{
    ln_msg *msg = ln_msg_create(LN_MSG_ERROR, "test error %s, %d, %.2f", "test_str", 1, 1.2);
    CHECK_STR_EQ(msg->text, "test error test_str, 1, 1.20");
    CHECK_EQ(msg->level, LN_MSG_ERROR);
    CHECK_EQ(msg->err, 0);
    ln_msg_free(msg);
}

TEST(system_levels_append_the_reason)
{
    char expected[512];
    snprintf(expected, sizeof expected, "test error test_str, 1, 1.20: %s", strerror(ENOENT));
    static const ln_msg_level levels[] = {LN_MSG_ERROR_SYS, LN_MSG_INTER_ERROR_SYS, LN_MSG_WARN_SYS,
                                          LN_MSG_INTER_WARN_SYS};
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
        errno = ENOENT;
        ln_msg *msg = ln_msg_create(levels[i], "test error %s, %d, %.2f", "test_str", 1, 1.2);
        CHECK_STR_EQ(msg->text, expected);
        CHECK_EQ(msg->err, ENOENT);
        ln_msg_free(msg);
    }
}

TEST(long_messages_are_cut)
{
    char text[9000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    errno = ENOENT;
    ln_msg *msg = ln_msg_create(LN_MSG_WARN_SYS, "%s", text);
    CHECK_EQ(strlen(msg->text), LN_MSG_BYTES - 1);
    ln_msg_free(msg);
}

TEST(unknown_levels_are_refused)
{
    ln_error_clear();
    CHECK_NULL(ln_msg_create(LN_MSG_LEVEL_SIZE, "text"));
    CHECK_EQ(ln_error_status(), LN_INVALID);
    CHECK_NULL(ln_msg_create((ln_msg_level)-1, "text"));
    ln_msg_free(NULL);
}

// ---- The handler ----

typedef struct inbox {
    size_t count;
    ln_msg_level level;
    int err;
    char text[LN_MSG_BYTES];
} inbox;

static void receive(const ln_msg *msg, void *user)
{
    inbox *in = user;
    in->count++;
    in->level = msg->level;
    in->err = msg->err;
    strcpy(in->text, msg->text);
}

TEST(handled_messages_reach_the_handler_and_are_freed)
{
    inbox in = {.count = 0};
    ln_msg_set_handler(receive, &in);
    ln_msg *msg = ln_msg_create(LN_MSG_WARN, "beware of %d", 3);
    ln_msg_handle(&msg);
    CHECK_NULL(msg);
    CHECK_EQ(in.count, 1);
    CHECK_STR_EQ(in.text, "beware of 3");
    ln_msg_handle(&msg);
    ln_msg_handle(NULL);
    CHECK_EQ(in.count, 1);
    ln_msg_set_handler(NULL, NULL);
}

TEST(each_macro_emits_its_level)
{
    inbox in = {.count = 0};
    ln_msg_set_handler(receive, &in);
    ln_error_clear();
    ln_msg_warn("a");
    CHECK_EQ(in.level, LN_MSG_WARN);
    ln_msg_inter_warn("a");
    CHECK_EQ(in.level, LN_MSG_INTER_WARN);
    errno = EACCES;
    ln_msg_warn_sys("a");
    CHECK_EQ(in.level, LN_MSG_WARN_SYS);
    CHECK_EQ(in.err, EACCES);
    ln_msg_inter_warn_sys("a");
    CHECK_EQ(in.level, LN_MSG_INTER_WARN_SYS);
    ln_msg_debug("a");
    CHECK_EQ(in.level, LN_MSG_DEBUG);
    ln_msg_info("%s", "a");
    CHECK_EQ(in.level, LN_MSG_INFO);
    CHECK_EQ(ln_error_status(), LN_OK);
    ln_msg_error("a %d", 1);
    CHECK_EQ(in.level, LN_MSG_ERROR);
    CHECK_EQ(ln_error_status(), LN_INVALID);
    CHECK_STR_EQ(ln_error_message(), "a 1");
    ln_msg_inter_error("b");
    CHECK_EQ(in.level, LN_MSG_INTER_ERROR);
    CHECK_EQ(ln_error_status(), LN_INTERNAL);
    ln_msg_error_sys("a");
    CHECK_EQ(in.level, LN_MSG_ERROR_SYS);
    ln_msg_inter_error_sys("a");
    CHECK_EQ(in.level, LN_MSG_INTER_ERROR_SYS);
    CHECK_EQ(in.count, 10);
    ln_msg_set_handler(NULL, NULL);
}

TEST(without_a_handler_messages_are_dropped_and_errors_recorded)
{
    ln_error_clear();
    ln_msg_set_handler(NULL, NULL);
    ln_msg_warn("nobody hears");
    CHECK_EQ(ln_error_status(), LN_OK);
    ln_msg *msg = ln_msg_create(LN_MSG_ERROR, "%s", "100% wrong");
    ln_msg_handle(&msg);
    CHECK_EQ(ln_error_status(), LN_INVALID);
    CHECK_STR_EQ(ln_error_message(), "100% wrong");
}

TEST(an_unknown_level_is_emitted_as_a_warning)
{
    inbox in = {.count = 0};
    ln_msg_set_handler(receive, &in);
    ln_msg_emit((ln_msg_level)77, "text");
    CHECK_EQ(in.level, LN_MSG_INTER_WARN);
    CHECK_STR_EQ(in.text, "text");
    ln_msg_set_handler(NULL, NULL);
}

TEST(emitting_needs_no_memory)
{
    inbox in = {.count = 0};
    ln_msg_set_handler(receive, &in);
    test_oom oom;
    test_oom_start(&oom, 0);
    ln_msg_warn("memory is gone: %d", 1);
    CHECK_STR_EQ(in.text, "memory is gone: 1");
    test_oom_stop();
    CHECK_EQ(oom.requests, 0);
    ln_msg_set_handler(NULL, NULL);

    OOM_SWEEP(n)
    ln_msg_free(ln_msg_create(LN_MSG_INFO, "text"));
    CHECK_EQ(n, 2);
}

TEST_LIST(levels_keep_their_numbers, a_message_is_formatted, system_levels_append_the_reason,
          long_messages_are_cut, unknown_levels_are_refused,
          handled_messages_reach_the_handler_and_are_freed, each_macro_emits_its_level,
          without_a_handler_messages_are_dropped_and_errors_recorded,
          an_unknown_level_is_emitted_as_a_warning, emitting_needs_no_memory)
