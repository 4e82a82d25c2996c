/* What is in a picture: the five likeliest classes of a network with one input [1, C, H, W].
 * Usage: classify MODEL PICTURE [LABELS [WEIGHTS]]. PICTURE is a PNM file, LABELS has a class on
 * each line. Pictures in colour are normalized as torchvision's networks expect it. */
#include <lightnet/use.h>
#include <string.h>

#include "picture.h"

static const float mean[3] = {0.485f, 0.456f, 0.406f}, deviation[3] = {0.229f, 0.224f, 0.225f};

static ln_status fail(const char *what)
{
    fprintf(stderr, "classify: %s\n", what);
    return LN_INVALID;
}

/* The picture as the values of the input. */
static ln_status set_picture(ln_context *ctx, const char *input, const char *path)
{
    int64_t dims[4];
    if (ln_context_tensor_dtype(ctx, input) != TL_FLOAT || ln_context_tensor_rank(ctx, input) != 4)
        return fail("the model's input is not float32 [1, C, H, W]");
    for (int axis = 0; axis < 4; axis++)
        dims[axis] = ln_context_tensor_dim(ctx, input, axis);
    if (dims[0] != 1 || (dims[1] != 1 && dims[1] != 3) || dims[2] < 1 || dims[3] < 1)
        return fail("the model's input is not a picture of one or three channels");
    picture p;
    if (picture_read(path, &p) != 0)
        return fail("the picture is no PNM file");
    size_t plane = (size_t)(dims[2] * dims[3]), count = plane * (size_t)dims[1];
    float *planes = malloc(count * sizeof *planes);
    ln_status status = LN_NO_MEMORY;
    if (planes) {
        picture_to_planes(&p, (int)dims[1], (int)dims[2], (int)dims[3], planes);
        for (size_t i = 0; dims[1] == 3 && i < count; i++)
            planes[i] = (planes[i] - mean[i / plane]) / deviation[i / plane];
        status = ln_context_set_data_n(ctx, input, planes, count * sizeof *planes);
    }
    free(planes);
    free(p.pixels);
    return status;
}

/* Line `index` of the labels; its number where there is none. */
static void print_label(const char *path, int index, float score)
{
    char line[256] = "";
    FILE *file = path ? fopen(path, "r") : NULL;
    int at = -1;
    while (file && at < index && fgets(line, sizeof line, file))
        at++;
    if (file)
        fclose(file);
    line[strcspn(line, "\r\n")] = '\0';
    if (at == index)
        printf("%9.4f  %s\n", (double)score, line);
    else
        printf("%9.4f  class %d\n", (double)score, index);
}

static ln_status print_scores(ln_context *ctx, const char *output, const char *labels)
{
    size_t count = ln_context_data_size(ctx, output) / sizeof(float);
    float *scores = malloc((count ? count : 1) * sizeof *scores);
    if (!scores)
        return LN_NO_MEMORY;
    ln_status status = ln_context_get_data_n(ctx, output, scores, count * sizeof *scores);
    for (int place = 0; status == LN_OK && place < 5 && (size_t)place < count; place++) {
        size_t best = 0;
        for (size_t i = 1; i < count; i++)
            best = scores[i] > scores[best] ? i : best;
        print_label(labels, (int)best, scores[best]);
        scores[best] = -3.4e38f; /* taken */
    }
    free(scores);
    return status;
}

static ln_status classify(ln_context *ctx, const char *path, const char *labels)
{
    const ln_tensor_entry *input = ln_context_input(ctx, 0), *output = ln_context_output(ctx, 0);
    if (!input || !output || ln_context_tensor_dtype(ctx, output->name) != TL_FLOAT)
        return fail("the model has no input, or no output of float32");
    LN_TRY(set_picture(ctx, input->name, path));
    LN_TRY(ln_context_run(ctx));
    return print_scores(ctx, output->name, labels);
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: classify MODEL PICTURE [LABELS [WEIGHTS]]\n");
        return 2;
    }
    ln_arch_init();
    ln_context *ctx = ln_context_create();
    ln_status status = ln_context_init(ctx, argv[1]);
    if (status == LN_OK)
        status = ln_context_compile(ctx, "cpu");
    if (status == LN_OK)
        status = ln_context_load(ctx, argc > 4 ? argv[4] : NULL);
    if (status == LN_OK)
        status = classify(ctx, argv[2], argc > 3 ? argv[3] : NULL);
    if (status != LN_OK && *ln_error_message())
        fprintf(stderr, "%s\n", ln_error_message());
    ln_context_free(ctx);
    ln_arch_cleanup();
    return status != LN_OK;
}
