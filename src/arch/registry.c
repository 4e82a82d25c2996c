// SPDX-License-Identifier: Apache-2.0
// The registries of archs and of operators.
//
// LN_ARCH shows both as the documented hash tables. An arch and its operators come and go
// together: a registration that fails half way takes back what it did.

#include <lightnet/arch.h>

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lightnet/allocator.h>
#include <lightnet/util.h>

#include "arch/derive.h"
#include "arch/device.h"
#include "arch/registry.h"
#include "base/name_hash.h"
#include "base/registry.h"
#include "base/sized.h"
#include "desc/rule.h"
#include "ir/op_rows.h"
#include "ir/use.h"
#include "plan/mem_device.h"
#include "plan/mem_use.h"

static const char *arch_name_of(const void *item)
{
    return ((const ln_arch *)item)->arch_name;
}

static const char *optype_of(const void *item)
{
    const ln_op *op = item;
    return op->op_arg ? op->op_arg->optype : NULL;
}

static ln_registry archs = LN_REGISTRY_INIT("arch", arch_name_of);
static ln_registry ops = LN_REGISTRY_INIT("operator", optype_of);

ln_arch_info ln_global_arch_info;

// One writer at a time keeps the tables of LN_ARCH and the registries the same.
static pthread_mutex_t writer = PTHREAD_MUTEX_INITIALIZER;

static void table_free_if_empty(ln_hash **table)
{
    if (*table && ln_hash_size(*table) == 0) {
        ln_hash_free(*table);
        *table = NULL;
    }
}

static ln_status table_insert(ln_hash **table, const char *name, void *item)
{
    if (!*table)
        *table = ln_hash_create(ln_name_hash, ln_str_cmp, NULL, NULL);
    if (*table && ln_hash_insert(*table, name, item) >= 0)
        return LN_OK;
    table_free_if_empty(table);
    return LN_NO_MEMORY;
}

static void table_remove(ln_hash **table, const char *name)
{
    ln_hash_remove(*table, name);
    table_free_if_empty(table);
}

// ---- Operators ----

static ln_status check_op(const ln_op *op)
{
    if (!op || !op->op_arg || !op->op_arg->optype || !op->op_arg->arch)
        return LN_FAIL(LN_INVALID, "an operator needs op_arg with optype and arch");

    const char *optype = op->op_arg->optype;
    const char *arch = op->op_arg->arch;
    if (!ln_registry_find(&archs, arch))
        return LN_FAIL(LN_NOT_FOUND, "operator '%s' runs on arch '%s', which is not registered",
                       optype, arch);
    size_t arch_len = strlen(arch), optype_len = strlen(optype);
    int has_suffix = optype_len > arch_len + 1 && optype[optype_len - arch_len - 1] == '_' &&
                     ln_suffixed(optype, arch);
    if (!ln_streq(arch, "none") && !has_suffix)
        return LN_FAIL(LN_INVALID, "operator '%s' of arch '%s' must be named '..._%s'", optype,
                       arch, arch);
    return LN_OK;
}

// The information in the size that this library knows.
static ln_status adopt_info(ln_op_arg *arg)
{
    if (!arg->info)
        return LN_OK;
    size_t byte_count = arg->info->byte_count, least = LN_SIZE_UP_TO(ln_op_info, params);
    if (byte_count == 0)
        return LN_FAIL(LN_INVALID,
                       "operator '%s': info->byte_count is 0, it should be sizeof(ln_op_info)",
                       arg->optype);
    void *given = (void *)(uintptr_t)arg->info, *whole;
    LN_TRY(ln_sized_adopt(given, byte_count, sizeof *arg->info, least, "ln_op_info", &whole));
    arg->info = whole;
    return LN_OK;
}

static void give_back_info(ln_op_arg *arg)
{
    arg->info = ln_sized_give_back((void *)(uintptr_t)arg->info);
}

