// SPDX-License-Identifier: Apache-2.0
#include "plan/progress_page.h"

#include "base/text.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <string_view>

namespace kagent::plan {
namespace {

constexpr int kStepsPerSection = 2048;  // the cap of docs/plan-format.md
constexpr int kNoStep = -1;

struct StepName {
  std::array<char, 128> file;
  std::array<char, 256> kernel;
  std::int32_t line;
};

void put_text(std::string_view text, char* where, std::size_t capacity) {
  const std::size_t bytes = std::min(text.size(), capacity - 1);
  std::memcpy(where, text.data(), bytes);
  where[bytes] = '\0';
}

std::string take_text(const char* where, std::size_t capacity) {
  std::string copy(where, capacity);  // copied first: the other side may write at any time
  copy.resize(::strnlen(copy.data(), capacity));
  return base::one_line(copy, capacity);
}

std::string name_of(const Step& step, const Plan& plan) {
  if (const auto* op = std::get_if<OperatorStep>(&step.action)) return op->overload;
  return plan.kernels[static_cast<std::size_t>(std::get<LaunchStep>(step.action).kernel)].name;
}

}  // namespace

struct ProgressPage::Table {
  std::atomic<std::int32_t> current;
  std::array<StepName, 2 * kStepsPerSection> names;
};

Result<ProgressPage> ProgressPage::create() {
  void* address = ::mmap(nullptr, sizeof(Table), PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED) {
    return Error{ErrorKind::environment, std::string("progress page: ") + std::strerror(errno)};
  }
  auto* table = static_cast<Table*>(address);  // zeroed pages are valid StepNames
  table->current.store(kNoStep);
  return ProgressPage(table);
}

ProgressPage::~ProgressPage() {
  if (table_ != nullptr) ::munmap(table_, sizeof(Table));
}

void ProgressPage::describe(const Plan& plan) {
  table_->current.store(kNoStep);
  auto describe_section = [&](const std::vector<Step>& steps, int first) {
    const int count = std::min(static_cast<int>(steps.size()), kStepsPerSection);
    for (int i = 0; i < count; ++i) {
      const Step& step = steps[static_cast<std::size_t>(i)];
      StepName& name = table_->names[static_cast<std::size_t>(first + i)];
      put_text(step.at.file, name.file.data(), name.file.size());
      put_text(name_of(step, plan), name.kernel.data(), name.kernel.size());
      name.line = step.at.line;
    }
  };
  describe_section(plan.prepare, 0);
  describe_section(plan.forward, kStepsPerSection);
}

void ProgressPage::enter(Section section, int step) {
  const int first = section == Section::prepare ? 0 : kStepsPerSection;
  table_->current.store(first + step, std::memory_order_release);
}

void ProgressPage::leave() { table_->current.store(kNoStep, std::memory_order_release); }

std::optional<LastStep> ProgressPage::last_step() const {
  const std::int32_t current = table_->current.load();
  if (current < 0 || current >= 2 * kStepsPerSection) return std::nullopt;
  const StepName& name = table_->names[static_cast<std::size_t>(current)];
  LastStep last;
  last.at.file = take_text(name.file.data(), name.file.size());
  last.at.line = std::max(0, name.line);
  last.kernel = take_text(name.kernel.data(), name.kernel.size());
  return last;
}

}  // namespace kagent::plan
