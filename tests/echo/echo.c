// SPDX-License-Identifier: Apache-2.0
// The device behind tests/echo/echo.h. Its memory is mapped twice: where the library has addresses,
// every access faults; the device has the bytes at an alias.

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "tests/echo/echo.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <lightnet/allocator.h>
#include <lightnet/lightnet.h>
#include <lightnet/op_support.h>

#include "tests/test.h"

#define MAX_BLOCKS 256
#define MAX_EVENTS 4096
#define MAX_BEGUN  256

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

// ---- Failures ----

static struct {
    echo_call call;
    int skip;
    int counts[ECHO_CALL_COUNT];
} failure;

void echo_fail(echo_call call, int skip)
{
    pthread_mutex_lock(&lock);
    memset(&failure, 0, sizeof failure);
    failure.call = call;
    failure.skip = skip;
    pthread_mutex_unlock(&lock);
}

int echo_calls(echo_call call)
{
    pthread_mutex_lock(&lock);
    int count = failure.counts[call];
    pthread_mutex_unlock(&lock);
    return count;
}

static bool fails(echo_call call)
{
    pthread_mutex_lock(&lock);
    failure.counts[call]++;
    bool is_it = failure.call == call && failure.skip-- == 0;
    pthread_mutex_unlock(&lock);
    return is_it;
}

// ---- The log ----

static struct {
    const char *events[MAX_EVENTS];
    size_t count;
    int groups, last_group;
    size_t copied_in, copied_out;
    echo_begun begun[MAX_BEGUN];
    size_t begun_count;
    int start_count;
    uintptr_t address_bits;
    int strays; // waits for what was not started, or was waited for
} seen;

void echo_say(const char *event)
{
    pthread_mutex_lock(&lock);
    if (seen.count < MAX_EVENTS)
        seen.events[seen.count++] = event;
    pthread_mutex_unlock(&lock);
}

size_t echo_said_count(const char *event)
{
    size_t count = 0;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < seen.count; i++)
        count += strcmp(seen.events[i], event) == 0;
    pthread_mutex_unlock(&lock);
    return count;
}

int echo_position(const char *event, size_t nth)
{
    int position = -1;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < seen.count && position < 0; i++)
        if (strcmp(seen.events[i], event) == 0 && nth-- == 0)
            position = (int)i;
    pthread_mutex_unlock(&lock);
    return position;
}

static void note_begun(echo_begun begun)
{
    pthread_mutex_lock(&lock);
    if (seen.begun_count < MAX_BEGUN)
        seen.begun[seen.begun_count++] = begun;
    pthread_mutex_unlock(&lock);
}

static int number_of_start(void)
{
    pthread_mutex_lock(&lock);
    int number = seen.start_count++;
    pthread_mutex_unlock(&lock);
    return number;
}

static void note_stray(void)
{
    pthread_mutex_lock(&lock);
    seen.strays++;
    pthread_mutex_unlock(&lock);
}

static void note_address(const void *address)
{
    pthread_mutex_lock(&lock);
    seen.address_bits |= (uintptr_t)address;
    pthread_mutex_unlock(&lock);
}

uintptr_t echo_address_bits(void)
{
    pthread_mutex_lock(&lock);
    uintptr_t bits = seen.address_bits;
    pthread_mutex_unlock(&lock);
    return bits;
}

size_t echo_list_begun(echo_begun *begun, size_t size)
{
    pthread_mutex_lock(&lock);
    size_t count = seen.begun_count;
    for (size_t i = 0; i < count && i < size; i++)
        begun[i] = seen.begun[i];
    pthread_mutex_unlock(&lock);
    return count;
}

// ---- Memory ----

typedef struct block {
    char *start; // what the library sees: no access
    char *alias; // what the device sees
    size_t size, mapped_size;
    ln_mem_type mtype;
} block;

static block blocks[MAX_BLOCKS];
static size_t peaks[LN_MEM_TYPE_SIZE];

void echo_forget(void)
{
    pthread_mutex_lock(&lock);
    seen.count = seen.copied_in = seen.copied_out = seen.begun_count = 0;
    seen.start_count = 0;
    seen.address_bits = 0;
    memset(peaks, 0, sizeof peaks);
    pthread_mutex_unlock(&lock);
}

