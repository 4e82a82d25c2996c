// SPDX-License-Identifier: Apache-2.0
// Every rule of the library fires in an example of tests/il: one that does not is silent, and
// nobody would see that it is wrong, or that it never fires any more.

#include <dirent.h>
#include <stdlib.h>

#include <lightnet/arch.h>
#include <lightnet/context.h>
#include <lightnet/msg.h>

#include "base/text.h"
#include "desc/rule.h"
#include "pass/rewrite.h"
#include "tests/test.h"

extern const ln_rule_set ln_rules_general, ln_rules_core, ln_rules_cpu, ln_rules_ref, ln_rules_onnx;

#define MAX_FIRED 4096

static char fired[MAX_FIRED][128];
static size_t fired_count;

static bool has_fired(const char *name)
{
    for (size_t i = 0; i < fired_count; i++)
        if (strcmp(fired[i], name) == 0)
            return true;
    return false;
}

// "firing 3: NAME at 'y'", with nothing after it: it was neither skipped nor refused.
static void note_firing(const ln_msg *msg, void *user)
{
    (void)user;
    size_t number;
    char name[128], op[256], rest;
    if (msg->level != LN_MSG_DEBUG ||
        sscanf(msg->text, "firing %zu: %127s at '%255[^']'%c", &number, name, op, &rest) != 3 ||
        has_fired(name))
        return;
    CHECK(fired_count < MAX_FIRED);
    snprintf(fired[fired_count++], sizeof fired[0], "%s", name);
}

// Models that are refused have fired what they have.
static void compile(const char *path, const char *target)
{
    ln_context *ctx = ln_context_create();
    CHECK_NOT_NULL(ctx);
    if (ln_context_init(ctx, path) != LN_OK)
        ln_error_clear();
    else if (target ? ln_context_compile(ctx, target) != LN_OK
                    : ln_rewrite_to_onnx(ctx, &ln_rules_onnx) != LN_OK)
        ln_error_clear();
    ln_context_free(ctx);
}

static void compile_folder(const char *folder)
{
    DIR *dir = opendir(folder);
    CHECK_NOT_NULL(dir);
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        char path[1024];
        if (!strstr(entry->d_name, ".net"))
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        compile(path, "cpu");
        compile(path, "ref");
        compile(path, NULL);
    }
    closedir(dir);
}

static size_t count_silent(const ln_rule_set *texts)
{
    size_t count = 0;
    ln_rule_set *set;
    CHECK_OK(ln_rule_set_parse_texts(texts->file, texts->texts, &set));
    for (size_t i = 0; i < set->rule_count; i++) {
        if (has_fired(set->rules[i].name))
            continue;
        printf("%s:%d: rule '%s' fires in no example\n", set->rules[i].file, set->rules[i].line,
               set->rules[i].name);
        count++;
    }
    ln_rule_set_destroy(set);
    return count;
}

TEST(every_rule_fires_in_an_example)
{
    CHECK_OK(ln_arch_init());
    ln_msg_set_handler(note_firing, NULL);
    compile_folder(LN_SOURCE_DIR "/tests/il/rules");
    compile_folder(LN_SOURCE_DIR "/tests/il/core");
    compile_folder(LN_SOURCE_DIR "/tests/il/passes");
    ln_msg_set_handler(NULL, NULL);
    const ln_rule_set *sets[] = {&ln_rules_general, &ln_rules_core, &ln_rules_cpu, &ln_rules_ref,
                                 &ln_rules_onnx};
    size_t silent = 0;
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++)
        silent += count_silent(sets[i]);
    ln_arch_cleanup();
    CHECK_EQ(silent, 0);
}

TEST_LIST(every_rule_fires_in_an_example)
