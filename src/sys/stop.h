// SPDX-License-Identifier: Apache-2.0
// Ctrl-C and its kin. The first signal asks everybody to end after the present step, the second
// ends the program at once. Whoever waits polls stop_fd() beside what it waits for.
#pragma once

#include <chrono>

namespace kagent::sys {

/// Installs the handlers for SIGINT, SIGTERM and SIGHUP, and ignores SIGPIPE. Call once, early.
void install_stop_handlers();

/// The signal that asked us to stop, or 0.
int stop_requested();

/// Readable for ever once a stop was requested; -1 before install_stop_handlers().
int stop_fd();

/// Sleeps, and wakes early where a stop is requested; true then.
bool sleep_unless_stopped(std::chrono::milliseconds duration);

}  // namespace kagent::sys
