// Requests and answers.
#include "writers/sink_http/post.h"

#include <deque>
#include <doctest/doctest.h>
#include <string>

#include "tools/mock/mock_host.h"
#include "writers/sink_http/address.h"
#include "writers/sink_http/outbox.h"

using namespace hprof;
using namespace hprof::http;

namespace {

int32_t status(const std::string& answer) {
  uint64_t used = 0;
  return status_of(answer.data(), answer.size(), &used);
}

struct Sent {
  MockHost host;
  Outcome outcome = Outcome::kStopped;
  Answer answer;
  std::string why, bytes;

  void go(const std::string& body, const char* headers = "", const char* type = "text/plain") {
    Url url = {};
    char error[200] = "";
    REQUIRE(parse_url("http://store:4040/", &url, error, sizeof error));
    const Services services(host.host());
    const Request request = {
        "POST", &url, "/ingest", headers, type, reinterpret_cast<const uint8_t*>(body.data()), body.size()};
    const Patience patience = {0, [](const void*) { return false; }, nullptr};
    TextLine<200> text;
    outcome = post(services, request, patience, &text, &answer);
    why = text.c_str();
    if (!host.connections.empty()) bytes = host.connections.back().bytes;
  }
};

}  // namespace

TEST_CASE("the status of an answer") {
  CHECK(status("HTTP/1.1 204 No Content\r\n") == 204);
  CHECK(status("HTTP/1.0 500") == 500);
  CHECK(status("HTTP/1.1 20") == 0);
  CHECK(status("") == 0);
  CHECK(status("HTT") == 0);
  CHECK(status("SSH-2.0-x") == -1);
  CHECK(status("HTTP/1.1 abc") == -1);
  CHECK(status("HTTP/1.1 099") == -1);
}

TEST_CASE("interim answers are skipped") {
  CHECK(status("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n") == 200);
  CHECK(status("HTTP/1.1 100 Continue\r\nX: y\r\n\r\n") == 0);
  CHECK(status("HTTP/1.1 100 Continue\r\n") == 0);
}

TEST_CASE("a request has its length, its type and the user's headers") {
  Sent sent;
  sent.host.incoming = {"HTTP/1.1 200 OK\r\n\r\n"};
  sent.go("body", "X-Scope-OrgID: 1\r\n");
  CHECK(sent.outcome == Outcome::kTaken);
  CHECK(sent.bytes ==
        "POST /ingest HTTP/1.1\r\nHost: store:4040\r\nUser-Agent: hprof\r\nConnection: "
        "close\r\nContent-Length: 4\r\n"
        "Content-Type: text/plain\r\nX-Scope-OrgID: 1\r\n\r\nbody");
}

TEST_CASE("the user's content type stands, and packed text says so") {
  Sent sent;
  sent.host.incoming = {"HTTP/1.1 200 OK\r\n\r\n"};
  sent.go("\x1f\x8b\x08", "content-type: a/b\r\n");
  CHECK(sent.bytes.find("text/plain") == std::string::npos);
  CHECK(sent.bytes.find("Content-Encoding: gzip\r\n") != std::string::npos);
  Sent file;
  file.host.incoming = {"HTTP/1.1 200 OK\r\n\r\n"};
  file.go("\x1f\x8b\x08", "", "application/octet-stream");
  CHECK(file.bytes.find("Content-Encoding") == std::string::npos);
}

