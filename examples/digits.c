// SPDX-License-Identifier: Apache-2.0
// Reads handwritten digits: runs the demo model, and shows what was compiled and what it costs.
//
//     digits [--target cpu|ref] [FOLDER]      FOLDER holds the model; default models/digits
//
// A first program to copy; it uses the installed headers only. Exit status: 0, 1 when a call
// failed or too many answers are wrong, 2 for wrong arguments.

#define _POSIX_C_SOURCE 200809L // clock_gettime, isatty

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <lightnet/allocator.h>
#include <lightnet/arch.h>
#include <lightnet/context.h>
#include <lightnet/tensor_file.h>

#define SIDE            8 // pixels of an image, across and down
#define PIXELS          (SIDE * SIDE)
#define CLASSES         10
#define SHOWN           6 // pictures in the terminal
#define MAX_STEPS       64
#define STEP_BYTES      96
#define BAR_COLUMNS     48
#define ACCURACY_NEEDED 0.98

// What the model answered for one image.
typedef struct answer {
    int digit;
    float prob;
    double seconds;
} answer;

// The held-out images, borrowed from their file: pixels of 0..16, and what they show.
typedef struct test_set {
    ln_tensor_file *file;
    const unsigned char *pixels;
    const int *labels;
    size_t count;
} test_set;

static void require(int holds, const char *what, const char *why)
{
    if (holds)
        return;
    fprintf(stderr, "digits: %s: %s\n", what, why);
    exit(1);
}

// Every call of the library is checked; after a failure it has a message.
static void check(ln_status status, const char *what)
{
    require(status == LN_OK, what, ln_error_message());
}

static test_set open_test_set(const char *path)
{
    test_set set = {0};
    check(ln_tensor_file_open(path, &set.file), "opening the images");
    const tl_tensor *images =
        ln_tensor_file_tensor(set.file, ln_tensor_file_find(set.file, "images"));
    const tl_tensor *labels =
        ln_tensor_file_tensor(set.file, ln_tensor_file_find(set.file, "labels"));
    require(images && images->dtype == TL_UINT8 && labels && labels->dtype == TL_INT32 &&
                labels->len > 0 && images->len == labels->len * PIXELS,
            path, "it does not hold images of 8x8 bytes with a label for each");
    set.pixels = images->data;
    set.labels = labels->data;
    set.count = (size_t)labels->len;
    return set;
}

// ---- What was compiled ----

// The operators of a model that compute in a run, one a line: "relu1 = relu(bn1)".
typedef struct step_list {
    char lines[MAX_STEPS][STEP_BYTES];
    size_t count;
    size_t weight_count; // tensors that come from a file
    size_t load_count;   // operators that run once, when the weights are loaded
} step_list;

static const char *first_name(const ln_list *list)
{
    return list ? ((const ln_tensor_list_entry *)list->data)->name : "";
}

static int is_loaded_once(const ln_context *ctx, const ln_op_arg *arg)
{
    const ln_tensor_entry *entry =
        ln_tensor_table_find(ctx->tensor_table, first_name(arg->tensors_out));
    return entry && entry->isstatic && arg->tensors_in;
}

static step_list list_steps(const ln_context *ctx)
{
    step_list steps = {.count = 0};
    const ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops) {
        const ln_op_arg *arg = op->op_arg;
        const ln_param_entry *act = ln_param_list_find(arg->params, "act");
        int has_act = act && act->value_string && strcmp(act->value_string, "none") != 0;
        if (strncmp(arg->optype, "create", strlen("create")) == 0)
            steps.weight_count++;
        else if (is_loaded_once(ctx, arg))
            steps.load_count++;
        else if (steps.count < MAX_STEPS)
            snprintf(steps.lines[steps.count++], STEP_BYTES, "%s = %s(%s%s%s)",
                     first_name(arg->tensors_out), arg->optype, first_name(arg->tensors_in),
                     has_act ? " | act=" : "", has_act ? act->value_string : "");
    }
    return steps;
}

static void show_steps(const char *folder, const step_list *before, const step_list *after)
{
    size_t count = before->count > after->count ? before->count : after->count;
    int has_nhwc = 0;
    for (size_t i = 0; i < after->count; i++)
        has_nhwc |= strstr(after->lines[i], "nhwc") != NULL;
    printf("\n2. What the compiler made of it. On the left the operators of %s/digits.net, on\n"
           "   the right what runs%s\n\n   %-32s %s\n",
           folder,
           has_nhwc ? ": activations and batch norms have become part of the convolutions,\n"
                      "   and images are stored with their channels last (nhwc)."
                    : ".",
           "as written", "as compiled");
    for (size_t i = 0; i < count; i++)
        printf("   %-32s %s\n", i < before->count ? before->lines[i] : "",
               i < after->count ? after->lines[i] : "");
    printf("\n   %zu weights are folded and packed by %zu operators, once, when they are loaded.\n",
           before->weight_count, after->load_count);
}