static void *map(block *b)
{
    int file = memfd_create("echo", 0);
    if (file < 0)
        return NULL;
    void *start = MAP_FAILED, *alias = MAP_FAILED;
    if (ftruncate(file, (off_t)b->mapped_size) == 0) {
        start = mmap(NULL, b->mapped_size, PROT_NONE, MAP_SHARED, file, 0);
        alias = mmap(NULL, b->mapped_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    }
    close(file);
    if (start != MAP_FAILED && alias != MAP_FAILED) {
        b->start = start;
        b->alias = alias;
        memset(alias, 0xa5, b->mapped_size); // nobody relies on zeros
        return start;
    }
    if (start != MAP_FAILED)
        munmap(start, b->mapped_size);
    if (alias != MAP_FAILED)
        munmap(alias, b->mapped_size);
    return NULL;
}

static size_t most_bytes = SIZE_MAX;

void echo_limit(size_t byte_count)
{
    most_bytes = byte_count;
}

static void *take(size_t n, ln_mem_type mtype)
{
    size_t live = echo_live_bytes(mtype);
    if (fails(ECHO_ALLOC) || n > most_bytes || live > most_bytes - n)
        return NULL;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    block b = {.size = n, .mapped_size = (n / page + 1) * page, .mtype = mtype};
    if (!map(&b))
        return NULL;
    pthread_mutex_lock(&lock);
    size_t i = 0;
    while (i < MAX_BLOCKS && blocks[i].start)
        i++;
    if (i < MAX_BLOCKS)
        blocks[i] = b;
    if (n > peaks[mtype])
        peaks[mtype] = n;
    pthread_mutex_unlock(&lock);
    if (i == MAX_BLOCKS)
        abort(); // the test needs more blocks
    return b.start;
}

static void *take_dpu(size_t n)
{
    return take(n, LN_MEM_DPU);
}

static void *take_cuda(size_t n)
{
    return take(n, LN_MEM_CUDA);
}

static void give(void *p)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; p && i < MAX_BLOCKS; i++)
        if (blocks[i].start == p) {
            munmap(blocks[i].start, blocks[i].mapped_size);
            munmap(blocks[i].alias, blocks[i].mapped_size);
            blocks[i] = (block){0};
            p = NULL;
        }
    pthread_mutex_unlock(&lock);
    if (p)
        abort(); // what was not allocated, or twice
}

// Where the device has the bytes; `n` of them are in one block. Main memory is itself.
static void *alias_of(const void *p, size_t n)
{
    const char *at = p;
    void *alias = (void *)(uintptr_t)p;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < MAX_BLOCKS; i++)
        if (blocks[i].start && at >= blocks[i].start && at <= blocks[i].start + blocks[i].size) {
            if (at + n > blocks[i].start + blocks[i].size)
                abort(); // past the end
            alias = blocks[i].alias + (at - blocks[i].start);
        }
    pthread_mutex_unlock(&lock);
    return alias;
}

static void *fill(void *p, int byte, size_t n)
{
    memset(alias_of(p, n), byte, n);
    return p;
}

static void *copy_in(void *dst, const void *src, size_t n)
{
    if (fails(ECHO_COPY_IN))
        return NULL;
    memmove(alias_of(dst, n), src, n);
    pthread_mutex_lock(&lock);
    seen.copied_in += n;
    pthread_mutex_unlock(&lock);
    return dst;
}

static void *copy_out(void *dst, const void *src, size_t n)
{
    if (fails(ECHO_COPY_OUT))
        return NULL;
    memmove(dst, alias_of(src, n), n);
    pthread_mutex_lock(&lock);
    seen.copied_out += n;
    pthread_mutex_unlock(&lock);
    return dst;
}

static void *copy_within(void *dst, const void *src, size_t n)
{
    if (fails(ECHO_COPY_WITHIN))
        return NULL;
    memmove(alias_of(dst, n), alias_of(src, n), n);
    return dst;
}

size_t echo_live_bytes(ln_mem_type mtype)
{
    size_t sum = 0;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < MAX_BLOCKS; i++)
        sum += blocks[i].start && blocks[i].mtype == mtype ? blocks[i].size : 0;
    pthread_mutex_unlock(&lock);
    return sum;
}

