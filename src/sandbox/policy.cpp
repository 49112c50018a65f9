// SPDX-License-Identifier: Apache-2.0
#include "sandbox/policy.h"

#include <algorithm>
#include <cctype>

#include <unistd.h>

namespace kagent::sandbox {

const char* word(Tier tier) {
  switch (tier) {
    case Tier::bubblewrap:
      return "bubblewrap";
    case Tier::namespaces:
      return "namespaces";
    case Tier::landlock:
      return "landlock";
    case Tier::none:
      break;
  }
  return "none";
}

Result<Tier> tier_of(const std::string& text) {
  for (const Tier tier : {Tier::bubblewrap, Tier::namespaces, Tier::landlock, Tier::none}) {
    if (text == word(tier)) return tier;
  }
  return Error{ErrorKind::usage, "no sandbox is called '" + text + "'; bubblewrap, namespaces, landlock or none"};
}

std::vector<std::filesystem::path> gpu_device_nodes() {
  std::vector<std::filesystem::path> nodes;
  std::error_code code;
  for (const auto& entry : std::filesystem::directory_iterator("/dev", code)) {
    const std::string name = entry.path().filename().string();
    const bool card = name.rfind("nvidia", 0) == 0 && name.size() > 6 &&
                      std::all_of(name.begin() + 6, name.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
    if (card || name == "nvidiactl" || name == "nvidia-uvm" || name == "nvidia-uvm-tools" || name == "nvidia-caps") {
      nodes.push_back(entry.path());
    }
  }
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

std::uint64_t usual_memory_limit() {
  const auto pages = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES));
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) / 4 * 3;
}

}  // namespace kagent::sandbox
