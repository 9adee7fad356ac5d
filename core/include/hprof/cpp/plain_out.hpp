// SPDX-License-Identifier: Apache-2.0
// Text of an encoder: an Out with words and numbers.
#pragma once

#include <hprof/cpp/out.hpp>
#include <hprof/cpp/text.hpp>

namespace hprof {

// Lives for one record. Each function returns *this, so that a line is one statement.
class PlainOut : public Out {
 public:
  using Out::Out;

  template <uint32_t n>
  PlainOut& lit(const char (&literal)[n]) {
    bytes(literal, n - 1);
    return *this;
  }
  // Writes a text; nothing for nullptr.
  PlainOut& words(const char* text) {
    if (text != nullptr) bytes(text, std::strlen(text));
    return *this;
  }
  PlainOut& dec(uint64_t v) {
    if (uint8_t* to = room(kNumberMost)) advance(format_decimal(reinterpret_cast<char*>(to), v));
    return *this;
  }
  PlainOut& signed_dec(int64_t v) {
    if (uint8_t* to = room(kNumberMost)) advance(format_signed(reinterpret_cast<char*>(to), v));
    return *this;
  }
  PlainOut& real(double v) {
    if (uint8_t* to = room(kNumberMost)) advance(format_real(reinterpret_cast<char*>(to), v));
    return *this;
  }
};

}  // namespace hprof