size_t echo_peak_bytes(ln_mem_type mtype)
{
    pthread_mutex_lock(&lock);
    size_t peak = peaks[mtype];
    pthread_mutex_unlock(&lock);
    return peak;
}

int echo_live_groups(void)
{
    pthread_mutex_lock(&lock);
    int count = seen.groups;
    pthread_mutex_unlock(&lock);
    return count;
}

int echo_groups_of_last_prepare(void)
{
    pthread_mutex_lock(&lock);
    int count = seen.last_group;
    pthread_mutex_unlock(&lock);
    return count;
}

size_t echo_copied_in(void)
{
    pthread_mutex_lock(&lock);
    size_t count = seen.copied_in;
    pthread_mutex_unlock(&lock);
    return count;
}

size_t echo_copied_out(void)
{
    pthread_mutex_lock(&lock);
    size_t count = seen.copied_out;
    pthread_mutex_unlock(&lock);
    return count;
}

// ---- Groups ----

// One operator as a model of its own: each input an `input`, but for numbers that shapes may follow
// from, which are constants.
typedef struct echo_op {
    ln_context *ctx; // NULL: a view, which is in its place already
    size_t in_count, out_count;
    bool is_spoiled;   // a bit of its first output is another
    char (*names)[32]; // of the inputs, then of the outputs; "": left out, or a constant
} echo_op;

typedef struct echo_group {
    size_t count;
    echo_op *ops;
} echo_group;

typedef struct job {
    struct job *next;
    echo_group *group;
    tl_tensor *const *addresses;
    echo_begun begun;
    ln_status status;
    bool is_done;
} job;

typedef struct echo_device {
    ln_arch arch;
    int index;
    echo_options options; // of one that was opened
    ln_mem_info mem_info;
    echo_settings settings;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    job *first; // that are not begun, in the order in which they will be
    job *done;
    bool is_held, is_closing;
} echo_device;

static ln_status append(ln_context *ctx, const char *optype, const char *name, ln_list *ins,
                        ln_list *outs, ln_list *params)
{
    // A list that could not be made whole is shorter, with a failure recorded.
    ln_op *op = NULL;
    if (ln_error_status() != LN_NO_MEMORY)
        op =
            ln_op_create_from_proto(ln_op_find(optype), name, ins, outs, params, ctx->tensor_table);
    if (!op) {
        ln_tensor_list_free(ins);
        ln_tensor_list_free(outs);
        ln_param_list_free(params);
        return ln_error_status();
    }
    ln_status status = ln_context_append_op(ctx, op);
    if (status != LN_OK)
        ln_op_free_lists_too(op);
    return status;
}

static ln_list *type_params(const tl_tensor *t)
{
    ln_list *params = ln_param_list_append_string(NULL, "dtype", tl_dtype_name(t->dtype));
    return ln_param_list_append_array_int(params, "dims", t->ndim, t->dims);
}

// A short array of integers whose elements are there.
static bool is_for_shapes(const ln_tensor_entry *entry)
{
    const tl_tensor *t = entry->tensor;
    return entry->isstatic && t->data && t->len <= 64 &&
           (t->dtype == TL_INT64 || t->dtype == TL_INT32);
}

static ln_list *constant_params(const tl_tensor *t)
{
    double numbers[64];
    const void *elements = alias_of(t->data, tl_tensor_size(t));
    for (int i = 0; i < t->len; i++)
        numbers[i] = t->dtype == TL_INT64 ? (double)((const int64_t *)elements)[i]
                                          : (double)((const int32_t *)elements)[i];
    return ln_param_list_append_array_double(type_params(t), "data", t->len, numbers);
}

static ln_status add_inputs(echo_op *e, const ln_op_arg *arg)
{
    size_t k = 0;
    const ln_tensor_list_entry *in;
    LN_LIST_FOREACH (in, arg->tensors_in) {
        const ln_tensor_entry *entry = ln_tensor_table_find(arg->tensor_table, in->name);
        if (!entry) { // left out
            k++;
            continue;
        }
        char name[32];
        snprintf(name, sizeof name, "i%zu", k);
        bool is_constant = is_for_shapes(entry);
        LN_TRY(append(e->ctx, is_constant ? "create" : "input", name, NULL,
                      ln_tensor_list_append(NULL, "dst", name),
                      is_constant ? constant_params(entry->tensor) : type_params(entry->tensor)));
        if (!is_constant)
            memcpy(e->names[k], name, sizeof name);
        k++;
    }
    return LN_OK;
}