static ln_status add_op(ln_op *op)
{
    LN_TRY(check_op(op));
    LN_TRY(ln_registry_add(&ops, op));
    const char *optype = op->op_arg->optype;
    ln_status status = adopt_info(op->op_arg);
    if (status == LN_OK) {
        status = table_insert(&LN_ARCH.op_proto_table, optype, op);
        if (status == LN_OK) {
            status = ln_use_add(LN_USE_OP, optype);
            if (status != LN_OK)
                table_remove(&LN_ARCH.op_proto_table, optype);
        }
        if (status != LN_OK)
            give_back_info(op->op_arg);
    }
    if (status != LN_OK)
        (void)ln_registry_remove(&ops, optype, NULL);
    return status;
}

static ln_status remove_op(const char *optype)
{
    void *op;
    LN_TRY(ln_registry_remove(&ops, optype, &op));
    ln_use_end(LN_USE_OP, optype);
    table_remove(&LN_ARCH.op_proto_table, optype);
    give_back_info(((ln_op *)op)->op_arg);
    return LN_OK;
}

ln_status ln_op_register(ln_op *op)
{
    pthread_mutex_lock(&writer);
    ln_status status = add_op(op);
    pthread_mutex_unlock(&writer);
    return status;
}

ln_status ln_op_check_unused(const char *optype)
{
    const ln_op *op = ln_registry_find(&ops, optype);
    size_t count = op ? ln_use_count(LN_USE_OP, optype) : 0;
    if (count > 0)
        return LN_FAIL(LN_STATE,
                       "operator type '%s' is in use by %zu operator%s of contexts, programs or "
                       "sessions, which are to be freed first",
                       optype, count, count == 1 ? "" : "s");
    count = op ? ln_use_count(LN_USE_ARCH, op->op_arg->arch) : 0;
    if (count > 0)
        return LN_FAIL(LN_STATE,
                       "operator type '%s' is one of arch '%s', the target of %zu context%s or "
                       "program%s, which may need it yet and are to be freed first",
                       optype, op->op_arg->arch, count, count == 1 ? "" : "s",
                       count == 1 ? "" : "s");
    return LN_OK;
}

ln_status ln_op_unregister(const char *optype)
{
    pthread_mutex_lock(&writer);
    ln_uses_freeze();
    ln_status status = ln_op_check_unused(optype);
    if (status == LN_OK)
        status = remove_op(optype);
    ln_uses_thaw();
    pthread_mutex_unlock(&writer);
    return status;
}

// "act_echo:1" may be of a device that is not named yet.
static ln_op *find_numbered(const char *optype)
{
    ln_op *op = NULL;
    for (const char *at = strchr(optype, '_'); at && !op; at = strchr(at + 1, '_'))
        if (ln_arch_need_numbered(at + 1) == LN_OK)
            op = ln_registry_find(&ops, optype);
    return op;
}

ln_op *ln_op_find(const char *optype)
{
    ln_op *op = ln_registry_find(&ops, optype);
    return op || !optype || !strchr(optype, ':') ? op : find_numbered(optype);
}

ln_op *ln_op_find_reference(const char *optype)
{
    const ln_arch *arch;
    for (size_t i = 0; optype && (arch = ln_arch_find_at(i)); i++) {
        char variant[LN_MAX_NAME_LEN];
        if (!arch->is_reference || snprintf(variant, sizeof variant, "%s_%s", optype,
                                            arch->arch_name) >= (int)sizeof variant)
            continue;
        ln_op *proto = ln_op_find(variant);
        if (proto)
            return proto;
    }
    return NULL;
}

ln_op *ln_op_find_at(size_t index)
{
    return ln_registry_find_at(&ops, index);
}

size_t ln_op_count(void)
{
    return ln_registry_count(&ops);
}

static void release_ops(void)
{
    ln_op *op;
    while ((op = ln_registry_pop(&ops))) {
        ln_use_end(LN_USE_OP, op->op_arg->optype);
        give_back_info(op->op_arg);
    }
    ln_hash_free(LN_ARCH.op_proto_table);
    LN_ARCH.op_proto_table = NULL;
}

void ln_op_release(void)
{
    pthread_mutex_lock(&writer);
    release_ops();
    pthread_mutex_unlock(&writer);
}