TEST_CASE("what is tried again, and what is not") {
  const auto outcome = [](const std::string& answer) {
    Sent sent;
    sent.host.incoming = {answer};
    sent.go("body");
    return sent.outcome;
  };
  CHECK(outcome("HTTP/1.1 204 No Content\r\n\r\n") == Outcome::kTaken);
  CHECK(outcome("HTTP/1.1 404 Not Found\r\n\r\n") == Outcome::kRefused);
  CHECK(outcome("HTTP/1.1 301 Moved\r\n\r\n") == Outcome::kRefused);
  CHECK(outcome("HTTP/1.1 400 Bad Request\r\n\r\n") == Outcome::kRefused);
  CHECK(outcome("HTTP/1.1 500 Oops\r\n\r\n") == Outcome::kMaybe);
  CHECK(outcome("HTTP/1.1 502 Bad Gateway\r\n\r\n") == Outcome::kAgain);
  CHECK(outcome("HTTP/1.1 503 Unavailable\r\n\r\n") == Outcome::kAgain);
  CHECK(outcome("HTTP/1.1 504 Timeout\r\n\r\n") == Outcome::kAgain);
  CHECK(outcome("HTTP/1.1 429 Slowly\r\n\r\n") == Outcome::kAgain);
  CHECK(outcome("SSH-2.0-x\r\n") == Outcome::kAgain);
  CHECK(outcome("") == Outcome::kAgain);
}

TEST_CASE("how long a server asks to wait") {
  const auto seconds = [](const std::string& head) {
    Sent sent;
    sent.host.incoming = {"HTTP/1.1 429 Slowly\r\n", head, "\r\n\r\n"};
    sent.go("body");
    CHECK(sent.outcome == Outcome::kAgain);
    return sent.answer.retry_after_s;
  };
  CHECK(seconds("retry-after: 7") == 7);
  CHECK(seconds("Retry-After: 7\r\nX: y") == 7);
  CHECK(seconds("Retry-After: 99999999999999999999") == 3600);
  CHECK(seconds("Retry-After: Fri, 31 Dec 1999 23:59:59 GMT") == 0);
  CHECK(seconds("X: y") == 0);
}

TEST_CASE("what a collector does not take of a request") {
  const auto answered = [](const std::string& body, const char* type) {
    Sent sent;
    sent.host.incoming = {"HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n",
                          body.substr(0, 3), body.size() > 3 ? body.substr(3) : "\n"};
    sent.go("body", "", type);
    CHECK(sent.outcome == Outcome::kTaken);
    return std::to_string(sent.answer.rejected) + " " + sent.answer.message.c_str();
  };
  const char* otlp = "application/x-protobuf";
  const std::string partial("\x0a\x09\x08\x81\x01\x12\x04la\ne", 11);
  CHECK(answered(partial, otlp) == "129 la e");
  CHECK(answered(partial, "text/plain") == "0 ");
  CHECK(answered("\x0a" + std::string(1, 0), otlp) == "0 ");
  CHECK(answered(std::string("\x0a\x7fxy"), otlp) == "0 ");
  CHECK(answered("", otlp) == "0 ");
}

TEST_CASE("OTLP: what only a receiver answers") {
  const auto answered = [](const std::string& type, const std::string& status = "200 OK") {
    Sent sent;
    sent.host.incoming = {"HTTP/1.1 " + status + "\r\n" + type + "Content-Length: 4\r\n\r\n",
                          "\x0a\x02\x08\x02"};
    sent.go("body", "", "application/x-protobuf");
    return std::to_string(static_cast<uint32_t>(sent.outcome)) + " " + std::to_string(sent.answer.rejected) +
           " " + sent.answer.other_type.c_str();
  };
  CHECK(answered("") == "0 2 ");
  CHECK(answered("content-type: application/x-protobuf\r\n") == "0 2 ");
  CHECK(answered("Content-Type: text/html; charset=utf-8\r\n") == "0 0 text/html; charset=utf-8");
  CHECK(answered("", "500 Oops") == "1 0 ");  // refused
}

TEST_CASE("a server that is not there is tried again, with the reason") {
  Sent sent;
  sent.host.connect_error = "Connection refused";
  sent.go("body");
  CHECK(sent.outcome == Outcome::kAgain);
  CHECK(sent.why == "Connection refused");
}

// Reports that wait to be posted.
namespace {

constexpr uint64_t kPiece = 64 * 1024;

struct Fixture {
  MockHost host;
  Services services{host.host()};
  Outbox outbox;

