// Fuzz target: what a server answers to a posted report, whole and byte by byte, and url= and http-header= of
// anybody's making. The first byte chooses.
#include <cstdlib>
#include <cstring>

#include "tests/fuzz/seeds.h"
#include "writers/sink_http/address.h"
#include "writers/sink_http/answer.h"
#include "writers/sink_http/post.h"

using namespace hprof::http;

namespace {

void expect(bool holds) {
  if (!holds) abort();
}

void answer(const std::string& text) {
  uint64_t used = 0;
  const int32_t whole = status_of(text.data(), text.size(), &used);
  expect(used <= text.size());
  expect(whole == -1 || whole == 0 || (whole >= 200 && whole <= 999));
  // As it arrives: each piece in memory of its own size, so that a byte beyond it is seen.
  int32_t status = 0;
  uint64_t passed = 0;
  for (size_t size = 1; size <= text.size() && status == 0; size++) {
    const std::vector<char> piece(text.begin(), text.begin() + static_cast<ptrdiff_t>(size));
    status = status_of(piece.data(), piece.size(), &passed);
  }
  expect(status == whole && passed == used);
  Answer said;
  const std::vector<char> all(text.begin(), text.end());
  if (read_answer(all.data(), all.size(), true, &said)) expect(std::strlen(said.message.c_str()) < 160);
}

void url(const std::string& text) {
  Url url;
  char error[200] = {};
  if (!parse_url(text.c_str(), &url, error, sizeof error)) return expect(error[0] != '\0');
  expect(std::strlen(url.connect) < kHostMost && std::strlen(url.host) < kHostMost);
  expect(std::strchr(url.shown, '?') == nullptr && std::strlen(url.shown) < kUrlMost);
  const Facts facts = {"cpu_samples", "name=shop,zone=a b", "host", 1, 2, 3, 4};
  char target[kTargetMost];
  if (!fill_in(url.pattern, facts, target)) return;
  expect(target[0] == '/' && std::strlen(target) < kTargetMost);
  // A request line has two blanks and one end.
  for (const char* c = target; *c != '\0'; c++) expect(static_cast<unsigned char>(*c) > ' ');
}

void headers(const std::string& text) {
  char room[4096], error[200] = {};
  hprof::TextBuffer lines(room, sizeof room);
  if (!put_headers(text.c_str(), &lines, error, sizeof error)) return expect(error[0] != '\0');
  const size_t size = std::strlen(room);
  for (size_t i = 0; i < size; i++) {
    if (room[i] == '\n') expect(i > 0 && room[i - 1] == '\r');
    if (room[i] == '\r') expect(room[i + 1] == '\n');
  }
  header_value(room, "content-type");
}

}  // namespace

std::vector<std::string> fuzz_seeds() {
  return {"aHTTP/1.1 200 OK\r\n\r\n",
          "aHTTP/1.1 100 Continue\r\nServer: x\r\n\r\nHTTP/1.1 503 Busy\r\nRetry-After: 1\r\n\r\n",
          "aSSH-2.0-x\r\n",
          std::string("aHTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n\x0a\x06\x08\x03\x12\x02no", 47),
          "uhttp://host.example:8080/in/{name}/{unit}?from={from}&until={until}&l={labels}",
          "uhttp://[::1]:80?{host}{pid}{sequence}",
          "uhttp://user@host/%7b",
          "hX-Key:1|Content-Type:text/plain",
          "hAuthorization: Bearer a\\|b"};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] == 'a') answer(text);
  if (data[0] == 'u') url(text);
  if (data[0] == 'h') headers(text);
  return 0;
}
