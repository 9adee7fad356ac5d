// Requests and answers.
#include "writers/sink_http/post.h"

#include <deque>
#include <doctest/doctest.h>
#include <string>

#include "tools/mock/mock_host.h"

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
  CHECK(outcome("HTTP/1.1 500 Oops\r\n\r\n") == Outcome::kRefused);
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

TEST_CASE("a server that is not there is tried again, with the reason") {
  Sent sent;
  sent.host.connect_error = "Connection refused";
  sent.go("body");
  CHECK(sent.outcome == Outcome::kAgain);
  CHECK(sent.why == "Connection refused");
}
