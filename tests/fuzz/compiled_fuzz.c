// SPDX-License-Identifier: Apache-2.0
// Compiled models that lie: numbers and strings of a good one are exchanged for others.
//
// The bytes are read as one byte that chooses the model and the kind of lies, then four bytes for
// each lie: which word (two), what to do with it, and an argument. Where only offsets do, a plan
// that is believed must still give the right numbers.

#include "tests/fuzz/fuzz.h"

#define MAX_WORDS 4096
#define MAX_LIES  16
#define MAX_TEXT  65536

static const char *const models[] = {
    "input(| dst=x | dtype=TL_FLOAT, dims=[2, 3]);"
    "create(| dst=w | dtype=TL_FLOAT, dims=[2, 3], ran=[0, 0], data=[1, 2, 3, 4, 5, 6], "
    "from_file=false);"
    "elew(src1=x, src2=w | dst=sum | elew_op=TL_SUM);"
    "relu(src=sum | dst=y |);"
    "reshape(src=y | dst=z | dims=[3, 2]);"
    "transpose(src=z | dst=t | axes=[1, 0]);"
    "concat(src1=t, src2=x | dst=c | axis=0);"
    "slice(src=c | dst=s | axis=0, start=1, len=2);",

    "input(| dst=x | dtype=TL_FLOAT, dims=[1, 3, 8, 8]);"
    "create(| dst=w | dtype=TL_FLOAT, dims=[4, 3, 3, 3], ran=[0, 0], data=[1], from_file=false);"
    "create(| dst=b | dtype=TL_FLOAT, dims=[4], ran=[0, 0], data=[2], from_file=false);"
    "conv2d(src=x, weight=w, bias=b | dst=c | group=1, size=[3, 3], stride=[1, 1], "
    "padding=[1, 1, 1, 1], dilation=[1, 1], autopad=NOTSET);"
    "batchnorm(src=c, scale=b, offset=b, mean=b, var=b | dst=n | epsilon=1e-5);"
    "relu(src=n | dst=y |);"
    "maxpool2d(src=y | dst=p | size=[2, 2], stride=[2, 2], padding=[0, 0, 0, 0], autopad=NOTSET);"
    "softmax(src=p | dst=q | axis=1);",

    "input(| dst=x | dtype=TL_INT32, dims=[4, 4]);"
    "reshape(src=x | dst=v | dims=[16]);"
    "reshape(src=v | dst=u | dims=[2, 8]);"
    "elew(src1=u, src2=u | dst=e | elew_op=TL_MUL);"
    "maxreduce(src=e | dst=m | axis=1);"
    "forward(src=m | dst=f |);",

    // Parts made in their whole, operators that write over their input, a view of the whole.
    "input(| dst=x | dtype=TL_FLOAT, dims=[2, 4]);"
    "relu(src=x | dst=a |);"
    "sigmoid(src=x | dst=b |);"
    "concat(src1=a, src2=b | dst=c | axis=0);"
    "slice(src=c | dst=s | axis=0, start=1, len=2);"
    "lrelu(src=s | dst=l | negslope=0.5);"
    "elew(src1=l, src2=x | dst=y | elew_op=TL_SUM);",

    // Windows of channels, packed weights and workspace.
    "input(| dst=x | dtype=TL_FLOAT, dims=[1, 6, 6, 4]);"
    "create(| dst=w | dtype=TL_FLOAT, dims=[3, 2, 3, 3], ran=[0, 0], data=[1, 2, 3, 4]);"
    "conv2d_pack_cpu(weight=w | dst=p | algorithm=direct);"
    "conv2d_pack_cpu(weight=w | dst=q | algorithm=winograd2);"
    "conv2d_nhwc_cpu(src=x, packed=p | dst=a | channels=3, size=[3, 3], padding=[1, 1, 1, 1], "
    "src_first=2, src_channels=2, dst_channels=9);"
    "conv2d_nhwc_cpu(src=x, packed=q, addend=x, into=a | dst=b | channels=3, size=[3, 3], "
    "padding=[1, 1, 1, 1], src_channels=2, algorithm=winograd2, act=relu, dst_first=3, "
    "addend_first=1);"
    "maxpool2d_nhwc_cpu(src=x, into=b | dst=c | size=[3, 3], padding=[1, 1, 1, 1], src_first=1, "
    "src_channels=3, dst_first=6);"
    "put_channels(src=c | dst=d | src_first=2, src_channels=4);"
    "interleave(src1=c, src2=d | dst=e | channels=2, src1_first=7, src2_first=1);"
    "resize_nhwc_cpu(src=e | dst=y | out=[3, 9], mode=linear);",
};

#define MODEL_COUNT (sizeof models / sizeof models[0])

// A number or a string in quotes.
typedef struct word {
    size_t start;
    size_t len;
    int is_offset;
} word;

typedef struct compiled {
    char *text;
    word words[MAX_WORDS];
    size_t word_count;
    char *outputs; // what a run gives, all outputs in a row
} compiled;

static compiled bases[MODEL_COUNT];

// ---- The good ones ----

static void find_words(compiled *c)
{
    int is_offset = 0;
    for (const char *p = c->text; *p && c->word_count < MAX_WORDS;) {
        size_t len = 0;
        if (*p == '"')
            len = strcspn(p + 1, "\"") + 2;
        else if (*p == '-' || (*p >= '0' && *p <= '9'))
            len = strspn(p, "-+.eE0123456789");
        if (len == 0) {
            p++;
            continue;
        }
        c->words[c->word_count++] = (word){(size_t)(p - c->text), len, is_offset && *p != '"'};
        is_offset = len == 8 && strncmp(p, "\"offset\"", len) == 0;
        p += len;
    }
}

