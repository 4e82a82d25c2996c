// SPDX-License-Identifier: Apache-2.0
// PNM: the plain formats P1 to P6: black and white, grey or colour, in digits or bytes.
//
//     | P6 | width | height | largest value, not in P1 and P4 | one white space | rows |
//
// White space, and comments from # to the end of a line, part the numbers.

#include "picture.h"

#include <string.h>

typedef struct pnm_source {
    const unsigned char *bytes;
    size_t count;
    size_t at;
} pnm_source;

typedef struct pnm_head {
    int kind; // 1 to 6
    size_t width;
    size_t height;
    unsigned largest; // value of a sample
} pnm_head;

static int is_space(unsigned char byte)
{
    return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

static void skip_space(pnm_source *s)
{
    while (s->at < s->count && (is_space(s->bytes[s->at]) || s->bytes[s->at] == '#')) {
        if (s->bytes[s->at] == '#')
            while (s->at < s->count && s->bytes[s->at] != '\n')
                s->at++;
        else
            s->at++;
    }
}

// A number of at most `most`; 0 if there is none.
static int take_number(pnm_source *s, size_t most, size_t *out_number)
{
    skip_space(s);
    size_t start = s->at, number = 0;
    for (; s->at < s->count && s->bytes[s->at] >= '0' && s->bytes[s->at] <= '9'; s->at++) {
        number = number * 10 + (size_t)(s->bytes[s->at] - '0');
        if (number > most)
            return 0;
    }
    *out_number = number;
    return s->at > start;
}

static int is_bilevel(const pnm_head *head)
{
    return head->kind == 1 || head->kind == 4;
}

static int take_head(pnm_source *s, pnm_head *head)
{
    if (s->count < 3 || s->bytes[0] != 'P' || s->bytes[1] < '1' || s->bytes[1] > '6' ||
        !(is_space(s->bytes[2]) || s->bytes[2] == '#'))
        return 0;
    *head = (pnm_head){.kind = s->bytes[1] - '0', .largest = 1};
    s->at = 2;
    if (!take_number(s, PICTURE_MAX_PIXELS, &head->width) ||
        !take_number(s, PICTURE_MAX_PIXELS, &head->height))
        return 0;
    size_t largest = 1;
    if (!is_bilevel(head) && (!take_number(s, 65535, &largest) || largest == 0))
        return 0;
    head->largest = (unsigned)largest;
    if (s->at == s->count || !is_space(s->bytes[s->at]))
        return 0;
    s->at++;
    return 1;
}

int pnm_is(const char *bytes, size_t count)
{
    pnm_source source = {(const unsigned char *)bytes, count, 0};
    pnm_head head;
    return take_head(&source, &head);
}

static unsigned char scaled(size_t sample, unsigned largest)
{
    size_t most = sample < largest ? sample : largest;
    return (unsigned char)((most * 255 + largest / 2) / largest);
}

// Samples in digits. Those of P1 are 0 and 1 without white space between them, and 1 is black.
static int take_digits(pnm_source *s, const pnm_head *head, unsigned char *samples, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (head->kind != 1) {
            size_t sample;
            if (!take_number(s, 65535, &sample))
                return 0;
            samples[i] = scaled(sample, head->largest);
            continue;
        }
        skip_space(s);
        if (s->at == s->count || (s->bytes[s->at] != '0' && s->bytes[s->at] != '1'))
            return 0;
        samples[i] = s->bytes[s->at++] == '1' ? 0 : 255;
    }
    return 1;
}

// Samples in bits, rows of whole bytes; 1 is black.
static int take_bits(pnm_source *s, const pnm_head *head, unsigned char *samples)
{
    size_t row_size = (head->width + 7) / 8;
    if ((s->count - s->at) / row_size < head->height)
        return 0;
    for (size_t y = 0; y < head->height; y++) {
        const unsigned char *row = s->bytes + s->at + y * row_size;
        for (size_t x = 0; x < head->width; x++)
            *samples++ = row[x / 8] >> (7 - x % 8) & 1 ? 0 : 255;
    }
    return 1;
}

// Samples of one byte, or of two with the higher one first.
static int take_bytes(pnm_source *s, const pnm_head *head, unsigned char *samples, size_t count)
{
    size_t size = head->largest < 256 ? 1 : 2;
    if ((s->count - s->at) / size < count)
        return 0;
    const unsigned char *at = s->bytes + s->at;
    for (size_t i = 0; i < count; i++, at += size)
        samples[i] = scaled(size == 1 ? at[0] : (size_t)at[0] << 8 | at[1], head->largest);
    return 1;
}

ln_status pnm_parse(const char *path, const char *bytes, size_t count, picture *out_picture)
{
    *out_picture = (picture){0};
    pnm_source source = {(const unsigned char *)bytes, count, 0};
    pnm_head head;
    if (!take_head(&source, &head))
        return LN_FAIL(LN_SYNTAX, "%s: this is no head of a PNM", path);
    enum { MOST_PIXELS_A_BYTE = 8 };
    LN_TRY(picture_check_size(path, count, MOST_PIXELS_A_BYTE, head.width, head.height));
    int channel_count = head.kind == 3 || head.kind == 6 ? 3 : 1;
    LN_TRY(picture_create(path, head.width, head.height, channel_count, out_picture));
    size_t sample_count = head.width * head.height * (size_t)channel_count;
    unsigned char *samples = out_picture->pixels;
    int is_whole = head.kind == 4  ? take_bits(&source, &head, samples)
                   : head.kind < 4 ? take_digits(&source, &head, samples, sample_count)
                                   : take_bytes(&source, &head, samples, sample_count);
    if (is_whole)
        return LN_OK;
    picture_free(out_picture);
    return LN_FAIL(LN_SYNTAX, "%s is cut off, or has what is no number", path);
}
