// SPDX-License-Identifier: Apache-2.0
// The device is held from loading a candidate to its last timed call, not while a model thinks or a kernel
// is built: several agents share one card, and timing still has it alone.
#include <chrono>
#include <cstdlib>
#include <utility>

#include "evaluator/session.h"
#include "sys/lock_file.h"
#include "sys/stop.h"

namespace kagent::evaluator {
namespace {

/// The CPU can be dealt out as several devices (kagent batch --cpu-slots); which one is ours.
std::string cpu_slot() {
  const char* slot = std::getenv("KAGENT_CPU_SLOT");
  const std::string text = slot == nullptr ? "" : slot;
  const bool number = !text.empty() && text.size() <= 3 && text.find_first_not_of("0123456789") == std::string::npos;
  return number ? "-" + text : "";
}

}  // namespace

Result<Session::Lease> Session::take_lease() {
  if (lease_) return Lease(nullptr);   // a caller further out holds it
  tell("wait for the device");
  const auto start = std::chrono::steady_clock::now();
  const std::string name = facts_.device.uuid + (options_.settings.backend == Backend::cpu ? cpu_slot() : "");
  auto lease = sys::LockFile::acquire(sys::lock_directory() / (name + ".lock"), sys::stop_fd());
  if (!lease) return std::move(lease).error().with_context("device lease");
  lease_.emplace(std::move(*lease));
  queue_ms_ += std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return Lease(this);
}

double Session::take_queue_ms() { return std::exchange(queue_ms_, 0.0); }

}  // namespace kagent::evaluator
