// SPDX-License-Identifier: Apache-2.0
#include "evaluator/secret.h"

#include <kagent/result.h>

#include <sys/random.h>

namespace kagent::evaluator {

std::uint64_t secret_number() {
  std::uint64_t value = 0;
  KAGENT_CHECK(::getrandom(&value, sizeof value, 0) == sizeof value);
  return value >> 2;
}

}  // namespace kagent::evaluator
