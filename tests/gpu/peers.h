// SPDX-License-Identifier: Apache-2.0
// Processes forked before anything touched CUDA or NVRTC, each good for one part in one test: what
// crashes a card's context must not crash the tests'.
#pragma once

#include <string>
#include <vector>

#include "sys/fd.h"
#include "wire/channel.h"

namespace kagent::test {

/// Forks them; call first in main. Children never return.
void start_peers(int count);

/// Lets a fresh peer play `part` and waits for its answer ({"error": …} where it died).
nlohmann::json play(const std::string& part, const nlohmann::json& details,
                    const std::vector<int>& descriptors);

/// What a peer does with its part; defined in peer_parts.cpp.
nlohmann::json perform(const std::string& part, const nlohmann::json& details,
                       std::vector<sys::Fd> descriptors);

}  // namespace kagent::test
