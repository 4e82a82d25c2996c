// SPDX-License-Identifier: Apache-2.0
#include "arch/ref/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "arch/ref/test_view.h"

typedef struct capture {
    FILE *file;
    int saved;
} capture;

static capture capture_begin(void)
{
    capture c = {.file = tmpfile()};
    CHECK_NOT_NULL(c.file);
    fflush(stdout);
    c.saved = dup(STDOUT_FILENO);
    CHECK(c.saved >= 0 && dup2(fileno(c.file), STDOUT_FILENO) >= 0);
    return c;
}

static void capture_end(capture *c, char *text, size_t byte_count)
{
    fflush(stdout);
    dup2(c->saved, STDOUT_FILENO);
    close(c->saved);
    rewind(c->file);
    text[fread(text, 1, byte_count - 1, c->file)] = '\0';
    fclose(c->file);
}

TEST(print_writes_the_message_and_the_tensor)
{
    float data[] = {2, 3, 4, 6, 7, 8};
    tl_tensor t = VIEW(data, TL_FLOAT, 2, 3);
    char text[256];
    capture c = capture_begin();
    ln_status status = ln_ref_run_print(&t, "tensor2:");
    capture_end(&c, text, sizeof text);
    CHECK_OK(status);
    CHECK_STR_EQ(text, "tensor2:\n[[2.000 3.000 4.000]\n [6.000 7.000 8.000]]\n");
}

TEST_LIST(print_writes_the_message_and_the_tensor)
