#include "tools/hprof/terminal.h"

#include <iostream>

#include "tools/format/utf8.h"
#include "tools/os/os.h"

namespace hprof::tool {

PrintableBuffer::~PrintableBuffer() { pass(printable_text(begun_, kLines)); }

bool PrintableBuffer::pass(const std::string& text) {
  const auto size = static_cast<std::streamsize>(text.size());
  return target_->sputn(text.data(), size) == size;
}

PrintableBuffer::int_type PrintableBuffer::overflow(int_type letter) {
  if (traits_type::eq_int_type(letter, traits_type::eof())) return traits_type::not_eof(letter);
  const char byte = traits_type::to_char_type(letter);
  return xsputn(&byte, 1) == 1 ? letter : traits_type::eof();
}

std::streamsize PrintableBuffer::xsputn(const char* text, std::streamsize size) {
  std::string whole = begun_;
  whole.append(text, static_cast<size_t>(size));
  const size_t end = whole.size() - begun_utf8(whole);
  begun_ = whole.substr(end);
  return pass(printable_text(std::string_view(whole).substr(0, end), kLines)) ? size : 0;
}

int PrintableBuffer::sync() { return target_->pubsync(); }

PrintableStreams::PrintableStreams()
    : out_(std::cout.rdbuf()), error_(std::cerr.rdbuf()), clean_out_(out_), clean_error_(error_) {
  std::cout.rdbuf(&clean_out_);
  std::cerr.rdbuf(&clean_error_);
}

bool PrintableStreams::flush() { return static_cast<bool>(std::cout.flush()); }

PrintableStreams::~PrintableStreams() {
  flush();
  std::cout.rdbuf(out_);
  std::cerr.rdbuf(error_);
}

void steer_terminal(const std::string& controls) {
  constexpr int kStderr = 2;
  std::string ignored;
  std::cerr.flush();
  os::write_all(kStderr, controls.data(), controls.size(), &ignored);
}

}  // namespace hprof::tool
