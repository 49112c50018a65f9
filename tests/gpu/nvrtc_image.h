// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace kagent::test {

/// A cubin for `architecture` ("sm_90a"), by NVRTC directly; the compiler's words and exit on failure.
std::string compile(const std::string& source, const std::string& architecture);

/// share/kagent/device/instruments.cu as text.
std::string instruments_source();

}  // namespace kagent::test
