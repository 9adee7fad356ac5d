#include "core/option/option_list.h"

#include <doctest/doctest.h>
#include <memory>
#include <string>

using namespace hprof;

namespace {
struct Parsed {
  std::unique_ptr<OptionList> list = std::make_unique<OptionList>();
  Error error;
  bool ok;

  explicit Parsed(const std::string& text, const std::string& environment = "") {
    ok = list->parse(Str(text.data(), text.size()), Str(environment.data(), environment.size()), &error);
  }
  std::string value(const char* name) const {
    const OptionItem* item = list->find(name);
    return item == nullptr ? "(none)" : item->value;
  }
};
}  // namespace

TEST_CASE("names and values are split at commas and at the first '='") {
  Parsed parsed("cpu=samples,net=[::1]:99,file=a=b:c,X=");
  REQUIRE(parsed.ok);
  CHECK(parsed.list->count() == 4);
  CHECK(parsed.value("cpu") == "samples");
  CHECK(parsed.value("net") == "[::1]:99");
  CHECK(parsed.value("file") == "a=b:c");
  CHECK(parsed.value("X") == "");
  CHECK(parsed.value("CPU") == "(none)");
  CHECK(parsed.list->help() == Help::kNone);
}

TEST_CASE("a format of events has the name of 1.0.0, too") {
  Parsed parsed("cpu=samples,format=json_events,depth=3");
  REQUIRE(parsed.ok);
  CHECK(parsed.list->count() == 4);
  CHECK(parsed.value("format") == "json");
  CHECK(parsed.value("events") == "y");
  CHECK(parsed.value("depth") == "3");
  CHECK_FALSE(Parsed("format=json_events,events=n").ok);
  CHECK(Parsed("file=json_events").value("events") == "(none)");
}

TEST_CASE("blanks before names and a comma at the end are skipped") {
  Parsed parsed(" depth=3,\tlineno=n,", "cutoff=1,");
  REQUIRE(parsed.ok);
  CHECK(parsed.list->count() == 3);
  CHECK(parsed.value("depth") == "3");
  CHECK(parsed.value("lineno") == "n");
  CHECK(parsed.value("cutoff") == "1");
}

TEST_CASE("nothing between two commas is refused") {
  for (const char* text : {"a=1,,b=2", ",a=1", "a=1, ,b=2", "a=1,,", ","}) {
    CAPTURE(text);
    Parsed parsed(text);
    CHECK_FALSE(parsed.ok);
    CHECK(std::string(parsed.error.text).find(std::string("nothing between two commas (") + text + ")") !=
          std::string::npos);
  }
}

TEST_CASE("no options at all is fine") {
  Parsed parsed("");
  CHECK(parsed.ok);
  CHECK(parsed.list->count() == 0);
}

TEST_CASE("help stands alone") {
  CHECK(Parsed("help").list->help() == Help::kOptions);
  CHECK(Parsed("depth=3,help").list->help() == Help::kOptions);
  CHECK(Parsed("", "help").list->help() == Help::kOptions);
  CHECK(Parsed("helpme=1").list->help() == Help::kNone);
  CHECK(Parsed("plugins=/x,help=plugins").list->help() == Help::kPlugins);
  CHECK(Parsed("help=units").list->help() == Help::kUnits);
  CHECK_FALSE(Parsed("help=me").ok);
}

TEST_CASE("an item without a value is kept, for who knows the names to refuse") {
  Parsed bare("foo,cpu=samples,bar=");
  REQUIRE(bare.ok);
  CHECK_FALSE((*bare.list)[0].has_value);
  CHECK(bare.value("foo") == "");
  CHECK((*bare.list)[1].has_value);
  CHECK((*bare.list)[2].has_value);
}

TEST_CASE("an item without a name is a syntax error in the original's form") {
  Parsed nameless("=3");
  CHECK_FALSE(nameless.ok);
  CHECK(std::string(nameless.error.text).find("a value without a name (=3)") != std::string::npos);
}

TEST_CASE("an option that is given twice is refused") {
  Parsed parsed("depth=3,cpu=samples,depth=4");
  CHECK_FALSE(parsed.ok);
  CHECK(std::string(parsed.error.text).find("option given twice: depth") != std::string::npos);
  CHECK_FALSE(Parsed("", "depth=3,depth=3").ok);
}

TEST_CASE("the environment is appended and replaces options of the command line") {
  Parsed parsed("depth=3,cpu=samples", "depth=8,lineno=n");
  REQUIRE(parsed.ok);
  CHECK(parsed.value("depth") == "8");
  CHECK(parsed.value("cpu") == "samples");
  CHECK(parsed.value("lineno") == "n");
  CHECK((*parsed.list)[0].replaced);
  CHECK_FALSE((*parsed.list)[1].replaced);
  const Str whole = parsed.list->whole();
  CHECK(std::string(whole.data, whole.size) == "depth=3,cpu=samples,depth=8,lineno=n");
}

TEST_CASE("too much text and too many options are refused, not cut") {
  CHECK(Parsed("X=" + std::string(OptionList::kTextMost - 3, 'x')).ok);
  CHECK_FALSE(Parsed("X=" + std::string(OptionList::kTextMost - 2, 'x')).ok);
  CHECK_FALSE(Parsed("X=" + std::string(OptionList::kTextMost - 3, 'x'), "a=b").ok);
  std::string many;
  for (uint32_t i = 0; i < OptionList::kItemsMost; ++i) many += "o" + std::to_string(i) + "=1,";
  CHECK(Parsed(many).ok);
  Parsed more(many + "last=1");
  CHECK_FALSE(more.ok);
  CHECK(std::string(more.error.text).find("too many options") != std::string::npos);
}

TEST_CASE("a NUL byte is refused") { CHECK_FALSE(Parsed(std::string("a=b\0,c=d", 8)).ok); }

TEST_CASE("errors show no control characters and end in time") {
  Parsed parsed("=\x1b[31m" + std::string(600, 'q'));
  CHECK_FALSE(parsed.ok);
  const std::string text = parsed.error.text;
  CHECK(text.size() < sizeof(Error::text));
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(text.find("...") != std::string::npos);
}
