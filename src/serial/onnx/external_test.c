// SPDX-License-Identifier: Apache-2.0
// External data stays in the model's folder: a directory of traps.

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "serial/onnx/onnx_testing.h"
#include "serial/onnx/tensor.h"
#include "tests/test.h"

// <root>/secret.bin and <root>/model/ with files and links; made anew by each test.
typedef struct traps {
    char root[64], folder[80];
} traps;

static void write_file(const char *folder, const char *name, size_t len)
{
    char path[512];
    snprintf(path, sizeof path, "%.200s/%.100s", folder, name);
    FILE *file = fopen(path, "wb");
    CHECK_NOT_NULL(file);
    for (size_t i = 0; i < len; i++)
        fputc((int)i, file);
    fclose(file);
}

static traps make_traps(void)
{
    traps t;
    char path[512], target[512];
    snprintf(t.root, sizeof t.root, LN_BUILD_DIR "/onnx_traps_XXXXXX");
    CHECK_NOT_NULL(mkdtemp(t.root));
    snprintf(t.folder, sizeof t.folder, "%s/model", t.root);
    CHECK_EQ(mkdir(t.folder, 0700), 0);
    write_file(t.root, "secret.bin", 16);
    write_file(t.folder, "w.bin", 16);
    write_file(t.folder, "empty.bin", 0);
    snprintf(path, sizeof path, "%s/sub", t.folder);
    CHECK_EQ(mkdir(path, 0700), 0);
    write_file(path, "w.bin", 16);
    snprintf(target, sizeof target, "%s/secret.bin", t.root);
    snprintf(path, sizeof path, "%s/link.bin", t.folder);
    CHECK_EQ(symlink(target, path), 0);
    snprintf(path, sizeof path, "%s/inner_link.bin", t.folder);
    CHECK_EQ(symlink("w.bin", path), 0);
    snprintf(path, sizeof path, "%s/folder_link", t.folder);
    CHECK_EQ(symlink(t.root, path), 0);
    snprintf(path, sizeof path, "%s/hard.bin", t.folder);
    CHECK_EQ(link(target, path), 0);
    snprintf(path, sizeof path, "%s/pipe", t.folder);
    CHECK_EQ(mkfifo(path, 0600), 0);
    return t;
}

static void remove_traps(const traps *t)
{
    static const char *const names[] = {
        "model/w.bin",       "model/empty.bin",
        "model/sub/w.bin",   "model/sub",
        "model/link.bin",    "model/inner_link.bin",
        "model/folder_link", "model/hard.bin",
        "model/pipe",        "model",
        "secret.bin",
    };
    char path[512];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", t->root, names[i]);
        remove(path);
    }
    rmdir(t->root);
}

// A tensor of four floats at `location`; `offset` and `len` NULL: not said.
static ln_status read_at(const traps *t, const char *location, const char *offset, const char *len,
                         ln_onnx_source *source, ln_onnx_value *out)
{
    static pb p;
    pb_free(&p);
    pb_int(&p, 1, 4);
    pb_int(&p, 2, PB_FLOAT);
    pb_str(&p, 8, "w");
    pb_int(&p, 14, 1);
    if (location)
        pb_entry(&p, 13, "location", location);
    if (offset)
        pb_entry(&p, 13, "offset", offset);
    if (len)
        pb_entry(&p, 13, "length", len);
    ln_onnx_bytes bytes = {p.bytes, p.len};
    *source = (ln_onnx_source){
        .name = "m", .bytes = bytes, .folder = t->folder, .budget = {1 << 20, 1 << 20, 1 << 20}};
    return ln_onnx_tensor_read(source, bytes, out);
}

static void unmap(ln_onnx_mapping *first)
{
    while (first) {
        ln_onnx_mapping *next = first->next;
        ln_onnx_mapping_destroy(first);
        first = next;
    }
}

TEST(weights_beside_the_model_are_used_where_they_lie)
{
    traps t = make_traps();
    ln_onnx_source source;
    ln_onnx_value v;
    static const char *const good[] = {"w.bin", "sub/w.bin"};
    for (size_t i = 0; i < 2; i++) {
        CHECK_OK(read_at(&t, good[i], "0", "16", &source, &v));
        CHECK_NULL(v.owned);
        CHECK_EQ(((const uint8_t *)v.data)[15], 15);
        unmap(source.mapped);
        CHECK_OK(read_at(&t, good[i], NULL, NULL, &source, &v));
        unmap(source.mapped);
    }
    remove_traps(&t);
}

