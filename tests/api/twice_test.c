// SPDX-License-Identifier: Apache-2.0
// One tensor on several operands: operators compute the same bits whether memory is shared or not.
//
// The example of each registered operator is changed so that two of its operands are one tensor, or
// views of one, which nobody needs afterwards; optional ones that the example lacks are added. Each
// model is planned as compiling does it, with constants overwritten, and with every tensor on its
// own.

#include "tests/api/op_examples.h"

#include <stdarg.h>
#include <unistd.h>

#include <lightnet/program.h>

#include "compile/context_plan.h"

#define MAX_OPERANDS 16

// ---- Which operators have been tried ----

// Types of operators whose result may be over an operand that was one tensor with another.
static char met[256][LN_MAX_NAME_LEN];
static int met_count;

// A type without the arch that it is a variant for.
static void print_base(char base[LN_MAX_NAME_LEN], const ln_op *op)
{
    const char *arch = op->op_arg->arch;
    size_t len = strlen(op->op_arg->optype), arch_len = strlen(arch);
    if (!is_abstract(op) && len > arch_len)
        len -= arch_len + 1;
    snprintf(base, LN_MAX_NAME_LEN, "%.*s", (int)len, op->op_arg->optype);
}

static bool is_met(const char *base)
{
    bool is_any = false;
    for (int i = 0; i < met_count; i++)
        is_any = is_any || strcmp(met[i], base) == 0;
    return is_any;
}

static void note_met(const char *base)
{
    if (is_met(base))
        return;
    CHECK(met_count < (int)(sizeof met / sizeof met[0]));
    snprintf(met[met_count++], LN_MAX_NAME_LEN, "%s", base);
}

static bool may_be_overwritten(const ln_op *op, const char *arg_name)
{
    const ln_place_info *place = op->op_arg->info ? op->op_arg->info->places : NULL;
    bool may_be = false;
    for (; place && place->out; place++)
        may_be = may_be || ((place->kind == LN_PLACE_OVER || place->kind == LN_PLACE_OVER_FIRST) &&
                            strcmp(place->in, arg_name) == 0);
    return may_be;
}

// ---- Running ----

typedef enum plan_kind { SHARED, FROZEN, APART, PLAN_KINDS } plan_kind;

static ln_status load_planned(ln_context *ctx, const char *text, const char *target, plan_kind kind)
{
    ln_optimize_options options = ln_optimize_options_default();
    options.freezes_constants = kind == FROZEN;
    LN_TRY(ln_context_init_mem(ctx, text, strlen(text), "model.net"));
    LN_TRY(ln_context_allow_write(ctx, "."));
    if (kind == APART) {
        LN_TRY(ln_context_optimize_with(ctx, target, &options));
        LN_TRY(ln_context_plan_memory(ctx, target, LN_PLAN_REUSE_NOTHING));
    } else {
        LN_TRY(ln_context_compile_with(ctx, target, &options));
    }
    return ln_context_load(ctx, NULL);
}

// Numbers between -6 and 6 that follow from their place; of integers 0 and 1, so that they index.
static ln_status fill_inputs(ln_context *ctx)
{
    ln_status status = LN_OK;
    for (size_t k = 0; k < ln_context_input_count(ctx) && status == LN_OK; k++) {
        const ln_tensor_entry *entry = ln_context_input(ctx, k);
        const tl_tensor *t = entry->tensor;
        if (entry->isstatic)
            continue;
        void *data = calloc((size_t)t->len + 1, tl_size_of(t->dtype));
        CHECK_NOT_NULL(data);
        for (int i = 0; i < t->len; i++) {
            double x = t->dtype == TL_FLOAT ? (double)((i * 37 + 11) % 101) / 8 - 6 : i % 2;
            CHECK_OK(tl_convert((char *)data + (size_t)i * tl_size_of(t->dtype), t->dtype, &x,
                                TL_DOUBLE));
        }
        status = ln_context_set_data(ctx, entry->name, data);
        free(data);
    }
    return status;
}

