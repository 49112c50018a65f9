// SPDX-License-Identifier: Apache-2.0
// Builds with the real compilers; needs no GPU.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "builder/engine.h"

namespace kagent::builder {

struct WantedKernel {
  std::string source;
  std::string name;
  std::vector<std::string> options = {};
};

class BuilderTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    auto paths = CompilerPaths::read(KAGENT_PATHS_FILE);
    ASSERT_TRUE(paths) << paths.error().message;
    auto created = Engine::create(std::move(*paths));
    ASSERT_TRUE(created) << created.error().message;
    engine = std::move(*created);
    engine->warm_up();
  }
  static void TearDownTestSuite() { engine.reset(); }

  static BuildRequest request(Sources sources, const std::vector<WantedKernel>& kernels,
                              Backend backend = Backend::cuda,
                              Compiler compiler = Compiler::automatic) {
    BuildRequest request;
    request.backend = backend;
    request.architecture = backend == Backend::cuda ? "sm_90a" : "native";
    request.compiler = compiler;
    request.sources = std::move(sources);
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      request.kernels.push_back({static_cast<int>(i),
                                 {kernels[i].source, kernels[i].name, kernels[i].options,
                                  {"model_new.py", 10 + static_cast<int>(i)}}});
    }
    return request;
  }

  /// The result; fails the test on anything else.
  static Built built(const BuildRequest& wanted) {
    auto outcome = engine->build(wanted);
    if (!outcome) {
      ADD_FAILURE() << outcome.error().message;
      return {};
    }
    if (const auto* fault = std::get_if<Fault>(&*outcome)) {
      ADD_FAILURE() << fault->message << "\nhint: " << fault->hint << "\n" << fault->detail;
      return {};
    }
    return std::move(std::get<Built>(*outcome));
  }

  static Fault fault(const BuildRequest& wanted) {
    auto outcome = engine->build(wanted);
    if (!outcome) {
      ADD_FAILURE() << outcome.error().message;
      return {};
    }
    if (auto* found = std::get_if<Fault>(&*outcome)) return std::move(*found);
    ADD_FAILURE() << "built, though it should not";
    return {};
  }

  /// One kernel "k" in kernels/k.cu with this text.
  static BuildRequest one(const std::string& text, std::vector<std::string> options = {},
                          Compiler compiler = Compiler::automatic) {
    return request({{"kernels/k.cu", text}}, {{"kernels/k.cu", "k", std::move(options)}},
                   Backend::cuda, compiler);
  }
  static BuildRequest one_host(const std::string& text, std::vector<std::string> options = {}) {
    return request({{"kernels/k.cpp", text}}, {{"kernels/k.cpp", "k", std::move(options)}},
                   Backend::cpu);
  }

  static inline std::unique_ptr<Engine> engine;
};

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace kagent::builder
