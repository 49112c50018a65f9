// SPDX-License-Identifier: Apache-2.0
// Who a process is and what it may: users, user namespaces, capabilities. All of it acts on the caller.
#pragma once

#include <kagent/result.h>

namespace kagent::sandbox {

/// New namespaces below a new user namespace in which the users of sandboxed processes are mapped: as root
/// kSandboxUser and the users of children, else the caller's own. The caller holds every capability in it.
/// namespaces: CLONE_NEW* flags besides the user namespace.
Result<void> enter_user_namespace(bool was_root, int namespaces);

/// Becomes kSandboxUser; with `keep`, capabilities survive until drop_capabilities() or exec.
Result<void> become_sandbox_user();

/// Becomes one of the users of children, in the group kSandboxUser.
Result<void> become_child_user(unsigned user);

/// What a warm server needs for its children, kept over exec (ambient).
Result<void> keep_server_capabilities();

/// No capability, no way to get one, none after exec either.
Result<void> drop_all_capabilities();

/// Dies with its parent, whose pid the caller knew. Must be called again after every change of user.
bool die_with(int parent);

}  // namespace kagent::sandbox
