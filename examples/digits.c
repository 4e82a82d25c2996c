// SPDX-License-Identifier: Apache-2.0
// Reads handwritten digits: compiles the demo model, shows what it costs, and runs it.
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
#define LINE_COLUMNS    100
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

// ---- What was compiled, and what it costs ----

// The compiled operators, one a line, cut to the line; weights are only counted.
static void show_text(const ln_context *ctx)
{
    char *text;
    size_t byte_count;
    check(ln_context_write(ctx, "il", &text, &byte_count), "printing the compiled model");

    printf("The compiled model\n\n");
    int weight_count = 0;
    const char *end = text + byte_count;
    for (const char *line = text; line < end;) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        size_t len = (size_t)((stop ? stop : end) - line);
        if (strncmp(line, "create", strlen("create")) == 0)
            weight_count++;
        else if (len > 0)
            printf("  %.*s\n", len > LINE_COLUMNS ? LINE_COLUMNS : (int)len, line);
        line += len + 1;
    }
    printf("  (and %d weights)\n", weight_count);
    ln_free(text);
}

// Where every tensor of the workspace will lie. Nothing has been allocated yet.
static void show_plan(const ln_context *ctx)
{
    printf("\nThe memory it takes, exactly\n\n  %8s %8s  tensor\n", "offset", "bytes");
    const ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops) {
        const ln_tensor_list_entry *out;
        LN_LIST_FOREACH (out, op->op_arg->tensors_out) {
            const ln_tensor_entry *entry = ln_tensor_table_find(ctx->tensor_table, out->name);
            if (entry && !entry->isstatic)
                printf("  %8zu %8zu  %s%s%s\n", entry->offset, tl_tensor_size(entry->tensor),
                       entry->name, entry->owner ? ", in " : "", entry->owner ? entry->owner : "");
        }
    }
    size_t peak = ctx->mem_sizes[LN_MEM_CPU], fixed = ctx->static_sizes[LN_MEM_CPU];
    printf("\n  static %zu + workspace %zu = peak %zu bytes\n", fixed, peak - fixed, peak);
    printf("  %.0f multiply-accumulates a run\n", ln_context_work(ctx));
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
    check(ln_context_set_data(ctx, "image", image), "setting the image");
    check(ln_context_run(ctx), "running the model");
    require(ln_context_get_data(ctx, "prob", prob) != NULL, "reading 'prob'", ln_error_message());
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

// Some wrong answers, if there are any, among right ones.
static size_t choose_images(const test_set *set, const answer *answers, size_t *chosen)
{
    size_t count = 0;
    for (int right = 0; right <= 1; right++)
        for (size_t i = 0; i < set->count && count < (right ? SHOWN : SHOWN / 3); i++)
            if ((answers[i].digit == set->labels[i]) == right)
                chosen[count++] = i;
    return count;
}

static void show_images(const test_set *set, const answer *answers)
{
    static const char shades[] = " .:-=+*#%@";
    const int colour = isatty(STDOUT_FILENO);
    size_t chosen[SHOWN];
    size_t count = choose_images(set, answers, chosen);

    printf("\nSome of the %zu images it had not seen: answer, probability, verdict\n", set->count);
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
        snprintf(caption, sizeof caption, is_right ? "%d %.0f%% right" : "%d %.0f%% WRONG: %d",
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
    printf("\n%zu of %zu right: %.2f %%; %.1f microseconds an image (median)\n", right_count,
           set->count, 100 * accuracy, 1e6 * answers[set->count / 2].seconds);
    free(answers);
    return accuracy;
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
    ln_context *ctx = ln_context_create();
    require(ctx != NULL, "making a context", ln_error_message());
    check(ln_context_init(ctx, "digits.net"), "reading the model");
    require(ln_context_data_size(ctx, "image") == PIXELS * sizeof(float) &&
                ln_context_data_size(ctx, "prob") == CLASSES * sizeof(float),
            "digits.net", "it does not turn an 'image' of 8x8 floats into 'prob' of 10");
    check(ln_context_compile(ctx, target), "compiling the model");
    show_text(ctx);
    show_plan(ctx);
    check(ln_context_load(ctx, "digits.safetensors"), "loading the weights");
    double accuracy = run_all(ctx, &set);
    ln_context_free(ctx);
    ln_tensor_file_close(set.file);
    ln_arch_cleanup();
    return accuracy >= ACCURACY_NEEDED ? 0 : 1;
}
