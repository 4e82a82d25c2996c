/* SPDX-License-Identifier: Apache-2.0 */
/* LightNet in C++20: handles that free what they own, spans, exceptions.
 *
 *     lightnet::library library;                       // lives longer than all below
 *     lightnet::context model = lightnet::context::read("model.onnx");
 *     model.compile("cpu");
 *     model.load();
 *     model.set("image", pixels);                      // a std::vector, std::array, std::span
 *     model.run();
 *     std::span<const float> prob = model.view<float>("prob");    // until the next run
 *
 * What fails throws `lightnet::error`, which has the status and the library's message: constructors
 * can fail, and C++20 has no `std::expected`. A program without exceptions uses the C functions,
 * which this header only calls. Handles are moved, never copied; what is moved from is empty, and
 * may only be assigned to and destroyed. `get()` is the C object, for all functions that are not
 * here; `release()` gives it away. What is borrowed, a span of `view()` or `elements()`, is of a
 * handle with a name: of a temporary, which is gone at the end of the line, it does not compile.
 * Threads: as the C functions say.
 */

#ifndef LIGHTNET_LIGHTNET_HPP
#define LIGHTNET_LIGHTNET_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <lightnet/use.h>

namespace lightnet {

// ---- Errors ----

class error : public std::runtime_error {
public:
    error(ln_status status, const std::string &message)
        : std::runtime_error(message), status_(status) {}
    ln_status status() const noexcept { return status_; }

private:
    ln_status status_;
};

// Throws what the calling thread's last failure says, unless all is well.
inline void check(ln_status status) {
    if (status != LN_OK)
        throw error(status, ln_error_message());
}

// ---- Handles ----

// Owns one `T`, which `Free` gives back. The base of all below; other C objects fit it, too.
template <class T, void (*Free)(T *)> class handle {
public:
    explicit handle(T *owned = nullptr) noexcept : owned_(owned) {}
    T *get() const noexcept { return owned_.get(); }
    T *release() noexcept { return owned_.release(); }
    explicit operator bool() const noexcept { return bool(owned_); }

protected:
    // Takes what a C function returned; NULL is its failure.
    static T *take(T *made) {
        if (!made)
            throw error(ln_error_status() != LN_OK ? ln_error_status() : LN_NO_MEMORY,
                        ln_error_message());
        return made;
    }

private:
    struct freer {
        void operator()(T *owned) const noexcept { Free(owned); }
    };
    std::unique_ptr<T, freer> owned_;
};

// Archs, operators and formats are registered as long as one of these lives.
class library {
public:
    library() { check(ln_arch_init()); }
    ~library() { ln_arch_cleanup(); }
    library(const library &) = delete;
    library &operator=(const library &) = delete;
};

// ---- Elements ----

// The element type of C++ elements; bytes are those of any.
template <class T> constexpr tl_dtype dtype_of() {
    if constexpr (std::is_same_v<T, float>)
        return TL_FLOAT;
    else if constexpr (std::is_same_v<T, double>)
        return TL_DOUBLE;
    else if constexpr (std::is_same_v<T, std::byte>)
        return TL_DTYPE_INVALID;
    else {
        static_assert(std::is_integral_v<T> && !std::is_same_v<T, bool> && sizeof(T) <= 8,
                      "elements are float, double, integers, or std::byte for all others");
        constexpr bool is_signed = std::is_signed_v<T>;
        return sizeof(T) == 1   ? (is_signed ? TL_INT8 : TL_UINT8)
               : sizeof(T) == 2 ? (is_signed ? TL_INT16 : TL_UINT16)
               : sizeof(T) == 4 ? (is_signed ? TL_INT32 : TL_UINT32)
                                : (is_signed ? TL_INT64 : TL_UINT64);
    }
}

template <class T> void check_dtype(tl_dtype dtype, const std::string &name) {
    const bool has_bytes = dtype != TL_STRING && dtype != TL_OBJECT;
    if (std::is_same_v<T, std::byte> ? has_bytes : dtype == dtype_of<T>())
        return;
    const char *is = tl_dtype_title(dtype), *wanted = tl_dtype_title(dtype_of<T>());
    throw error(LN_INVALID, "tensor '" + name + "' is " + (is ? is : "of no type") + ", not " +
                                (wanted ? wanted : "bytes"));
}

// The same for a tensor of a context or session. Where the type is known at run time, bytes alone
// pass.
template <class T, class Owner>
void check_tensor(const Owner *owner, tl_dtype (*dtype_in)(const Owner *, const char *),
                  const std::string &name) {
    ln_error_clear();
    const tl_dtype dtype = dtype_in(owner, name.c_str());
    if (dtype != TL_DTYPE_INVALID)
        return check_dtype<T>(dtype, name);
    check(ln_error_status()); // there is no such tensor
    if (!std::is_same_v<T, std::byte>)
        throw error(LN_UNSUPPORTED, "the type of tensor '" + name +
                                        "' is known at run time: use get_object()");
}

// ---- Values ----

// A tensor with a shape of its own, or a sequence, an optional, a map; see object.h.
class object : public handle<ln_object, ln_object_release> {
public:
    using handle::handle;