// ---- Memory of archs ----

static int has_own_memory(const ln_arch *arch)
{
    return arch->mem_info && arch->mem_type != LN_MEM_NONE && arch->mem_type != LN_MEM_CPU;
}

// Whether each device has a memory type of its own.
static bool has_device_memory(const ln_arch *arch)
{
    return arch->open && arch->alloc;
}

static ln_status set_copies(ln_mem_type m, ln_copy_func in, ln_copy_func out, ln_copy_func within)
{
    LN_TRY(ln_mem_type_register_copy(m, LN_MEM_CPU, in));
    LN_TRY(ln_mem_type_register_copy(LN_MEM_CPU, m, out));
    return ln_mem_type_register_copy(m, m, within);
}

static void remove_memory(ln_arch *arch)
{
    ln_mem_type_drop(arch->mem_type);
    if (has_own_memory(arch) || has_device_memory(arch))
        ln_mem_type_forget(arch->mem_type);
    if (has_device_memory(arch))
        arch->mem_type = LN_MEM_NONE;
}

// LN_MEM_ECHO_1 for "echo:1".
static void name_memory(const char *arch_name, char *name, size_t size)
{
    size_t used = (size_t)snprintf(name, size, "LN_MEM_");
    for (; *arch_name && used + 1 < size; arch_name++)
        name[used++] =
            isalnum((unsigned char)*arch_name) ? (char)toupper((unsigned char)*arch_name) : '_';
    name[used] = '\0';
}

// Before its operators are registered, which are in this memory.
static ln_status add_device_memory(ln_arch *arch)
{
    char name[LN_MAX_NAME_LEN], title[LN_MAX_NAME_LEN];
    ln_device_info info;
    LN_TRY(ln_arch_find_device(arch, ln_arch_device_index(arch), &info));
    name_memory(arch->arch_name, name, sizeof name);
    snprintf(title, sizeof title, "memory of %s", arch->arch_name);
    ln_status status = ln_mem_type_add_of_devices(name, title, info.memory_byte_count,
                                                  info.align_byte_count, &arch->mem_type);
    return status == LN_OK ? LN_OK : ln_fail_prefix("arch '%s'", arch->arch_name);
}

// A second arch on the same memory leaves out `mem_info`.
static ln_status add_memory(const ln_arch *arch)
{
    ln_mem_type_hold(arch->mem_type);
    if (!has_own_memory(arch))
        return LN_OK;
    ln_status status = ln_mem_type_register(arch->mem_type, arch->mem_info);
    if (status == LN_OK) {
        status = set_copies(arch->mem_type, arch->copy_in, arch->copy_out, arch->copy_within);
        if (status != LN_OK)
            ln_mem_type_forget(arch->mem_type);
    }
    if (status != LN_OK)
        ln_mem_type_drop(arch->mem_type);
    return status;
}

// ---- Archs ----

bool ln_arch_runs_groups(const ln_arch *arch)
{
    return arch && arch->prepare && (arch->run || (arch->run_async && arch->wait));
}

bool ln_arch_runs_async(const ln_arch *arch)
{
    return ln_arch_runs_groups(arch) && !arch->run;
}

static void remove_arch(ln_arch *arch)
{
    // Operators of the arch that were registered later, one by one, go with it too.
    for (size_t i = ln_registry_count(&ops); i-- > 0;) {
        const ln_op *op = ln_registry_find_at(&ops, i);
        if (ln_streq(op->op_arg->arch, arch->arch_name))
            (void)remove_op(op->op_arg->optype);
    }
    if (LN_ARCH.arch_table && ln_hash_find(LN_ARCH.arch_table, arch->arch_name) == arch)
        table_remove(&LN_ARCH.arch_table, arch->arch_name);
    ln_use_end(LN_USE_ARCH, arch->arch_name);
    ln_use_end(LN_USE_DEVICE, arch->arch_name);
    (void)ln_registry_remove(&archs, arch->arch_name, NULL);
}

