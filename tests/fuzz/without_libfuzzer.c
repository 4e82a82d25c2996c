// SPDX-License-Identifier: Apache-2.0
// The main function of a fuzz target in a build without libFuzzer: runs each file of a folder, then
// changed ones for some seconds. It has no measure of what is new, but needs no build of its own.
//
// Usage: x_fuzz FOLDER [SECONDS [SEED]]
// An input that ends the program is printed in hexadecimal, with the seed.

#include <dirent.h>
#include <sanitizer/common_interface_defs.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

int LLVMFuzzerInitialize(int *argc, char ***argv) __attribute__((weak));
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
    __attribute__((weak));
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

enum { INPUT_MOST = 4096, FILE_MOST = 256, SECONDS_OF_ONE = 30 };

static struct {
    uint8_t *data;
    size_t size;
} files[FILE_MOST];
static size_t file_count;

static uint8_t *input; // what runs now
static size_t input_size;
static unsigned long long seed, state;

static unsigned draw(unsigned count)
{
    state += 0x9e3779b97f4a7c15u;
    unsigned long long x = state;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return (unsigned)((x ^ (x >> 31)) % count);
}

static void print_input(void)
{
    fprintf(stderr, "seed %llu; the input, of %zu bytes:\n", seed, input_size);
    for (size_t i = 0; i < input_size; i++)
        fprintf(stderr, "%02x", input[i]);
    fprintf(stderr, "\n");
}

static void end_at_signal(int number)
{
    fprintf(stderr, number == SIGALRM ? "a run took over %d seconds\n" : "aborted\n",
            SECONDS_OF_ONE);
    print_input();
    _exit(1);
}

static void run(const uint8_t *data, size_t size)
{
    // A copy of this size, so that what reads past it is seen.
    input = malloc(size ? size : 1);
    if (!input)
        abort();
    input_size = size;
    if (size > 0)
        memcpy(input, data, size);
    alarm(SECONDS_OF_ONE);
    LLVMFuzzerTestOneInput(input, size);
    alarm(0);
    free(input);
    input = NULL;
    input_size = 0;
}

static void read_file(const char *folder, const char *name)
{
    char path[4096];
    struct stat status;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode))
        return;
    FILE *file = fopen(path, "rb");
    size_t size = (size_t)status.st_size;
    uint8_t *data = malloc(size + 1);
    if (!file || !data || fread(data, 1, size, file) != size || file_count == FILE_MOST) {
        fprintf(stderr, "cannot read %s, or more than %d files\n", path, FILE_MOST);
        exit(2);
    }
    fclose(file);
    files[file_count].data = data;
    files[file_count++].size = size;
}

static uint64_t telling_number(void)
{
    static const uint64_t numbers[] = {0,
                                       1,
                                       2,
                                       8,
                                       9,
                                       16,
                                       127,
                                       128,
                                       255,
                                       256,
                                       1024,
                                       4096,
                                       32767,
                                       65535,
                                       65536,
                                       INT32_MAX,
                                       (uint64_t)INT32_MAX + 1,
                                       UINT32_MAX,
                                       INT64_MAX,
                                       (uint64_t)INT64_MAX + 1,
                                       UINT64_MAX};
    return numbers[draw(sizeof numbers / sizeof *numbers)];
}

// Some bytes of `from`, of which *size are left.
static const uint8_t *some(const uint8_t *from, size_t *size)
{
    size_t begin = draw((unsigned)*size);
    size_t most = *size - begin < 64 ? *size - begin : 64;
    *size = 1 + draw((unsigned)most);
    return from + begin;
}

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size)
{
    size_t at = size == 0 ? 0 : draw((unsigned)size), count;
    uint8_t bytes[64];
    uint64_t number;
    switch (draw(7)) {
    case 0:
        if (size > 0)
            data[at] ^= (uint8_t)(1u << draw(8));
        return size;
    case 1:
        if (size > 0)
            data[at] = (uint8_t)draw(256);
        return size;
    case 2:
        number = telling_number();
        count = (size_t)1 << draw(4);
        if (count <= size - at)
            memcpy(data + at, &number, count);
        return size;
    case 3: // bytes go
        count = 1 + draw(16);
        if (count > size - at)
            return size;
        memmove(data + at, data + at + count, size - at - count);
        return size - count;
    case 4: // the end goes
        return size > 0 && draw(4) == 0 ? at : size;
    default: { // bytes of this input, or of another one, come or are written over
        const uint8_t *from = data;
        count = size;
        if (draw(2) == 0 && file_count > 0) {
            size_t other = draw((unsigned)file_count);
            from = files[other].data;
            count = files[other].size;
        }
        if (count == 0)
            return size;
        from = some(from, &count);
        memcpy(bytes, from, count);
        if (draw(2) == 0) {
            if (count <= size - at)
                memcpy(data + at, bytes, count);
            return size;
        }
        if (count > max_size - size)
            return size;
        memmove(data + at + count, data + at, size - at);
        memcpy(data + at, bytes, count);
        return size + count;
    }
    }
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: %s FOLDER [SECONDS [SEED]]\n", argv[0]);
        return 2;
    }
    int seconds = argc > 2 ? atoi(argv[2]) : 0;
    seed = argc > 3 ? strtoull(argv[3], NULL, 10) : (unsigned long long)time(NULL);
    state = seed;
    __sanitizer_set_death_callback(print_input);
    signal(SIGABRT, end_at_signal);
    signal(SIGALRM, end_at_signal);
    if (LLVMFuzzerInitialize)
        LLVMFuzzerInitialize(&argc, &argv);

    struct dirent **entries;
    int entry_count = scandir(argv[1], &entries, NULL, alphasort); // the same order for a seed
    if (entry_count < 0) {
        fprintf(stderr, "cannot open the folder %s\n", argv[1]);
        return 2;
    }
    for (int i = 0; i < entry_count; i++) {
        read_file(argv[1], entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);

    run(NULL, 0);
    for (size_t i = 0; i < file_count; i++)
        run(files[i].data, files[i].size);

    long runs = 0;
    time_t end = time(NULL) + seconds;
    for (; time(NULL) < end; runs++) {
        const uint8_t *from = NULL;
        size_t size = 0;
        if (file_count > 0) {
            size_t i = draw((unsigned)file_count);
            from = files[i].data;
            size = files[i].size;
        }
        size_t most = size + INPUT_MOST;
        uint8_t *data = malloc(most);
        if (!data)
            abort();
        if (size > 0)
            memcpy(data, from, size);
        for (unsigned changes = 1u << draw(4); changes > 0; changes--)
            size = LLVMFuzzerCustomMutator && draw(2)
                       ? LLVMFuzzerCustomMutator(data, size, most, draw(1u << 31))
                       : LLVMFuzzerMutate(data, size, most);
        run(data, size);
        free(data);
    }
    fprintf(stderr, "seed %llu: %zu files, %ld changed\n", seed, file_count,
            runs); // some close stdout
    for (size_t i = 0; i < file_count; i++)
        free(files[i].data);
    return 0;
}