    // A tensor with a copy of the elements, in row-major order.
    template <std::ranges::contiguous_range R>
    static object tensor(const R &elements, const std::vector<int> &dims) {
        using T = std::ranges::range_value_t<R>;
        static_assert(!std::is_same_v<T, std::byte>, "bytes do not say their element type");
        object made(take(ln_object_new_tensor(dtype_of<T>(), static_cast<int>(dims.size()),
                                              dims.data(), nullptr)));
        const std::span<const T> from(elements);
        const std::span<T> to(static_cast<T *>(ln_object_tensor(made.get())->data),
                              static_cast<std::size_t>(ln_object_tensor(made.get())->len));
        if (from.size() != to.size())
            throw error(LN_INVALID, "the tensor has " + std::to_string(to.size()) +
                                        " elements, the data " + std::to_string(from.size()));
        std::ranges::copy(from, to.begin());
        return made;
    }

    // Both are empty unless it is a tensor; a scalar has no dimensions, and one element.
    std::vector<int> dims() const {
        const tl_tensor *t = ln_object_tensor(get());
        return t ? std::vector<int>(t->dims, t->dims + t->ndim) : std::vector<int>();
    }
    template <class T> std::span<const T> elements() const & {
        const tl_tensor *t = ln_object_tensor(get());
        if (!t)
            return {};
        check_dtype<T>(t->dtype, "of an object");
        return {static_cast<const T *>(t->data), tl_tensor_size(t) / sizeof(T)};
    }
    template <class T> std::span<const T> elements() const && = delete;
};

// ---- Ending what goes on, from another thread ----

class cancel : public handle<ln_cancel, ln_cancel_release> {
public:
    cancel() : handle(take(ln_cancel_create())) {}
    void request() noexcept { ln_cancel_request(get()); }
    bool is_requested() const noexcept { return ln_cancel_is_requested(get()); }
};

// ---- Models ----

struct dimension {
    std::int64_t size;  // -1: dynamic
    std::string symbol; // "": none
};

// What the model says of an input or output.
struct tensor_info {
    std::string name;
    tl_dtype dtype;              // TL_DTYPE_INVALID: known at run time
    bool has_rank;               // false: the shape is known at run time
    std::vector<dimension> dims; // of a scalar: none
};

// What the model's file states about the model; "" where it states nothing.
struct model_info {
    std::string producer, producer_version, domain, doc, graph, graph_doc;
    std::int64_t version = 0;
    std::vector<std::pair<std::string, std::string>> properties; // in the order of the file
    std::vector<std::string> defaults; // inputs with a value, constants until `make_input`

    // The value of a property; nullptr if there is none.
    const std::string *find(std::string_view key) const & noexcept {
        for (const auto &property : properties)
            if (property.first == key)
                return &property.second;
        return nullptr;
    }
    const std::string *find(std::string_view key) const && = delete;
};

// The same of a context, a program or a session.
template <class Owner>
tensor_info tensor_info_of(const Owner *owner, const std::string &name,
                           tl_dtype (*dtype_in)(const Owner *, const char *),
                           int (*rank_in)(const Owner *, const char *),
                           std::int64_t (*dim_in)(const Owner *, const char *, int),
                           const char *(*symbol_in)(const Owner *, const char *, int)) {
    ln_error_clear();
    const int rank = rank_in(owner, name.c_str());
    if (rank < 0 && ln_error_status() == LN_NOT_FOUND)
        check(LN_NOT_FOUND); // else its rank is not stated
    tensor_info made{name, dtype_in(owner, name.c_str()), rank >= 0, {}};
    for (int axis = 0; axis < rank; axis++) {
        const char *symbol = symbol_in(owner, name.c_str(), axis);
        made.dims.push_back({dim_in(owner, name.c_str(), axis), symbol ? symbol : ""});
    }
    return made;
}

class context : public handle<ln_context, ln_context_free> {
public:
    context() : handle(take(ln_context_create())) {}
    explicit context(ln_context *owned) noexcept : handle(owned) {}

