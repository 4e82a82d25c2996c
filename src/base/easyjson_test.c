// SPDX-License-Identifier: Apache-2.0
// Easy JSON files into JSON.

#include <lightnet/easyjson.h>

#include <stdlib.h>
#include <unistd.h>

#include <lightnet/allocator.h>

#include "tests/oom.h"
#include "tests/test.h"

static char path[256];

static ln_status convert(const char *text, char **out_json)
{
    snprintf(path, sizeof path, "%s", LN_BUILD_DIR "/ln_easyjson_XXXXXX");
    int fd = mkstemp(path);
    CHECK(fd >= 0);
    CHECK_EQ(write(fd, text, strlen(text)), strlen(text));
    close(fd);
    ln_status status = ln_easyjson_to_json(path, out_json);
    unlink(path);
    return status;
}

TEST(easy_json_becomes_json)
{
    static const struct {
        const char *why;
        const char *text;
        const char *json;
    } rows[] = {
        {"plain", "[1, true, null]", "[1, true, null]\n"},
        {"comma after the last", "{\"a\": [1, 2,], \"b\": {},}",
         "{\n    \"a\": [1, 2],\n    \"b\": {}\n}\n"},
        {"comments", "// first\n[1, // one\n /* two */ 2]", "[1, 2]\n"},
        {"a URL is no comment", "[\"http://x/*y*/\"]", "[\"http://x/*y*/\"]\n"},
        {"commas and brackets in strings", "[\"a,]\", \"b,}\"]", "[\"a,]\", \"b,}\"]\n"},
        {"heredoc", "{\"a\": '''\n \"x\"\\n\n\ty\r\f\n'''\n}",
         "{\"a\": \" \\\"x\\\"\\\\n\\n\\ty\\r\\f\"}\n"},
        {"heredoc with a comma", "['''\n\n  ''', 1]", "[\"\", 1]\n"},
        {"numbers as they are", "[1.50, 1E3, 12345678901234567890, -0, 0.1e-5]",
         "[1.50, 1E3, 12345678901234567890, -0, 0.1e-5]\n"},
        {"other escapes", "[\"\\u00e4\\/\\b\"]", "[\"\xc3\xa4/\\b\"]\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *json;
        if (convert(rows[i].text, &json) != LN_OK)
            fail_msg("%s: %s", rows[i].why, ln_error_message());
        if (strcmp(json, rows[i].json) != 0)
            fail_msg("%s: %s", rows[i].why, json);
        char *again;
        CHECK_OK(convert(json, &again));
        CHECK_STR_EQ(again, json);
        ln_free(again);
        ln_free(json);
    }
}

TEST(errors_have_line_and_column)
{
    static const struct {
        const char *text;
        const char *place;
    } rows[] = {
        {"", ":1:1:"},           {"{\"a\": 1,,}", ":1:9:"}, {"[1\n 2]", ":2:2:"},
        {"['''\nx\n", ":1:2:"},  {"/* a", ":1:1:"},         {"{\"a\": 1,\n \"a\": 2}", ":2:2:"},
        {"[1] [2]", ":1:5:"},    {"[bare]", ":1:2:"},       {"[01]", ":1:2:"},
        {"[\"a\nb\"]", ":1:4:"}, {"{'key': 1}", ":1:2:"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *json, place[300];
        CHECK_FAILS(convert(rows[i].text, &json), LN_SYNTAX);
        CHECK_NULL(json);
        snprintf(place, sizeof place, "%s%s", path, rows[i].place);
        CHECK_MESSAGE(place);
    }
}

TEST(calls_that_cannot_work_are_refused)
{
    char *json;
    CHECK_FAILS(ln_easyjson_to_json(NULL, &json), LN_INVALID);
    CHECK_FAILS(ln_easyjson_to_json("a", NULL), LN_INVALID);
    CHECK_FAILS(ln_easyjson_to_json(LN_BUILD_DIR "/no/such/file", &json), LN_IO);
    CHECK_NULL(json);
}

TEST(every_allocation_may_fail)
{
    OOM_SWEEP(n)
    {
        char *json;
        ln_status status = convert("{\"a\": [1, '''\nb\n''',],}", &json);
        CHECK(status == LN_OK || status == LN_NO_MEMORY);
        CHECK_EQ(status == LN_OK, json != NULL);
        ln_free(json);
    }
}

TEST_LIST(easy_json_becomes_json, errors_have_line_and_column, calls_that_cannot_work_are_refused,
          every_allocation_may_fail)
