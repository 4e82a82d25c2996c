// SPDX-License-Identifier: Apache-2.0
// Times a model in ONNX Runtime: what `lightnet bench --json` tells of LightNet, of a peer.
//
// The library is opened at run time and its C API is reached without its header: a table of
// functions that only grows at its end, so that the places below stay. Usage: see `help`.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define API_VERSION  14 // the oldest that has all functions below
#define MAX_TENSORS  64
#define MAX_DIMS     16
#define MAX_RUNS     1000000
#define LOG_ERRORS   3
#define OPTIMIZE_ALL 99

static const char help[] = "Usage: ort_run LIBRARY MODEL [OPTION...]\n"
                           "  --describe          print the inputs and do nothing else\n"
                           "  --threads N         threads inside an operator (default 1)\n"
                           "  --runs N            at least so many runs (default 20)\n"
                           "  --min-time SECONDS  runs for at least so long (default 1)\n"
                           "  --warmup N          runs before, the first one included (default 3)\n"
                           "  --input NAME=FILE   raw bytes of an input; others are zeros\n"
                           "  --outdir DIR        write output K of the first run to DIR/K.raw\n";

// ---- The API ----

// Places in the table.
enum {
    GET_ERROR_MESSAGE = 2,
    CREATE_ENV = 3,
    CREATE_SESSION = 7,
    RUN = 9,
    CREATE_SESSION_OPTIONS = 10,
    SET_OPTIMIZATION_LEVEL = 23,
    SET_INTRA_THREADS = 24,
    SET_INTER_THREADS = 25,
    INPUT_COUNT = 30,
    OUTPUT_COUNT = 31,
    INPUT_TYPE = 33,
    INPUT_NAME = 36,
    OUTPUT_NAME = 37,
    CREATE_TENSOR = 49,
    TENSOR_DATA = 51,
    TENSOR_INFO_OF_TYPE = 55,
    ELEMENT_TYPE = 60,
    DIM_COUNT = 61,
    DIMS = 62,
    ELEMENT_COUNT = 64,
    TENSOR_INFO = 65,
    CPU_MEMORY = 69,
    DEFAULT_ALLOCATOR = 78,
    RELEASE_VALUE = 96,
};

typedef void *handle; // of whatever kind the API has

static void *const *table;

#define CALL(place, types, ...) must(((handle(*) types)table[place])(__VA_ARGS__))

static void fail(const char *what, const char *why)
{
    fprintf(stderr, "ort_run: %s: %s\n", what, why);
    exit(1);
}

// A status that is not NULL is a failure.
static void must(handle status)
{
    if (status)
        fail("ONNX Runtime", ((const char *(*)(handle))table[GET_ERROR_MESSAGE])(status));
}

// ONNX's element types; 0 for those that are no numbers.
static const struct {
    const char *name;
    size_t size;
} types[] = {{"", 0},        {"float32", 4}, {"uint8", 1},     {"int8", 1},
             {"uint16", 2},  {"int16", 2},   {"int32", 4},     {"int64", 8},
             {"string", 0},  {"bool", 1},    {"float16", 2},   {"float64", 8},
             {"uint32", 4},  {"uint64", 8},  {"complex64", 8}, {"complex128", 16},
             {"bfloat16", 2}};

// ---- Options ----

typedef struct options {
    const char *library;
    const char *model;
    const char *outdir;
    const char *inputs[MAX_TENSORS];
    size_t input_count;
    int threads;
    int runs;
    int warmup;
    double min_time;
    int describes;
} options;

static double number(const char *option, const char *text, double least)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !(value >= least) || value > 1e9)
        fail(option, "wrong value");
    return value;
}

static void take(options *o, const char *option, const char *value)
{
    if (strcmp(option, "--threads") == 0)
        o->threads = (int)number(option, value, 1);
    else if (strcmp(option, "--runs") == 0)
        o->runs = (int)number(option, value, 1);
    else if (strcmp(option, "--warmup") == 0)
        o->warmup = (int)number(option, value, 1);
    else if (strcmp(option, "--min-time") == 0)
        o->min_time = number(option, value, 0);
    else if (strcmp(option, "--outdir") == 0)
        o->outdir = value;
    else if (strcmp(option, "--input") == 0 && o->input_count < MAX_TENSORS)
        o->inputs[o->input_count++] = value;
    else
        fail(option, "unknown option");
}

static options parse(int argc, char **argv)
{
    options o = {.threads = 1, .runs = 20, .warmup = 3, .min_time = 1};
    if (argc < 3) {
        fputs(help, stderr);
        exit(2);
    }
    o.library = argv[1];
    o.model = argv[2];
    for (int i = 3; i < argc; i++) {
        if (strcmp(argv[i], "--describe") == 0)
            o.describes = 1;
        else if (i + 1 < argc)
            take(&o, argv[i], argv[i + 1]), i++;
        else
            fail(argv[i], "no value");
    }
    return o;
}

// ---- Measuring ----

