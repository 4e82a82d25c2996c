// SPDX-License-Identifier: Apache-2.0
// Each case but 0 would be a use after free, and does not compile: hpp_test.sh tries them.

#include <lightnet/lightnet.hpp>

#include <array>

lightnet::context read_model();
lightnet::session make_session();
const lightnet::object make_constant();

std::size_t count_elements(lightnet::context &model, lightnet::session &session) {
    lightnet::object value = model.get_object("y");
#if CASE == 0
    const auto span = value.elements<float>();
    const lightnet::model_info info = model.metadata();
    const std::string *property = info.find("p");
    return span.size() + model.view<float>("y").size() + session.view<std::byte>("y").size() +
           (property ? property->size() : 0);
#elif CASE == 1
    const auto span = lightnet::object::tensor(std::array{1.0f}, {1}).elements<float>();
#elif CASE == 2
    const auto span = model.get_object("y").elements<float>();
#elif CASE == 3
    const auto span = session.get_object("y").elements<std::byte>();
#elif CASE == 4
    const auto span = std::move(value).elements<float>();
#elif CASE == 5
    const auto span = make_constant().elements<float>();
#elif CASE == 6
    const auto span = read_model().view<float>("y");
#elif CASE == 7
    const auto span = model.clone().view<float>("y");
#elif CASE == 8
    const auto span = make_session().view<float>("y");
#elif CASE == 9
    const auto span = lightnet::program(model).session().view<float>("y");
#elif CASE == 10
    const auto span = *model.metadata().find("p");
#endif
#if CASE != 0
    return span.size();
#endif
}