static ln_list *listed(const ln_list *tensors, char letter)
{
    ln_list *list = NULL;
    size_t k = 0;
    const ln_tensor_list_entry *t;
    LN_LIST_FOREACH (t, tensors) {
        char name[32];
        snprintf(name, sizeof name, "%c%zu", letter, k++);
        if (!*t->name)
            continue;
        list = ln_tensor_list_append(list, t->arg_name, name);
    }
    return list;
}

static ln_status add_computation(echo_op *e, const ln_op_arg *arg)
{
    char optype[LN_MAX_NAME_LEN];
    snprintf(optype, sizeof optype, "%.*s", (int)(strlen(arg->optype) - strlen(arg->arch) - 1),
             arg->optype);
    LN_TRY(append(e->ctx, optype, "computation", listed(arg->tensors_in, 'i'),
                  listed(arg->tensors_out, 'o'), ln_param_list_copy(arg->params)));
    const ln_tensor_list_entry *out;
    size_t k = 0;
    LN_LIST_FOREACH (out, arg->tensors_out) {
        char name[32], output[40];
        snprintf(name, sizeof name, "o%zu", k);
        snprintf(output, sizeof output, "output%zu", k);
        if (!*out->name) { // left out
            k++;
            continue;
        }
        memcpy(e->names[e->in_count + k++], name, sizeof name);
        LN_TRY(
            append(e->ctx, "output", output, ln_tensor_list_append(NULL, "src", name), NULL, NULL));
    }
    return LN_OK;
}

static ln_status prepare_op(const echo_device *device, echo_op *e, const ln_op *op)
{
    const ln_op_arg *arg = op->op_arg;
    ln_error_clear();
    const char *spoiled = device->settings.spoiled;
    e->is_spoiled = spoiled && (strcmp(arg->name, spoiled) == 0 || strcmp(spoiled, "*") == 0);
    e->in_count = (size_t)ln_list_length(arg->tensors_in);
    e->out_count = (size_t)ln_list_length(arg->tensors_out);
    e->names = ln_alloc_array(e->in_count + e->out_count + 1, sizeof *e->names);
    if (!e->names)
        return LN_NO_MEMORY;
    if (!op->run)
        return LN_OK;
    e->ctx = ln_context_create();
    if (!e->ctx)
        return LN_NO_MEMORY;
    LN_TRY(add_inputs(e, arg));
    LN_TRY(add_computation(e, arg));
    LN_TRY(ln_context_init_ops(e->ctx));
    ln_optimize_options options = ln_optimize_options_default();
    options.stays_as_read = true;
    LN_TRY(ln_context_compile_with(e->ctx, "ref", &options));
    return ln_context_load(e->ctx, NULL);
}

static void release(void *priv, void *prepared)
{
    echo_group *group = prepared;
    (void)priv;
    if (!group)
        return;
    for (size_t i = 0; i < group->count; i++) {
        ln_context_free(group->ops[i].ctx);
        ln_free(group->ops[i].names);
    }
    ln_free(group->ops);
    ln_free(group);
    pthread_mutex_lock(&lock);
    seen.groups--;
    pthread_mutex_unlock(&lock);
}

static ln_status prepare(void *priv, const ln_list *ops, void **out_group)
{
    const echo_device *device = priv;
    *out_group = NULL;
    if (fails(ECHO_PREPARE))
        return LN_FAIL(LN_IO, "arch '%s': injected failure of prepare", device->settings.name);
    echo_group *group = ln_alloc(sizeof *group);
    if (!group)
        return LN_NO_MEMORY;
    size_t count = (size_t)ln_list_length(ops);
    pthread_mutex_lock(&lock);
    seen.groups++;
    seen.last_group = (int)count;
    pthread_mutex_unlock(&lock);
    group->ops = ln_alloc_array(count, sizeof *group->ops);
    ln_status status = group->ops ? LN_OK : LN_NO_MEMORY;
    for (const ln_list *l = ops; l && status == LN_OK; l = l->next)
        status = prepare_op(device, &group->ops[group->count++], l->data);
    if (status != LN_OK) {
        release(priv, group);
        return status;
    }
    *out_group = group;
    return LN_OK;
}

