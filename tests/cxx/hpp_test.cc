// SPDX-License-Identifier: Apache-2.0
// The C++ header, as a program outside the project uses it.

#include <lightnet/lightnet.hpp>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <thread>

using lightnet::cancel;
using lightnet::context;
using lightnet::object;

static int failure_count;

#define CHECK(condition)                                                                                               \
    ((condition) ? void() : (void)(std::printf("%s:%d: %s\n", __FILE__, __LINE__, #condition), failure_count++))

// Moved, never copied; no larger than what they hold.
template <class T>
constexpr bool is_handle =
    std::is_nothrow_move_constructible_v<T> &&std::is_nothrow_move_assignable_v<T> &&
    !std::is_copy_constructible_v<T> && !std::is_copy_assignable_v<T> && sizeof(T) == sizeof(void *);
static_assert(is_handle<context> && is_handle<object> && is_handle<cancel>);
static_assert(!std::is_copy_constructible_v<lightnet::library> && !std::is_move_constructible_v<lightnet::library>);
static_assert(!std::is_convertible_v<ln_context *, context>);
static_assert(lightnet::dtype_of<long long>() == TL_INT64 && lightnet::dtype_of<unsigned char>() == TL_UINT8);

static std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

// The status of what `action` throws; LN_OK: nothing.
template <class F> static ln_status status_of(F action, const char *message = "") {
    try {
        action();
    } catch (const lightnet::error &e) {
        CHECK(std::strstr(e.what(), message));
        return e.status();
    }
    return LN_OK;
}

constexpr std::string_view small = "input(| dst=x | dtype=TL_FLOAT, dims=[2, 3]);\n"
                                   "relu(src=x | dst=y |);\n";
constexpr std::string_view dynamic = "input(| dst=x | dtype=TL_INT32, dims=[-1, 2], names=[\"n\", \"\"]);\n"
                                     "Abs(X=x | Y=y |);\n";

constexpr std::string_view stated =
    "{\"info\": {\"producer\": \"maker\", \"version\": \"9223372036854775807\", \"graph\": \"g\","
    " \"properties\": [[\"classes\", \"cat, dog\"], [\"\", \"\"]], \"defaults\": [\"w\"]}, \"ops\": ["
    "{\"name\": \"i\", \"optype\": \"input\", \"tensors_in\": [], \"tensors_out\": [{\"arg_name\": \"dst\", \"name\": \"x\"}],"
    " \"params\": [{\"arg_name\": \"dtype\", \"value\": \"TL_FLOAT\"}, {\"arg_name\": \"dims\", \"value\": [2]}]},"
    "{\"name\": \"c\", \"optype\": \"create\", \"tensors_in\": [], \"tensors_out\": [{\"arg_name\": \"dst\", \"name\": \"w\"}],"
    " \"params\": [{\"arg_name\": \"dtype\", \"value\": \"TL_FLOAT\"}, {\"arg_name\": \"dims\", \"value\": [2]},"
    " {\"arg_name\": \"data\", \"value\": [3, 5]}]},"
    "{\"name\": \"a\", \"optype\": \"Add\", \"tensors_in\": [{\"arg_name\": \"A\", \"name\": \"x\"}, {\"arg_name\": \"B\", \"name\": \"w\"}],"
    " \"tensors_out\": [{\"arg_name\": \"C\", \"name\": \"y\"}], \"params\": []}]}";

static void metadata_is_what_the_file_states() {
    context model = context::read(bytes_of(stated), "stated.json");
    const lightnet::model_info info = model.metadata();
    CHECK(info.producer == "maker" && info.producer_version.empty() && info.graph == "g" && info.doc.empty());
    CHECK(info.version == INT64_MAX && info.properties.size() == 2 && info.properties[1].first.empty());
    CHECK(info.find("classes") && *info.find("classes") == "cat, dog" && !info.find("names"));
    CHECK(info.defaults == std::vector<std::string>{"w"} && model.inputs().size() == 1);
    model.make_input("w");
    CHECK(model.inputs().size() == 2);
    model.compile("cpu");
    model.load();
    model.set("x", std::array<float, 2>{1, 2});
    model.run();
    CHECK(model.copy<float>("y") == (std::vector<float>{4, 7}));
    model.set("w", std::array<float, 2>{10, 20});
    model.run();
    CHECK(model.copy<float>("y") == (std::vector<float>{11, 22}));
    const lightnet::model_info none = context::read(bytes_of(small), "small.net").metadata();
    CHECK(none.producer.empty() && none.version == 0 && none.properties.empty() && none.defaults.empty());
}

static void a_model_runs() {
    context model = context::read(bytes_of(small), "small.net");
    CHECK(model.state() == LN_CONTEXT_READY && model.peak_bytes() == 0);
    model.set_threads(1);
    model.compile("cpu");
    CHECK(model.peak_bytes() > 0);
    model.load();
    const std::vector<lightnet::tensor_info> inputs = model.inputs();
    CHECK(inputs.size() == 1 && inputs[0].name == "x" && inputs[0].dtype == TL_FLOAT);
    CHECK(inputs[0].has_rank && inputs[0].dims.size() == 2 && inputs[0].dims[1].size == 3);
    CHECK(model.outputs().size() == 1 && model.outputs()[0].name == "y");

    const std::array<float, 6> x = {-1, 2, -3, 4, -5, 6};
    model.set("x", x);
    model.set("x", std::vector<float>(x.begin(), x.end()));
    model.set("x", std::span(x));
    model.set("x", std::as_bytes(std::span(x)));
    model.run();
    std::array<float, 6> y = {};
    model.get_into("y", y);
    CHECK(y[0] == 0 && y[5] == 6);
    CHECK(model.copy<float>("y") == std::vector<float>(y.begin(), y.end()));
    const std::span<const float> in_place = model.view<float>("y");
    CHECK(in_place.size() == 6 && in_place[3] == 4);
    CHECK(model.view<std::byte>("y").size() == 24);
}

static void what_fails_throws_with_the_reason() {
    CHECK(status_of([] { context::read("nowhere.onnx"); }, "nowhere.onnx") == LN_IO);
    CHECK(status_of([] { context::read(bytes_of("relu(src=x | dst=y |);")); }) != LN_OK);
    CHECK(status_of([] { context().init_signature("nowhere.tflite", "decode"); }, "nowhere.tflite") == LN_IO);
    const ln_read_options reading = {.signature = nullptr, .rounding = "float", .is_resizable = false};
    CHECK(status_of([&] { context().init_with("nowhere.tflite", reading); }) == LN_IO);
    context model = context::read(bytes_of(small));
    CHECK(status_of([&] { model.run(); }, "not loaded") == LN_STATE);
    CHECK(status_of([&] { model.compile("nobody"); }) == LN_NOT_FOUND);
    model.compile();
    model.load();
    const std::array<float, 5> five = {};
    const std::array<double, 6> doubles = {};
    CHECK(status_of([&] { model.set("x", five); }, "tensor 'x' has 24 bytes, the data 20") == LN_INVALID);
    CHECK(status_of([&] { model.set("x", doubles); }, "tensor 'x' is float32, not float64") == LN_INVALID);
    CHECK(status_of([&] { model.copy<int>("y"); }, "not int32") == LN_INVALID);
    CHECK(status_of([&] { model.view<float>("nobody"); }, "nobody") == LN_NOT_FOUND);
    CHECK(status_of([&] { model.load("nowhere.safetensors"); }) != LN_OK);
    CHECK(model.state() == LN_CONTEXT_LOADED);
}

static void handles_move() {
    context first = context::read(bytes_of(small));
    ln_context *inside = first.get();
    context second = std::move(first);
    CHECK(second.get() == inside && second && !first);
    first = context();
    CHECK(first.state() == LN_CONTEXT_EMPTY);
    second = std::move(first); // frees the model
    ln_context_free(second.release());
    CHECK(!second);
    std::vector<context> models;
    for (int i = 0; i < 5; i++)
        models.push_back(context::read(bytes_of(small)));
    models.erase(models.begin());
}

static void clones_run_in_threads_and_outlive_their_origin() {
    std::vector<context> clones;
    {
        context model = context::read(bytes_of(small));
        model.compile();
        model.load();
        for (int i = 0; i < 3; i++)
            clones.push_back(model.clone());
    }
    std::vector<std::thread> threads;
    for (context &clone : clones)
        threads.emplace_back([&clone] {
            clone.set("x", std::array<float, 6>{1, 1, 1, 1, 1, 1});
            clone.run();
        });
    for (std::thread &thread : threads)
        thread.join();
    for (context &clone : clones)
        CHECK(clone.view<float>("y")[5] == 1);
}

static void sessions_run_in_threads_and_outlive_their_context() {
    std::optional<lightnet::program> program;
    {
        context model = context::read(bytes_of(small));
        model.compile();
        model.load();
        program.emplace(model);
    }
    CHECK(program->is_fixed());
    std::vector<std::thread> threads;
    std::array<float, 8> results{};
    for (float &result : results)
        threads.emplace_back([&program, &result] {
            lightnet::session session = program->session();
            std::array<float, 6> y;
            session.set("x", std::array<float, 6>{1, 1, 1, 1, 1, 1});
            session.run();
            session.get_into("y", y);
            result = y[5];
        });
    for (std::thread &thread : threads)
        thread.join();
    for (const float result : results)
        CHECK(result == 1);
    lightnet::session session = program->session();
    CHECK(status_of([&] { session.set("x", std::array<float, 2>{}); }) == LN_INVALID);
    CHECK(status_of([&] { session.set("x", std::array<int, 6>{}); }, "is float32, not int32") == LN_INVALID);
    CHECK(status_of([&] { session.view<int>("y"); }, "is float32, not int32") == LN_INVALID);
    CHECK(status_of([&] { session.view<float>("nobody"); }, "nobody") == LN_NOT_FOUND);

    const std::vector<float> from = {-1, 2, -3, 4, -5, 6};
    std::vector<float> to(6);
    session.bind_input("x", std::span(from), {2, 3});
    session.bind_output("y", std::span(to));
    session.run();
    CHECK(to[1] == 2 && to[2] == 0 && from[0] == -1 && session.dims("y") == std::vector<int>({2, 3}));
    session.unbind_input("x");
    session.unbind_output("y");
    CHECK(status_of([&] { session.bind_input("x", std::span(from), {3, 2}); }, "'x'") == LN_INVALID);
    CHECK(program->inputs()[0].name == "x" && program->outputs()[0].dims[1].size == 3);
    CHECK(session.info("y").dtype == TL_FLOAT && program->info("y").has_rank);
    session.set("x", object::tensor(std::array<float, 6>{2, 2, 2, 2, 2, 2}, {2, 3}));
    session.run();
    CHECK(session.view<float>("y")[4] == 2);
    const object y = session.get_object("y");
    CHECK(y.elements<float>()[0] == 2);
}

static void sessions_of_dynamic_shape() {
    context model = context::read(bytes_of(dynamic));
    model.compile();
    model.load();
    const lightnet::program program(model);
    lightnet::session session = program.session();
    CHECK(!program.is_fixed());
    session.set("x", object::tensor(std::array{-1, 2, -3, 4}, {2, 2}));
    session.run();
    CHECK((session.get_object("y").dims() == std::vector<int>{2, 2}));
    CHECK(status_of([&] { session.view<float>("y"); }, "use get_object()") == LN_UNSUPPORTED);
    CHECK(session.view<std::byte>("y").size() == 16);
}

static void values_of_dynamic_shape() {
    context model = context::read(bytes_of(dynamic));
    const lightnet::tensor_info x = model.info("x");
    CHECK(x.dims[0].size == -1 && x.dims[0].symbol == "n" && x.dims[1].symbol.empty());
    CHECK(!model.info("y").has_rank && model.info("y").dtype == TL_DTYPE_INVALID);
    model.compile();
    model.load();
    for (int n = 1; n < 4; n++) {
        const std::vector<int> numbers(static_cast<std::size_t>(n) * 2, -n);
        model.set("x", object::tensor(numbers, {n, 2})); // the context holds it
        model.run();
        const object y = model.get_object("y");
        CHECK((y.dims() == std::vector<int>{n, 2}));
        CHECK(y.elements<int>().size() == numbers.size() && y.elements<int>()[1] == n);
        CHECK(status_of([&] { y.elements<float>(); }, "is int32") == LN_INVALID);
    }
    CHECK(status_of([] { object::tensor(std::array{1, 2, 3}, {2, 2}); }, "4 elements, the data 3") == LN_INVALID);
    CHECK(status_of([] { object::tensor(std::array{1}, {-1}); }) != LN_OK);
    CHECK(status_of([&] { model.view<float>("y"); }, "use get_object()") == LN_UNSUPPORTED);
    CHECK(status_of([&] { model.copy<int>("y"); }, "use get_object()") == LN_UNSUPPORTED);
    CHECK(status_of([&] { model.set("x", std::array{1, 2}); }, "bind the shape before compiling") == LN_STATE);
    CHECK(model.view<std::byte>("y").size() == 3 * 2 * sizeof(int));
    context bound = context::read(bytes_of(dynamic));
    bound.set_symbol("n", 2);
    CHECK(bound.info("y").dims[0].size == 2);
    bound.set_shape("x", {3, 2});
    CHECK(bound.info("y").dims[0].size == 3);
}

// Of types that have no bytes, and of nothing.
static void what_has_no_such_elements_says_so() {
    const int dims[1] = {1};
    const object text(ln_object_new_tensor(TL_STRING, 1, dims, nullptr));
    CHECK(text && text.dims().size() == 1);
    CHECK(status_of([&] { text.elements<std::byte>(); }, "is string, not bytes") == LN_INVALID);
    CHECK(status_of([&] { text.elements<float>(); }, "is string, not float32") == LN_INVALID);
    const object list(ln_object_new_tensor(TL_OBJECT, 1, dims, nullptr));
    if (list)
        CHECK(status_of([&] { list.elements<std::byte>(); }, "not bytes") == LN_INVALID);
    const object none;
    CHECK(none.elements<float>().empty() && none.elements<std::byte>().empty() && none.dims().empty());

    context model = context::read(bytes_of("input(| dst=x | dtype=TL_STRING, dims=[2]);\n"
                                           "Identity(input=x | output=y |);\n"));
    model.compile();
    model.load();
    const std::array<float, 2> floats = {};
    CHECK(status_of([&] { model.view<std::byte>("x"); }, "tensor 'x' is string, not bytes") == LN_INVALID);
    CHECK(status_of([&] { model.copy<std::byte>("y"); }, "has no value") != LN_OK);
    CHECK(status_of([&] { model.set("x", std::as_bytes(std::span(floats))); }, "not bytes") == LN_INVALID);
    CHECK(status_of([&] { model.set("x", floats); }, "is string, not float32") == LN_INVALID);
    CHECK(status_of([&] { model.view<float>("nobody"); }, "nobody") == LN_NOT_FOUND);
    CHECK(status_of([&] { model.info("nobody"); }, "nobody") == LN_NOT_FOUND);
    CHECK(status_of([&] { model.info("y"); }) == LN_OK); // whatever failed before
    CHECK(status_of([] { context::read(std::span<const std::byte>()); }) != LN_OK);
    CHECK(status_of([] { object::tensor(std::array<float, 0>{}, {0}).dims(); }) == LN_OK);
    const context empty; // not read
    CHECK(empty.inputs().empty() && empty.outputs().empty());
}

// Spans of what has a name live as long as that; see refused.cc for the others.
static void elements_outlive_the_line() {
    const object ones = object::tensor(std::vector<float>(100000, 1.0f), {100000});
    const std::span<const float> span = ones.elements<float>();
    CHECK(span.size() == 100000 && span[0] == 1 && span[99999] == 1);
    object moved = object::tensor(std::array{1, 2}, {2});
    const std::span<const int> before = moved.elements<int>();
    const object taken = std::move(moved); // the tensor stays where it is
    CHECK(before.data() == taken.elements<int>().data() && before[1] == 2);
}

static void another_thread_cancels() {
    context model = context::read(bytes_of("input(| dst=x | dtype=TL_FLOAT, dims=[3000, 3000]);"
                                           "MatMul(A=x, B=x | Y=y |);"));
    model.compile("ref");
    model.load();
    {
        cancel wish;
        model.set_cancel(wish);
        std::thread other([&wish] {
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            wish.request();
        });
        CHECK(status_of([&] { model.run(); }, "the run was cancelled") == LN_CANCELLED);
        other.join();
        CHECK(wish.is_requested());
    }
    CHECK(status_of([&] { model.run(); }) == LN_CANCELLED); // the context holds it
    CHECK(model.state() == LN_CONTEXT_LOADED);
}

int main() {
    const lightnet::library library;
    metadata_is_what_the_file_states();
    a_model_runs();
    what_fails_throws_with_the_reason();
    handles_move();
    clones_run_in_threads_and_outlive_their_origin();
    sessions_run_in_threads_and_outlive_their_context();
    sessions_of_dynamic_shape();
    values_of_dynamic_shape();
    what_has_no_such_elements_says_so();
    elements_outlive_the_line();
    another_thread_cancels();
    if (failure_count == 0)
        std::puts("all is well");
    return failure_count == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