  explicit Fixture(uint64_t most) { REQUIRE(outbox.open(services, most)); }
  ~Fixture() { outbox.close(); }

  uint64_t add(uint64_t sequence, uint64_t size = kPiece) {
    Report head = {};
    head.sequence = sequence;
    outbox.begin(head);
    const std::string bytes(size, 'x');
    if (!outbox.add(reinterpret_cast<const uint8_t*>(bytes.data()), size)) return UINT64_MAX;
    return outbox.end();
  }
  // Of the oldest, which is then gone; 0: none.
  uint64_t take() {
    Report* report = outbox.front();
    const uint64_t sequence = report != nullptr ? report->sequence : 0;
    if (report != nullptr) outbox.done();
    return sequence;
  }
};

}  // namespace

TEST_CASE("reports come out as they went in") {
  Fixture f(10 * kPiece);
  for (uint64_t i = 1; i <= 3; i++) CHECK(f.add(i) == 0);
  CHECK(f.outbox.count() == 3);
  for (uint64_t i = 1; i <= 3; i++) CHECK(f.take() == i);
  CHECK(f.take() == 0);
}

TEST_CASE("a report without bytes is not one, and is not lost") {
  Fixture f(2 * kPiece);
  f.outbox.begin({});
  CHECK(f.outbox.end() == 0);
  CHECK(f.outbox.count() == 0);
}

TEST_CASE("when there is too much the oldest go") {
  Fixture f(3 * kPiece);
  for (uint64_t i = 1; i <= 3; i++) CHECK(f.add(i) == 0);
  CHECK(f.add(4) == 1);
  CHECK(f.add(5, 2 * kPiece) == 2);
  CHECK(f.take() == 4);
  CHECK(f.take() == 5);
  CHECK(f.take() == 0);
}

TEST_CASE("one that is on its way stays") {
  Fixture f(2 * kPiece);
  f.add(1);
  f.add(2);
  REQUIRE(f.outbox.front()->sequence == 1);
  CHECK(f.add(3) == 1);
  CHECK(f.add(4, 2 * kPiece) == UINT64_MAX);
  f.outbox.done();
  CHECK(f.take() == 3);
  f.add(5);
  REQUIRE(f.outbox.front()->sequence == 5);
  f.outbox.release_front();
  CHECK(f.add(6, 2 * kPiece) == 1);
  CHECK(f.take() == 6);
}

TEST_CASE("one that is too large, or not whole, is not taken") {
  Fixture f(2 * kPiece);
  CHECK(f.add(1, 2 * kPiece + 1) == UINT64_MAX);
  f.outbox.begin({});
  f.outbox.drop();
  CHECK(f.outbox.end() == UINT64_MAX);
  CHECK(f.outbox.count() == 0);
  CHECK(f.add(2, 2 * kPiece) == 0);
  CHECK(f.take() == 2);
}

// url= and http-header=
namespace {

struct Parsed {
  Url url = {};
  char error[300] = "";
  bool good;
  explicit Parsed(const char* text) { good = parse_url(text, &url, error, sizeof error); }
  std::string connect() const { return url.connect; }
  std::string host() const { return url.host; }
  std::string pattern() const { return url.pattern; }
};

std::string filled(const char* pattern, const Facts& facts) {
  char target[kTargetMost];
  return fill_in(pattern, facts, target) ? target : "too long";
}

const Facts kFacts = {
    "cpu_samples", "service:my shop;env:prod;zone:b&c", "here", 1700000000, 1700000060, 42, 3};

}  // namespace

