// SPDX-License-Identifier: Apache-2.0
// A plan folder for the runner's audit mode (docs/audit-mode.md): what a tool such as
// compute-sanitizer can be put on, without kagent around it.
#include "evaluator/session.h"
#include "policy/launches.h"
#include "policy/operators.h"
#include "wire/json.h"

namespace kagent::evaluator {
namespace {

constexpr std::size_t kMaxImageBytes = 256u << 20;

Result<void> copy_image(const sys::Fd& image, const std::filesystem::path& path) {
  KAGENT_TRY(const std::string bytes, sys::read_all(image.get(), kMaxImageBytes));
  return sys::write_file_atomically(path, bytes);
}

}  // namespace

Result<std::optional<Fault>> Session::write_plan_folder(const Candidate& candidate, const Plan& plan,
                                                         const std::filesystem::path& folder) {
  if (auto fault = policy::check_operators(plan, options_.settings)) return fault;
  std::vector<sys::Fd> images;
  KAGENT_TRY(auto built, build(candidate, plan, images));
  if (auto* fault = std::get_if<Fault>(&built)) return std::optional(std::move(*fault));
  const auto& result = std::get<BuildResult>(built);
  if (auto fault = policy::check_launches(plan, result, facts_.device)) return fault;

  KAGENT_TRY_VOID(sys::make_directories(folder));
  const char* ending = plan.backend == Backend::cpu ? ".so" : ".cubin";
  for (std::size_t i = 0; i < images.size(); ++i) {
    KAGENT_TRY_VOID(copy_image(images[i], folder / ("unit-" + std::to_string(i) + ending)));
  }
  if (plan.backend == Backend::cuda) {
    KAGENT_TRY(const sys::Fd instruments, build_instruments());
    KAGENT_TRY_VOID(copy_image(instruments, folder / "instruments.cubin"));
  }
  KAGENT_TRY_VOID(sys::write_file_atomically(folder / "build.json", wire::dump(wire::to_json(result), 1)));
  KAGENT_TRY_VOID(sys::write_file_atomically(folder / "plan.json", wire::dump(wire::to_json(plan), 1)));
  return std::optional<Fault>();
}

}  // namespace kagent::evaluator