// The outputs of a LOADED context after a run; NULL if it fails.
static char *run(ln_context *ctx, size_t *out_byte_count)
{
    fuzz_fill_inputs(ctx);
    if (ln_context_run(ctx) != LN_OK)
        return NULL;
    size_t byte_count = 0;
    const ln_tensor_entry *output;
    for (size_t i = 0; (output = ln_context_output(ctx, i)); i++)
        byte_count += tl_tensor_size(output->tensor);
    char *bytes = malloc(byte_count + 1);
    FUZZ_CHECK(bytes);
    *out_byte_count = 0;
    for (size_t i = 0; (output = ln_context_output(ctx, i)); i++) {
        FUZZ_CHECK(ln_context_get_data(ctx, output->name, bytes + *out_byte_count));
        *out_byte_count += tl_tensor_size(output->tensor);
    }
    return bytes;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    fuzz_start();
    for (size_t i = 0; i < MODEL_COUNT; i++) {
        ln_context *ctx = fuzz_context();
        FUZZ_CHECK(ln_context_init_mem(ctx, models[i], strlen(models[i]), "base") == LN_OK);
        ln_optimize_options options = ln_optimize_options_default();
        options.freezes_constants = i % 2; // the convolution's
        FUZZ_CHECK(ln_context_compile_with(ctx, "cpu", &options) == LN_OK);
        bases[i].text = fuzz_print(ctx);
        find_words(&bases[i]);
        FUZZ_CHECK(ln_context_load(ctx, NULL) == LN_OK);
        size_t byte_count;
        bases[i].outputs = run(ctx, &byte_count);
        FUZZ_CHECK(bases[i].outputs);
        ln_context_free(ctx);
    }
    return 0;
}

// ---- Lies ----

// What to write in the place of word `w`: `what` chooses, `arg` says more.
static void tell_lie(const compiled *c, size_t w, unsigned what, unsigned arg, char *out,
                     size_t room)
{
    static const char *const special[] = {
        "0",
        "-1",
        "1",
        "2",
        "63",
        "64",
        "65",
        "128",
        "0.5",
        "1e-5",
        "2147483647",
        "2147483648",
        "4294967296",
        "9007199254740991",
        "9007199254740992",
        "9007199254740993",
        "1e300",
        "-0",
        "18446744073709551615",
        "1e999",
        "null",
        "true",
        "false",
        "[]",
        "{}",
        "\"\"",
        "[1, 1, 1]",
        "\"cpu\"",
        "\"TL_INT8\"",
        "\"TL_DOUBLE\"",
        "\"LN_MEM_NONE\"",
        "\"LN_MEM_CUDA\"",
    };
    const word *old = &c->words[w], *other = &c->words[(w + 1 + arg) % c->word_count];
    long long number = strtoll(c->text + old->start, NULL, 10);
    switch (what % 6) {
    case 0: snprintf(out, room, "%s", special[arg % (sizeof special / sizeof *special)]); break;
    case 1: snprintf(out, room, "%lld", number + (int)arg - 128); break;
    case 2: snprintf(out, room, "%lld", number + ((int)arg - 128) * 64LL); break;
    case 3: snprintf(out, room, "%lld", number * (int)arg); break;
    case 4: snprintf(out, room, "%u", arg * 64); break;
    default: snprintf(out, room, "%.*s", (int)other->len, c->text + other->start); break;
    }
}

// The text of `c` with the lies that `data` describes; false if it is too long.
static int tell(const compiled *c, int only_offsets, const uint8_t *data, size_t size, char *out)
{
    size_t lie_count = size / 4 < MAX_LIES ? size / 4 : MAX_LIES, len = 0, copied = 0;
    for (size_t w = 0; w < c->word_count; w++) {
        char lie[512];
        size_t l = 0;
        while (l < lie_count && (data[4 * l] | (size_t)data[4 * l + 1] << 8) % c->word_count != w)
            l++;
        if (l == lie_count || (only_offsets && !c->words[w].is_offset))
            continue;
        tell_lie(c, w, data[4 * l + 2], data[4 * l + 3], lie, sizeof lie);
        size_t before = c->words[w].start - copied;
        if (len + before + sizeof lie > MAX_TEXT)
            return 0;
        memcpy(out + len, c->text + copied, before);
        len += before;
        copied += before + c->words[w].len;
        len += (size_t)snprintf(out + len, sizeof lie, "%s", lie);
    }
    if (len + strlen(c->text + copied) >= MAX_TEXT)
        return 0;
    strcpy(out + len, c->text + copied);
    return 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char text[MAX_TEXT];
    if (size < 5)
        return 0;
    const compiled *base = &bases[data[0] / 2 % MODEL_COUNT];
    int only_offsets = data[0] % 2;
    if (!tell(base, only_offsets, data + 1, size - 1, text))
        return 0;

    ln_context *ctx = fuzz_context();
    if (ln_context_init_mem(ctx, text, strlen(text), "lies") == LN_OK) {
        fuzz_check_round_trip(ctx);
        if (ctx->state == LN_CONTEXT_READY) // a lie took "format" away
            ln_context_compile(ctx, "cpu");
        if (ctx->state == LN_CONTEXT_PLANNED && ln_context_load(ctx, NULL) == LN_OK) {
            size_t byte_count = 0;
            char *outputs = run(ctx, &byte_count);
            if (only_offsets)
                FUZZ_CHECK(outputs && memcmp(outputs, base->outputs, byte_count) == 0);
            free(outputs);
        }
    } else {
        FUZZ_CHECK(ctx->state == LN_CONTEXT_EMPTY);
    }
    ln_context_free(ctx);
    return 0;
}
