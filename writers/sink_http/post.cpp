#include "post.h"

namespace hprof::http {

namespace {

constexpr uint64_t kSliceNs = 100'000'000;          // interval of checks whether to stop
constexpr uint64_t kMostConnectNs = 3'000'000'000;  // cannot be stopped meanwhile
constexpr uint32_t kReasonMost = 256;
constexpr uint32_t kHeadMost = kTargetMost + 4096;

class Exchange {
 public:
  Exchange(const Services& services, const Patience& patience) : services_(services), patience_(patience) {}
  ~Exchange() {
    char ignored[kReasonMost];
    if (handle_ >= 0) services_.io->close(services_.host, handle_, ignored, sizeof ignored);
  }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  bool connect(const char* address) {
    const uint64_t most = patience_.timeout_ns < kMostConnectNs ? patience_.timeout_ns : kMostConnectNs;
    handle_ = services_.io->connect(services_.host, address, most, reason_, sizeof reason_);
    return handle_ >= 0;
  }

  bool send(const void* bytes, uint64_t size) {
    const auto* at = static_cast<const uint8_t*>(bytes);
    uint64_t since = now();
    while (size != 0) {
      const int64_t count =
          services_.io->write(services_.host, handle_, at, size, kSliceNs, reason_, sizeof reason_);
      if (count < 0 || stops()) return false;
      if (count > 0) {
        at += count;
        size -= static_cast<uint64_t>(count);
        since = now();
      } else if (now() - since > patience_.timeout_ns) {
        TextBuffer(reason_, sizeof reason_).add("it takes no more data");
        return false;
      }
    }
    return true;
  }

  // Returns the status, and what else the answer says. 0: no answer; the reason is set.
  int32_t receive(bool is_otlp, Answer* answer) {
    char text[kAnswerMost];
    uint64_t size = 0, used = 0;
    const uint64_t since = now();
    while (size < sizeof text) {
      const int64_t count =
          services_.io->read(services_.host, handle_, text + size, sizeof text - size, kSliceNs);
      if (count > 0) size += static_cast<uint64_t>(count);
      const int32_t status = status_of(text, size, &used);
      if (status < 0) return fail("its answer is not HTTP");
      const bool is_patient =
          count >= 0 && size < sizeof text && !stops() && now() - since <= patience_.timeout_ns;
      const bool has_more = is_later(status) || (is_otlp && status < 300);
      if (status > 0 && (!has_more || read_answer(text + used, size - used, is_otlp, answer) || !is_patient))
        return status;
      if (count < 0) return fail("it closed the connection without an answer");
      if (stops()) return 0;
      if (now() - since > patience_.timeout_ns) return fail("it does not answer");
    }
    return fail("its answer is not HTTP");
  }

  bool stops() const { return patience_.stops(patience_.context); }
  const char* reason() const { return reason_; }

 private:
  uint64_t now() const { return services_.clock->monotonic(services_.host); }
  int32_t fail(const char* text) {
    TextBuffer(reason_, sizeof reason_).add(text);
    return 0;
  }

  const Services& services_;
  const Patience& patience_;
  int64_t handle_ = -1;
  char reason_[kReasonMost] = "";
};

// True: compressed text, sent with Content-Encoding. A compressed dump is sent as a file.
bool is_packed_text(const Request& request) {
  return request.size > 2 && request.bytes[0] == 0x1f && request.bytes[1] == 0x8b &&
         std::strcmp(request.content_type, "application/octet-stream") != 0;
}

bool put_head(const Request& request, TextBuffer* head) {
  head->add(request.method).add(" ").add(request.target).add(" HTTP/1.1\r\nHost: ").add(request.url->host);
  head->add("\r\nUser-Agent: hprof\r\nConnection: close\r\nContent-Length: ").add(request.size).add("\r\n");
  if (request.content_type[0] != 0 && header_value(request.headers, "content-type") == nullptr)
    head->add("Content-Type: ").add(request.content_type).add("\r\n");
  if (is_packed_text(request) && header_value(request.headers, "content-encoding") == nullptr)
    head->add("Content-Encoding: gzip\r\n");
  head->add(request.headers).add("\r\n");
  return !head->cut();
}

Outcome outcome_of(int32_t status, bool is_otlp, TextBuffer* why) {
  if (status >= 200 && status < 300) return Outcome::kTaken;
  why->add("it answers ").add(static_cast<uint64_t>(status));
  // To OTLP a receiver says 503 if it wants the request again.
  if (status == 500 && !is_otlp) return Outcome::kMaybe;
  return is_later(status) ? Outcome::kAgain : Outcome::kRefused;
}

}  // namespace

Outcome post(const Services& services, const Request& request, const Patience& patience, TextBuffer* why,
             Answer* answer) {
  char room[kHeadMost];
  TextBuffer head(room, sizeof room);
  if (!put_head(request, &head)) {
    why->add("the request's head is too long");
    return Outcome::kRefused;
  }
  Exchange exchange(services, patience);
  bool goes = exchange.connect(request.url->connect);
  const bool connected = goes;
  goes = goes && exchange.send(room, head.size()) && exchange.send(request.bytes, request.size);
  if (exchange.stops()) return Outcome::kStopped;
  if (!connected) {
    why->add(exchange.reason());
    return Outcome::kAgain;
  }
  // A server that rejects the request may have answered before it closed.
  TextLine<kReasonMost> not_sent;
  not_sent.add(exchange.reason());
  const bool is_otlp = std::strcmp(request.content_type, "application/x-protobuf") == 0;
  const int32_t status = exchange.receive(is_otlp, answer);
  if (status != 0) return outcome_of(status, is_otlp, why);
  if (exchange.stops()) return Outcome::kStopped;
  why->add(goes ? exchange.reason() : not_sent.c_str());
  return Outcome::kAgain;
}

}  // namespace hprof::http