    // ---- Life ----

    static context read(const std::string &path) {
        context made;
        made.init(path);
        return made;
    }
    static context read(std::span<const std::byte> bytes, const std::string &name = "<memory>") {
        context made;
        check(ln_context_init_mem(made.get(), bytes.data(), bytes.size(), name.c_str()));
        return made;
    }
    void init(const std::string &path) { check(ln_context_init(get(), path.c_str())); }
    void init_with(const std::string &path, const ln_read_options &options) {
        check(ln_context_init_with(get(), path.c_str(), &options));
    }
    void init_signature(const std::string &path, const std::string &signature) {
        check(ln_context_init_signature(get(), path.c_str(), signature.c_str()));
    }
    void compile(const std::string &target = "cpu", const ln_optimize_options *options = nullptr) {
        check(ln_context_compile_with(get(), target.c_str(), options));
    }
    // Opens a device such as "echo:1", and compiles for those that were added and "cpu".
    void add_device(const std::string &name) { check(ln_context_add_device(get(), name.c_str())); }
    // "delay=5,depth=2", before it is open.
    void set_device(const std::string &name, const std::string &options) {
        check(ln_context_set_device_text(get(), name.c_str(), options.c_str()));
    }
    void compile_for_devices(const ln_optimize_options *options = nullptr) {
        check(ln_context_compile_with(get(), nullptr, options));
    }
    void load() { check(ln_context_load(get(), nullptr)); }
    void load(const std::string &datafile) { check(ln_context_load(get(), datafile.c_str())); }
    void run() { check(ln_context_run(get())); }
    void unload() noexcept { ln_context_unload(get()); }

    // A context of its own that shares the weights; for many threads see `program`.
    context clone() const {
        ln_context *made;
        check(ln_context_clone(get(), &made));
        return context(made);
    }

    // ---- What is said before ----

    void set_limits(const ln_limits &limits) { check(ln_context_set_limits(get(), &limits)); }
    void set_threads(std::size_t count) { check(ln_context_set_threads(get(), count)); }
    void set_timeout(double seconds) { check(ln_context_set_timeout(get(), seconds)); }
    void set_priority(int priority) { check(ln_context_set_priority(get(), priority)); }
    void set_cancel(const lightnet::cancel &wish) {
        check(ln_context_set_cancel(get(), wish.get()));
    }
    void set_symbol(const std::string &symbol, int size) {
        check(ln_context_set_symbol(get(), symbol.c_str(), size));
    }
    void set_shape(const std::string &name, const std::vector<int> &dims) {
        check(
            ln_context_set_shape(get(), name.c_str(), static_cast<int>(dims.size()), dims.data()));
    }

    // Before it is compiled: a constant of `metadata().defaults` becomes an input.
    void make_input(const std::string &name) { check(ln_context_make_input(get(), name.c_str())); }

    // ---- What it says ----

    model_info metadata() const {
        const ln_model_info *info = ln_context_info(get());
        model_info made{info->producer, info->producer_version, info->domain, info->doc,
                        info->graph,    info->graph_doc,        info->version, {}, {}};
        for (std::size_t i = 0; i < info->property_count; i++)
            made.properties.emplace_back(info->properties[i].key, info->properties[i].value);
        made.defaults.assign(info->defaults, info->defaults + info->default_count);
        return made;
    }
    ln_context_state state() const noexcept { return ln_context_get_state(get()); }
    std::size_t peak_bytes(ln_mem_type mtype = LN_MEM_CPU) const noexcept {
        return ln_context_peak_bytes(get(), mtype);
    }
    std::vector<tensor_info> inputs() const { return infos(ln_context_input_name); }
    std::vector<tensor_info> outputs() const { return infos(ln_context_output_name); }
    tensor_info info(const std::string &name) const {
        return tensor_info_of(get(), name, ln_context_tensor_dtype, ln_context_tensor_rank,
                              ln_context_tensor_dim, ln_context_tensor_symbol);
    }

