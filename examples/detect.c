/* Where things are in a picture: boxes of a detector, drawn into a copy of it.
 * Usage: detect MODEL PICTURE NEW-PICTURE. The model has one input [1, 1, H, W], grey from 0 to 1,
 * and one output [N, 5]: the middle of a box (x, y), its width and height in pixels of the input,
 * and its score. Of boxes that share more than half of their area the one with the best score is
 * kept. */
#include <lightnet/use.h>

#include "picture.h"

#define LEAST_SCORE 0.3f

typedef struct box {
    float x, y, width, height, score;
} box;

static ln_status fail(const char *what)
{
    fprintf(stderr, "detect: %s\n", what);
    return LN_INVALID;
}

/* ---- Boxes ---- */

static float overlap(float a, float a_size, float b, float b_size)
{
    float from = a - a_size / 2 > b - b_size / 2 ? a - a_size / 2 : b - b_size / 2;
    float to = a + a_size / 2 < b + b_size / 2 ? a + a_size / 2 : b + b_size / 2;
    return to > from ? to - from : 0;
}

/* The area of both over the area of either. */
static float shared(const box *a, const box *b)
{
    float both =
        overlap(a->x, a->width, b->x, b->width) * overlap(a->y, a->height, b->y, b->height);
    float either = a->width * a->height + b->width * b->height - both;
    return either > 0 ? both / either : 0;
}

static int is_better(const void *a, const void *b)
{
    float x = ((const box *)a)->score, y = ((const box *)b)->score;
    return (x < y) - (x > y);
}

/* Sorts `boxes` and moves those to keep to the front; returns how many. */
static size_t choose(box *boxes, size_t count)
{
    size_t kept = 0;
    qsort(boxes, count, sizeof *boxes, is_better);
    for (size_t i = 0; i < count && boxes[i].score >= LEAST_SCORE; i++) {
        size_t k = 0;
        while (k < kept && shared(&boxes[k], &boxes[i]) <= 0.5f)
            k++;
        if (k == kept)
            boxes[kept++] = boxes[i];
    }
    return kept;
}

/* ---- Pictures ---- */

static void draw(picture *p, int from_x, int from_y, int to_x, int to_y)
{
    for (int y = from_y; y <= to_y; y++)
        for (int x = from_x; x <= to_x; x++) {
            int is_border = y == from_y || y == to_y || x == from_x || x == to_x;
            if (is_border && x >= 0 && x < p->width && y >= 0 && y < p->height)
                for (int c = 0; c < 3; c++) /* red */
                    p->pixels[(y * p->width + x) * 3 + c] = (unsigned char)(c == 0 ? p->most : 0);
        }
}

static int make_coloured(picture *p)
{
    size_t count = (size_t)p->width * (size_t)p->height;
    unsigned char *coloured = p->channels == 3 ? p->pixels : malloc(count * 3);
    if (!coloured || coloured == p->pixels)
        return coloured ? 0 : -1;
    for (size_t i = 0; i < 3 * count; i++)
        coloured[i] = p->pixels[i / 3];
    free(p->pixels);
    p->pixels = coloured;
    p->channels = 3;
    return 0;
}

/* Writes a file that is not there yet. */
static int write_new(const picture *p, const char *path)
{
    FILE *file = fopen(path, "wbx");
    size_t count = (size_t)p->width * (size_t)p->height * 3;
    if (!file)
        return -1;
    int is_written = fprintf(file, "P6\n%d %d\n%d\n", p->width, p->height, p->most) > 0 &&
                     fwrite(p->pixels, 1, count, file) == count;
    return fclose(file) == 0 && is_written ? 0 : -1;
}

/* ---- The network ---- */

static ln_status find(ln_context *ctx, picture *p)
{
    const ln_tensor_entry *input = ln_context_input(ctx, 0), *output = ln_context_output(ctx, 0);
    if (!input || !output || ln_context_tensor_rank(ctx, input->name) != 4 ||
        ln_context_tensor_dim(ctx, input->name, 1) != 1 ||
        ln_context_tensor_dim(ctx, output->name, 1) != 5)
        return fail("the model has other inputs or outputs than this program is for");
    int height = (int)ln_context_tensor_dim(ctx, input->name, 2);
    int width = (int)ln_context_tensor_dim(ctx, input->name, 3);
    size_t pixels = ln_context_data_size(ctx, input->name);
    size_t count = ln_context_data_size(ctx, output->name) / sizeof(box);
    float *plane = malloc(pixels);
    box *boxes = malloc((count ? count : 1) * sizeof *boxes);
    ln_status status = plane && boxes ? LN_OK : LN_NO_MEMORY;
    if (status == LN_OK) {
        picture_to_planes(p, 1, height, width, plane);
        status = ln_context_set_data_n(ctx, input->name, plane, pixels);
    }
    if (status == LN_OK)
        status = ln_context_run(ctx);
    if (status == LN_OK)
        status = ln_context_get_data_n(ctx, output->name, boxes, count * sizeof *boxes);
    if (status == LN_OK && make_coloured(p) != 0)
        status = LN_NO_MEMORY;
    size_t kept = status == LN_OK ? choose(boxes, count) : 0;
    float right = (float)p->width / (float)width, down = (float)p->height / (float)height;
    for (size_t i = 0; i < kept; i++) {
        const box *b = &boxes[i];
        printf("x %.0f y %.0f, %.0f x %.0f: %.2f\n", (double)(b->x * right), (double)(b->y * down),
               (double)(b->width * right), (double)(b->height * down), (double)b->score);
        draw(p, (int)((b->x - b->width / 2) * right), (int)((b->y - b->height / 2) * down),
             (int)((b->x + b->width / 2) * right) - 1, (int)((b->y + b->height / 2) * down) - 1);
    }
    free(plane);
    free(boxes);
    return status;
}

int main(int argc, char **argv)
{
    picture p;
    if (argc != 4) {
        fprintf(stderr, "usage: detect MODEL PICTURE NEW-PICTURE\n");
        return 2;
    }
    if (picture_read(argv[2], &p) != 0) {
        fail("the picture is no PNM file");
        return 1;
    }
    ln_arch_init();
    ln_context *ctx = ln_context_create();
    ln_status status = ln_context_init(ctx, argv[1]);
    if (status == LN_OK)
        status = ln_context_compile(ctx, "cpu");
    if (status == LN_OK)
        status = ln_context_load(ctx, NULL);
    if (status == LN_OK)
        status = find(ctx, &p);
    if (status == LN_OK && write_new(&p, argv[3]) != 0)
        status = fail("the new picture cannot be written, or is there already");
    if (status != LN_OK && *ln_error_message())
        fprintf(stderr, "%s\n", ln_error_message());
    free(p.pixels);
    ln_context_free(ctx);
    ln_arch_cleanup();
    return status != LN_OK;
}
