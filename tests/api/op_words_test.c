// SPDX-License-Identifier: Apache-2.0
// The list of words against the operators: each example with each word, and with one that is none.
//
// An operator refuses a word that it does not know in a message that quotes it. The same message up
// to that word for one of the list is a word too many; a refused word of a parameter without a row
// is a row too few.

#include "op/op_words.h"
#include "tests/api/op_examples.h"

#define JUNK "nowordatall"

// Words that the list cannot have.
static const struct {
    const char *param;
    const char *why;
} open_words[] = {
    {"mtype", "plug-ins bring memory types"},
    {"activation", "of com.microsoft, whose letters count alike in both cases"},
};

static bool is_open(const char *param)
{
    for (size_t i = 0; i < sizeof open_words / sizeof open_words[0]; i++)
        if (strcmp(open_words[i].param, param) == 0)
            return true;
    return false;
}

typedef struct trial {
    const ln_op *op;
    const char *param;
    const char *example; // a model
    char refusal[512];   // of JUNK, up to it; empty: it was taken
    int word_count;
    int wrong_count;
} trial;

// Puts `param=word` into the last statement, in place of what it says of the parameter.
static void set_word(char model[MODEL_BYTES], const char *param, const char *word)
{
    char *statement = strrchr(model, '('), key[LN_MAX_NAME_LEN + 2], rest[MODEL_BYTES];
    CHECK_NOT_NULL(statement);
    char *last_bar = strrchr(statement, '|');
    CHECK_NOT_NULL(last_bar);
    snprintf(key, sizeof key, " %s=", param);
    char *given = strstr(last_bar, key);
    const char *end = given ? given + strlen(key) : last_bar + 1;
    if (given)
        end += strcspn(end, ",)");
    bool has_more = *end != ')' && (given || end[strspn(end, " ")] != ')');
    snprintf(rest, sizeof rest, "%s%s", given || !has_more ? "" : ",", end);
    char *at = given ? given : last_bar + 1;
    snprintf(at, MODEL_BYTES - (size_t)(at - model), " %s=\"%s\"%s", param, word, rest);
}

static ln_status open_with(const trial *t, const char *word)
{
    char model[MODEL_BYTES];
    snprintf(model, sizeof model, "%s", t->example);
    set_word(model, t->param, word);
    ln_context *ctx = ln_context_create();
    CHECK_NOT_NULL(ctx);
    ln_status status = ln_context_init_mem(ctx, model, strlen(model), NULL);
    if (status == LN_OK)
        status = ln_context_compile(ctx, "cpu");
    ln_context_free(ctx);
    return status;
}

static void try_word(void *user, const char *word)
{
    trial *t = user;
    size_t len = strlen(t->refusal);
    t->word_count++;
    if (open_with(t, word) == LN_OK || len == 0)
        return;
    const char *message = ln_error_message();
    if (strncmp(message, t->refusal, len) == 0 && strncmp(message + len, word, strlen(word)) == 0) {
        printf("%s does not take %s=%s: %s\n", t->op->op_arg->optype, t->param, word, message);
        t->wrong_count++;
    }
}

static void try_param(trial *t)
{
    bool is_listed;
    ln_op_takes_word(t->op->op_arg, t->param, JUNK, &is_listed);
    t->refusal[0] = '\0';
    if (open_with(t, JUNK) != LN_OK && strstr(ln_error_message(), JUNK)) {
        snprintf(t->refusal, sizeof t->refusal, "%s", ln_error_message());
        *strstr(t->refusal, JUNK) = '\0';
    }
    if (is_listed && !t->refusal[0]) {
        printf("%s takes any %s, and the list does not\n", t->op->op_arg->optype, t->param);
        t->wrong_count++;
    }
    if (!is_listed && t->refusal[0] && !is_open(t->param)) {
        printf("the list has no words of %s of %s: %s\n", t->param, t->op->op_arg->optype,
               ln_error_message());
        t->wrong_count++;
    }
    ln_op_each_word(t->op->op_arg, t->param, try_word, t);
}

TEST(the_list_has_the_words_that_operators_take)
{
    int word_count = 0, wrong_count = 0;
    char model[MODEL_BYTES];
    const ln_op *op;
    CHECK_OK(ln_arch_init());
    for (size_t i = 0; (op = ln_op_find_at(i)); i++) {
        if (!is_runnable(op) || !make_model(model, op))
            continue;
        for (const ln_param_info *info = op->op_arg->info->params; info && info->arg_name; info++) {
            if (info->ptype != LN_PARAM_STRING)
                continue;
            trial t = {.op = op, .param = info->arg_name, .example = model};
            try_param(&t);
            word_count += t.word_count;
            wrong_count += t.wrong_count;
        }
    }
    ln_arch_cleanup();
    printf("%d words\n", word_count);
    CHECK(word_count > 300);
    CHECK_EQ(wrong_count, 0);
}