TEST(each_trap_is_refused_with_its_reason)
{
    static const struct {
        const char *location, *offset, *len, *message;
    } cases[] = {
        {"../secret.bin", NULL, NULL, "has '..' as a part"},
        {"sub/../../secret.bin", NULL, NULL, "has '..' as a part"},
        {"./w.bin", NULL, NULL, "has '.' as a part"},
        {"sub//w.bin", NULL, NULL, "has '' as a part"},
        {"sub/", NULL, NULL, "has '' as a part"},
        {"/etc/passwd", NULL, NULL, "absolute path"},
        {"", NULL, NULL, "a path of 0 bytes"},
        {NULL, NULL, NULL, "a path of 0 bytes"},
        {"link.bin", NULL, NULL, "symbolic link"},
        {"inner_link.bin", NULL, NULL, "symbolic link"},
        {"folder_link/secret.bin", NULL, NULL, "symbolic link"},
        {"hard.bin", NULL, NULL, "hard link"},
        {"pipe", NULL, NULL, "not a regular file"},
        {"sub", NULL, NULL, "not a regular file"},
        {"missing.bin", NULL, NULL, "cannot open external data 'missing.bin'"},
        {"w.bin/x", NULL, NULL, "cannot open external data"},
        {"*/_ORT_MEM_ADDR_/*", "4096", "16", "cannot open external data"},
        {"empty.bin", NULL, NULL, "has 0 bytes"},
        {"w.bin", "1", "16", "16 from byte 1 on are not there"},
        {"w.bin", "16", "16", "16 from byte 16 on are not there"},
        {"w.bin", "18446744073709551615", "16", "are not there"},
        {"w.bin", "0", "15", "a length of 15 bytes where 4 elements of FLOAT take 16"},
        {"w.bin", "0", "17", "a length of 17 bytes"},
        {"w.bin", "18446744073709551616", NULL, "is not a number of bytes"},
        {"w.bin", "-1", NULL, "is not a number of bytes"},
        {"w.bin", "", NULL, "is not a number of bytes"},
        {"w.bin", "0x0", NULL, "is not a number of bytes"},
    };
    traps t = make_traps();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ln_onnx_source source;
        ln_onnx_value v;
        ln_status status =
            read_at(&t, cases[i].location, cases[i].offset, cases[i].len, &source, &v);
        CHECK_NE(status, LN_OK);
        CHECK_MESSAGE(cases[i].message);
        CHECK_MESSAGE("m: byte ");
        CHECK_MESSAGE("tensor 'w'");
        unmap(source.mapped);
    }
    remove_traps(&t);
}

// The parts of a sparse tensor go the same way.
TEST(sparse_tensors_are_no_side_door)
{
    traps t = make_traps();
    for (unsigned part = 1; part <= 2; part++) {
        pb p = {0};
        for (unsigned field = 1; field <= 2; field++) {
            pb_begin_tensor(&p, field, "s", field == 1 ? PB_FLOAT : PB_INT64, DIMS(1));
            if (field == part) {
                pb_int(&p, 14, 1);
                pb_entry(&p, 13, "location", "../secret.bin");
            } else {
                pb_bytes(&p, 9, "\0\0\0\0\0\0\0\0", field == 1 ? 4 : 8);
            }
            pb_end(&p);
        }
        pb_int(&p, 3, 4);
        ln_onnx_bytes bytes = {p.bytes, p.len};
        ln_onnx_source source = {
            .name = "m", .bytes = bytes, .folder = t.folder, .budget = {1 << 20, 1 << 20, 1 << 20}};
        ln_onnx_value v;
        CHECK_FAILS(ln_onnx_sparse_read(&source, bytes, &v), LN_INVALID);
        CHECK_MESSAGE("has '..' as a part");
        pb_free(&p);
    }
    remove_traps(&t);
}

TEST(keys_of_external_data_come_once)
{
    traps t = make_traps();
    pb p = {0};
    pb_int(&p, 1, 4);
    pb_int(&p, 2, PB_FLOAT);
    pb_int(&p, 14, 1);
    pb_entry(&p, 13, "location", "w.bin");
    pb_entry(&p, 13, "checksum", "something that is not looked at");
    pb_entry(&p, 13, "location", "sub/w.bin");
    ln_onnx_bytes bytes = {p.bytes, p.len};
    ln_onnx_source source = {
        .name = "m", .bytes = bytes, .folder = t.folder, .budget = {1 << 20, 1 << 20, 1 << 20}};
    ln_onnx_value v;
    CHECK_FAILS(ln_onnx_tensor_read(&source, bytes, &v), LN_INVALID);
    CHECK_MESSAGE("'location' is there twice");
    pb_free(&p);
    remove_traps(&t);
}

TEST(one_file_is_mapped_once)
{
    traps t = make_traps();
    ln_onnx_source source = {.name = "m", .folder = t.folder};
    ln_onnx_bytes location = {(const uint8_t *)"w.bin", 5}, first, second;
    CHECK_OK(ln_onnx_external(&source, location, 0, 4, &first));
    CHECK_OK(ln_onnx_external(&source, location, 4, 4, &second));
    CHECK(second.at == first.at + 4);
    CHECK_EQ(source.mapped_count, 1);
    unmap(source.mapped);
    remove_traps(&t);
}

TEST_LIST(weights_beside_the_model_are_used_where_they_lie, each_trap_is_refused_with_its_reason,
          sparse_tensors_are_no_side_door, keys_of_external_data_come_once, one_file_is_mapped_once)