// What a registered arch has besides its structure, which is not ours.
typedef struct arch_record {
    struct arch_record *next;
    ln_arch *arch;
    const ln_arch *base;  // of a device with a number: the arch that it is one of; NULL: none
    ln_document *derived; // has `derived_ops`; NULL: none
    ln_op **derived_ops;  // of its core_ops
    ln_rule_set *rules;   // of a text; NULL: none
} arch_record;

static arch_record *records;

static ln_status add_record(ln_arch *arch, arch_record **out_record)
{
    arch_record *record = *out_record = ln_alloc(sizeof *record);
    if (!record)
        return LN_NO_MEMORY;
    *record = (arch_record){.next = records, .arch = arch};
    records = record;
    return LN_OK;
}

static arch_record *find_record(const ln_arch *arch)
{
    arch_record *record = records;
    while (record && record->arch != arch)
        record = record->next;
    return record;
}

static void drop_rules(arch_record *record)
{
    if (!record->rules)
        return;
    record->arch->rules = NULL;
    ln_rule_set_destroy(record->rules);
    record->rules = NULL;
}

// Once its operators are no longer registered.
static void remove_record(const ln_arch *arch)
{
    arch_record **at = &records;
    while (*at && (*at)->arch != arch)
        at = &(*at)->next;
    arch_record *record = *at;
    if (!record)
        return;
    *at = record->next;
    ln_document_destroy(record->derived);
    drop_rules(record);
    ln_free(record);
}

static ln_status add_ops(ln_op **first)
{
    for (ln_op **op = first; op && *op; op++)
        LN_TRY(add_op(*op));
    return LN_OK;
}

static ln_status add_derived(ln_arch *arch)
{
    arch_record *record;
    LN_TRY(add_record(arch, &record));
    LN_TRY(ln_arch_derive_ops(arch, &record->derived, &record->derived_ops));
    return add_ops(record->derived_ops);
}

static ln_status open_ops(ln_arch *arch)
{
    return arch->op_rows ? ln_op_rows_open(arch->op_rows, &arch->reg_ops) : LN_OK;
}

static void close_ops(ln_arch *arch)
{
    if (!arch->op_rows)
        return;
    arch->reg_ops = NULL;
    ln_op_rows_close(arch->op_rows);
}

static void close_removed(ln_arch *arch)
{
    remove_record(arch);
    if (arch->cleanup_func)
        arch->cleanup_func(&arch->priv);
    remove_memory(arch);
    close_ops(arch);
}

// What the parts of the interface for devices ask of each other.
static ln_status check_devices(const ln_arch *arch)
{
    const char *name = arch->arch_name;
    if (name && name[strcspn(name, ", \t\n")])
        return LN_FAIL(LN_INVALID, "no target can name arch '%s': it has a comma or a space", name);
    bool is_all =
        arch->alloc && arch->free && arch->copy_to && arch->copy_from && arch->copy_inside;
    bool is_any =
        arch->alloc || arch->free || arch->copy_to || arch->copy_from || arch->copy_inside;
    if (!arch->open && (arch->close || arch->find_device || arch->options || is_any))
        return LN_FAIL(LN_INVALID, "arch '%s' has functions or options of devices, and no `open`",
                       name);
    if (arch->open && !arch->close)
        return LN_FAIL(LN_INVALID, "arch '%s' has `open`, so it needs `close`", name);
    if (arch->run && arch->run_async)
        return LN_FAIL(LN_INVALID, "arch '%s' has `run` and `run_async`: give one of them", name);
    if (arch->wait_for && !arch->run_async)
        return LN_FAIL(LN_INVALID, "arch '%s' has `wait_for`, and no `run_async` to wait for",
                       name);
    if (arch->release && !arch->prepare)
        return LN_FAIL(LN_INVALID, "arch '%s' has `release`, and no `prepare`", name);
    if (is_any && !is_all)
        return LN_FAIL(LN_INVALID,
                       "arch '%s' needs all of `alloc`, `free`, `copy_to`, `copy_from` and "
                       "`copy_inside`, or none of them",
                       name);
    if (is_any && (arch->mem_info || arch->mem_type != LN_MEM_NONE))
        return LN_FAIL(LN_INVALID,
                       "arch '%s' has `alloc`, so that the library gives its devices memory types: "
                       "`mem_type` is to be LN_MEM_NONE, and `mem_info` NULL",
                       name);
    return ln_device_options_check(arch);
}

