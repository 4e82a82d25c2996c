// SPDX-License-Identifier: Apache-2.0
// Plug-ins: opens shared objects, gives them the functions of the host, and keeps what they
// register.
//
// One plug-in at a time is loaded or unloaded. While its `open` runs, each registration is noted;
// the notes are taken back from the last to the first when the plug-in goes.

#define _GNU_SOURCE // dladdr1

#include <lightnet/plugin.h>

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <lightnet/allocator.h>
#include <lightnet/tensor.h>
#include <lightnet/util.h>
#include <lightnet/version.h>

#include "arch/registry.h"
#include "base/error_state.h"
#include "base/sized.h"
#include "compile/plugin.h"
#include "pass/pass.h"
#include "plan/mem_use.h"

typedef enum entry_kind {
    ENTRY_ARCH,
    ENTRY_OP,
    ENTRY_MEMORY,
    ENTRY_COPY,
    ENTRY_SERIALIZER,
    ENTRY_LOADER,
    ENTRY_RULES,
} entry_kind;

// One registration.
typedef struct entry {
    struct entry *next; // the one before
    entry_kind kind;
    char *name;                // of what it is
    ln_serializer *serializer; // of a loader
    int version;               //
    ln_mem_type mtype, src;    // of a memory type, and of a copy
} entry;

typedef struct loaded {
    struct loaded *next;
    void *handle;
    char *path;
    ln_plugin table; // a copy, in the size that the library knows
    entry *entries;
} loaded;

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER; // who loads or unloads
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // of the list
static loaded *plugins;                                  // the last first
static loaded *opening;                                  // whose `open` runs; NULL: none
static pthread_t opener;                                 // the thread that it runs in

// ---- Registrations ----

static bool is_opening(void)
{
    pthread_mutex_lock(&lock);
    bool is = opening && pthread_equal(opener, pthread_self());
    pthread_mutex_unlock(&lock);
    return is;
}

static ln_status check_opening(void)
{
    return is_opening() ? LN_OK
                        : LN_FAIL(LN_STATE, "a plug-in registers in its `open` only, in the thread "
                                            "that it is called in");
}

static void free_entry(entry *e)
{
    ln_free(e->name);
    ln_free(e);
}

static ln_status new_entry(entry_kind kind, const char *name, entry **out_entry)
{
    entry *e = *out_entry = ln_alloc(sizeof *e);
    if (!e)
        return LN_NO_MEMORY;
    *e = (entry){.kind = kind, .name = ln_strdup(name)};
    if (!name || e->name)
        return LN_OK;
    ln_free(e);
    return LN_NO_MEMORY;
}

// Keeps the note of a registration that has succeeded.
static ln_status note(entry *e, ln_status status)
{
    if (status != LN_OK) {
        free_entry(e);
        return status;
    }
    e->next = opening->entries;
    opening->entries = e;
    return LN_OK;
}

static ln_status host_arch_register_sized(ln_arch *arch, size_t byte_count)
{
    entry *e;
    LN_TRY(check_opening());
    LN_TRY(new_entry(ENTRY_ARCH, arch ? arch->arch_name : NULL, &e));
    LN_TRY(note(e, ln_arch_register_sized(arch, byte_count)));
    return ln_pass_warn_of_types(ln_arch_find(arch->arch_name));
}

static ln_status host_op_register(ln_op *op)
{
    entry *e;
    LN_TRY(check_opening());
    LN_TRY(new_entry(ENTRY_OP, op && op->op_arg ? op->op_arg->optype : NULL, &e));
    return note(e, ln_op_register(op));
}

static ln_status host_mem_type_add(const char *name, const char *title, const ln_mem_info *info,
                                   ln_mem_type *out_mtype)
{
    entry *e;
    LN_TRY(check_opening());
    LN_TRY(new_entry(ENTRY_MEMORY, name, &e));
    ln_status status = ln_mem_type_add(name, title, info, &e->mtype);
    *out_mtype = e->mtype;
    return note(e, status);
}

static ln_status host_mem_type_register_copy(ln_mem_type dst_mtype, ln_mem_type src_mtype,
                                             ln_copy_func copy)
{
    entry *e;
    LN_TRY(check_opening());
    if (!copy)
        return LN_FAIL(LN_INVALID, "a plug-in registers copies; they go when it does");
    LN_TRY(new_entry(ENTRY_COPY, NULL, &e));
    e->mtype = dst_mtype;
    e->src = src_mtype;
    return note(e, ln_mem_type_register_copy(dst_mtype, src_mtype, copy));
}

static ln_status host_serializer_register_sized(ln_serializer *serializer, size_t byte_count)
{
    entry *e;
    LN_TRY(check_opening());
    LN_TRY(new_entry(ENTRY_SERIALIZER, serializer ? serializer->name : NULL, &e));
    return note(e, ln_serializer_register_sized(serializer, byte_count));
}

