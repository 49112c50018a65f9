// SPDX-License-Identifier: Apache-2.0
#include "base/hash.h"

#include <gtest/gtest.h>

namespace kagent::base {
namespace {

// Known answers of FIPS 180-4's example pages.
TEST(Sha256, GivesTheKnownAnswers) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256_hex(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, DoesNotCareHowItIsFed) {
  std::string text;
  for (int i = 0; i < 300; ++i) text += static_cast<char>(i * 7);
  for (std::size_t length = 0; length <= 260; ++length) {
    const std::string expected = sha256_hex(text.substr(0, length));
    for (const std::size_t step : {1u, 13u, 64u, 100u}) {
      Sha256 hash;
      for (std::size_t at = 0; at < length; at += step) {
        hash.update(std::string_view(text).substr(at, std::min(step, length - at)));
      }
      ASSERT_EQ(hash.hex(), expected) << length << " bytes by " << step;
    }
  }
}

}  // namespace
}  // namespace kagent::base
