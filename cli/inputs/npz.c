// SPDX-License-Identifier: Apache-2.0
// Members of a zip archive, each a .npy file; "x.npy" is the array x.

#include "npz.h"

#include <stdlib.h>
#include <string.h>

#include <lightnet/lightnet.h>

#include "file_bytes.h"
#include "npy.h"
#include "zip.h"

#define MAX_SEQUENCE 65536

int npz_is(const char *bytes, size_t count)
{
    return zip_is(bytes, count);
}

static int is_named(const zip_member *member, const char *name)
{
    size_t len = strlen(name);
    return strncmp(member->name, name, len) == 0 &&
           (member->name[len] == '\0' || strcmp(member->name + len, ".npy") == 0);
}

static ln_status read_member(const zip_archive *zip, const zip_member *member,
                             ln_object **out_object)
{
    char *bytes;
    size_t count;
    LN_TRY(zip_extract(zip, member, &bytes, &count));
    ln_status status = npy_is(bytes, count) ? npy_parse(zip->path, bytes, count, out_object)
                                            : LN_FAIL(LN_SYNTAX, "%s: member '%s' is no .npy file",
                                                      zip->path, member->name);
    free(bytes);
    return status;
}

// The member of that name, or the only one; *out_count is how many there are.
static ln_status find_member(zip_archive zip, const char *name, zip_member *out_member,
                             int *out_has_name, size_t *out_count)
{
    zip_member member;
    int has_member;
    *out_has_name = 0;
    *out_count = 0;
    LN_TRY(zip_next(&zip, &member, &has_member));
    while (has_member) {
        if (++*out_count == 1 || (!*out_has_name && is_named(&member, name)))
            *out_member = member;
        *out_has_name |= is_named(&member, name);
        LN_TRY(zip_next(&zip, &member, &has_member));
    }
    return LN_OK;
}

static ln_status parse_one(zip_archive *zip, const char *name, ln_object **out_object)
{
    zip_member member;
    int has_name;
    size_t count;
    LN_TRY(find_member(*zip, name, &member, &has_name, &count));
    if (!has_name && count != 1)
        return LN_FAIL(LN_NOT_FOUND, "%s holds no array '%s' among its %zu", zip->path, name,
                       count);
    return read_member(zip, &member, out_object);
}

static ln_status read_items(zip_archive *zip, ln_object **items, size_t *out_count)
{
    for (;;) {
        zip_member member;
        int has_member;
        LN_TRY(zip_next(zip, &member, &has_member));
        if (!has_member)
            return LN_OK;
        if (*out_count == MAX_SEQUENCE)
            return LN_FAIL(LN_LIMIT, "%s holds more than %d arrays", zip->path, MAX_SEQUENCE);
        LN_TRY(read_member(zip, &member, &items[*out_count]));
        ++*out_count;
    }
}

static ln_status parse_sequence(zip_archive *zip, const input_wish *wish, ln_object **out_object)
{
    ln_object **items = calloc(MAX_SEQUENCE, sizeof *items);
    if (!items)
        return LN_FAIL(LN_NO_MEMORY, "out of memory reading %s", zip->path);
    size_t count = 0;
    ln_status status = read_items(zip, items, &count);
    tl_dtype dtype = count > 0                              ? ln_object_elem_dtype(items[0])
                     : wish->elem_dtype != TL_DTYPE_INVALID ? wish->elem_dtype
                                                            : TL_FLOAT;
    if (status == LN_OK) {
        *out_object = ln_object_new_sequence(dtype, count, items);
        status = *out_object ? LN_OK : ln_error_status();
    }
    for (size_t i = 0; i < count; i++)
        ln_object_release(items[i]);
    free(items);
    return status;
}

ln_status npz_parse(const char *path, const char *bytes, size_t count, const input_wish *wish,
                    ln_object **out_object)
{
    *out_object = NULL;
    zip_archive zip;
    LN_TRY(zip_open(path, bytes, count, &zip));
    if (wish->dtype == TL_OBJECT && wish->kind != LN_OBJECT_OPTIONAL)
        return parse_sequence(&zip, wish, out_object);
    return parse_one(&zip, wish->name, out_object);
}

int npz_is_file(const char *path)
{
    char bytes[ZIP_PEEK];
    return npz_is(bytes, file_peek(path, bytes, sizeof bytes));
}

int npz_has(const char *path, const char *name)
{
    char *bytes;
    size_t count, member_count;
    int has_name = 0;
    zip_archive zip;
    zip_member member;
    if (file_read(path, &bytes, &count) != LN_OK)
        return 0;
    if (npz_is(bytes, count) && zip_open(path, bytes, count, &zip) == LN_OK &&
        find_member(zip, name, &member, &has_name, &member_count) != LN_OK)
        has_name = 0;
    free(bytes);
    return has_name;
}