static ln_status add_arch(ln_arch *arch)
{
    LN_TRY(check_devices(arch));
    LN_TRY(ln_registry_add(&archs, arch));
    ln_status status = open_ops(arch);
    if (status != LN_OK) {
        (void)ln_registry_remove(&archs, arch->arch_name, NULL);
        return status;
    }
    status = has_device_memory(arch) ? add_device_memory(arch) : LN_OK;
    if (status != LN_OK) {
        (void)ln_registry_remove(&archs, arch->arch_name, NULL);
        close_ops(arch);
        return status;
    }
    status = table_insert(&LN_ARCH.arch_table, arch->arch_name, arch);
    if (status == LN_OK)
        status = add_ops(arch->reg_ops);
    if (status == LN_OK)
        status = add_derived(arch);
    if (status == LN_OK)
        status = add_memory(arch);
    if (status != LN_OK) {
        remove_arch(arch);
        remove_record(arch);
        if (has_device_memory(arch)) {
            ln_mem_type_forget(arch->mem_type);
            arch->mem_type = LN_MEM_NONE;
        }
        close_ops(arch);
        return status;
    }
    if (arch->init_func)
        arch->init_func(&arch->priv);
    status = ln_use_add(LN_USE_DEVICE, arch->arch_name);
    if (status == LN_OK)
        status = ln_use_add(LN_USE_ARCH, arch->arch_name); // last: who holds it finds it whole
    if (status != LN_OK) {
        remove_arch(arch);
        close_removed(arch);
    }
    return status;
}

ln_status ln_arch_register_sized(ln_arch *arch, size_t byte_count)
{
    if (!arch)
        return LN_FAIL(LN_INVALID, "cannot register a NULL arch");
    void *whole;
    size_t least = LN_SIZE_UP_TO(ln_arch, arch_name);
    const char *name = byte_count >= least ? arch->arch_name : NULL;
    if (name && strchr(name, ':'))
        return LN_FAIL(LN_INVALID, "arch '%s': a colon is before the number of a device", name);
    if (name && ln_registry_find(&archs, name)) // it may be this one, which is filled in then
        return LN_FAIL(LN_EXISTS, "arch '%s' is registered already", name);
    LN_TRY(ln_sized_adopt(arch, byte_count, sizeof *arch, least, "ln_arch", &whole));
    pthread_mutex_lock(&writer);
    ln_status status = add_arch(whole);
    pthread_mutex_unlock(&writer);
    if (status != LN_OK)
        (void)ln_sized_give_back(whole);
    return status;
}

// For programs that were linked before the structure's size came along.
ln_status(ln_arch_register)(ln_arch *arch)
{
    return ln_arch_register_sized(arch, LN_SIZE_UP_TO(ln_arch, choices));
}

// ---- Use ----

// "conv_echo (2)", of what is in use; returns how many operators there are.
static size_t list_ops_in_use(const ln_arch *arch, char *text, size_t size)
{
    size_t total = 0, used = 0;
    text[0] = '\0';
    const ln_op *op;
    for (size_t i = 0; (op = ln_registry_find_at(&ops, i)); i++) {
        // Operators of any arch may have to be computed by a reference.
        bool counts = arch->is_reference || ln_streq(op->op_arg->arch, arch->arch_name);
        size_t count = counts ? ln_use_count(LN_USE_OP, op->op_arg->optype) : 0;
        total += count;
        if (count > 0 && used < size)
            used += (size_t)snprintf(text + used, size - used, "%s%s (%zu)", used ? ", " : "",
                                     op->op_arg->optype, count);
    }
    return total;
}

static const ln_arch *find_derived(const ln_arch *arch)
{
    const arch_record *record = ln_streq(arch->arch_name, "none") ? records : NULL;
    while (record && !record->derived)
        record = record->next;
    return record ? record->arch : NULL;
}