static bool have_same_outputs(ln_context *a, ln_context *b)
{
    bool is_same = ln_context_output_count(a) == ln_context_output_count(b);
    for (size_t k = 0; is_same && k < ln_context_output_count(a); k++) {
        const tl_tensor *s = ln_context_output(a, k)->tensor;
        const tl_tensor *t = ln_context_output(b, k)->tensor;
        is_same = s->dtype == t->dtype && s->len == t->len;
        if (is_same && s->data && t->data && s->dtype != TL_STRING && s->dtype != TL_OBJECT)
            is_same = memcmp(s->data, t->data, tl_tensor_size(s)) == 0;
    }
    return is_same;
}

typedef enum verdict { SAME, REFUSED, DIFFERENT } verdict;

static ln_status run_session(const ln_context *ctx, ln_session *session)
{
    for (size_t k = 0; k < ln_context_input_count(ctx); k++) {
        const ln_tensor_entry *entry = ln_context_input(ctx, k);
        if (!entry->isstatic)
            LN_TRY(ln_session_set_data(session, entry->name, entry->tensor->data,
                                       tl_tensor_size(entry->tensor)));
    }
    LN_TRY(ln_session_run(session));
    return ln_session_run(session);
}

static bool has_outputs_of(ln_session *session, const ln_context *ctx)
{
    bool is_same = true;
    for (size_t k = 0; is_same && k < ln_context_output_count(ctx); k++) {
        const ln_tensor_entry *entry = ln_context_output(ctx, k);
        const tl_tensor *t = entry->tensor;
        const void *bytes;
        size_t byte_count;
        if (entry->is_open || t->dtype == TL_STRING || t->dtype == TL_OBJECT)
            continue;
        CHECK_OK(ln_session_borrow_data(session, entry->name, &bytes, &byte_count));
        is_same = byte_count == tl_tensor_size(t) && memcmp(bytes, t->data, byte_count) == 0;
    }
    return is_same;
}

// A session has memory of its own, where tensors share it as in the context that has run.
static bool session_agrees(const ln_context *ctx)
{
    ln_program *program;
    ln_session *session;
    CHECK_OK(ln_program_create(ctx, &program));
    CHECK_OK(ln_session_create(program, &session));
    bool is_same = run_session(ctx, session) == LN_OK && has_outputs_of(session, ctx);
    ln_session_free(session);
    ln_program_release(program);
    return is_same;
}

// Twice on the same inputs, which stay as they are.
static verdict compare_runs(ln_context *shared, ln_context *apart)
{
    CHECK_OK(fill_inputs(shared));
    CHECK_OK(fill_inputs(apart));
    for (int run = 0; run < 2; run++) {
        ln_status a = ln_context_run(shared), b = ln_context_run(apart);
        if (a != LN_OK || b != LN_OK)
            return a == b ? REFUSED : DIFFERENT;
        if (!have_same_outputs(shared, apart))
            return DIFFERENT;
    }
    return session_agrees(shared) ? SAME : DIFFERENT;
}

// What only a run knows, and what is random, differs in two runs of the same plan.
static verdict run_model(const char *text, const char *target)
{
    verdict worst = SAME;
    ln_context *ctx[PLAN_KINDS];
    ln_status status[PLAN_KINDS];
    for (int k = 0; k < PLAN_KINDS; k++) {
        ctx[k] = ln_context_create();
        CHECK_NOT_NULL(ctx[k]);
        unlink("fprint.txt");
        status[k] = load_planned(ctx[k], text, target, (plan_kind)k);
    }
    for (int k = 0; k < APART; k++) {
        verdict found = status[k] == LN_OK && status[APART] == LN_OK
                            ? compare_runs(ctx[k], ctx[APART])
                        : status[k] == status[APART] ? REFUSED
                                                     : DIFFERENT;
        worst = found > worst ? found : worst;
    }
    if (worst == DIFFERENT)
        printf("for %s, plan by plan %s, %s, %s: results differ\n%s\n", target,
               ln_status_name(status[SHARED]), ln_status_name(status[FROZEN]),
               ln_status_name(status[APART]), text);
    for (int k = 0; k < PLAN_KINDS; k++)
        close_context(ctx[k]);
    unlink("fprint.txt");
    return worst;
}

