// SPDX-License-Identifier: Apache-2.0
#include "wire/json.h"
