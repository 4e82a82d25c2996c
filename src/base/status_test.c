// SPDX-License-Identifier: Apache-2.0
// Statuses and the thread's last message.

#include <lightnet/status.h>

#include "base/error_state.h"

#include "tests/test.h"

TEST(every_status_has_its_own_name_and_a_text)
{
    CHECK_STR_EQ(ln_status_name(LN_OK), "LN_OK");
    CHECK_STR_EQ(ln_status_name(LN_INTERNAL), "LN_INTERNAL");
    CHECK_STR_EQ(ln_status_text(LN_LIMIT), "over a limit");
}

TEST(values_outside_the_list_are_named_not_read)
{
    CHECK_STR_EQ(ln_status_name((ln_status)1000), "LN_UNKNOWN");
    CHECK_STR_EQ(ln_status_text((ln_status)-1), "unknown status");
}

TEST(a_failure_is_recorded_with_its_values)
{
    CHECK_EQ(LN_FAIL(LN_INVALID, "axis %d is outside rank %d", 5, 4), LN_INVALID);
    CHECK_EQ(ln_error_status(), LN_INVALID);
    CHECK_STR_EQ(ln_error_message(), "axis 5 is outside rank 4");
}

TEST(a_caller_adds_the_place)
{
    ln_fail(LN_SYNTAX, "expected ','");
    CHECK_EQ(ln_fail_prefix("%s:%d:%d", "a.json", 3, 7), LN_SYNTAX);
    CHECK_STR_EQ(ln_error_message(), "a.json:3:7: expected ','");
}

TEST(a_long_message_is_cut_not_overflowed)
{
    char text[9000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    ln_fail(LN_INVALID, "%s", text);
    CHECK_EQ(strlen(ln_error_message()), 4095);
}

TEST(clearing_forgets)
{
    ln_fail(LN_INVALID, "something");
    ln_error_clear();
    CHECK_EQ(ln_error_status(), LN_OK);
    CHECK_STR_EQ(ln_error_message(), "");
}

TEST(a_failure_outlives_the_cleaning_up)
{
    ln_error_state state;
    ln_fail(LN_LIMIT, "the reason");
    ln_error_save(&state);
    ln_fail(LN_NOT_FOUND, "something on the way");
    ln_error_restore(&state);
    CHECK_EQ(ln_error_status(), LN_LIMIT);
    CHECK_STR_EQ(ln_error_message(), "the reason");
}

TEST_LIST(every_status_has_its_own_name_and_a_text, values_outside_the_list_are_named_not_read,
          a_failure_is_recorded_with_its_values, a_caller_adds_the_place,
          a_long_message_is_cut_not_overflowed, clearing_forgets,
          a_failure_outlives_the_cleaning_up)