static double read_clock(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double now(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Nearest rank, in milliseconds.
static double at(const double *sorted, int count, double share)
{
    return sorted[(int)(share * (count - 1) + 0.5)] * 1e3;
}

static unsigned long long peak_rss(void)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    unsigned long long kibibytes = 0;
    while (file && fgets(line, sizeof line, file) && sscanf(line, "VmHWM: %llu", &kibibytes) != 1)
        continue;
    if (file)
        fclose(file);
    return kibibytes * 1024;
}

// ---- The model ----

typedef struct model {
    handle session;
    handle allocator;
    size_t input_count;
    size_t output_count;
    const char *input_names[MAX_TENSORS];
    const char *output_names[MAX_TENSORS];
    int types[MAX_TENSORS]; // of the inputs
    size_t dim_counts[MAX_TENSORS];
    int64_t dims[MAX_TENSORS][MAX_DIMS];
    handle inputs[MAX_TENSORS];
    handle outputs[MAX_TENSORS];
} model;

static const char *open_library(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        fail("library", dlerror());
    void *const *(*get_base)(void) = (void *const *(*)(void))dlsym(library, "OrtGetApiBase");
    if (!get_base)
        fail(path, "has no OrtGetApiBase");
    void *const *base = get_base();
    table = ((void *const *(*)(uint32_t))base[0])(API_VERSION);
    if (!table)
        fail(path, "is too old");
    return ((const char *(*)(void))base[1])();
}

static void open_session(model *m, const options *o)
{
    handle env, settings;
    CALL(CREATE_ENV, (int, const char *, handle *), LOG_ERRORS, "bench", &env);
    CALL(CREATE_SESSION_OPTIONS, (handle *), &settings);
    CALL(SET_OPTIMIZATION_LEVEL, (handle, int), settings, OPTIMIZE_ALL);
    CALL(SET_INTRA_THREADS, (handle, int), settings, o->threads);
    CALL(SET_INTER_THREADS, (handle, int), settings, 1);
    CALL(CREATE_SESSION, (handle, const char *, handle, handle *), env, o->model, settings,
         &m->session);
    CALL(DEFAULT_ALLOCATOR, (handle *), &m->allocator);
}

// An open dimension is 1.
static void look_at_input(model *m, size_t i)
{
    handle type, info;
    CALL(INPUT_NAME, (handle, size_t, handle, const char **), m->session, i, m->allocator,
         &m->input_names[i]);
    CALL(INPUT_TYPE, (handle, size_t, handle *), m->session, i, &type);
    CALL(TENSOR_INFO_OF_TYPE, (handle, handle *), type, &info);
    if (!info)
        fail(m->input_names[i], "is no tensor");
    CALL(ELEMENT_TYPE, (handle, int *), info, &m->types[i]);
    CALL(DIM_COUNT, (handle, size_t *), info, &m->dim_counts[i]);
    if (m->dim_counts[i] > MAX_DIMS)
        fail(m->input_names[i], "has too many dimensions");
    CALL(DIMS, (handle, int64_t *, size_t), info, m->dims[i], m->dim_counts[i]);
    for (size_t d = 0; d < m->dim_counts[i]; d++)
        m->dims[i][d] = m->dims[i][d] < 1 ? 1 : m->dims[i][d];
    if (m->types[i] < 0 || (size_t)m->types[i] >= sizeof types / sizeof types[0] ||
        types[m->types[i]].size == 0)
        fail(m->input_names[i], "holds no numbers");
}

static void look_at_tensors(model *m)
{
    CALL(INPUT_COUNT, (handle, size_t *), m->session, &m->input_count);
    CALL(OUTPUT_COUNT, (handle, size_t *), m->session, &m->output_count);
    if (m->input_count > MAX_TENSORS || m->output_count > MAX_TENSORS)
        fail("model", "has too many inputs or outputs");
    for (size_t i = 0; i < m->input_count; i++)
        look_at_input(m, i);
    for (size_t i = 0; i < m->output_count; i++)
        CALL(OUTPUT_NAME, (handle, size_t, handle, const char **), m->session, i, m->allocator,
             &m->output_names[i]);
}

static size_t input_bytes(const model *m, size_t i)
{
    size_t bytes = types[m->types[i]].size;
    for (size_t d = 0; d < m->dim_counts[i]; d++)
        bytes *= (size_t)m->dims[i][d];
    return bytes;
}

// The file given for an input; NULL: none.
static const char *find_file(const options *o, const char *name)
{
    size_t length = strlen(name);
    for (size_t i = 0; i < o->input_count; i++) {
        if (strncmp(o->inputs[i], name, length) == 0 && o->inputs[i][length] == '=')
            return o->inputs[i] + length + 1;
    }
    return NULL;
}

static void fill_inputs(model *m, const options *o)
{
    handle memory;
    CALL(CPU_MEMORY, (int, int, handle *), 1, 0, &memory);
    for (size_t i = 0; i < m->input_count; i++) {
        size_t bytes = input_bytes(m, i);
        void *data = aligned_alloc(64, (bytes + 64) / 64 * 64);
        if (!data)
            fail(m->input_names[i], "out of memory");
        memset(data, 0, bytes);
        const char *path = find_file(o, m->input_names[i]);
        FILE *file = path ? fopen(path, "rb") : NULL;
        if (path && (!file || fread(data, 1, bytes, file) != bytes))
            fail(path, "cannot be read, or is too short");
        if (file)
            fclose(file);
        CALL(CREATE_TENSOR, (handle, void *, size_t, const int64_t *, size_t, int, handle *),
             memory, data, bytes, m->dims[i], m->dim_counts[i], m->types[i], &m->inputs[i]);
    }
}

// ---- Running ----

static double run(model *m)
{
    double start = now();
    CALL(RUN,
         (handle, handle, const char *const *, const handle *, size_t, const char *const *, size_t,
          handle *),
         m->session, NULL, m->input_names, m->inputs, m->input_count, m->output_names,
         m->output_count, m->outputs);
    return now() - start;
}

static void release_outputs(model *m)
{
    for (size_t i = 0; i < m->output_count; i++) {
        ((void (*)(handle))table[RELEASE_VALUE])(m->outputs[i]);
        m->outputs[i] = NULL;
    }
}

// *out_cpu is what of it the calling thread computes.
static double timed(model *m, double *out_cpu)
{
    double start = read_clock(CLOCK_THREAD_CPUTIME_ID);
    double seconds = run(m);
    *out_cpu = read_clock(CLOCK_THREAD_CPUTIME_ID) - start;
    release_outputs(m);
    return seconds;
}

static void write_outputs(const model *m, const char *folder)
{
    for (size_t i = 0; i < m->output_count; i++) {
        handle info;
        int type;
        size_t count;
        void *data;
        CALL(TENSOR_INFO, (handle, handle *), m->outputs[i], &info);
        CALL(ELEMENT_TYPE, (handle, int *), info, &type);
        CALL(ELEMENT_COUNT, (handle, size_t *), info, &count);
        CALL(TENSOR_DATA, (handle, void **), m->outputs[i], &data);
        char path[4096];
        snprintf(path, sizeof path, "%s/%zu.raw", folder, i);
        FILE *file = fopen(path, "wb");
        size_t bytes = count * types[type].size;
        if (!file || fwrite(data, 1, bytes, file) != bytes || fclose(file) != 0)
            fail(path, "cannot be written");
    }
}

// ---- Telling ----

static void put_string(const char *text)
{
    putchar('"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\' || (unsigned char)*text < 0x20)
            printf("\\u%04x", (unsigned)(unsigned char)*text);
        else
            putchar(*text);
    }
    putchar('"');
}

static void describe(const model *m)
{
    printf("{\"inputs\": [");
    for (size_t i = 0; i < m->input_count; i++) {
        printf("%s{\"name\": ", i ? ", " : "");
        put_string(m->input_names[i]);
        printf(", \"type\": \"%s\", \"bytes\": %zu, \"shape\": [", types[m->types[i]].name,
               input_bytes(m, i));
        for (size_t d = 0; d < m->dim_counts[i]; d++)
            printf("%s%lld", d ? ", " : "", (long long)m->dims[i][d]);
        printf("]}");
    }
    printf("], \"outputs\": [");
    for (size_t i = 0; i < m->output_count; i++) {
        fputs(i ? ", " : "", stdout);
        put_string(m->output_names[i]);
    }
    printf("]}\n");
}

int main(int argc, char **argv)
{
    options o = parse(argc, argv);
    const char *version = open_library(o.library);
    static model m;
    double start = now();
    open_session(&m, &o);
    double load = now() - start;
    look_at_tensors(&m);
    if (o.describes) {
        describe(&m);
        return 0;
    }

    fill_inputs(&m, &o);
    double first = run(&m);
    if (o.outdir)
        write_outputs(&m, o.outdir);
    release_outputs(&m);
    static double seconds[MAX_RUNS], cpu[MAX_RUNS];
    for (int i = 1; i < o.warmup; i++)
        timed(&m, &cpu[0]);
    int count = 0;
    double end = now() + o.min_time;
    while (count < MAX_RUNS && (count < o.runs || now() < end)) {
        seconds[count] = timed(&m, &cpu[count]);
        count++;
    }
    unsigned long long rss = peak_rss();
    qsort(seconds, (size_t)count, sizeof *seconds, compare);
    qsort(cpu, (size_t)count, sizeof *cpu, compare);

    printf("{\"model\": ");
    put_string(o.model);
    printf(", \"threads\": %d, \"runs\": %d, \"load_ms\": %.6f, \"first_ms\": %.6f, "
           "\"median_ms\": %.6f, \"p10_ms\": %.6f, \"p90_ms\": %.6f, \"min_ms\": %.6f, "
           "\"cpu_ms\": %.6f, \"cpu_p10_ms\": %.6f, \"rss_bytes\": %llu, \"version\": ",
           o.threads, count, load * 1e3, first * 1e3, at(seconds, count, 0.5),
           at(seconds, count, 0.1), at(seconds, count, 0.9), seconds[0] * 1e3, at(cpu, count, 0.5),
           at(cpu, count, 0.1), rss);
    put_string(version);
    printf("}\n");
    return 0;
}