// One operator; moves `addresses` past its tensors.
static ln_status compute_op(const echo_op *e, tl_tensor *const **addresses)
{
    tl_tensor *const *tensors = *addresses;
    *addresses += e->in_count + e->out_count;
    if (!e->ctx)
        return LN_OK;
    for (size_t k = 0; k < e->in_count; k++) {
        if (!e->names[k][0])
            continue;
        size_t n = tl_tensor_size(tensors[k]);
        note_address(tensors[k]->data);
        LN_TRY(ln_context_set_data_n(e->ctx, e->names[k], alias_of(tensors[k]->data, n), n));
    }
    LN_TRY(ln_context_run(e->ctx));
    for (size_t k = e->in_count; k < e->in_count + e->out_count; k++) {
        if (!e->names[k][0])
            continue;
        size_t n = tl_tensor_size(tensors[k]);
        note_address(tensors[k]->data);
        LN_TRY(ln_context_get_data_n(e->ctx, e->names[k], alias_of(tensors[k]->data, n), n));
    }
    const tl_tensor *first = tensors[e->in_count];
    if (e->is_spoiled && tl_tensor_size(first) > 2)
        ((char *)alias_of(first->data, 3))[2] ^= 0x40;
    return LN_OK;
}

static ln_status compute(const echo_group *group, tl_tensor *const *addresses)
{
    echo_say("begin");
    ln_status status = LN_OK;
    for (size_t i = 0; i < group->count && status == LN_OK; i++)
        status = compute_op(&group->ops[i], &addresses);
    echo_say("end");
    return status;
}

// ---- The queue ----

static void sleep_ms(double ms)
{
    struct timespec time = {.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(fmod(ms, 1000) * 1e6)};
    while (nanosleep(&time, &time) != 0)
        continue;
}

static void *work(void *arg)
{
    echo_device *device = arg;
    pthread_mutex_lock(&device->lock);
    while (!device->is_closing) {
        job *next = device->is_held ? NULL : device->first;
        if (!next) {
            pthread_cond_wait(&device->changed, &device->lock);
            continue;
        }
        device->first = next->next;
        pthread_mutex_unlock(&device->lock);
        if (device->options.delay > 0)
            sleep_ms(device->options.delay);
        note_begun(next->begun);
        ln_status status = compute(next->group, next->addresses);
        pthread_mutex_lock(&device->lock);
        next->status = status;
        next->is_done = true;
        pthread_cond_broadcast(&device->changed);
    }
    pthread_mutex_unlock(&device->lock);
    return NULL;
}

static ln_status start(void *priv, void *group, tl_tensor *const *addresses)
{
    echo_device *device = priv;
    if (fails(ECHO_RUN))
        return LN_FAIL(LN_IO, "arch '%s': injected failure of run", device->settings.name);
    job *added = ln_alloc(sizeof *added);
    job *listed_job = ln_alloc(sizeof *listed_job);
    if (!added || !listed_job) {
        ln_free(added);
        ln_free(listed_job);
        return LN_NO_MEMORY;
    }
    *added = (job){.group = group, .addresses = addresses};
    pthread_mutex_lock(&device->lock);
    added->begun = (echo_begun){.start = number_of_start(), .priority = ln_run_priority()};
    job **at = &device->first;
    while (*at && (*at)->begun.priority >= added->begun.priority)
        at = &(*at)->next;
    added->next = *at;
    *at = added;
    // Those that are waited for are found by their addresses, which no other run has.
    *listed_job = (job){.next = device->done, .group = (void *)added};
    device->done = listed_job;
    echo_say("start");
    pthread_cond_broadcast(&device->changed);
    pthread_mutex_unlock(&device->lock);
    return LN_OK;
}