static ln_status host_serializer_register_op_loader(ln_serializer *serializer, const char *optype,
                                                    int version, ln_op_loader loader, void *user)
{
    entry *e;
    LN_TRY(check_opening());
    LN_TRY(new_entry(ENTRY_LOADER, optype, &e));
    e->serializer = serializer;
    e->version = version;
    return note(e, ln_serializer_register_op_loader(serializer, optype, version, loader, user));
}

static ln_status host_rules_register(const char *arch_name, const char *text)
{
    entry *e;
    LN_TRY(check_opening());
    LN_TRY(new_entry(ENTRY_RULES, arch_name, &e));
    return note(e, ln_rules_register(arch_name, text));
}

static const ln_plugin_host host = {.byte_count = sizeof host,
                                    .version = LN_PLUGIN_VERSION,
                                    .lightnet = LN_VERSION,
                                    .archs = &LN_ARCH,
                                    .tensor_size = tl_tensor_size,
#define HOST_REGISTRATION(type, name, parameters) .name = host_##name,
                                    LN_PLUGIN_REGISTRATIONS(HOST_REGISTRATION)
#undef HOST_REGISTRATION
#define HOST_FUNCTION(type, name, parameters) .name = ln_##name,
                                        LN_PLUGIN_FUNCTIONS(HOST_FUNCTION)
#undef HOST_FUNCTION
};

// ---- Taking back ----

static bool has_arch_there(const loaded *p, ln_mem_type mtype, size_t *out_count)
{
    *out_count = 0;
    for (const entry *e = p->entries; e; e = e->next) {
        const ln_arch *arch = e->kind == ENTRY_ARCH ? ln_arch_find(e->name) : NULL;
        *out_count += arch && arch->mem_type == mtype;
    }
    return *out_count > 0;
}

static ln_status check_memory_unused(const loaded *p, const entry *e)
{
    size_t own_count;
    (void)has_arch_there(p, e->mtype, &own_count);
    size_t count = ln_mem_type_use_count(e->mtype);
    if (count <= own_count)
        return LN_OK;
    return LN_FAIL(LN_STATE, "%s is in use outside of plug-in '%s'", ln_mem_type_title(e->mtype),
                   p->table.name);
}

static ln_status check_unused(const loaded *p)
{
    for (const entry *e = p->entries; e; e = e->next) {
        if (e->kind == ENTRY_ARCH)
            LN_TRY(ln_arch_check_unused(e->name));
        if (e->kind == ENTRY_OP)
            LN_TRY(ln_op_check_unused(e->name));
        if (e->kind == ENTRY_MEMORY)
            LN_TRY(check_memory_unused(p, e));
    }
    return LN_OK;
}

// What is gone already, with an arch or at the end of the library, is no failure.
static ln_status take_back_one(const entry *e)
{
    ln_status status = LN_OK;
    switch (e->kind) {
    case ENTRY_ARCH: status = ln_arch_unregister(e->name); break;
    case ENTRY_OP: status = ln_op_unregister(e->name); break;
    case ENTRY_MEMORY: status = ln_mem_type_remove(e->mtype); break;
    case ENTRY_COPY: status = ln_mem_type_register_copy(e->mtype, e->src, NULL); break;
    case ENTRY_SERIALIZER: status = ln_serializer_unregister(e->name); break;
    case ENTRY_LOADER:
        status = ln_serializer_unregister_op_loader(e->serializer, e->name, e->version);
        break;
    case ENTRY_RULES: status = ln_arch_drop_rules(e->name); break;
    }
    return status == LN_STATE ? status : LN_OK;
}

// What could not be taken back stays noted.
static ln_status take_back(loaded *p)
{
    while (p->entries) {
        entry *e = p->entries;
        LN_TRY(take_back_one(e));
        p->entries = e->next;
        free_entry(e);
    }
    return LN_OK;
}

// ---- Opening ----

static void destroy(loaded *p)
{
    if (p->handle && p->table.close)
        p->table.close();
    while (p->entries) { // what somebody uses at the end of the library, or was refused in `open`
        entry *e = p->entries;
        p->entries = e->next;
        free_entry(e);
    }
    if (p->handle)
        (void)dlclose(p->handle);
    ln_free(p->path);
    ln_free(p);
}

// A name without '/' would be searched for in the folders of the system, and of the environment.
static ln_status open_file(const char *path, void **out_handle)
{
    char here[4096];
    if (access(path, R_OK) != 0)
        return LN_FAIL(LN_IO, "cannot read the plug-in '%.200s'", path);
    int len = snprintf(here, sizeof here, "%s%s", strchr(path, '/') ? "" : "./", path);
    if (len >= (int)sizeof here)
        return LN_FAIL(LN_LIMIT, "the path of the plug-in '%.200s...' is too long", path);
    *out_handle = dlopen(here, RTLD_NOW | RTLD_LOCAL);
    if (*out_handle)
        return LN_OK;
    const char *why = dlerror();
    return LN_FAIL(LN_INVALID, "'%.200s' cannot be loaded as a plug-in: %.400s", path,
                   why ? why : "unknown");
}