TEST_CASE("host, port and path of a URL") {
  Parsed plain("http://store:4040/ingest?name=x");
  REQUIRE(plain.good);
  CHECK(plain.connect() == "store:4040");
  CHECK(plain.host() == "store:4040");
  CHECK(plain.pattern() == "/ingest?name=x");
  CHECK(std::string(plain.url.shown) == "http://store:4040/ingest");
  Parsed port("http://store/");
  CHECK(port.connect() == "store:80");
  CHECK(port.host() == "store");
  Parsed none("http://store?x=1");
  CHECK(none.pattern() == "?x=1");
  Parsed six("http://[::1]:8080/");
  CHECK(six.connect() == "[::1]:8080");
  CHECK(Parsed("http://[::1]/").connect() == "[::1]:80");
}

TEST_CASE("what is no URL is refused with the reason") {
  const auto reason = [](const char* text) {
    Parsed parsed(text);
    CHECK_FALSE(parsed.good);
    return std::string(parsed.error);
  };
  CHECK(reason("https://store/").find("https is not supported, the agent has no TLS") != std::string::npos);
  for (const char* text : {"", "store:80", "ftp://store/", "http:/store"})
    CHECK(reason(text) == "url=: it must be http://host[:port]/path");
  for (const char* text : {"http://", "http:///x", "http://:80/", "http://store:0/", "http://store:65536/",
                           "http://store:x/", "http://[::1/", "http://[::1]x/"})
    CHECK(reason(text) == "url=: its host or port is invalid");
  CHECK(reason("http://me:word@store/") ==
        "url=: it has a user in it: use http-header=Authorization:<value>");
  CHECK(reason("http://store/a b").find("a blank or a control character") != std::string::npos);
  CHECK(reason("http://store/#x") == "url=: a '#' is not sent to a server");
  for (const char* text :
       {"http://store/{nobody}", "http://store/{", "http://store/}", "http://store/{na{me}"})
    CHECK(reason(text).find("braces are for {name} {unit} {from}") != std::string::npos);
}

TEST_CASE("names in braces are filled in, encoded") {
  CHECK(filled("/ingest?name={name}{labels}&from={from}&until={until}", kFacts) ==
        "/ingest?name=my%20shop%7Benv%3Dprod%2Czone%3Db%26c%7D&from=1700000000&until=1700000060");
  CHECK(filled("/{host}/{pid}/{unit}-{sequence}.txt", kFacts) == "/here/42/cpu_samples-3.txt");
  CHECK(filled("?a=1", kFacts) == "/?a=1");
  CHECK(filled("", kFacts) == "/");
  CHECK(filled("/{name}{labels}", {"", "", "", 0, 0, 0, 0}) == "/java");
  CHECK(filled("/{name}{labels}", {"", "env:prod; service:cart;:x; zone:b", "", 0, 0, 0, 0}) ==
        "/cart%7Benv%3Dprod%2Czone%3Db%7D");
  CHECK(filled(("/" + std::string(kTargetMost, 'x')).c_str(), kFacts) == "too long");
}

TEST_CASE("headers") {
  char lines[200], error[200] = "";
  const auto put = [&](const char* text) {
    TextBuffer to(lines, sizeof lines);
    return put_headers(text, &to, error, sizeof error);
  };
  CHECK(put(""));
  CHECK(std::string(lines).empty());
  CHECK(put("Authorization: Bearer x|X-Scope-OrgID:1"));
  CHECK(std::string(lines) == "Authorization: Bearer x\r\nX-Scope-OrgID: 1\r\n");
  CHECK(header_value(lines, "authorization") != nullptr);
  CHECK(header_value(lines, "x-scope-orgid") != nullptr);
  CHECK(header_value(lines, "scope") == nullptr);
  CHECK(header_value(lines, "content-type") == nullptr);
  for (const char* text : {"x", ":y", "a|b:c"}) {
    CHECK_FALSE(put(text));
    CHECK(std::string(error) == "http-header=: it must be <name>:<value>[|...]");
  }
  for (const char* text : {"a b:c", "a:b\r\nc:d"}) {
    CHECK_FALSE(put(text));
    CHECK(std::string(error).find("a character that headers cannot have") != std::string::npos);
  }
  CHECK_FALSE(put(("a:" + std::string(300, 'x')).c_str()));
}