static job *take_job(echo_device *device, const void *group, tl_tensor *const *addresses)
{
    for (job **at = &device->done; *at; at = &(*at)->next) {
        job *node = *at, *found = (job *)(void *)node->group;
        if (found->group == group && found->addresses == addresses) {
            *at = node->next;
            ln_free(node);
            return found;
        }
    }
    return NULL;
}

static ln_status wait_for(void *priv, void *group, tl_tensor *const *addresses)
{
    echo_device *device = priv;
    pthread_mutex_lock(&device->lock);
    job *found = take_job(device, group, addresses);
    while (found && !found->is_done)
        pthread_cond_wait(&device->changed, &device->lock);
    pthread_mutex_unlock(&device->lock);
    echo_say("wait");
    if (!found)
        note_stray();
    ln_status status = found ? found->status : LN_FAIL(LN_INTERNAL, "nothing to wait for");
    if (found && status != LN_OK)
        status = LN_FAIL(status, "arch '%s': a group failed", device->settings.name);
    ln_free(found);
    if (fails(ECHO_WAIT))
        return LN_FAIL(LN_IO, "arch '%s': injected failure of wait", device->settings.name);
    return status;
}

static job *find_job(const echo_device *device, const void *group, tl_tensor *const *addresses)
{
    for (const job *node = device->done; node; node = node->next) {
        job *found = (job *)(void *)node->group;
        if (found->group == group && found->addresses == addresses)
            return found;
    }
    return NULL;
}

static ln_status wait_shortly(void *priv, void *group, tl_tensor *const *addresses, double seconds,
                              int *out_is_over)
{
    echo_device *device = priv;
    struct timespec until;
    if (fails(ECHO_ASK))
        return LN_FAIL(LN_IO, "injected failure of wait_for");
    clock_gettime(CLOCK_REALTIME, &until);
    double ns = (double)until.tv_nsec + seconds * 1e9;
    until.tv_sec += (time_t)(ns / 1e9);
    until.tv_nsec = (long)fmod(ns, 1e9);
    pthread_mutex_lock(&device->lock);
    const job *found = find_job(device, group, addresses);
    int waited = 0;
    while (found && !found->is_done && waited == 0)
        waited = pthread_cond_timedwait(&device->changed, &device->lock, &until);
    *out_is_over = !found || found->is_done;
    pthread_mutex_unlock(&device->lock);
    return *out_is_over ? wait_for(priv, group, addresses) : LN_OK;
}

static ln_status run(void *priv, void *group, tl_tensor *const *addresses)
{
    LN_TRY(start(priv, group, addresses));
    return wait_for(priv, group, addresses);
}

void echo_hold(ln_arch *arch)
{
    echo_device *device = arch->priv;
    pthread_mutex_lock(&device->lock);
    device->is_held = true;
    pthread_mutex_unlock(&device->lock);
}

void echo_let_go(ln_arch *arch)
{
    echo_device *device = arch->priv;
    pthread_mutex_lock(&device->lock);
    device->is_held = false;
    pthread_cond_broadcast(&device->changed);
    pthread_mutex_unlock(&device->lock);
}

// ---- What it takes ----

static uint64_t mix(uint64_t seed, const char *name)
{
    uint64_t hash = UINT64_C(14695981039346656037) ^ seed;
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * UINT64_C(1099511628211);
    hash ^= hash >> 29;
    hash *= UINT64_C(0xbf58476d1ce4e5b9);
    return hash ^ hash >> 32;
}

static bool is_named(const char *const *names, const char *name)
{
    for (; *names; names++)
        if (strcmp(*names, name) == 0)
            return true;
    return false;
}

static ln_status describe(void *priv, const ln_op *op)
{
    const echo_settings *settings = &((const echo_device *)priv)->settings;
    const char *name = op->op_arg->name;
    if (fails(ECHO_DESCRIBE))
        return LN_FAIL(LN_IO, "injected failure of describe");
    bool is_other = ((const echo_device *)priv)->index == 1 && settings->names_of_1;
    const char *const *names = is_other ? settings->names_of_1 : settings->names;
    bool takes =
        names ? is_named(names, name) : mix(settings->seed, name) % 100 >= settings->left_out;
    return takes ? LN_OK
                 : LN_FAIL(LN_UNSUPPORTED, "arch '%s' does not take '%s'", settings->name, name);
}

