// SPDX-License-Identifier: Apache-2.0
// Every kernel in the notes that the model reads builds as a candidate's would.
#include "builder_fixture.h"

#include <filesystem>
#include <regex>

#include "sys/files.h"

namespace kagent::builder {
namespace {

class BuilderNotes : public BuilderTest {};

std::vector<std::string> fenced(const std::string& text, const std::string& language) {
  std::vector<std::string> blocks;
  const std::string open = "\n```" + language + "\n";
  for (std::size_t at = 0; (at = text.find(open, at)) != std::string::npos;) {
    at += open.size();
    const std::size_t end = text.find("\n```", at);
    blocks.push_back(text.substr(at, end - at + 1));
  }
  return blocks;
}

TEST_F(BuilderNotes, EveryKernelBuilds) {
  Sources sources;
  std::vector<WantedKernel> kernels;
  int notes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(KAGENT_NOTES)) {
    const auto text = sys::read_file(entry.path(), 1u << 20);
    ASSERT_TRUE(text);
    ++notes;
    const auto blocks = fenced(*text, "cuda");
    const std::regex named(R"re(kagent\.kernel\("(kernels/\w+\.cu)", "([^"]+)"\))re");
    for (const std::string& block : blocks) {
      ASSERT_EQ(block.rfind("// kernels/", 0), 0u) << entry.path();
      const std::string path = block.substr(3, block.find('\n') - 3);
      ASSERT_EQ(sources.count(path), 0u) << path;
      sources[path] = block;
      int found = 0;
      for (std::sregex_iterator at(text->begin(), text->end(), named), end; at != end; ++at) {
        if ((*at)[1] != path) continue;
        kernels.push_back({path, (*at)[2]});
        ++found;
      }
      EXPECT_GT(found, 0) << entry.path() << " shows no kagent.kernel(\"" << path << "\", …)";
    }
  }
  EXPECT_GE(notes, 16);
  EXPECT_GE(kernels.size(), 15u);
  const Built result = built(request(sources, kernels));
  ASSERT_EQ(result.result.kernels.size(), kernels.size());
  for (const KernelBuild& kernel : result.result.kernels) {
    EXPECT_EQ(kernel.spill_store_bytes + kernel.spill_load_bytes, 0) << kernel.entry;
  }
}

}  // namespace
}  // namespace kagent::builder
