// SPDX-License-Identifier: Apache-2.0
#include "reference/arena.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace kagent::reference {
namespace {

Error failed(const std::string& what) {
  return Error{ErrorKind::environment, what + ": " + std::strerror(errno)};
}

class HostArena final : public Arena {
 public:
  HostArena(sys::Fd memory, Sharing sharing) : memory_(std::move(memory)), sharing_(sharing) {}
  HostArena(const HostArena&) = delete;
  HostArena& operator=(const HostArena&) = delete;
  ~HostArena() override {
    if (data_ != nullptr) munmap(data_, static_cast<std::size_t>(bytes_));
  }

  Result<void> map(std::int64_t bytes) {
    if (ftruncate(memory_.get(), bytes) != 0) {
      return failed("size a shared arena of " + std::to_string(bytes) + " bytes");
    }
    void* data = mmap(nullptr, static_cast<std::size_t>(bytes), PROT_READ | PROT_WRITE, MAP_SHARED,
                      memory_.get(), 0);
    if (data == MAP_FAILED) return failed("map a shared arena of " + std::to_string(bytes) + " bytes");
    data_ = data;
    bytes_ = bytes;
    return seal();
  }

  Result<sys::Fd> descriptor() const override {
    if (sharing_ == Sharing::read_only) {
      const std::string path = "/proc/self/fd/" + std::to_string(memory_.get());
      sys::Fd reopened(open(path.c_str(), O_RDONLY | O_CLOEXEC));
      // Without /proc the seal alone keeps writers out, if the kernel has it.
      if (reopened || !write_sealed_) return check(std::move(reopened), "reopen an arena read-only");
    }
    return check(sys::Fd(fcntl(memory_.get(), F_DUPFD_CLOEXEC, 0)), "duplicate an arena's descriptor");
  }

 private:
  static Result<sys::Fd> check(sys::Fd fd, const char* what) {
    if (!fd) return failed(what);
    return fd;
  }

  Result<void> seal() {
    // The runner must not shrink what we have mapped (SIGBUS here), nor write where it may only read.
    if (fcntl(memory_.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0) {
      return failed("seal a shared arena");
    }
    if (sharing_ == Sharing::read_only) {
      write_sealed_ = fcntl(memory_.get(), F_ADD_SEALS, F_SEAL_FUTURE_WRITE) == 0;
    }
    if (fcntl(memory_.get(), F_ADD_SEALS, F_SEAL_SEAL) != 0) return failed("seal a shared arena");
    return {};
  }

  sys::Fd memory_;
  Sharing sharing_;
  bool write_sealed_ = false;
};

}  // namespace

Result<std::unique_ptr<Arena>> create_host_arena(std::int64_t bytes, Sharing sharing) {
  sys::Fd memory(memfd_create("kagent-arena", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!memory) return failed("create a shared arena");
  auto arena = std::make_unique<HostArena>(std::move(memory), sharing);
  KAGENT_TRY_VOID(arena->map(bytes));
  return std::unique_ptr<Arena>(std::move(arena));
}

}  // namespace kagent::reference
