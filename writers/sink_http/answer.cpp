#include "answer.h"

#include "address.h"

namespace hprof::http {

namespace {

constexpr uint64_t kRetryMost = 3600;  // seconds

// The digits at the beginning; false: there are none.
bool read_number(const char* text, uint64_t* number) {
  *number = 0;
  const char* at = text;
  for (; *at >= '0' && *at <= '9' && *number < uint64_t{1} << 40; at++)
    *number = *number * 10 + static_cast<uint64_t>(*at - '0');
  return at != text;
}

bool read_varint(const char*& at, const char* end, uint64_t* value) {
  *value = 0;
  for (uint32_t shift = 0; at != end && shift < 64; shift += 7) {
    const auto byte = static_cast<uint8_t>(*at++);
    *value |= uint64_t{byte & 0x7fu} << shift;
    if ((byte & 0x80) == 0) return true;
  }
  return false;
}

// Reads ExportProfilesServiceResponse{partial_success = 1}, and in it ExportProfilesPartialSuccess
// {rejected_profiles = 1, error_message = 2}.
void read_response(const char* at, const char* end, bool is_inner, Answer* answer) {
  uint64_t key = 0, value = 0;
  while (read_varint(at, end, &key) && read_varint(at, end, &value)) {
    if ((key & 7) == 0) {
      if (is_inner && key >> 3 == 1) answer->rejected = value <= INT32_MAX ? value : 0;
      continue;
    }
    if ((key & 7) != 2 || value > static_cast<uint64_t>(end - at)) return;
    if (!is_inner && key >> 3 == 1) read_response(at, at + value, true, answer);
    // A message is one line.
    for (uint64_t i = 0; is_inner && key >> 3 == 2 && i < value; i++)
      answer->message.add(static_cast<unsigned char>(at[i]) < ' ' ? " " : at + i, 1);
    at += value;
  }
}

// A receiver of OTLP answers with the type of the request.
void check_type(const char* head, Answer* answer) {
  constexpr char kType[] = "application/x-protobuf";
  const char* type = header_value(head, "content-type");
  if (type != nullptr && std::strncmp(type, kType, sizeof kType - 1) != 0)
    answer->other_type.add(type, std::strcspn(type, "\r\n"));
}

}  // namespace

int32_t status_of(const char* answer, uint64_t size, uint64_t* used) {
  for (;;) {
    const char* at = answer + *used;
    const uint64_t left = size - *used;
    constexpr char kVersion[] = "HTTP/1.";
    constexpr uint64_t kBefore = sizeof kVersion + 1;  // with the digit and the blank
    const uint64_t known = left < sizeof kVersion - 1 ? left : sizeof kVersion - 1;
    if (std::memcmp(at, kVersion, known) != 0) return -1;
    if (left < kBefore + 3) return 0;
    int32_t status = 0;
    for (uint64_t i = kBefore; i < kBefore + 3; i++) {
      if (at[i] < '0' || at[i] > '9') return -1;
      status = status * 10 + (at[i] - '0');
    }
    if (status < 100) return -1;
    if (status >= 200) return status;
    uint64_t end = 0;
    while (end + 4 <= left && std::memcmp(at + end, "\r\n\r\n", 4) != 0) end++;
    if (end + 4 > left) return 0;
    *used += end + 4;
  }
}

bool is_later(int32_t status) {
  return status == 408 || status == 425 || status == 429 || (status >= 502 && status <= 504);
}

bool read_answer(const char* text, uint64_t size, bool is_otlp, Answer* answer) {
  char head[kAnswerMost + 1];
  uint64_t end = 0;
  while (end + 4 <= size && std::memcmp(text + end, "\r\n\r\n", 4) != 0) end++;
  if (end + 4 > size || end > kAnswerMost) return false;
  TextBuffer(head, sizeof head).add(text, end);
  uint64_t length = 0;
  const char* value = header_value(head, "content-length");
  if (value == nullptr || !read_number(value, &length)) length = 0;
  value = header_value(head, "retry-after");
  if (value == nullptr || !read_number(value, &answer->retry_after_s)) answer->retry_after_s = 0;
  if (answer->retry_after_s > kRetryMost) answer->retry_after_s = kRetryMost;
  if (length > size - end - 4) return false;
  if (!is_otlp) return true;
  check_type(head, answer);
  if (answer->other_type.size() == 0) read_response(text + end + 4, text + end + 4 + length, false, answer);
  return true;
}

}  // namespace hprof::http
