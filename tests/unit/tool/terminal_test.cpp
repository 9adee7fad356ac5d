// What reaches a terminal of texts of others.
#include "tools/hprof/terminal.h"

#include <doctest/doctest.h>
#include <sstream>

#include "tools/format/utf8.h"

using namespace hprof::tool;

namespace {

std::string written(const std::string& text, size_t piece) {
  std::stringbuf target;
  {
    PrintableBuffer clean(&target);
    std::ostream out(&clean);
    for (size_t at = 0; at < text.size(); at += piece) out << text.substr(at, piece);
  }
  return target.str();
}

}  // namespace

TEST_CASE("controls and bytes that are no UTF-8 are escaped, however the text is cut") {
  const std::string text =
      "a\tb\n\x1b]0;x\x07\r\x7f "
      "\xc2\x9b|\xc2\xa0|\xc3\xa9|\xe2\x82\xac|\xf0\x9f\x98\x80|\xed\xa0\x80|\x9b|\xff\xe2\x82";
  const std::string clean =
      "a\tb\n\\x1b]0;x\\x07\\x0d\\x7f "
      "\\xc2\\x9b|\xc2\xa0|\xc3\xa9|\xe2\x82\xac|\xf0\x9f\x98\x80|\xed\xa0\x80|\\x9b|\\xff\\xe2\\x82";
  for (size_t piece = 1; piece <= text.size(); ++piece) CHECK(written(text, piece) == clean);
}

TEST_CASE("a name is one line") { CHECK(printable("a\nb\tc\xc2\x85") == "a\\x0ab\\x09c\\xc2\\x85"); }
