// SPDX-License-Identifier: Apache-2.0
// `lightnet stats`: what the numbers in a file of tensors look like.

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "json_out.h"
#include "progress.h"
#include "tensor_input.h"
#include "tensor_stats.h"

typedef struct stats_options {
    const char *path;
    const char *json; // NULL: none; "-": standard output
} stats_options;

static const verb_option takes[] = {
    TAKES(JSON, stats_options, json),
    TAKES_HELP,
    END_OF_OPTIONS,
};

const verb_usage stats_usage = {
    .name = "stats",
    .synopsis = "[OPTION...] FILE",
    .about = "Shows the type, shape, range, mean, standard deviation, zeros, NaN, infinities and "
             "share of bytes of each tensor of FILE: safetensors, .wts, params dictionary or .npy, "
             "told apart by content. Range, mean and deviation are those of the finite elements. "
             "Bytes are those of the loaded tensor. Subnormal numbers of float32 and float64 are "
             "counted, for the tensors alone with --json.",
    .options = takes,
};

// ---- Tensors of a file ----

// A file of tensors, or the only tensor of a .npy file, which has no name.
typedef struct source {
    const char *path;
    ln_tensor_file *file;
    tl_tensor *only;
    int count;
} source;

static ln_status open_source(const char *path, source *s)
{
    *s = (source){.path = path};
    if (is_npy(path)) {
        LN_TRY(npy_read(path, &s->only));
        s->count = 1;
        return LN_OK;
    }
    LN_TRY(ln_tensor_file_open(path, &s->file));
    s->count = ln_tensor_file_count(s->file);
    return LN_OK;
}

static void close_source(source *s)
{
    ln_tensor_file_close(s->file);
    tl_tensor_free_data_too(s->only);
}

static const tl_tensor *describe(const source *s, int i)
{
    return s->only ? s->only : ln_tensor_file_describe(s->file, i);
}

static const char *name_of(const source *s, int i)
{
    return s->only ? "" : ln_tensor_file_name(s->file, i);
}

static const char *format_name(const source *s)
{
    if (s->only)
        return "npy";
    switch (ln_tensor_file_get_format(s->file)) {
    case LN_TENSOR_FILE_WTS: return "wts";
    case LN_TENSOR_FILE_PARAMS: return "params";
    default: return "safetensors";
    }
}

// Straight from the file where the elements are there as in memory, else a part at a time.
static ln_status examine(const source *s, int i, tensor_stats *out_stats)
{
    enum { PART_BYTES = 16384 };
    _Alignas(8) char part[PART_BYTES];
    const tl_tensor *known = describe(s, i);
    *out_stats = (tensor_stats){.dtype = known->dtype};
    size_t len = (size_t)known->len, room = PART_BYTES / tl_size_of(known->dtype);
    if (known->data) {
        tensor_stats_add(out_stats, known->data, len);
        return LN_OK;
    }
    for (size_t first = 0; first < len; first += room) {
        size_t count = len - first < room ? len - first : room;
        LN_TRY(ln_tensor_file_read_part(s->file, i, first, count, part));
        tensor_stats_add(out_stats, part, count);
    }
    return LN_OK;
}

// ---- Printing ----

typedef struct totals {
    size_t elem_count;
    size_t byte_count;
    size_t zero_count;
    size_t nan_count;
    size_t inf_count;
    size_t subnormal_count;
} totals;

static totals add_up(const source *s, const tensor_stats *stats)
{
    totals t = {0};
    for (int i = 0; i < s->count; i++) {
        t.elem_count += stats[i].count;
        t.byte_count += tl_tensor_size(describe(s, i));
        t.zero_count += stats[i].zero_count;
        t.nan_count += stats[i].nan_count;
        t.inf_count += stats[i].inf_count;
        t.subnormal_count += stats[i].subnormal_count;
    }
    return t;
}

static double share_of(const source *s, int i, const totals *t)
{
    double size = (double)tl_tensor_size(describe(s, i));
    return t->byte_count ? size / (double)t->byte_count : 0;
}

// A bound as an element of its type: integers have no point, and those of 64 bits all digits.
static void format_bound(const tensor_stats *stats, double bound, const char *exact, int digits,
                         char *text, size_t size)
{
    int64_t whole;
    memcpy(&whole, exact, sizeof whole);
    if (stats->dtype == TL_INT64)
        snprintf(text, size, "%lld", (long long)whole);
    else if (stats->dtype == TL_UINT64)
        snprintf(text, size, "%llu", (unsigned long long)whole);
    else if (stats->dtype == TL_FLOAT || stats->dtype == TL_DOUBLE)
        snprintf(text, size, "%.*g", digits, bound);
    else
        snprintf(text, size, "%.0f", bound);
}

static void print_row(const source *s, int i, const tensor_stats *stats, const totals *t)
{
    const tl_tensor *tensor = describe(s, i);
    char shape[128], least[32] = "-", most[32] = "-";
    ln_sprint_shape(shape, sizeof shape, tensor->ndim, tensor->dims);
    printf("%-9s %-20s ", tl_dtype_title(tensor->dtype), shape);
    if (stats->finite_count > 0) {
        format_bound(stats, stats->least, stats->exact_least, 6, least, sizeof least);
        format_bound(stats, stats->most, stats->exact_most, 6, most, sizeof most);
        printf("%12s %12s %12.6g %12.6g", least, most, stats->mean, tensor_stats_deviation(stats));
    } else {
        printf("%12s %12s %12s %12s", "-", "-", "-", "-");
    }
    printf(" %11s %6s %6s %6.2f%%  ", grouped(stats->zero_count), grouped(stats->nan_count),
           grouped(stats->inf_count), 100 * share_of(s, i, t));
    put_printable(name_of(s, i), stdout);
    putchar('\n');
}

