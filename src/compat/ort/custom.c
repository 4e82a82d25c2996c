// SPDX-License-Identifier: Apache-2.0
// Domains of custom operators, and libraries that bring them.
//
// Options and sessions hold both, so a client may release a domain as soon as options have it. The
// operators themselves are the library's, which stays open as long as a session has its kernels;
// what RegisterCustomOpsLibrary opens is the client's to close.

#include "compat/ort/custom.h"

#include <dlfcn.h>
#include <string.h>

// ---- Domains ----

static void domain_release(ort_domain *domain)
{
    if (!domain || atomic_fetch_sub_explicit(&domain->holder_count, 1, memory_order_acq_rel) != 1)
        return;
    ln_free(domain->ops);
    ln_free(domain);
}

static ort_status *CreateCustomOpDomain(const char *name, ort_domain **out)
{
    OUT(out, NULL);
    NEED(name);
    size_t name_size = strlen(name) + 1;
    ort_domain *domain = ln_alloc(sizeof *domain + name_size);
    if (!domain)
        return ort_fail_memory();
    atomic_init(&domain->holder_count, 1);
    memcpy(domain->name, name, name_size);
    *out = domain;
    return NULL;
}

static ort_status *CustomOpDomain_Add(ort_domain *domain, const ort_custom_op *op)
{
    NEED(domain);
    NEED(op);
    const ort_custom_op **ops =
        ln_realloc(domain->ops, (domain->op_count + 1) * sizeof *domain->ops);
    if (!ops)
        return ort_fail_memory();
    ops[domain->op_count++] = op;
    domain->ops = ops;
    return NULL;
}

// ---- Libraries ----

static void library_release(ort_library *library)
{
    if (!library || atomic_fetch_sub_explicit(&library->holder_count, 1, memory_order_acq_rel) != 1)
        return;
    (void)dlclose(library->handle);
    ln_free(library);
}

typedef ort_status *(*register_function)(ort_session_options *options, const ort_base *base);

static ort_status *open_library(const char *path, void **out)
{
    *out = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    return *out ? NULL : ort_fail(ORT_FAIL, "cannot open '%s': %s", path, dlerror());
}

static ort_status *call_library(ort_session_options *options, void *handle, const char *path)
{
    register_function function;
    *(void **)&function = dlsym(handle, "RegisterCustomOps");
    return function ? function(options, ort_own_base())
                    : ort_fail(ORT_FAIL, "'%s' has no function RegisterCustomOps", path);
}

// ---- What options hold ----

static void custom_free(ort_custom *custom)
{
    domain_release(custom->domain);
    library_release(custom->library);
    ln_free(custom);
}

// Domains go before the libraries that have their operators, and perhaps the domains.
void ort_customs_free(ort_custom *first)
{
    for (const ort_custom *c = first; c; c = c->next)
        domain_release(c->domain);
    while (first) {
        ort_custom *next = first->next;
        first->domain = NULL;
        custom_free(first);
        first = next;
    }
}

// Takes over the domain or library, also when it fails.
static ort_status *custom_add(ort_custom **list, ort_domain *domain, ort_library *library)
{
    ort_custom *custom = ln_alloc(sizeof *custom);
    if (!custom) {
        domain_release(domain);
        library_release(library);
        return ort_fail_memory();
    }
    custom->domain = domain;
    custom->library = library;
    while (*list)
        list = &(*list)->next; // in the order in which they came
    *list = custom;
    return NULL;
}

ort_status *ort_customs_copy(ort_custom **list, const ort_custom *from)
{
    for (; from; from = from->next) {
        if (from->domain)
            atomic_fetch_add_explicit(&from->domain->holder_count, 1, memory_order_relaxed);
        if (from->library)
            atomic_fetch_add_explicit(&from->library->holder_count, 1, memory_order_relaxed);
        TRY(custom_add(list, from->domain, from->library));
    }
    return NULL;
}

static ort_status *AddCustomOpDomain(ort_session_options *options, ort_domain *domain)
{
    NEED(options);
    NEED(domain);
    for (const ort_custom *c = options->customs; c; c = c->next)
        if (c->domain == domain)
            return NULL;
    atomic_fetch_add_explicit(&domain->holder_count, 1, memory_order_relaxed);
    return custom_add(&options->customs, domain, NULL);
}

static ort_status *RegisterCustomOpsLibrary(ort_session_options *options, const char *path,
                                            void **out_handle)
{
    OUT(out_handle, NULL);
    NEED(options);
    NEED(path);
    void *handle;
    TRY(open_library(path, &handle));
    ort_status *status = call_library(options, handle, path);
    if (status) {
        (void)dlclose(handle);
        return status;
    }
    *out_handle = handle;
    return NULL;
}

static ort_status *RegisterCustomOpsLibrary_V2(ort_session_options *options, const char *path)
{
    NEED(options);
    NEED(path);
    ort_library *library = ln_alloc(sizeof *library);
    if (!library)
        return ort_fail_memory();
    ort_status *status = open_library(path, &library->handle);
    if (status) {
        ln_free(library);
        return status;
    }
    void *handle = library->handle;
    atomic_init(&library->holder_count, 1);
    TRY(custom_add(&options->customs, NULL, library)); // first: a failure may leave its domains
    return call_library(options, handle, path);
}

// A function of the program, or of a library that it has linked.
static ort_status *RegisterCustomOpsUsingFunction(ort_session_options *options, const char *name)
{
    NEED(options);
    NEED(name);
    register_function function;
    *(void **)&function = dlsym(RTLD_DEFAULT, name);
    return function ? function(options, ort_own_base())
                    : ort_fail(ORT_FAIL, "the program has no function '%s'", name);
}

// ---- What an operator says ----

static size_t at_most(size_t index, size_t count)
{
    return index < count ? index : count - 1;
}

int ort_input_type(const ort_custom_op *op, size_t index)
{
    size_t count = op->input_count(op);
    return count ? op->input_type(op, at_most(index, count)) : 0;
}

int ort_output_type(const ort_custom_op *op, size_t index)
{
    size_t count = op->output_count(op);
    return count ? op->output_type(op, at_most(index, count)) : 0;
}

// Variadic arguments came later than optional ones.
static int known_kind(const ort_custom_op *op, int kind)
{
    return kind == ORT_VARIADIC && op->version < ORT_SINCE_VARIADIC ? ORT_REQUIRED : kind;
}

int ort_input_kind(const ort_custom_op *op, size_t index)
{
    size_t count = op->input_count(op);
    return op->version >= ORT_SINCE_KINDS && op->input_kind && count
               ? known_kind(op, op->input_kind(op, at_most(index, count)))
               : ORT_REQUIRED;
}

int ort_output_kind(const ort_custom_op *op, size_t index)
{
    size_t count = op->output_count(op);
    return op->version >= ORT_SINCE_KINDS && op->output_kind && count
               ? known_kind(op, op->output_kind(op, at_most(index, count)))
               : ORT_REQUIRED;
}

int ort_start_version(const ort_custom_op *op)
{
    return op->version >= ORT_SINCE_INFER && op->start_version ? op->start_version(op) : 1;
}

const ort_row ort_custom_slots[] = {
    SLOT(CreateCustomOpDomain),
    SLOT(CustomOpDomain_Add),
    SLOT_AS(ReleaseCustomOpDomain, domain_release),
    SLOT(AddCustomOpDomain),
    SLOT(RegisterCustomOpsLibrary),
    SLOT(RegisterCustomOpsLibrary_V2),
    SLOT(RegisterCustomOpsUsingFunction),
    SLOT_END,
};