// ---- Least numbers ----

#define WINDOW "stride=[1, 1], dilation=[1, 1]"

// Statements that say each parameter of the list.
static const struct {
    const char *optype, *statement;
} counted[] = {
    {"conv", "conv(src=x, weight=w | dst=y | group=1, " WINDOW ");"},
    {"deconv", "deconv(src=x, weight=w | dst=y | group=1, " WINDOW ");"},
    {"quant_conv", "quant_conv(src=q, weight=v | dst=y | group=1, " WINDOW ");"},
    {"conv2d", "conv2d(src=x, weight=w, bias=b | dst=y | group=1, size=[1, 1], " WINDOW ");"},
    {"deconv2d", "deconv2d(src=x, weight=w, bias=b | dst=y | group=1, size=[1, 1], " WINDOW
                 ", output_dims=[0, 0, 0, 0]);"},
    {"pool", "pool(src=x | dst=y | kind=max, size=[1, 1], " WINDOW ");"},
    {"maxpool2d", "maxpool2d(src=x | dst=y | size=[1, 1], stride=[1, 1]);"},
    {"avgpool2d", "avgpool2d(src=x | dst=y | size=[1, 1], stride=[1, 1]);"},
    {"slice", "slice(src=x | dst=y | axis=1, start=0, len=1);"},
    {"concat", "concat(src1=x, src2=x | dst=y | axis=1);"},
    {"transpose", "transpose(src=x | dst=y | axes=[0, 1, 2, 3]);"},
    {"batchnorm", "batchnorm(src=x, scale=b, offset=b, mean=b, var=b | dst=y | epsilon=1);"},
    {"layernorm", "layernorm(src=x, scale=r | dst=y | epsilon=1);"},
};

// Of a model of the statement in which `param` is, or begins with, `number`.
static ln_status open_with_number(const char *statement, const char *param, double number)
{
    char model[MODEL_BYTES], key[LN_MAX_NAME_LEN];
    snprintf(key, sizeof key, " %s=", param);
    const char *at = strstr(statement, key);
    CHECK_NOT_NULL(at);
    at += strlen(key);
    at += *at == '[';
    const int len = (int)(at - statement);
    at += strspn(at, "0123456789");
    snprintf(model, sizeof model,
             "input(| dst=x | dtype=TL_FLOAT, dims=[1, 3, 4, 4]);\n"
             "input(| dst=q | dtype=TL_UINT8, dims=[1, 3, 4, 4]);\n"
             "create(| dst=w | dtype=TL_FLOAT, dims=[3, 3, 1, 1], data=[0]);\n"
             "create(| dst=v | dtype=TL_INT8, dims=[3, 3, 1, 1], data=[0]);\n"
             "create(| dst=b | dtype=TL_FLOAT, dims=[3], data=[0]);\n"
             "create(| dst=r | dtype=TL_FLOAT, dims=[4], data=[0]);\n%.*s%g%s\n",
             len, statement, number, at);
    ln_context *ctx = ln_context_create();
    CHECK_NOT_NULL(ctx);
    ln_status status = ln_context_init_mem(ctx, model, strlen(model), NULL);
    ln_context_free(ctx);
    return status;
}

TEST(the_list_has_the_least_numbers_that_operators_take)
{
    int count = 0;
    CHECK_OK(ln_arch_init());
    for (size_t i = 0; i < sizeof counted / sizeof counted[0]; i++) {
        const ln_op *op = ln_op_find(counted[i].optype);
        CHECK_NOT_NULL(op);
        for (const ln_param_info *info = op->op_arg->info->params; info && info->arg_name; info++) {
            double least;
            if (!ln_op_least_number(op->op_arg, info->arg_name, &least) ||
                !strstr(counted[i].statement, info->arg_name))
                continue;
            count++;
            if (open_with_number(counted[i].statement, info->arg_name, least) != LN_OK)
                fail_msg("%s %s=%g: %s", counted[i].optype, info->arg_name, least,
                         ln_error_message());
            if (open_with_number(counted[i].statement, info->arg_name, least - 1) != LN_INVALID)
                fail_msg("%s takes %s=%g", counted[i].optype, info->arg_name, least - 1);
        }
    }
    ln_arch_cleanup();
    CHECK_EQ(count, 31);
}

TEST(words_of_others_are_their_own)
{
    static char acme[] = "acme_conv", conv[] = "conv", none[] = "none";
    const ln_op_arg other = {.optype = acme, .arch = none}, own = {.optype = conv, .arch = none};
    bool is_listed;
    CHECK(ln_op_takes_word(&other, "act", "swish9", &is_listed));
    CHECK(!is_listed);
    CHECK(!ln_op_takes_word(&own, "act", "swish9", &is_listed));
    CHECK(is_listed);
}

TEST_LIST(the_list_has_the_words_that_operators_take,
          the_list_has_the_least_numbers_that_operators_take, words_of_others_are_their_own)