static ln_status evaluate(void *priv, const ln_op *const *ops, size_t count, double *out_seconds)
{
    const echo_settings *settings = &((const echo_device *)priv)->settings;
    (void)ops;
    (void)count;
    if (fails(ECHO_EVALUATE))
        return LN_FAIL(LN_IO, "injected failure of evaluate");
    *out_seconds = settings->seconds;
    return LN_OK;
}

static const char *const core_types[] = {
    "act(*)",        "attention(*)",    "batchnorm(*)",
    "cast(*)",       "compare(*)",      "concat(*)",
    "conv(*)",       "cumsum(*)",       "deconv(*)",
    "einsum(*)",     "elew(*)",         "expand(*)",
    "func(*)",       "groupnorm(*)",    "layernorm(*)",
    "linear(*)",     "lrn(*)",          "matmul(*)",
    "pad(*)",        "pool(*)",         "prelu(*)",
    "quant_act(*)",  "quant_conv(*)",   "quantize(*)",
    "quant_elew(*)", "quant_matmul(*)", "dequantize(*)",
    "rescale(*)",    "reduce(*)",       "resize(*)",
    "rnn(*)",        "scale_shift(*)",  "select(*)",
    "softmax(*)",    "take(*)",         "topk(*)",
    "trilu(*)",      "forward(*)",      "reshape(*)",
    "slice(*)",      "transpose(*)",    NULL,
};

// ---- Life ----

static void start_thread(echo_device *device)
{
    pthread_mutex_init(&device->lock, NULL);
    pthread_cond_init(&device->changed, NULL);
    CHECK_EQ(pthread_create(&device->thread, NULL, work, device), 0);
}

static void end_thread(echo_device *device)
{
    pthread_mutex_lock(&device->lock);
    device->is_closing = true;
    pthread_cond_broadcast(&device->changed);
    pthread_mutex_unlock(&device->lock);
    pthread_join(device->thread, NULL);
    CHECK_NULL(device->first);
    CHECK_NULL(device->done);
    CHECK_EQ(seen.strays, 0);
    pthread_cond_destroy(&device->changed);
    pthread_mutex_destroy(&device->lock);
}

// ---- Devices that are opened: each has a thread ----

static struct {
    echo_options options;
    int count, index;
} opened;

static const char *const moods[] = {"calm", "cross", NULL};

static const ln_device_option options[] = {
    {"delay", LN_DEVICE_FLOAT, offsetof(echo_options, delay), "0", NULL,
     "milliseconds before a group begins"},
    {"depth", LN_DEVICE_INT, offsetof(echo_options, depth), "4", NULL, "nothing"},
    {"loud", LN_DEVICE_BOOL, offsetof(echo_options, is_loud), "false", NULL, "says so"},
    {"mood", LN_DEVICE_WORD, offsetof(echo_options, mood), "calm", moods, "nothing either"},
    {0},
};

echo_options echo_last_options(void)
{
    return opened.options;
}

int echo_open_count(void)
{
    pthread_mutex_lock(&lock);
    int count = opened.count;
    pthread_mutex_unlock(&lock);
    return count;
}

int echo_last_index(void)
{
    return opened.index;
}

static ln_status find_device(void *priv, int index, ln_device_info *out_info)
{
    const echo_device *arch = priv;
    if (index >= arch->settings.device_count)
        return LN_NOT_FOUND;
    snprintf(out_info->title, sizeof out_info->title, "echo number %d", index);
    out_info->memory_byte_count = (size_t)1 << 32;
    out_info->align_byte_count = arch->settings.align;
    return LN_OK;
}

static ln_status open_device(void *priv, int index, const void *given, size_t byte_count,
                             void **out_device)
{
    const echo_device *arch = priv;
    if (fails(ECHO_OPEN))
        return LN_FAIL(LN_IO, "injected failure of open");
    CHECK_EQ(byte_count, sizeof(echo_options));
    echo_device *device = ln_alloc(sizeof *device);
    if (!device)
        return LN_NO_MEMORY;
    device->settings = arch->settings;
    device->index = index;
    memcpy(&device->options, given, sizeof device->options);
    start_thread(device);
    pthread_mutex_lock(&lock);
    opened.options = device->options;
    opened.count++;
    opened.index = index;
    pthread_mutex_unlock(&lock);
    if (device->options.is_loud)
        echo_say("loud");
    *out_device = device;
    return LN_OK;
}