// LN_STATE with who uses the arch.
static ln_status check_unused(const ln_arch *arch)
{
    char types[256];
    size_t op_count = list_ops_in_use(arch, types, sizeof types);
    if (op_count > 0)
        return LN_FAIL(LN_STATE,
                       "arch '%s' is in use by %zu operator%s of contexts, programs or sessions, "
                       "which are to be freed first: %s",
                       arch->arch_name, op_count, op_count == 1 ? "" : "s", types);
    size_t target_count = ln_use_count(LN_USE_ARCH, arch->arch_name);
    if (target_count > 0)
        return LN_FAIL(LN_STATE,
                       "arch '%s' is in use as the target of %zu context%s or program%s, which are "
                       "to be freed first",
                       arch->arch_name, target_count, target_count == 1 ? "" : "s",
                       target_count == 1 ? "" : "s");
    size_t device_count = ln_use_count(LN_USE_DEVICE, arch->arch_name);
    if (device_count > 0)
        return LN_FAIL(LN_STATE,
                       "device '%s' is open in %zu context%s or what was made of %s, which are to "
                       "be freed first",
                       arch->arch_name, device_count, device_count == 1 ? "" : "s",
                       device_count == 1 ? "it" : "them");
    if ((has_own_memory(arch) || has_device_memory(arch)) &&
        ln_mem_type_use_count(arch->mem_type) > 1)
        return LN_FAIL(LN_STATE,
                       "arch '%s' has the memory '%s', which another arch, a context, program or "
                       "session uses",
                       arch->arch_name, ln_mem_type_title(arch->mem_type));
    const ln_arch *derived = find_derived(arch);
    if (derived)
        return LN_FAIL(LN_STATE, "operators of arch '%s' are derived from those of '%s'",
                       derived->arch_name, arch->arch_name);
    return LN_OK;
}

// Its arch is registered, and unused unless the status says so.
static ln_status find_unused(const char *arch_name, ln_arch **out_arch)
{
    ln_arch *arch = *out_arch = ln_registry_find(&archs, arch_name);
    if (!arch)
        return LN_FAIL(LN_NOT_FOUND, "no arch '%s' is registered",
                       arch_name ? arch_name : "(null)");
    LN_TRY(check_unused(arch));
    for (const arch_record *r = records; r; r = r->next)
        if (r->base == arch)
            LN_TRY(check_unused(r->arch));
    return LN_OK;
}

ln_status ln_arch_check_unused(const char *arch_name)
{
    ln_arch *arch;
    pthread_mutex_lock(&writer);
    ln_status status = find_unused(arch_name, &arch);
    pthread_mutex_unlock(&writer);
    return status;
}

// ---- Devices with numbers ----

typedef struct numbered {
    ln_arch arch; // first: its address is the struct's
    char name[LN_MAX_NAME_LEN];
} numbered;

// Once it is removed.
static void dispose(ln_arch *arch)
{
    const arch_record *record = find_record(arch);
    bool is_numbered = record && record->base;
    close_removed(arch);
    if (is_numbered)
        ln_free(arch);
    else
        (void)ln_sized_give_back(arch);
}

static void remove_numbered(const ln_arch *base)
{
    for (arch_record *r = records, *next; r; r = next) {
        next = r->next;
        if (r->base != base)
            continue;
        remove_arch(r->arch);
        dispose(r->arch);
    }
}

// It shares all with the first device but state, memory, and the operators, which are derived.
static ln_status add_numbered(const ln_arch *base, const char *name, int index)
{
    ln_device_info info;
    if (!base->open || !base->core_ops)
        return LN_FAIL(LN_UNSUPPORTED,
                       "arch '%s' has no devices with numbers, which need `open` and core_ops, so "
                       "that '%s' is none",
                       base->arch_name, name);
    LN_TRY(ln_arch_find_device(base, index, &info));
    numbered *n = ln_alloc(sizeof *n);
    if (!n)
        return LN_NO_MEMORY;
    *n = (numbered){.arch = *base};
    snprintf(n->name, sizeof n->name, "%s", name);
    n->arch.arch_name = n->name;
    n->arch.init_func = n->arch.cleanup_func = NULL;
    n->arch.reg_ops = NULL;
    n->arch.op_rows = NULL;
    n->arch.rules = NULL;
    n->arch.mem_type = has_device_memory(base) ? LN_MEM_NONE : base->mem_type;
    n->arch.mem_info = NULL;
    ln_status status = add_arch(&n->arch);
    if (status == LN_OK)
        find_record(&n->arch)->base = base;
    else
        ln_free(n);
    return status;
}