// ---- Examples with the same tensor twice ----

typedef struct operand {
    char arg_name[LN_MAX_NAME_LEN];
    char name[LN_MAX_NAME_LEN]; // of its tensor
    const source *from;
} operand;

typedef struct example {
    const ln_op *op;
    char sources[MODEL_BYTES];
    operand operands[MAX_OPERANDS];
    int operand_count;
    const char *rest; // of the statement, from the first bar on
} example;

static int len_of(const source *s)
{
    int len = 1;
    for (const char *c = s->dims; *c; c++)
        if (*c >= '0' && *c <= '9' && (c[-1] < '0' || c[-1] > '9'))
            len *= (int)strtol(c, NULL, 10);
    return len;
}

static bool read_example(example *e, const ln_op *op)
{
    const op_prose *prose = op_prose_find(op);
    *e = (example){.op = op};
    if (!prose || !prose->example)
        return false;
    const char *at = strchr(prose->example, '(') + 1;
    e->rest = strchr(at, '|');
    add_sources(e->sources, op, prose->example);
    while (at < e->rest && e->operand_count < MAX_OPERANDS) {
        operand *o = &e->operands[e->operand_count];
        int taken = 0;
        if (sscanf(at, " %63[A-Za-z0-9_]=%63[A-Za-z0-9_]%n", o->arg_name, o->name, &taken) != 2)
            break;
        o->from = find_source(op->op_arg->optype, o->name);
        e->operand_count++;
        at += taken;
        at += strspn(at, ", ");
    }
    return e->operand_count > 0;
}

// An optional operand that the example lacks, as operand `count`; false if there is none left.
static bool add_optional(example *e, const ln_arg_info *info, int like)
{
    operand *o = &e->operands[e->operand_count];
    if (!(info->flags & LN_ARG_OPTIONAL) || e->operand_count == MAX_OPERANDS)
        return false;
    for (int i = 0; i < e->operand_count; i++)
        if (strcmp(e->operands[i].arg_name, info->arg_name) == 0)
            return false;
    *o = e->operands[like];
    snprintf(o->arg_name, sizeof o->arg_name, "%s", info->arg_name);
    e->operand_count++;
    return true;
}

typedef enum sharing { ONE_NAME, VIEW_SECOND, VIEW_FIRST, WINDOWS, READ_LATER, SHARINGS } sharing;