    // ---- Data, of exactly the tensor's type and size ----

    template <std::ranges::contiguous_range R>
    void set(const std::string &name, const R &elements) {
        using T = std::ranges::range_value_t<R>;
        const std::span<const T> from(elements);
        check_elements<T>(name);
        check(ln_context_set_data_n(get(), name.c_str(), from.data(), from.size_bytes()));
    }
    template <std::ranges::contiguous_range R>
    void get_into(const std::string &name, R &&elements) {
        using T = std::ranges::range_value_t<R>;
        const std::span<T> to(elements);
        check_elements<T>(name);
        check(ln_context_get_data_n(get(), name.c_str(), to.data(), to.size_bytes()));
    }
    template <class T> std::vector<T> copy(const std::string &name) {
        std::vector<T> elements(ln_context_data_size(get(), name.c_str()) / sizeof(T));
        get_into(name, elements);
        return elements;
    }

    // The tensor's own elements, until the next run, or the model is unloaded or freed.
    template <class T> std::span<const T> view(const std::string &name) & {
        check_elements<T>(name);
        const void *bytes;
        std::size_t byte_count;
        check(ln_context_borrow_data(get(), name.c_str(), &bytes, &byte_count));
        return {static_cast<const T *>(bytes), byte_count / sizeof(T)};
    }
    template <class T> std::span<const T> view(const std::string &name) && = delete;

    // Values of dynamic shape; the context holds what it was given.
    void set(const std::string &name, const object &value) {
        check(ln_context_set_object(get(), name.c_str(), value.get()));
    }
    object get_object(const std::string &name) const {
        ln_object *value;
        check(ln_context_get_object(get(), name.c_str(), &value));
        return object(value);
    }

private:
    template <class T> void check_elements(const std::string &name) const {
        check_tensor<T>(get(), ln_context_tensor_dtype, name);
    }
    std::vector<tensor_info> infos(const char *(*name_at)(const ln_context *, std::size_t)) const {
        std::vector<tensor_info> made;
        const char *name;
        for (std::size_t i = 0; (name = name_at(get(), i)) != nullptr; i++)
            made.push_back(info(name));
        return made;
    }
};

// ---- Many threads ----

// Runs a program, in one thread at a time.
class session : public handle<ln_session, ln_session_free> {
public:
    explicit session(ln_session *owned) noexcept : handle(owned) {}

    // What the model states, before and after a run.
    tensor_info info(const std::string &name) const {
        return tensor_info_of(get(), name, ln_session_tensor_dtype, ln_session_tensor_rank,
                              ln_session_tensor_dim, ln_session_tensor_symbol);
    }

    // Memory of the caller's that runs read and write without a copy where they can; it has to stay
    // until something else is set or bound (`ln_session_bind_input`, `ln_session_bind_output`).
    template <class T>
    void bind_input(const std::string &name, std::span<const T> elements, std::vector<int> dims) {
        if (elements.size() > INT32_MAX)
            throw error(LN_INVALID, "too many elements for tensor '" + name + "'");
        tl_tensor tensor = {};
        tensor.dtype = dtype_of<T>();
        tensor.len = static_cast<int>(elements.size());
        tensor.ndim = static_cast<int>(dims.size());
        tensor.dims = dims.data();
        tensor.data = const_cast<T *>(elements.data()); // runs never write there
        check(ln_session_bind_input(get(), name.c_str(), &tensor));
    }
    template <class T> void bind_output(const std::string &name, std::span<T> elements) {
        check_tensor<T>(get(), ln_session_tensor_dtype, name);
        check(ln_session_bind_output(get(), name.c_str(), elements.data(), elements.size_bytes()));
    }
    void unbind_input(const std::string &name) {
        check(ln_session_bind_input(get(), name.c_str(), nullptr));
    }
    // The value that it had when the session was made (`ln_session_reset_input`).
    void reset_input(const std::string &name) {
        check(ln_session_reset_input(get(), name.c_str()));
    }
    void unbind_output(const std::string &name) {
        check(ln_session_bind_output(get(), name.c_str(), nullptr, 0));
    }
    // The shape of a value, after a run or once it is set.
    std::vector<int> dims(const std::string &name) const {
        const tl_tensor *t;
        check(ln_session_borrow_tensor(get(), name.c_str(), &t));
        return std::vector<int>(t->dims, t->dims + t->ndim);
    }
    void run() { check(ln_session_run(get())); }