static void print_text(const source *s, const tensor_stats *stats, const totals *t)
{
    printf("%-9s %-20s %12s %12s %12s %12s %11s %6s %6s %7s  %s\n", "type", "shape", "min", "max",
           "mean", "deviation", "zeros", "NaN", "inf", "bytes", "name");
    for (int i = 0; i < s->count; i++)
        print_row(s, i, &stats[i], t);
    printf("%s tensors, %s elements, %s bytes", grouped((size_t)s->count), grouped(t->elem_count),
           grouped(t->byte_count));
    printf(", %s zeros, %s NaN, %s infinite\n", grouped(t->zero_count), grouped(t->nan_count),
           grouped(t->inf_count));
    if (t->subnormal_count > 0)
        printf("%s subnormal: most processors compute many times slower with such numbers\n",
               grouped(t->subnormal_count));
}

// JSON has no NaN and no infinity.
static void print_json_number(FILE *out, const char *key, double number)
{
    if (isfinite(number))
        fprintf(out, ", \"%s\": %.17g", key, number);
    else
        fprintf(out, ", \"%s\": null", key);
}

static void print_json_bound(FILE *out, const char *key, const tensor_stats *stats, double bound,
                             const char *exact)
{
    char text[352] = "null"; // a double has up to 309 digits in front of its point
    if (stats->finite_count > 0)
        format_bound(stats, bound, exact, 17, text, sizeof text);
    fprintf(out, ", \"%s\": %s", key, text);
}

static void print_json_tensor(FILE *out, const source *s, int i, const tensor_stats *stats,
                              const totals *t)
{
    const tl_tensor *tensor = describe(s, i);
    fprintf(out, "    {\"name\": ");
    print_json_string(out, name_of(s, i));
    fprintf(out, ", \"dtype\": \"%s\", \"shape\": [", tl_dtype_name(tensor->dtype));
    for (int k = 0; k < tensor->ndim; k++)
        fprintf(out, "%s%d", k ? ", " : "", tensor->dims[k]);
    fprintf(out, "], \"elements\": %zu, \"bytes\": %zu, \"share\": %.17g", stats->count,
            tl_tensor_size(tensor), share_of(s, i, t));
    print_json_bound(out, "min", stats, stats->least, stats->exact_least);
    print_json_bound(out, "max", stats, stats->most, stats->exact_most);
    print_json_number(out, "mean", stats->finite_count ? stats->mean : NAN);
    print_json_number(out, "deviation", tensor_stats_deviation(stats));
    fprintf(out, ", \"zeros\": %zu, \"nan\": %zu, \"inf\": %zu, \"subnormal\": %zu}",
            stats->zero_count, stats->nan_count, stats->inf_count, stats->subnormal_count);
}

static void print_json(FILE *out, const source *s, const tensor_stats *stats, const totals *t)
{
    fprintf(out, "{\"file\": ");
    print_json_string(out, s->path);
    fprintf(out, ", \"format\": \"%s\", \"tensors\": [", format_name(s));
    for (int i = 0; i < s->count; i++) {
        fprintf(out, "%s\n", i ? "," : "");
        print_json_tensor(out, s, i, &stats[i], t);
    }
    fprintf(out,
            "],\n\"total\": {\"tensors\": %d, \"elements\": %zu, \"bytes\": %zu, \"zeros\": %zu, "
            "\"nan\": %zu, \"inf\": %zu, \"subnormal\": %zu}}\n",
            s->count, t->elem_count, t->byte_count, t->zero_count, t->nan_count, t->inf_count,
            t->subnormal_count);
}

static ln_status show_json(const char *path, const source *s, const tensor_stats *stats,
                           const totals *t)
{
    if (strcmp(path, "-") == 0) {
        print_json(stdout, s, stats, t);
        return LN_OK;
    }
    FILE *out = fopen(path, "w");
    if (!out)
        return LN_FAIL(LN_IO, "cannot write %s: %s", path, strerror(errno));
    print_json(out, s, stats, t);
    int is_bad = ferror(out);
    if (fclose(out) != 0 || is_bad)
        return LN_FAIL(LN_IO, "cannot write %s: %s", path, strerror(errno));
    return LN_OK;
}

static ln_status show(const source *s, const char *json)
{
    tensor_stats *stats = ln_alloc_array((size_t)s->count, sizeof *stats);
    if (!stats)
        return LN_NO_MEMORY;
    ln_status status = LN_OK;
    for (int i = 0; i < s->count && status == LN_OK; i++) {
        status = examine(s, i, &stats[i]);
        progress_set((size_t)i + 1, (size_t)s->count);
    }
    progress_end();
    if (status == LN_OK) {
        const totals t = add_up(s, stats);
        if (json) {
            json_note_written();
            status = show_json(json, s, stats, &t);
        } else
            print_text(s, stats, &t);
    }
    ln_free(stats);
    return status;
}

int cmd_stats(int argc, char **argv)
{
    stats_options o = {.json = NULL};
    int code = options_parse_one(&stats_usage, "file", argc, argv, &o, &o.path);
    if (code != EXIT_OK)
        return code == -1 ? EXIT_OK : code;
    source s;
    progress_begin("examining %s", o.path);
    ln_status status = open_source(o.path, &s);
    if (status == LN_OK)
        status = show(&s, o.json);
    progress_end();
    close_source(&s);
    return status == LN_OK ? EXIT_OK : say_failure();
}
