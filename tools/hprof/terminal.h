// The way from the commands to a terminal.
//
// Files, processes and peers give texts, of any bytes, that a terminal could obey: ESC, OSC, U+0080 to
// U+009F. So all that a command writes to std::cout and std::cerr passes one writer, which escapes them,
// whether the stream is a terminal or goes to one later (a log, a pager).
#pragma once

#include <streambuf>
#include <string>

namespace hprof::tool {

// Passes text on to `target` as printable_text() makes it, which may be cut anywhere between two calls.
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

// From its making to its end, std::cout and std::cerr write through a PrintableBuffer.
class PrintableStreams {
 public:
  PrintableStreams();
  ~PrintableStreams();
  PrintableStreams(const PrintableStreams&) = delete;
  PrintableStreams& operator=(const PrintableStreams&) = delete;

 private:
  std::streambuf* const out_;
  std::streambuf* const error_;
  PrintableBuffer clean_out_, clean_error_;
};

// Writes control sequences of our own to stderr, as they are.
void steer_terminal(const std::string& controls);

}  // namespace hprof::tool
