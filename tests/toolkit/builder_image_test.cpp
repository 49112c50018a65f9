// SPDX-License-Identifier: Apache-2.0
// Images come from a process that read hostile source: whatever their bytes, reading them ends well.
#include "builder_fixture.h"

#include <random>

#include "builder/cubin_check.h"
#include "builder/elf.h"
#include "builder/parameters.h"
#include "builder/ptx_check.h"
#include "builder/unit_check.h"
#include "sys/files.h"

namespace kagent::builder {
namespace {

class BuilderImage : public BuilderTest {
 protected:
  static std::string cubin() {
    const Built result = built(one("extern \"C\" __global__ void k(float* x, int n) { __shared__ float s[32]; s[n] = sinf(x[n]); x[0] = s[0]; }\n"));
    auto bytes = sys::read_all(result.images.at(0).get(), 16u << 20);
    return bytes ? *bytes : std::string();
  }
  static void inspect(const std::string& image) {
    CompileUnit unit;
    unit.source = "kernels/k.cu";
    unit.kernels.push_back({0, {"kernels/k.cu", "k", {}, {}}});
    for (const CompilerKind compiler : {CompilerKind::nvrtc, CompilerKind::host}) {
      const auto builds = inspect_image(unit, compiler, image, "");
      if (const auto* found = std::get_if<std::vector<KernelBuild>>(&builds)) {
        EXPECT_EQ(found->size(), 1u);
      }
    }
  }
};

TEST_F(BuilderImage, CutShort) {
  const std::string image = cubin();
  ASSERT_GT(image.size(), 1000u);
  for (std::size_t size = 0; size < image.size(); size += 1 + size / 50) inspect(image.substr(0, size));
}

TEST_F(BuilderImage, BytesChanged) {
  const std::string image = cubin();
  std::mt19937_64 random(7);
  for (int round = 0; round < 3000; ++round) {
    std::string changed = image;
    for (int i = 0; i < 4; ++i) changed[random() % (round % 2 == 0 ? changed.size() : 64)] = static_cast<char>(random());
    inspect(changed);
  }
}

TEST(PtxCheck, TextOfAnyKind) {
  std::mt19937_64 random(11);
  const std::string letters = "{}();,=.\"/*\n ab%_0";
  for (int round = 0; round < 2000; ++round) {
    std::string text = ".global .u32 a; ";
    for (int i = 0; i < 200; ++i) text += letters[random() % letters.size()];
    reachable_global(text);
    takes_address_of_constants(text);
  }
  EXPECT_EQ(reachable_global(".global .u32 a;\n.entry f() { ld.global.u32 %r1, [a+4]; }"), "a");
  EXPECT_EQ(reachable_global(".global .u32 a;\n.entry f() { ret; }"), "");
  EXPECT_EQ(reachable_global(".entry f() { mov.u64 %rd1, a; }\n.global .u32 a;"), "a");
  EXPECT_EQ(reachable_global(".global .u64 p[1] = {a};\n.global .u32 a;\n.entry f() { ret; }"), "");
}

TEST(Parameters, ProbesAreReadOrRefused) {
  const auto probe = read_probe("kagent_probe::kernel<3, &(void ops::rows<4, float>(float const*, int)), void (*)(float const*, int)>");
  ASSERT_TRUE(probe);
  EXPECT_EQ(probe->number, 3);
  EXPECT_EQ(probe->kernel, "void ops::rows<4, float>(float const*, int)");
  EXPECT_EQ(probe->parameters, (std::vector<std::string>{"float const*", "int"}));
  for (const char* text : {"", "kagent_probe::kernel<", "kagent_probe::kernel<>", "kagent_probe::kernel<1>",
                           "kagent_probe::kernel<x, &f, void (*)()>", "kagent_probe::kernel<1, f, void (*)()>",
                           "kagent_probe::kernel<1, &f, int>", "kagent_probe::kernel<1, &f, void (*)(>",
                           "kagent_probe::kernel<99999999999, &f, void (*)()>"}) {
    EXPECT_FALSE(read_probe(text)) << text;
  }
}

}  // namespace
}  // namespace kagent::builder
