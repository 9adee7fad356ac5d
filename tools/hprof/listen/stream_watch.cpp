#include "tools/hprof/listen/stream_watch.h"

#include <algorithm>

#include "tools/format/binary_format.h"
#include "tools/format/input.h"

namespace hprof::tool {

namespace {

constexpr unsigned kVersionMax = 32;
constexpr char kAnswer[] = "hprof command ";  // in a STRING, or after kNote in a text
constexpr char kNote[] = "HPROF NOTE: ";
constexpr size_t kAnswerMost = 500;

}  // namespace

void StreamWatch::byte_of_start(uint8_t byte) {
  if (byte == 0) {
    state_ = State::kIdSize;
    gathered_ = 0;
  } else if (byte == '\n' || ++gathered_ > kVersionMax) {
    state_ = State::kText;
    records_ = byte == '\n' ? 1 : 0;
  }
}

// Handles the beginning of a string or line; is_whole: all of it.
void StreamWatch::look_for_answer(bool is_whole) {
  size_t at = is_text() ? sizeof kNote - 1 : id_size_;
  const bool is_note = !is_text() || text_.compare(0, at, kNote) == 0;
  if (is_whole && is_note && text_.size() > at && text_.compare(at, sizeof kAnswer - 1, kAnswer) == 0)
    answers_.push_back(text_.substr(at + sizeof kAnswer - 1));
  text_.clear();
}

std::vector<std::string> StreamWatch::take_answers() {
  std::vector<std::string> taken;
  taken.swap(answers_);
  return taken;
}

void StreamWatch::add(const void* data, size_t size) {
  auto* at = static_cast<const uint8_t*>(data);
  auto* end = at + size;
  bytes_ += size;
  if (size > 0) last_byte_ = end[-1];
  while (at < end) {
    if (state_ == State::kBody) {
      uint64_t step =
          static_cast<uint64_t>(end - at) < body_left_ ? static_cast<uint64_t>(end - at) : body_left_;
      if (last_tag_ == kString && text_.size() <= kAnswerMost)
        text_.append(reinterpret_cast<const char*>(at),
                     static_cast<size_t>(std::min<uint64_t>(step, kAnswerMost)));
      at += step;
      body_left_ -= step;
      if (body_left_ == 0) {
        state_ = State::kHead;
        look_for_answer(text_.size() <= kAnswerMost);
      }
      continue;
    }
    uint8_t byte = *at++;
    if (state_ == State::kStart) {
      byte_of_start(byte);
    } else if (state_ == State::kText) {
      if (byte == '\n') {
        ++records_;
        look_for_answer(text_.size() < kAnswerMost);
      } else if (text_.size() < kAnswerMost) {
        text_ += static_cast<char>(byte);
      }
    } else {
      field_[gathered_++] = byte;
      if (state_ == State::kIdSize && gathered_ == 12) {
        id_size_ = static_cast<uint32_t>(big_endian<4>(field_));
        state_ = State::kHead;
        gathered_ = 0;
      } else if (state_ == State::kHead && gathered_ == 9) {
        last_tag_ = field_[0];
        body_left_ = static_cast<uint32_t>(big_endian<4>(field_ + 5));
        ++records_;
        if (body_left_ > 0) state_ = State::kBody;
        gathered_ = 0;
      }
    }
  }
}

bool StreamWatch::complete() const {
  return (state_ == State::kHead && gathered_ == 0) || (state_ == State::kText && last_byte_ == '\n');
}

}  // namespace hprof::tool
