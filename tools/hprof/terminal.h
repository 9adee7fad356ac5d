// Escapes what a terminal could obey (ESC, OSC, U+0080 to U+009F) in all that commands write to std::cout and
// std::cerr, since texts come from files, processes and peers. Not only on terminals: logs and pagers show it
// later.
#pragma once

#include <streambuf>
#include <string>

namespace hprof::tool {

// Passes text to `target` as printable_text() makes it; calls may cut it anywhere.
class PrintableBuffer : public std::streambuf {
 public:
  explicit PrintableBuffer(std::streambuf* target) : target_(target) {}
  ~PrintableBuffer() override;
  PrintableBuffer(const PrintableBuffer&) = delete;
  PrintableBuffer& operator=(const PrintableBuffer&) = delete;

 protected:
  int_type overflow(int_type letter) override;
  std::streamsize xsputn(const char* text, std::streamsize size) override;
  int sync() override;

 private:
  bool pass(const std::string& text);

  std::streambuf* target_;
  std::string begun_;  // the first bytes of a character
};

// While this object lives, std::cout and std::cerr write through a PrintableBuffer.
class PrintableStreams {
 public:
  PrintableStreams();
  ~PrintableStreams();
  PrintableStreams(const PrintableStreams&) = delete;
  PrintableStreams& operator=(const PrintableStreams&) = delete;

  // False: something of std::cout could not be written.
  static bool flush();

 private:
  std::streambuf* const out_;
  std::streambuf* const error_;
  PrintableBuffer clean_out_, clean_error_;
};

// Writes control sequences of the tool's own to stderr, unchanged.
void steer_terminal(const std::string& controls);

}  // namespace hprof::tool
