// Counts the records of a stream that passes by, and keeps none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace hprof::tool {

class StreamWatch {
 public:
  void add(const void* bytes, size_t size);

  uint64_t bytes() const { return bytes_; }
  // Records of a binary stream, lines of a text.
  uint64_t records() const { return records_; }
  bool is_text() const { return state_ == State::kText; }
  // 0 before the end of the header, and for a text stream.
  unsigned id_size() const { return id_size_; }
  uint8_t last_tag() const { return last_tag_; }
  // The agent's answers to commands since the last call: "1 ok: dump heap: ...".
  std::vector<std::string> take_answers();
  // True: the stream may end here, between two records.
  bool complete() const;

 private:
  enum class State { kStart, kText, kIdSize, kHead, kBody };
  void byte_of_start(uint8_t byte);
  void look_for_answer(bool is_whole);

  State state_ = State::kStart;
  uint64_t bytes_ = 0;
  uint64_t records_ = 0;
  uint64_t body_left_ = 0;
  unsigned gathered_ = 0;
  uint8_t field_[12] = {};
  unsigned id_size_ = 0;
  uint8_t last_tag_ = 0;
  uint8_t last_byte_ = 0;
  std::string text_;  // the current line or string while it may be an answer
  std::vector<std::string> answers_;
};

}  // namespace hprof::tool
