// SPDX-License-Identifier: Apache-2.0
#include "nvrtc_image.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include <nvrtc.h>

namespace kagent::test {
namespace {

[[noreturn]] void give_up(const char* what, const std::string& words) {
  std::fprintf(stderr, "%s: %s\n", what, words.c_str());
  std::exit(1);
}

void check(nvrtcResult code, const char* what) {
  if (code != NVRTC_SUCCESS) give_up(what, nvrtcGetErrorString(code));
}

}  // namespace

std::string compile(const std::string& source, const std::string& architecture) {
  nvrtcProgram program = nullptr;
  check(nvrtcCreateProgram(&program, source.c_str(), "test.cu", 0, nullptr, nullptr),
        "nvrtcCreateProgram");
  const std::string option = "-arch=" + architecture;
  const char* options[] = {option.c_str(), "-std=c++17"};
  const nvrtcResult code = nvrtcCompileProgram(program, 2, options);
  if (code != NVRTC_SUCCESS) {
    std::size_t bytes = 0;
    check(nvrtcGetProgramLogSize(program, &bytes), "nvrtcGetProgramLogSize");
    std::string log(bytes, '\0');
    check(nvrtcGetProgramLog(program, log.data()), "nvrtcGetProgramLog");
    give_up(nvrtcGetErrorString(code), log);
  }
  std::size_t bytes = 0;
  check(nvrtcGetCUBINSize(program, &bytes), "nvrtcGetCUBINSize");
  std::string image(bytes, '\0');
  check(nvrtcGetCUBIN(program, image.data()), "nvrtcGetCUBIN");
  nvrtcDestroyProgram(&program);
  return image;
}

std::string instruments_source() {
  std::ifstream file(KAGENT_INSTRUMENTS);
  std::ostringstream text;
  text << file.rdbuf();
  if (text.str().empty()) give_up("cannot read", KAGENT_INSTRUMENTS);
  return text.str();
}

}  // namespace kagent::test