// The bytes of the symbol, as the file says, are all that may be read.
static ln_status find_table(void *handle, const char *path, const void **out_table,
                            size_t *out_byte_count)
{
    Dl_info info;
    const ElfW(Sym) *symbol = NULL;
    const void *table = dlsym(handle, LN_PLUGIN_SYMBOL);
    if (!table)
        return LN_FAIL(LN_INVALID,
                       "'%.200s' is a shared object without '" LN_PLUGIN_SYMBOL
                       "': it is not a plug-in of LightNet (docs/devices.md)",
                       path);
    if (dladdr1(table, &info, (void **)(uintptr_t)&symbol, RTLD_DL_SYMENT) == 0 || !symbol ||
        ELF64_ST_TYPE(symbol->st_info) != STT_OBJECT)
        return LN_FAIL(LN_INVALID, "'%.200s': '" LN_PLUGIN_SYMBOL "' is not a table", path);
    *out_table = table;
    *out_byte_count = symbol->st_size;
    return LN_OK;
}

// The members that all versions have.
typedef struct head {
    size_t byte_count;
    unsigned version;
    size_t host_byte_count;
} head;

static ln_status read_table(const char *path, const void *table, size_t symbol_size,
                            ln_plugin *out_table)
{
    head h;
    if (symbol_size < sizeof h)
        return LN_FAIL(LN_INVALID, "'%.200s': '" LN_PLUGIN_SYMBOL "' has %zu bytes, too few", path,
                       symbol_size);
    memcpy(&h, table, sizeof h);
    if (h.version != LN_PLUGIN_VERSION)
        return LN_FAIL(LN_UNSUPPORTED,
                       "'%.200s' is a plug-in of version %u, and this library takes version %u: "
                       "compile it with the headers of LightNet " LN_VERSION,
                       path, h.version, LN_PLUGIN_VERSION);
    if (h.byte_count > symbol_size)
        return LN_FAIL(LN_INVALID, "'%.200s': the table says that it has %zu bytes, and has %zu",
                       path, h.byte_count, symbol_size);
    LN_TRY(ln_sized_read(out_table, sizeof *out_table, table, h.byte_count,
                         LN_SIZE_UP_TO(ln_plugin, open), "ln_plugin"));
    if (h.host_byte_count > sizeof host)
        return LN_FAIL(LN_UNSUPPORTED,
                       "'%.200s' was compiled with the headers of a newer LightNet than this "
                       "one, " LN_VERSION,
                       path);
    return LN_OK;
}

static ln_status check_table(const char *path, const ln_plugin *table)
{
    if (!table->open)
        return LN_FAIL(LN_INVALID, "'%.200s': the table has no `open`", path);
    size_t len = table->name ? strnlen(table->name, LN_MAX_NAME_LEN) : 0;
    if (len == 0 || len >= LN_MAX_NAME_LEN)
        return LN_FAIL(LN_INVALID, "'%.200s': a plug-in needs a name of fewer than %d bytes", path,
                       LN_MAX_NAME_LEN);
    return LN_OK;
}

static ln_status check_new(const loaded *p)
{
    for (const loaded *other = plugins; other; other = other->next) {
        if (other->handle == p->handle)
            return LN_FAIL(LN_EXISTS, "'%.200s' is loaded already, as plug-in '%s'", p->path,
                           other->table.name);
        if (strcmp(other->table.name, p->table.name) == 0)
            return LN_FAIL(LN_EXISTS, "a plug-in '%s' is loaded already, from '%.200s'",
                           p->table.name, other->path);
    }
    return LN_OK;
}

static ln_status read_plugin(loaded *p)
{
    const void *table;
    size_t symbol_size;
    LN_TRY(open_file(p->path, &p->handle));
    LN_TRY(find_table(p->handle, p->path, &table, &symbol_size));
    LN_TRY(read_table(p->path, table, symbol_size, &p->table));
    LN_TRY(check_table(p->path, &p->table));
    return check_new(p);
}

static void set_opening(loaded *p)
{
    pthread_mutex_lock(&lock);
    opening = p;
    opener = pthread_self();
    pthread_mutex_unlock(&lock);
}

static ln_status call_open(loaded *p)
{
    set_opening(p);
    ln_error_clear();
    ln_status status = p->table.open(&host);
    set_opening(NULL);
    if (status == LN_OK)
        return LN_OK;
    status = ln_fail_of_device(status, "plug-in '%s'", p->table.name);
    ln_error_state reason;
    ln_error_save(&reason);
    (void)take_back(p);
    p->table.close ? p->table.close() : (void)0;
    p->table.close = NULL;
    ln_error_restore(&reason);
    return status;
}

