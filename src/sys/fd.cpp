// SPDX-License-Identifier: Apache-2.0
#include "sys/fd.h"

#include <unistd.h>

namespace kagent::sys {

void Fd::reset() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

}  // namespace kagent::sys
