// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace kagent::sandbox {

/// Run as the sandboxed program: prints "held" and returns 0, or one line on what is not held. A server also
/// gives itself a fresh child and looks from in there.
int self_test();

}  // namespace kagent::sandbox
