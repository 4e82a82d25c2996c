// Reads a handwritten digit, in C++. Usage: digits_cc [FOLDER], where FOLDER holds digits.net.
#include <lightnet/lightnet.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <string>

static void read_digit(const std::string &folder) {
    // 0 is paper, 9 is ink.
    const std::string picture = "01797100"
                                "03837700"
                                "00028400"
                                "00194000"
                                "00179610"
                                "00003840"
                                "00302840"
                                "00998410";
    std::array<float, 64> pixels;
    std::transform(picture.begin(), picture.end(), pixels.begin(),
                   [](char ink) { return static_cast<float>(ink - '0') / 9; });

    auto ctx = lightnet::context::read(folder + "/digits.net");
    ctx.compile("cpu");
    ctx.load(folder + "/digits.safetensors");
    ctx.set("image", pixels);
    ctx.run();
    const auto prob = ctx.copy<float>("prob");
    const auto best = std::max_element(prob.begin(), prob.end());
    std::printf("This is a %d (%.0f %%).\n", static_cast<int>(best - prob.begin()),
                100 * static_cast<double>(*best));
}

int main(int argc, char **argv) {
    try {
        const lightnet::library library;
        read_digit(argc > 1 ? argv[1] : "models/digits");
    } catch (const std::exception &failure) {
        std::fprintf(stderr, "%s\n", failure.what());
        return 1;
    }
}
