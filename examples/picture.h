/* Pictures of the kind PNM (P2, P5: grey; P3, P6: colour), which need no library. `convert` of
 * ImageMagick, `djpeg` and others make them. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct picture {
    int width, height, channels, most; /* most: the value of white */
    unsigned char *pixels;             /* [height, width, channels] */
} picture;

/* The next number of a header or of a text picture; -1 if there is none. */
static int picture_number(FILE *file)
{
    int c = getc(file), number = 0;
    while (c == '#' || isspace(c)) {
        while (c == '#' && (c = getc(file)) != '\n' && c != EOF)
            c = '#';
        c = getc(file);
    }
    if (!isdigit(c))
        return -1;
    for (; isdigit(c) && number < 100000; c = getc(file))
        number = 10 * number + c - '0';
    return number;
}

/* 0, or -1 if the file cannot be read or is another kind of picture. The caller frees `pixels`. */
static int picture_read(const char *path, picture *out)
{
    FILE *file = fopen(path, "rb");
    int kind = 0, is_whole = 0;
    *out = (picture){0};
    if (file && getc(file) == 'P' && (kind = getc(file) - '0') >= 2 && kind <= 6 && kind != 4) {
        out->width = picture_number(file);
        out->height = picture_number(file);
        out->most = picture_number(file);
        out->channels = kind % 3 == 0 ? 3 : 1;
    }
    if (out->width > 0 && out->width <= 16384 && out->height > 0 && out->height <= 16384 &&
        out->most > 0 && out->most <= 255) {
        size_t count = (size_t)out->width * (size_t)out->height * (size_t)out->channels;
        out->pixels = malloc(count);
        is_whole = out->pixels && (kind < 5 || fread(out->pixels, 1, count, file) == count);
        for (size_t i = 0; is_whole && kind < 5 && i < count; i++) {
            int value = picture_number(file);
            is_whole = value >= 0 && value <= out->most;
            out->pixels[i] = (unsigned char)value;
        }
    }
    if (file)
        fclose(file);
    if (is_whole)
        return 0;
    free(out->pixels);
    out->pixels = NULL;
    return -1;
}

/* Floats [channels, height, width] from 0 to 1: each pixel is the nearest of the picture's. */
static void picture_to_planes(const picture *p, int channels, int height, int width, float *planes)
{
    for (int c = 0; c < channels; c++)
        for (int y = 0; y < height; y++)
            for (int x = 0; x < width; x++) {
                long long from_y = (2LL * y + 1) * p->height / (2 * height);
                long long from_x = (2LL * x + 1) * p->width / (2 * width);
                int from_c = p->channels == 1 ? 0 : c;
                *planes++ = (float)p->pixels[(from_y * p->width + from_x) * p->channels + from_c] /
                            (float)p->most;
            }
}