static ln_status load(const char *path)
{
    loaded *p = ln_alloc(sizeof *p);
    if (!p)
        return LN_NO_MEMORY;
    *p = (loaded){.path = ln_strdup(path)};
    ln_status status = p->path ? read_plugin(p) : LN_NO_MEMORY;
    if (status != LN_OK)
        p->table.close = NULL; // it was never opened
    else
        status = call_open(p);
    if (status != LN_OK) {
        ln_error_state reason;
        ln_error_save(&reason);
        destroy(p);
        ln_error_restore(&reason);
        return status;
    }
    pthread_mutex_lock(&lock);
    p->next = plugins;
    plugins = p;
    pthread_mutex_unlock(&lock);
    return LN_OK;
}

// A plug-in that loads or unloads in its `open` would wait for itself.
static ln_status take_turn(void)
{
    if (is_opening())
        return LN_FAIL(LN_STATE, "a plug-in is being loaded in this thread");
    pthread_mutex_lock(&turn);
    return LN_OK;
}

ln_status ln_plugin_load(const char *path)
{
    if (!path || !path[0])
        return LN_FAIL(LN_INVALID, "the path of the plug-in is empty");
    if (ln_arch_count() == 0)
        return LN_FAIL(LN_STATE, "call ln_arch_init before plug-ins are loaded");
    LN_TRY(take_turn());
    ln_status status = load(path);
    pthread_mutex_unlock(&turn);
    return status;
}

// ---- Unloading ----

static loaded **find(const char *name)
{
    loaded **at = &plugins;
    while (*at && !ln_streq((*at)->table.name, name))
        at = &(*at)->next;
    return at;
}

static void unlink_and_destroy(loaded **at)
{
    loaded *p = *at;
    pthread_mutex_lock(&lock);
    *at = p->next;
    pthread_mutex_unlock(&lock);
    destroy(p);
}

static ln_status unload(const char *name)
{
    loaded **at = find(name);
    if (!*at)
        return LN_FAIL(LN_NOT_FOUND, "no plug-in '%s' is loaded", name);
    ln_status status = check_unused(*at);
    if (status == LN_OK)
        status = take_back(*at);
    if (status != LN_OK)
        return ln_fail_prefix("plug-in '%s' cannot be unloaded", name);
    unlink_and_destroy(at);
    return LN_OK;
}

ln_status ln_plugin_unload(const char *name)
{
    if (!name)
        return LN_FAIL(LN_INVALID, "the name of the plug-in is NULL");
    LN_TRY(take_turn());
    ln_status status = unload(name);
    pthread_mutex_unlock(&turn);
    return status;
}

void ln_plugins_take_back(void)
{
    pthread_mutex_lock(&turn);
    for (loaded *p = plugins; p; p = p->next)
        (void)take_back(p);
    pthread_mutex_unlock(&turn);
}

// A context that is still there may call the code of its device, so that stays in the process.
static void leave_in_process(loaded *p)
{
    for (const entry *e = p->entries; e; e = e->next)
        if (e->kind == ENTRY_MEMORY)
            ln_mem_type_forget(e->mtype);
    p->handle = NULL;
}

void ln_plugins_close(void)
{
    pthread_mutex_lock(&turn);
    while (plugins) {
        if (plugins->entries)
            leave_in_process(plugins);
        unlink_and_destroy(&plugins);
    }
    pthread_mutex_unlock(&turn);
}

// ---- Asking ----

const ln_plugin *ln_plugin_find_at(size_t index)
{
    pthread_mutex_lock(&lock);
    size_t count = 0;
    for (const loaded *p = plugins; p; p = p->next)
        count++;
    const loaded *p = index < count ? plugins : NULL;
    for (size_t i = count; p && i > index + 1; i--)
        p = p->next;
    pthread_mutex_unlock(&lock);
    return p ? &p->table : NULL;
}

const char *ln_plugin_path(const char *name)
{
    pthread_mutex_lock(&lock);
    const loaded *p = *find(name);
    pthread_mutex_unlock(&lock);
    return p ? p->path : NULL;
}

static bool has_arch(const loaded *p, const char *arch_name)
{
    for (const entry *e = p->entries; e; e = e->next)
        if (e->kind == ENTRY_ARCH && ln_streq(e->name, arch_name))
            return true;
    return false;
}

const ln_plugin *ln_plugin_of_arch(const char *arch_name)
{
    pthread_mutex_lock(&lock);
    const loaded *p = plugins;
    while (p && !has_arch(p, arch_name))
        p = p->next;
    pthread_mutex_unlock(&lock);
    return p ? &p->table : NULL;
}
