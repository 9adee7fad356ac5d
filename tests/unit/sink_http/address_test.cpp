// url= and http-header=
#include "writers/sink_http/address.h"

#include <doctest/doctest.h>
#include <string>

using namespace hprof;
using namespace hprof::http;

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
