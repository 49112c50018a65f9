// SPDX-License-Identifier: Apache-2.0
// Never built: the recorder asks only whether a kernel's file is there.