    // A run in the session's own thread, and its end, whose failure is thrown.
    void run_async(ln_session_done_func done = nullptr, void *user = nullptr)
    {
        check(ln_session_run_async(get(), done, user));
    }
    void wait() { check(ln_session_wait(get())); }
    bool has_ended(double seconds = 0) const
    {
        int has_ended;
        check(ln_session_poll(get(), seconds, &has_ended));
        return has_ended != 0;
    }
    template <std::ranges::contiguous_range R>
    void set(const std::string &name, const R &elements) {
        using T = std::ranges::range_value_t<R>;
        const std::span<const T> from(elements);
        check_tensor<T>(get(), ln_session_tensor_dtype, name);
        check(ln_session_set_data(get(), name.c_str(), from.data(), from.size_bytes()));
    }
    template <std::ranges::contiguous_range R>
    void get_into(const std::string &name, R &&elements) {
        using T = std::ranges::range_value_t<R>;
        const std::span<T> to(elements);
        check_tensor<T>(get(), ln_session_tensor_dtype, name);
        check(ln_session_get_data(get(), name.c_str(), to.data(), to.size_bytes()));
    }

    // The tensor's own elements, until the session runs again or is freed.
    template <class T> std::span<const T> view(const std::string &name) & {
        check_tensor<T>(get(), ln_session_tensor_dtype, name);
        const void *bytes;
        std::size_t byte_count;
        check(ln_session_borrow_data(get(), name.c_str(), &bytes, &byte_count));
        return {static_cast<const T *>(bytes), byte_count / sizeof(T)};
    }
    template <class T> std::span<const T> view(const std::string &name) && = delete;

    void set(const std::string &name, const object &value) {
        check(ln_session_set_object(get(), name.c_str(), value.get()));
    }
    object get_object(const std::string &name) const {
        ln_object *value;
        check(ln_session_get_object(get(), name.c_str(), &value));
        return object(value);
    }
    void set_timeout(double seconds) { check(ln_session_set_timeout(get(), seconds)); }
    void set_priority(int priority) { check(ln_session_set_priority(get(), priority)); }
    void set_cancel(const lightnet::cancel &wish) {
        check(ln_session_set_cancel(get(), wish.get()));
    }
};

// A loaded model that does not change any more; all threads may use one at once.
class program : public handle<ln_program, ln_program_release> {
public:
    explicit program(const context &loaded) : handle(make(loaded)) {}
    class session session() const {
        ln_session *made;
        check(ln_session_create(get(), &made));
        return lightnet::session(made);
    }
    bool is_fixed() const noexcept { return ln_program_is_fixed(get()); }
    std::vector<tensor_info> inputs() const {
        return infos(ln_program_input, ln_program_input_count(get()));
    }
    std::vector<tensor_info> outputs() const {
        return infos(ln_program_output, ln_program_output_count(get()));
    }
    tensor_info info(const std::string &name) const {
        return tensor_info_of(get(), name, ln_program_tensor_dtype, ln_program_tensor_rank,
                              ln_program_tensor_dim, ln_program_tensor_symbol);
    }

private:
    std::vector<tensor_info> infos(ln_status (*end_at)(const ln_program *, std::size_t,
                                                       const char **, const tl_tensor **),
                                   std::size_t count) const {
        std::vector<tensor_info> made;
        for (std::size_t i = 0; i < count; i++) {
            const char *name;
            check(end_at(get(), i, &name, nullptr));
            made.push_back(info(name));
        }
        return made;
    }
    static ln_program *make(const context &loaded) {
        ln_program *made;
        check(ln_program_create(loaded.get(), &made));
        return made;
    }
};

} // namespace lightnet

#endif