// ---- What it costs ----

// The tensor's bytes between the start and the end of all.
static void show_bar(const ln_tensor_entry *entry, size_t fixed, size_t peak)
{
    size_t room = peak > fixed ? peak - fixed : 1, size = tl_tensor_size(entry->tensor);
    size_t start = entry->offset > fixed ? entry->offset - fixed : 0;
    size_t from = start * BAR_COLUMNS / room, to = (start + size) * BAR_COLUMNS / room;
    char bar[BAR_COLUMNS + 1];
    for (size_t i = 0; i < BAR_COLUMNS; i++)
        bar[i] = i >= from && (i < to || i == from) ? '#' : '.';
    bar[BAR_COLUMNS] = '\0';
    printf("   %-18s %6zu %s\n", entry->name, size, bar);
}

// Where every tensor of a run is, as the plan said before anything was allocated.
static void show_plan(const ln_context *ctx)
{
    size_t peak = ln_context_peak_bytes(ctx, LN_MEM_CPU);
    size_t fixed = ln_context_static_bytes(ctx, LN_MEM_CPU);
    printf("\n3. The memory it takes, known before any of it is allocated: %zu bytes of weights\n"
           "   and %zu for the tensors of a run, in the order in which they are computed.\n"
           "   A tensor that is no longer needed makes way for the next: they share memory.\n\n"
           "   %-18s %6s from the first byte to the last\n",
           fixed, peak - fixed, "tensor", "bytes");
    const ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops) {
        const ln_tensor_list_entry *out;
        LN_LIST_FOREACH (out, op->op_arg->tensors_out) {
            const ln_tensor_entry *entry = ln_tensor_table_find(ctx->tensor_table, out->name);
            if (entry && !entry->isstatic && !entry->owner && tl_tensor_size(entry->tensor) > 0)
                show_bar(entry, fixed, peak);
        }
    }
    printf("\n   A run is %.0f multiply-accumulates.\n", ln_context_macs(ctx));
}

// ---- Running ----

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static answer read_image(ln_context *ctx, const unsigned char *pixels)
{
    float image[PIXELS], prob[CLASSES];
    for (int i = 0; i < PIXELS; i++)
        image[i] = (float)pixels[i] / 16;

    double start = now();
    check(ln_context_set_data_n(ctx, "image", image, sizeof image), "setting the image");
    check(ln_context_run(ctx), "running the model");
    check(ln_context_get_data_n(ctx, "prob", prob, sizeof prob), "reading 'prob'");
    answer result = {.seconds = now() - start};

    for (int digit = 1; digit < CLASSES; digit++)
        if (prob[digit] > prob[result.digit])
            result.digit = digit;
    result.prob = prob[result.digit];
    return result;
}

static int compare_seconds(const void *a, const void *b)
{
    double first = ((const answer *)a)->seconds, second = ((const answer *)b)->seconds;
    return (first > second) - (first < second);
}

// ---- Pictures ----

// Right answers, then wrong ones, if there are any.
static size_t choose_images(const test_set *set, const answer *answers, size_t *chosen)
{
    size_t count = 0;
    for (int wrong = 0; wrong <= 1; wrong++)
        for (size_t i = 0; i < set->count && count < (wrong ? SHOWN : SHOWN - SHOWN / 3); i++)
            if ((answers[i].digit != set->labels[i]) == wrong)
                chosen[count++] = i;
    return count;
}