static void print_to(char *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void print_to(char *text, const char *format, ...)
{
    va_list args;
    size_t len = strlen(text);
    va_start(args, format);
    vsnprintf(text + len, MODEL_BYTES - len, format, args);
    va_end(args);
}

// What operands a and b read: `one` and `other`, of the dims of their sources.
static void add_shared(char *text, const example *e, int a, int b, sharing how)
{
    const source *s = e->operands[a].from, *t = e->operands[b].from;
    const char *kind = is_abstract(e->op) ? "" : "_ref";
    int len = len_of(s);
    print_to(text, "input%s(| dst=origin | dtype=%s, dims=[%d]);\n", kind, s->dtype, 2 * len);
    print_to(text, "slice%s(src=origin | dst=first | axis=0, start=0, len=%d);\n", kind, len);
    print_to(text, "elew%s(src1=%s, src2=%s | dst=made | elew_op=TL_MAX);\n", kind,
             how == WINDOWS ? "origin" : "first", how == WINDOWS ? "origin" : "first");
    if (how == WINDOWS) {
        print_to(text, "slice%s(src=made | dst=left | axis=0, start=0, len=%d);\n", kind, len);
        print_to(text, "slice%s(src=made | dst=right | axis=0, start=%d, len=%d);\n", kind, len / 2,
                 len);
    }
    print_to(text, "reshape%s(src=%s | dst=one | dims=%s);\n", kind,
             how == WINDOWS ? "left" : "made", s->dims);
    if (how != ONE_NAME || strcmp(s->dims, t->dims) != 0)
        print_to(text, "reshape%s(src=%s | dst=other | dims=%s);\n", kind,
                 how == WINDOWS      ? "right"
                 : how == VIEW_FIRST ? "made"
                                     : "one",
                 t->dims);
}

static void make_shared(char *text, const example *e, int a, int b, sharing how)
{
    bool is_one = (how == ONE_NAME || how == READ_LATER) &&
                  strcmp(e->operands[a].from->dims, e->operands[b].from->dims) == 0;
    snprintf(text, MODEL_BYTES, "%s", e->sources);
    add_shared(text, e, a, b, how);
    print_to(text, "%s(", e->op->op_arg->optype);
    for (int i = 0; i < e->operand_count; i++)
        print_to(text, "%s%s=%s", i ? ", " : "", e->operands[i].arg_name,
                 i == a   ? "one"
                 : i == b ? (is_one ? "one" : "other")
                          : e->operands[i].name);
    print_to(text, " %s\n", e->rest);
    if (how == READ_LATER)
        print_to(text, "elew%s(src1=one, src2=one | dst=late | elew_op=TL_SUM);\n",
                 is_abstract(e->op) ? "" : "_ref");
}

typedef struct tally {
    int counts[3]; // by verdict
} tally;

static void run_pair(const example *e, int a, int b, tally *t)
{
    const source *s = e->operands[a].from, *u = e->operands[b].from;
    bool can_compute = strcmp(s->dtype, "TL_BOOL") != 0;
    if (strcmp(s->dtype, u->dtype) != 0 || len_of(s) != len_of(u) || !can_compute)
        return;
    for (int how = 0; how < SHARINGS; how++) {
        char text[MODEL_BYTES];
        make_shared(text, e, a, b, (sharing)how);
        const char *arch = e->op->op_arg->arch;
        const char *targets[] = {is_abstract(e->op) ? "ref" : arch, "cpu"};
        for (int k = 0; k < 1 + is_abstract(e->op); k++) {
            verdict found = run_model(text, targets[k]);
            t->counts[found]++;
            if (found != SAME || !(may_be_overwritten(e->op, e->operands[a].arg_name) ||
                                   may_be_overwritten(e->op, e->operands[b].arg_name)))
                continue;
            char base[LN_MAX_NAME_LEN];
            print_base(base, e->op);
            note_met(base);
        }
    }
}

static void run_example(const ln_op *op, tally *t)
{
    static example e;
    if (!is_runnable(op) || !read_example(&e, op))
        return;
    for (int a = 0; a < e.operand_count; a++)
        for (int b = a + 1; b < e.operand_count; b++)
            run_pair(&e, a, b, t);
    const ln_arg_info *in = op->op_arg->info ? op->op_arg->info->ins : NULL;
    for (; in && in->arg_name; in++)
        for (int like = 0; like < e.operand_count; like++) {
            example more = e;
            if (add_optional(&more, in, like))
                run_pair(&more, like, more.operand_count - 1, t);
        }
}

static void enter_new_folder(char *folder, size_t size)
{
    snprintf(folder, size, "%s/twice.XXXXXX", LN_BUILD_DIR);
    CHECK_NOT_NULL(mkdtemp(folder));
    CHECK_EQ(chdir(folder), 0);
}

TEST(operands_that_are_one_tensor_compute_the_same)
{
    char folder[4096];
    tally t = {{0}};
    enter_new_folder(folder, sizeof folder);
    CHECK_OK(ln_arch_init());
    const ln_op *op;
    for (size_t i = 0; (op = ln_op_find_at(i)); i++)
        run_example(op, &t);
    ln_arch_cleanup();
    print_message("%d models are the same, %d are refused\n", t.counts[SAME], t.counts[REFUSED]);
    CHECK_EQ(t.counts[DIFFERENT], 0);
    CHECK(t.counts[SAME] > 1000);
    CHECK_EQ(chdir("/"), 0);
    CHECK_EQ(rmdir(folder), 0);
}

// ---- Operators whose examples have no two such operands ----

#define IMAGE                                                                                      \
    "input(| dst=x | dtype=TL_FLOAT, dims=[1, 5, 6, 8]);\n"                                        \
    "elew_ref(src1=x, src2=x | dst=t | elew_op=TL_SUM);\n"
#define VIEW           "reshape_ref(src=t | dst=r | dims=[1, 5, 6, 8]);\n"
#define VIEW_OF_VOLUME "reshape_ref(src=t | dst=r | dims=[1, 4, 5, 6, 8]);\n"
#define VIEW_OF_ROWS   "reshape_ref(src=t | dst=r | dims=[9, 70]);\n"
#define TAPS(out, in)                                                                              \
    "create_ref(| dst=w | dtype=TL_FLOAT, dims=[" #out ", " #in ", 3, 3], ran=[-1, 1]);\n"         \
    "conv2d_pack_cpu(weight=w | dst=p |);\n"
#define BYTE_IMAGE                                                                                 \
    IMAGE "create_ref(| dst=s | dtype=TL_FLOAT, dims=[], data=[0.05]);\n"                          \
          "quantize_ref(src=t, scale=s | dst=q |);\n"                                              \
          "create_ref(| dst=w | dtype=TL_INT8, dims=[4, 8, 3, 3], ran=[-9, 9]);\n"                 \
          "quant_conv_pack_cpu(weight=w | dst=p |);\n"
#define BYTE_CONV(src, into, rest)                                                                 \
    "quant_conv_nhwc_cpu(src=" src                                                                 \
    ", packed=p, src_scale=s, weight_scale=s, dst_scale=s, into=" into                             \
    " | dst=y | channels=4, " CONV(rest)
#define CONV(rest) "size=[3, 3], padding=[1, 1, 1, 1]" rest ");\n"
#define DEPTHWISE                                                                                  \
    "create_ref(| dst=w | dtype=TL_FLOAT, dims=[8, 1, 3, 3], ran=[-1, 1]);\n"                      \
    "conv2d_pack_cpu(weight=w | dst=d | group=8, algorithm=depthwise);\n"                          \
    "create_ref(| dst=v | dtype=TL_FLOAT, dims=[8, 8, 1, 1], ran=[-1, 1]);\n"                      \
    "conv2d_pack_cpu(weight=v | dst=p |);\n"
#define DECONV(out, in)                                                                            \
    "create_ref(| dst=w | dtype=TL_FLOAT, dims=[" #in ", " #out ", 3, 3], ran=[-1, 1]);\n"         \
    "deconv2d_pack_cpu(weight=w | dst=p |);\n"
#define VOLUME                                                                                     \
    "input(| dst=x | dtype=TL_FLOAT, dims=[1, 4, 5, 6, 8]);\n"                                     \
    "elew_ref(src1=x, src2=x | dst=t | elew_op=TL_SUM);\n"                                         \
    "create_ref(| dst=w | dtype=TL_FLOAT, dims=[8, 8, 3, 3, 3], ran=[-1, 1]);\n"                   \
    "conv3d_pack_cpu(weight=w | dst=p |);\n"
#define CONV3D "channels=8, size=[3, 3, 3], padding=[1, 1, 1, 1, 1, 1]);\n"
#define ROWS                                                                                       \
    "input(| dst=x | dtype=TL_FLOAT, dims=[9, 70]);\n"                                             \
    "elew_ref(src1=x, src2=x | dst=t | elew_op=TL_SUM);\n"                                         \
    "create_ref(| dst=w | dtype=TL_FLOAT, dims=[70, 70], ran=[-1, 1]);\n"
#define CHANNELS                                                                                   \
    "input(| dst=x | dtype=TL_FLOAT, dims=[1, 7]);\n"                                              \
    "elew_ref(src1=x, src2=x | dst=t | elew_op=TL_SUM);\n"                                         \
    "reshape_ref(src=t | dst=c | dims=[7]);\n"

#define ONE_BYTE                                                                                   \
    "input(| dst=x | dtype=TL_UINT8, dims=[1]);\n"                                                 \
    "create_ref(| dst=s | dtype=TL_FLOAT, dims=[1], ran=[1, 2]);\n"                                \
    "elew_ref(src1=x, src2=x | dst=t | elew_op=TL_SUM);\n"                                         \
    "reshape_ref(src=t | dst=z | dims=[1]);\n"

static const struct meeting {
    const char *optype;
    const char *text;
} meetings[] = {
    {"conv3d_ndhwc", VOLUME "conv3d_ndhwc_cpu(src=t, packed=p, addend=t | dst=y | " CONV3D},
    {"conv3d_ndhwc",
     VOLUME VIEW_OF_VOLUME "conv3d_ndhwc_cpu(src=r, packed=p, addend=t | dst=y | " CONV3D},
    {"conv3d_ndhwc",
     VOLUME VIEW_OF_VOLUME "conv3d_ndhwc_cpu(src=t, packed=p, addend=r | dst=y | " CONV3D},
    {"conv2d_nhwc", IMAGE TAPS(8, 8) "conv2d_nhwc_cpu(src=t, packed=p, addend=t | dst=y | "
                                     "channels=8, " CONV("")},
    {"conv2d_nhwc", IMAGE VIEW TAPS(8, 8) "conv2d_nhwc_cpu(src=r, packed=p, addend=t | dst=y | "
                                          "channels=8, " CONV("")},
    {"conv2d_nhwc", IMAGE VIEW TAPS(8, 8) "conv2d_nhwc_cpu(src=t, packed=p, addend=r | dst=y | "
                                          "channels=8, " CONV(", add=last")},
    {"conv2d_nhwc", IMAGE TAPS(4, 4) "conv2d_nhwc_cpu(src=t, packed=p, into=t | dst=y | "
                                     "channels=4, src_channels=4, dst_first=4, " CONV("")},
    {"conv2d_nhwc", IMAGE TAPS(4, 4) "conv2d_nhwc_cpu(src=t, packed=p, into=t | dst=y | "
                                     "channels=4, src_channels=4, dst_first=3, " CONV("")},
    {"conv2d_nhwc", IMAGE TAPS(4, 4) "conv2d_nhwc_cpu(src=t, packed=p, into=t, addend=t | dst=y | "
                                     "channels=4, src_channels=4, dst_first=4, "
                                     "addend_first=4, " CONV("")},
    {"conv2d_nhwc", IMAGE TAPS(4, 4) "conv2d_nhwc_cpu(src=t, packed=p, into=t, addend=t | dst=y | "
                                     "channels=4, src_channels=4, dst_first=4, "
                                     "addend_first=2, " CONV("")},
    {"conv2d_nhwc", IMAGE VIEW TAPS(4, 4) "conv2d_nhwc_cpu(src=r, packed=p, into=t | dst=y | "
                                          "channels=4, src_channels=4, dst_first=3, " CONV("")},
    {"conv2d_nhwc", IMAGE VIEW TAPS(4, 4) "conv2d_nhwc_cpu(src=t, packed=p, into=t, addend=r | "
                                          "dst=y | channels=4, src_channels=4, dst_first=4, "
                                          "addend_first=1, " CONV("")},
    {"quant_conv_nhwc", BYTE_IMAGE BYTE_CONV("q", "q", ", dst_first=4")},
    {"quant_conv_nhwc",
     BYTE_IMAGE "reshape_ref(src=q | dst=r | dims=[1, 5, 6, 8]);\n" BYTE_CONV("r", "q", "")},
    {"separable_nhwc", IMAGE DEPTHWISE "separable_nhwc_cpu(src=t, depthwise=d, project=p, addend=t "
                                       "| dst=y | channels=8, project_channels=8, " CONV("")},
    {"separable_nhwc",
     IMAGE VIEW DEPTHWISE "separable_nhwc_cpu(src=r, depthwise=d, project=p, addend=t | dst=y | "
                          "channels=8, project_channels=8, " CONV("")},
    {"deconv2d_nhwc", IMAGE DECONV(4, 4) "deconv2d_nhwc_cpu(src=t, packed=p, into=t | dst=y | "
                                         "channels=4, src_channels=4, dst_first=4, padding=[1, 1], "
                                         "out=[5, 6], size=[3, 3]);\n"},
    {"deconv2d_nhwc", IMAGE DECONV(4, 4) "deconv2d_nhwc_cpu(src=t, packed=p, into=t | dst=y | "
                                         "channels=4, src_channels=4, dst_first=2, padding=[1, 1], "
                                         "out=[5, 6], size=[3, 3]);\n"},
    {"deconv2d_nhwc",
     IMAGE VIEW DECONV(4, 4) "deconv2d_nhwc_cpu(src=t, packed=p, into=r | dst=y | channels=4, "
                             "src_channels=4, dst_first=2, padding=[1, 1], out=[5, 6], "
                             "size=[3, 3]);\n"},
    {"maxpool2d_nhwc", IMAGE "maxpool2d_nhwc_cpu(src=t, into=t | dst=y | src_channels=3, "
                             "dst_first=3, " CONV("")},
    {"maxpool2d_nhwc", IMAGE "maxpool2d_nhwc_cpu(src=t, into=t | dst=y | src_channels=3, "
                             "dst_first=2, " CONV("")},
    {"maxpool2d_nhwc", IMAGE VIEW "maxpool2d_nhwc_cpu(src=t, into=r | dst=y | src_channels=3, "
                                  "dst_first=2, " CONV("")},
    {"avgpool2d_nhwc", IMAGE "avgpool2d_nhwc_cpu(src=t, into=t | dst=y | src_channels=3, "
                             "dst_first=3, " CONV("")},
    {"avgpool2d_nhwc", IMAGE "avgpool2d_nhwc_cpu(src=t, into=t | dst=y | src_channels=3, "
                             "dst_first=1, " CONV("")},
    {"resize_nhwc", IMAGE "resize_nhwc_cpu(src=t, into=t | dst=y | src_channels=3, dst_first=2, "
                          "out=[5, 6], scale=[1, 1.5], mode=linear);\n"},
    {"resize_nhwc", IMAGE "resize_nhwc_cpu(src=t, into=t | dst=y | src_channels=3, dst_first=5, "
                          "out=[5, 6], scale=[1, 1.5], mode=linear);\n"},
    {"put_channels", IMAGE "put_channels_cpu(src=t, into=t | dst=y | src_channels=5, "
                           "dst_first=3);\n"},
    {"put_channels", IMAGE VIEW "put_channels_cpu(src=r, into=t | dst=y | src_channels=5, "
                                "dst_first=3);\n"},
    {"put_channels", IMAGE "put_channels_ref(src=t, into=t | dst=y | src_channels=5, "
                           "dst_first=3);\n"},
    {"linear", ROWS "linear_ref(src=t, weight=w, addend=t | dst=y |);\n"},
    {"linear", ROWS VIEW_OF_ROWS "linear_ref(src=r, weight=w, addend=t | dst=y |);\n"},
    {"linear_packed", ROWS "linear_pack_cpu(weight=w | dst=p |);\n"
                           "linear_packed_cpu(src=t, packed=p, addend=t | dst=y | outputs=70);\n"},
    {"linear_packed",
     ROWS VIEW_OF_ROWS "linear_pack_cpu(weight=w | dst=p |);\n"
                       "linear_packed_cpu(src=t, packed=p, addend=r | dst=y | outputs=70);\n"},
    {"batchnorm", CHANNELS "batchnorm_ref(src=t, scale=c, offset=c, mean=c, var=c | dst=y | "
                           "epsilon=1000);\n"},
    {"scale_shift", CHANNELS "scale_shift_ref(src=c, scale=c, offset=c | dst=y |);\n"},
    {"layernorm", CHANNELS "layernorm_ref(src=c, scale=c, bias=c | dst=y |);\n"},
    {"groupnorm", CHANNELS "groupnorm_ref(src=t, scale=c, offset=c | dst=y | groups=1);\n"},
    {"groupnorm_nhwc", "input(| dst=x | dtype=TL_FLOAT, dims=[1, 1, 1, 7]);\n"
                       "elew_ref(src1=x, src2=x | dst=t | elew_op=TL_SUM);\n"
                       "reshape_ref(src=t | dst=c | dims=[7]);\n"
                       "groupnorm_nhwc_cpu(src=t, scale=c, offset=c | dst=y | groups=1);\n"},
    {"prelu", ROWS VIEW_OF_ROWS "prelu_ref(src=t, slope=r | dst=y |);\n"},
    {"prelu", ROWS "prelu_cpu(src=t, slope=t | dst=y |);\n"},
    {"Clip", "input(| dst=x | dtype=TL_FLOAT, dims=[1]);\n"
             "elew_ref(src1=x, src2=x | dst=t | elew_op=TL_SUM);\n"
             "reshape_ref(src=t | dst=s | dims=[]);\n"
             "Clip_ref(input=t, min=s, max=s | output=y |);\n"},
    {"quant_act", ONE_BYTE "quant_act_ref(src=t, src_scale=s, dst_scale=s, src_zero=z | dst=y | "
                           "act=relu);\n"},
    {"quant_act", ONE_BYTE "quant_act_cpu(src=z, src_scale=s, dst_scale=s, src_zero=t | dst=y | "
                           "act=relu);\n"},
    {"bn_fold_weight", "create_ref(| dst=k | dtype=TL_FLOAT, dims=[7], ran=[1, 2]);\n"
                       "input(| dst=x | dtype=TL_FLOAT, dims=[7]);\n"
                       "reshape_ref(src=k | dst=w | dims=[7, 1]);\n"
                       "bn_fold_weight_ref(weight=w, scale=k, var=k | dst=y | epsilon=1);\n"
                       "elew_ref(src1=y, src2=x | dst=z | elew_op=TL_SUM);\n"},
    {"bn_fold_bias", "create_ref(| dst=k | dtype=TL_FLOAT, dims=[7], ran=[1, 2]);\n"
                     "input(| dst=x | dtype=TL_FLOAT, dims=[7]);\n"
                     "bn_fold_bias_ref(scale=k, offset=k, mean=k, var=k, bias=k | dst=y | "
                     "epsilon=1);\n"
                     "elew_ref(src1=y, src2=x | dst=z | elew_op=TL_SUM);\n"},
};

TEST(operators_that_overwrite_meet_their_own_source)
{
    CHECK_OK(ln_arch_init());
    for (size_t i = 0; i < sizeof meetings / sizeof meetings[0]; i++) {
        CHECK_EQ(run_model(meetings[i].text, "cpu"), SAME);
        note_met(meetings[i].optype);
    }
    ln_arch_cleanup();
}

// Operands that are no attributes.
static int count_operands(const ln_op *op)
{
    int count = 0;
    for (const ln_arg_info *in = op->op_arg->info->ins; in && in->arg_name; in++)
        count += in->flags & LN_ARG_VARIADIC ? 2 : !(in->flags & LN_ARG_ATTRIBUTE);
    return count;
}

// Runs after the others.
TEST(every_operator_that_overwrites_was_tried)
{
    static const struct {
        const char *optype, *why;
    } others[] = {
        {"Reshape", "the shape is of integers"},
        {"Squeeze", "the axes are of integers"},
        {"Unsqueeze", "the axes are of integers"},
    };
    CHECK_OK(ln_arch_init());
    const ln_op *op;
    int missing_count = 0;
    for (size_t i = 0; (op = ln_op_find_at(i)); i++) {
        const ln_place_info *place = op->op_arg->info ? op->op_arg->info->places : NULL;
        bool overwrites = false;
        for (; place && place->out; place++)
            overwrites = overwrites || may_be_overwritten(op, place->in);
        char base[LN_MAX_NAME_LEN];
        print_base(base, op);
        bool is_other = false;
        for (size_t k = 0; k < sizeof others / sizeof others[0]; k++)
            is_other = is_other || strcmp(others[k].optype, base) == 0;
        if (!overwrites || is_other || count_operands(op) < 2 || is_met(base))
            continue;
        printf("%s was not tried\n", op->op_arg->optype);
        missing_count++;
    }
    CHECK_EQ(missing_count, 0);
    ln_arch_cleanup();
}

TEST_LIST(operands_that_are_one_tensor_compute_the_same,
          operators_that_overwrite_meet_their_own_source, every_operator_that_overwrites_was_tried)
