// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace std {
#define KAGENT_BOTH(name) using ::name; using ::name##f;
KAGENT_BOTH(acos) KAGENT_BOTH(acosh) KAGENT_BOTH(asin) KAGENT_BOTH(asinh) KAGENT_BOTH(atan)
KAGENT_BOTH(atan2) KAGENT_BOTH(atanh) KAGENT_BOTH(cbrt) KAGENT_BOTH(ceil) KAGENT_BOTH(copysign)
KAGENT_BOTH(cos) KAGENT_BOTH(cosh) KAGENT_BOTH(erf) KAGENT_BOTH(erfc) KAGENT_BOTH(exp)
KAGENT_BOTH(exp2) KAGENT_BOTH(expm1) KAGENT_BOTH(fabs) KAGENT_BOTH(fdim) KAGENT_BOTH(floor)
KAGENT_BOTH(fma) KAGENT_BOTH(fmax) KAGENT_BOTH(fmin) KAGENT_BOTH(fmod) KAGENT_BOTH(frexp)
KAGENT_BOTH(hypot) KAGENT_BOTH(ilogb) KAGENT_BOTH(ldexp) KAGENT_BOTH(lgamma) KAGENT_BOTH(llrint)
KAGENT_BOTH(llround) KAGENT_BOTH(log) KAGENT_BOTH(log10) KAGENT_BOTH(log1p) KAGENT_BOTH(log2)
KAGENT_BOTH(logb) KAGENT_BOTH(lrint) KAGENT_BOTH(lround) KAGENT_BOTH(modf) KAGENT_BOTH(nearbyint)
KAGENT_BOTH(nextafter) KAGENT_BOTH(pow) KAGENT_BOTH(remainder) KAGENT_BOTH(remquo)
KAGENT_BOTH(rint) KAGENT_BOTH(round) KAGENT_BOTH(scalbln) KAGENT_BOTH(scalbn) KAGENT_BOTH(sin)
KAGENT_BOTH(sinh) KAGENT_BOTH(sqrt) KAGENT_BOTH(tan) KAGENT_BOTH(tanh) KAGENT_BOTH(tgamma)
KAGENT_BOTH(trunc)
#undef KAGENT_BOTH
using ::abs;
using ::isfinite;
using ::isinf;
using ::isnan;
using ::labs;
using ::llabs;
using ::signbit;
}  // namespace std
