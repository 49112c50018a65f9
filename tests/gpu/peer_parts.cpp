// SPDX-License-Identifier: Apache-2.0
#include "card.h"
#include "gpu/device_range.h"
#include "peers.h"
#include "wire/json.h"

namespace kagent::test {
namespace {

using nlohmann::json;

json told(const std::optional<Fault>& fault) {
  return fault ? wire::to_json(*fault) : json(nullptr);
}

/// The peer's card. Never destroyed: its context may be lost, and the peer ends by _exit.
Result<Card*> make_card(const gpu::CudaBackendOptions& options) {
  KAGENT_TRY(std::unique_ptr<Card> made, Card::create(options));
  return made.release();
}

json failed(const Error& error) { return {{"error", error.message}}; }

/// Maps the arena, sums its bytes by copying them out, then writes to it by a kernel.
json share(const json& details, std::vector<sys::Fd> memory) {
  auto made = make_card({});
  if (!made) return failed(made.error());
  Card& card = **made;
  const std::int64_t bytes = details.at("bytes");
  const auto access =
      details.at("writable") ? plan::Access::read_write : plan::Access::read_only;
  auto mapped = card.backend().map_arena(std::move(memory.at(0)), bytes, access, false);
  if (!mapped) return failed(mapped.error());
  const at::Tensor view = at::from_blob(
      *mapped, {bytes}, at::TensorOptions().device(card.backend().device()).dtype(at::kByte));
  json answer;
  answer["create_ms"] = card.create_ms();
  answer["sum"] = view.sum().item<std::int64_t>();
  answer["launch"] = told(card.launch(step("write_at"), *mapped, std::int64_t{3}, 7));
  answer["fault"] = told(card.backend().synchronize());
  return answer;
}

/// A write far beyond every tensor, without diagnosis.
json crash(const json& details) {
  auto made = make_card({});
  if (!made) return failed(made.error());
  Card& card = **made;
  card.backend().poison_allocations(0xff);
  const at::Tensor tensor =
      at::empty({1000}, at::TensorOptions().device(card.backend().device()).dtype(at::kFloat));
  json answer;
  const bool stop = details.at("stop");
  answer["launch"] = told(stop ? card.launch(step("stop"))
                               : card.launch(step("write_at"), tensor.data_ptr(),
                                             details.at("offset").get<std::int64_t>(), 7));
  answer["fault"] = told(card.backend().synchronize());
  answer["guards"] = told(card.backend().check_guards());
  answer["next_launch"] = told(card.launch(step("empty")));
  try {
    const at::Tensor next = at::empty({4000}, tensor.options());
    answer["next_allocation"] = "worked";
  } catch (const c10::Error& error) {
    answer["next_allocation"] = error.what_without_backtrace();
  }
  return answer;
}

/// Writes to inputs, out of bounds, and a trap, each of which a diagnostic run must tell apart.
json diagnose(const json& details, std::vector<sys::Fd> memory) {
  gpu::CudaBackendOptions options;
  options.diagnostic = true;
  auto made = make_card(options);
  if (!made) return failed(made.error());
  Card& card = **made;
  const std::int64_t bytes = details.at("bytes");
  auto mapped =
      card.backend().map_arena(std::move(memory.at(0)), bytes, plan::Access::read_only, true);
  if (!mapped) return failed(mapped.error());
  card.backend().poison_allocations(0xff);
  const at::Tensor own =
      at::empty({1000}, at::TensorOptions().device(card.backend().device()).dtype(at::kFloat));
  const at::Tensor kept = at::ones({100}, own.options());
  card.backend().protect({kept});
  json answer;
  answer["clean"] = told(card.launch(step("write_at"), own.data_ptr(), std::int64_t{0}, 7));
  answer["input"] = told(card.launch(step("write_at"), *mapped, std::int64_t{100}, 7));
  answer["repaired"] = told(card.launch(step("write_at"), own.data_ptr(), std::int64_t{1}, 7));
  answer["kept"] = told(card.launch(step("write_at"), kept.data_ptr(), std::int64_t{5}, 7));
  answer["canary"] = told(card.launch(step("write_at"), own.data_ptr(), std::int64_t{4000}, 7));
  answer["far"] = told(
      card.launch(step("write_at"), own.data_ptr(), std::int64_t{4096} + (64 << 10), 7));
  return answer;
}

/// A write to a tensor that protect() made read-only, without diagnosis.
json protected_write() {
  auto made = make_card({});
  if (!made) return failed(made.error());
  Card& card = **made;
  card.backend().poison_allocations(0xff);
  const at::Tensor kept = at::ones(
      {100}, at::TensorOptions().device(card.backend().device()).dtype(at::kFloat));
  card.backend().protect({kept});
  json answer;
  answer["readable"] = kept.sum().item<float>();
  answer["launch"] = told(card.launch(step("write_at"), kept.data_ptr(), std::int64_t{5}, 7));
  answer["fault"] = told(card.backend().synchronize());
  if (answer["fault"].is_null()) answer["fault"] = told(card.backend().check_guards());
  return answer;
}

/// Audit mode has no instruments, timeline or guards.
json audit() {
  gpu::CudaBackendOptions options;
  options.audit = true;
  auto made = make_card(options);
  if (!made) return failed(made.error());
  Card& card = **made;
  card.backend().poison_allocations(0x40);
  const at::Tensor tensor =
      at::empty({5}, at::TensorOptions().device(card.backend().device()).dtype(at::kByte));
  json answer;
  answer["poison"] = tensor.cpu().sum().item<std::int64_t>();
  answer["launch"] = told(card.launch(step("write_at"), tensor.data_ptr(), std::int64_t{4}, 7));
  answer["fault"] = told(card.backend().synchronize());
  answer["guards"] = told(card.backend().check_guards());
  std::vector<std::string> notes;
  answer["time_refused"] = !card.backend().time(1, [] {}, [] {}, notes);
  return answer;
}

}  // namespace

json perform(const std::string& part, const json& details, std::vector<sys::Fd> descriptors) {
  try {
    if (part == "share") return share(details, std::move(descriptors));
    if (part == "crash") return crash(details);
    if (part == "diagnose") return diagnose(details, std::move(descriptors));
    if (part == "protected_write") return protected_write();
    if (part == "audit") return audit();
  } catch (const std::exception& error) {
    return {{"error", error.what()}};
  }
  return {{"error", "unknown part"}};
}

}  // namespace kagent::test