ln_status ln_arch_need_numbered(const char *name)
{
    const char *colon = name ? strchr(name, ':') : NULL;
    char base_name[LN_MAX_NAME_LEN];
    if (!colon || (size_t)(colon - name) >= sizeof base_name || strlen(name) >= LN_MAX_NAME_LEN)
        return LN_OK;
    snprintf(base_name, sizeof base_name, "%.*s", (int)(colon - name), name);
    size_t digits = strspn(colon + 1, "0123456789");
    bool is_number =
        digits > 0 && digits < 7 && !colon[1 + digits] && (colon[1] != '0' || digits == 1);
    pthread_mutex_lock(&writer);
    const ln_arch *base = ln_registry_find(&archs, base_name);
    ln_status status = LN_OK;
    if (base && !is_number)
        status = LN_FAIL(LN_INVALID, "'%s' is not a device: write '%s:1' for the second of '%s'",
                         name, base_name, base_name);
    else if (base && strcmp(colon, ":0") != 0 && !ln_registry_find(&archs, name))
        status = add_numbered(base, name, atoi(colon + 1));
    pthread_mutex_unlock(&writer);
    return status;
}

// ---- Removing ----

ln_status ln_arch_unregister(const char *arch_name)
{
    ln_arch *arch;
    pthread_mutex_lock(&writer);
    ln_uses_freeze();
    ln_status status = find_unused(arch_name, &arch);
    if (status == LN_OK)
        remove_numbered(arch);
    if (status == LN_OK)
        remove_arch(arch);
    ln_uses_thaw();
    if (status == LN_OK)
        dispose(arch);
    pthread_mutex_unlock(&writer);
    return status;
}

// ---- Rules ----

static ln_status take_rules(const char *arch_name, ln_rule_set *rules)
{
    ln_arch *arch;
    LN_TRY(find_unused(arch_name, &arch));
    if (arch->rules)
        return LN_FAIL(LN_EXISTS, "arch '%s' has rules already", arch_name);
    find_record(arch)->rules = rules;
    arch->rules = rules;
    return LN_OK;
}

ln_status ln_arch_take_rules(const char *arch_name, ln_rule_set *rules)
{
    pthread_mutex_lock(&writer);
    ln_uses_freeze();
    ln_status status = take_rules(arch_name, rules);
    ln_uses_thaw();
    pthread_mutex_unlock(&writer);
    return status;
}

ln_status ln_arch_drop_rules(const char *arch_name)
{
    ln_arch *arch;
    pthread_mutex_lock(&writer);
    ln_uses_freeze();
    ln_status status = find_unused(arch_name, &arch);
    if (status == LN_OK)
        drop_rules(find_record(arch));
    ln_uses_thaw();
    pthread_mutex_unlock(&writer);
    return status;
}

ln_arch *ln_arch_find(const char *arch_name)
{
    char plain[LN_MAX_NAME_LEN];
    return ln_registry_find(&archs, ln_device_plain_name(arch_name, plain, sizeof plain));
}

ln_arch *ln_arch_find_at(size_t index)
{
    return ln_registry_find_at(&archs, index);
}

size_t ln_arch_count(void)
{
    return ln_registry_count(&archs);
}

void ln_arch_release(void)
{
    pthread_mutex_lock(&writer);
    ln_arch *arch;
    while ((arch = ln_registry_pop(&archs))) {
        remove_arch(arch);
        dispose(arch);
    }
    release_ops();
    pthread_mutex_unlock(&writer);
}