static void close_device(void *given)
{
    end_thread(given);
    ln_free(given);
    pthread_mutex_lock(&lock);
    opened.count--;
    pthread_mutex_unlock(&lock);
}

static ln_status alloc_in(void *given, size_t byte_count, void **out_start)
{
    *out_start = take(byte_count, LN_MEM_DPU + ((const echo_device *)given)->index);
    return *out_start ? LN_OK : LN_FAIL(LN_NO_MEMORY, "injected failure of alloc");
}

static void free_in(void *given, void *start)
{
    (void)given;
    give(start);
}

static ln_status copy_to(void *given, void *dst, const void *src, size_t n)
{
    (void)given;
    return copy_in(dst, src, n) ? LN_OK : LN_FAIL(LN_IO, "injected failure of copy_to");
}

static ln_status copy_from(void *given, void *dst, const void *src, size_t n)
{
    (void)given;
    return copy_out(dst, src, n) ? LN_OK : LN_FAIL(LN_IO, "injected failure of copy_from");
}

static ln_status copy_inside(void *given, void *dst, const void *src, size_t n)
{
    (void)given;
    return copy_within(dst, src, n) ? LN_OK : LN_FAIL(LN_IO, "injected failure of copy_inside");
}

// What an arch whose devices are opened has in the place of its memory.
static void add_devices(ln_arch *arch)
{
    arch->open = open_device;
    arch->close = close_device;
    arch->find_device = find_device;
    arch->options = options;
    arch->option_byte_count = sizeof(echo_options);
    arch->mem_info = NULL;
    arch->copy_in = arch->copy_out = arch->copy_within = NULL;
    if (arch->mem_type == LN_MEM_CPU)
        return;
    arch->mem_type = LN_MEM_NONE;
    arch->alloc = alloc_in;
    arch->free = free_in;
    arch->copy_to = copy_to;
    arch->copy_from = copy_from;
    arch->copy_inside = copy_inside;
}

static ln_arch make_arch(echo_device *device)
{
    const echo_settings *s = &device->settings;
    return (ln_arch){
        .arch_name = (char *)(uintptr_t)s->name,
        .priv = device,
        .mem_type = s->shares_main ? LN_MEM_CPU : s->mtype,
        .mem_info = s->shares_main ? NULL : &device->mem_info,
        .copy_in = copy_in,
        .copy_out = copy_out,
        .copy_within = copy_within,
        .fallbacks = s->fallback,
        .describe = describe,
        .prepare = prepare,
        .run = s->is_async ? NULL : run,
        .run_async = s->is_async ? start : NULL,
        .wait = s->is_async ? wait_for : NULL,
        .wait_for = s->has_wait_for ? wait_shortly : NULL,
        .release = release,
        .core_ops = core_types,
        .evaluate = s->seconds < 0 ? NULL : evaluate,
    };
}

ln_arch *echo_create(const echo_settings *settings)
{
    echo_device *device = ln_alloc(sizeof *device);
    CHECK_NOT_NULL(device);
    device->settings = *settings;
    device->mem_info = (ln_mem_info){
        .alloc_func = settings->mtype == LN_MEM_DPU ? take_dpu : take_cuda,
        .free_func = give,
        .memset_func = fill,
        .max_size = (size_t)1 << 32,
        .align_size = LN_MEM_ALIGN,
    };
    device->arch = make_arch(device);
    if (settings->device_count > 0)
        add_devices(&device->arch);
    start_thread(device);
    return &device->arch;
}

void echo_destroy(ln_arch *arch)
{
    echo_device *device = arch->priv;
    end_thread(device);
    ln_free(device);
}

ln_arch *echo_open(const echo_settings *settings)
{
    ln_arch *arch = echo_create(settings);
    CHECK_OK(ln_arch_register(arch));
    return arch;
}

void echo_close(ln_arch *arch)
{
    CHECK_OK(ln_arch_unregister(arch->arch_name));
    echo_destroy(arch);
}