static void show_images(const test_set *set, const answer *answers)
{
    static const char shades[] = " .:-=+*#%@";
    const int colour = isatty(STDOUT_FILENO);
    size_t chosen[SHOWN];
    size_t count = choose_images(set, answers, chosen);

    printf(
        "1. A small network reads handwritten digits. Here are some of %zu pictures that it did\n"
        "   not see when it was trained, and what it answers, with the probability.\n",
        set->count);
    for (int y = 0; y < SIDE; y++) {
        printf("\n");
        for (size_t i = 0; i < count; i++) {
            const unsigned char *row = set->pixels + chosen[i] * PIXELS + y * SIDE;
            printf("  ");
            for (int x = 0; x < SIDE; x++) {
                int shade = row[x] < 16 ? row[x] * 9 / 16 : 9;
                printf("%c%c", shades[shade], shades[shade]); // a letter is half as wide as high
            }
        }
    }
    printf("\n\n");
    for (size_t i = 0; i < count; i++) {
        const answer *a = &answers[chosen[i]];
        int label = set->labels[chosen[i]], is_right = a->digit == label;
        char caption[32];
        snprintf(caption, sizeof caption, is_right ? "%d %.0f%% right" : "%d %.0f%%, is a %d",
                 a->digit, 100 * (double)a->prob, label);
        const char *mark = is_right ? "\033[32m" : "\033[1;31m";
        printf("  %s%-*s%s", colour ? mark : "", 2 * SIDE, caption, colour ? "\033[0m" : "");
    }
    printf("\n");
}

// ---- The whole ----

static double run_all(ln_context *ctx, const test_set *set)
{
    answer *answers = calloc(set->count, sizeof *answers);
    require(answers != NULL, "answers", "out of memory");
    size_t right_count = 0;
    for (size_t i = 0; i < set->count; i++) {
        answers[i] = read_image(ctx, set->pixels + i * PIXELS);
        right_count += answers[i].digit == set->labels[i];
    }
    show_images(set, answers);

    qsort(answers, set->count, sizeof *answers, compare_seconds);
    double accuracy = (double)right_count / (double)set->count;
    printf("\n   %zu of %zu are right: %.2f %%. A picture takes %.1f microseconds (median).\n",
           right_count, set->count, 100 * accuracy, 1e6 * answers[set->count / 2].seconds);
    free(answers);
    return accuracy;
}

// Commands with paths as they are from where the program was started.
static void show_next(const char *program, const char *folder)
{
    const char *slash = strrchr(program, '/');
    int len = slash ? (int)(slash - program) + 1 : 0;
    printf("\n4. What to try next:\n\n"
           "   # read one picture, and see the three likeliest digits\n"
           "   %.*slightnet run %s/digits.net -f %s/digits.safetensors \\\n"
           "       -i %s/three.pgm --scale=0.0039 --top=3\n"
           "   # draw the memory plan\n"
           "   %.*slightnet plan --svg -o plan.svg %s/digits.net\n"
           "   # where the time goes\n"
           "   %.*slightnet bench --profile %s/digits.net -f %s/digits.safetensors\n"
           "   # a model of yours: what it costs, and whether all of it can run\n"
           "   %.*slightnet inspect model.onnx\n\n"
           "   docs/tour.md goes from a model to an answer in ten minutes.\n",
           len, program, folder, folder, folder, len, program, folder, len, program, folder, folder,
           len, program);
}

static ln_context *open_model(void)
{
    ln_context *ctx = ln_context_create();
    require(ctx != NULL, "making a context", ln_error_message());
    check(ln_context_init(ctx, "digits.net"), "reading the model");
    require(ln_context_data_size(ctx, "image") == PIXELS * sizeof(float) &&
                ln_context_data_size(ctx, "prob") == CLASSES * sizeof(float),
            "digits.net", "it does not turn an 'image' of 8x8 floats into 'prob' of 10");
    return ctx;
}

int main(int argc, char **argv)
{
    const char *target = "cpu", *folder = "models/digits";
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--target") == 0 && i + 1 < argc) {
            target = argv[++i];
        } else if (argv[i][0] != '-' && i == argc - 1) {
            folder = argv[i];
        } else {
            fprintf(stderr, "usage: digits [--target cpu|ref] [FOLDER]\n");
            return 2;
        }
    }
    require(chdir(folder) == 0, folder, "the folder cannot be entered");
    check(ln_arch_init(), "starting LightNet");
    test_set set = open_test_set("test.safetensors");
    ln_context *ctx = open_model();
    const step_list before = list_steps(ctx);
    check(ln_context_compile(ctx, target), "compiling the model");
    const step_list after = list_steps(ctx);
    check(ln_context_load(ctx, "digits.safetensors"), "loading the weights");
    double accuracy = run_all(ctx, &set);
    show_steps(folder, &before, &after);
    show_plan(ctx);
    show_next(argv[0], folder);
    ln_context_free(ctx);
    ln_tensor_file_close(set.file);
    ln_arch_cleanup();
    return accuracy >= ACCURACY_NEEDED ? 0 : 1;
}
