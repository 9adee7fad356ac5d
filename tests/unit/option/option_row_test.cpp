#include "core/plugin/option_row.h"

#include <doctest/doctest.h>
#include <string>

#include "core/option/core_options.h"

using namespace hprof;

namespace {
struct Config {
  uint32_t flag;
  uint32_t choice;
  int64_t number;
  double real;
  const char* text;
  uint64_t bytes;
  uint64_t nanos;
};

const hprof_option kFlag = {"f", HPROF_OPTION_FLAG, offsetof(Config, flag), "y", nullptr, 0, 0, nullptr, ""};
const hprof_option kChoice = {"c", HPROF_OPTION_CHOICE, offsetof(Config, choice), "b", "a|b|c", 0, 0, nullptr,
                              ""};
const hprof_option kInt = {"i", HPROF_OPTION_INT, offsetof(Config, number), "4", nullptr, 0, 100, nullptr,
                           ""};
const hprof_option kFree = {"u", HPROF_OPTION_INT, offsetof(Config, number), "-4", nullptr, 0, 0, nullptr,
                            ""};
const hprof_option kReal = {"r", HPROF_OPTION_REAL, offsetof(Config, real), "0.5", nullptr, 0, 1, nullptr,
                            ""};
const hprof_option kText = {"t", HPROF_OPTION_TEXT, offsetof(Config, text), nullptr, nullptr, 0, 0, nullptr,
                            ""};
const hprof_option kSize = {"s", HPROF_OPTION_SIZE, offsetof(Config, bytes), "1k", nullptr, 0, 0, nullptr,
                            ""};
const hprof_option kMillis = {
    "m", HPROF_OPTION_MILLIS, offsetof(Config, nanos), "10", nullptr, 0.1, 1000, nullptr, ""};

std::string problem_of(const hprof_option& row, const char* value) {
  Config config = {};
  char text[256];
  TextWriter problem(text, sizeof(text));
  return store_option_value(row, value, &config, &problem) ? "(stored)" : text;
}
}  // namespace

TEST_CASE("each type is stored where and as its row says") {
  Config config = {};
  char text[64];
  TextWriter problem(text, sizeof(text));
  const char* words = "some words";
  CHECK(store_option_value(kFlag, "y", &config, &problem));
  CHECK(store_option_value(kChoice, "c", &config, &problem));
  CHECK(store_option_value(kInt, "100", &config, &problem));
  CHECK(store_option_value(kReal, "0.25", &config, &problem));
  CHECK(store_option_value(kText, words, &config, &problem));
  CHECK(store_option_value(kSize, "64k", &config, &problem));
  CHECK(store_option_value(kMillis, "0.5", &config, &problem));
  CHECK(config.flag == 1);
  CHECK(config.choice == 2);
  CHECK(config.number == 100);
  CHECK(config.real == 0.25);
  CHECK(config.text == words);
  CHECK(config.bytes == 65536);
  CHECK(config.nanos == 500000);
}

TEST_CASE("a bad value is told what it must be") {
  CHECK(problem_of(kFlag, "yes") == "y|n");
  CHECK(problem_of(kFlag, "") == "y|n");
  CHECK(problem_of(kChoice, "d") == "a|b|c");
  CHECK(problem_of(kChoice, "") == "a|b|c");
  CHECK(problem_of(kInt, "x") == "decimal and >= 0");
  CHECK(problem_of(kInt, "-1") == "decimal and >= 0");
  CHECK(problem_of(kInt, "101") == "decimal and <= 100");
  CHECK(problem_of(kFree, "x") == "decimal");
  CHECK(problem_of(kFree, "-9") == "(stored)");
  CHECK(problem_of(kReal, "1.5") == "decimal and <= 1");
  CHECK(problem_of(kReal, "nan") == "decimal and >= 0");
  CHECK(problem_of(kMillis, "0.05") == "decimal and >= 0.1");
  CHECK(problem_of(kMillis, "1001") == "decimal and <= 1000");
  CHECK(problem_of(kSize, "ten") == "a number of bytes, or of k, m or g,");
}

TEST_CASE("a refused value leaves the config as it was") {
  Config config = {};
  config.number = 42;
  char text[64];
  TextWriter problem(text, sizeof(text));
  CHECK_FALSE(store_option_value(kInt, "101", &config, &problem));
  CHECK(config.number == 42);
}

TEST_CASE("defaults are stored through the table's stride") {
  struct Longer {
    hprof_option row;
    void* newer;
  };
  const Longer rows[] = {{kInt, nullptr}, {kReal, nullptr}, {kText, nullptr}};
  OptionTable table;
  table.rows = &rows[0].row;
  table.count = 3;
  table.stride = sizeof(Longer);
  Config config;
  memset(&config, 0xff, sizeof(config));
  store_option_defaults(table, &config, sizeof(config));
  CHECK(config.number == 4);
  CHECK(config.real == 0.5);
  CHECK(config.text == nullptr);
  CHECK(config.flag == 0);
  CHECK(table.find("r") == &rows[1].row);
  CHECK(table.find("z") == nullptr);
}

TEST_CASE("rows that cannot be right are named") {
  const uint32_t size = sizeof(Config);
  for (const hprof_option& row : {kFlag, kChoice, kInt, kFree, kReal, kText, kSize, kMillis}) {
    CAPTURE(row.name);
    CHECK(option_row_problem(row, size) == nullptr);
  }
  hprof_option row = kInt;
  row.name = nullptr;
  CHECK(option_row_problem(row, size) != nullptr);
  row.name = "a=b";
  CHECK(option_row_problem(row, size) != nullptr);
  row.name = "a_name_that_is_longer_than_32_bytes";
  CHECK(option_row_problem(row, size) != nullptr);
  row = kInt;
  row.type = 99;
  CHECK(option_row_problem(row, size) != nullptr);
  row = kInt;
  row.offset = size - 7;
  CHECK(option_row_problem(row, size) != nullptr);
  row.offset = 0xfffffffcu;
  CHECK(option_row_problem(row, size) != nullptr);
  row = kInt;
  row.min = 101;
  CHECK(option_row_problem(row, size) != nullptr);
  row = kInt;
  row.default_text = "101";
  CHECK(option_row_problem(row, size) != nullptr);
  row = kChoice;
  row.choices = nullptr;
  CHECK(option_row_problem(row, size) != nullptr);
  row = kText;
  const std::string long_text(600, 'x');
  row.help = long_text.c_str();
  CHECK(option_row_problem(row, size) != nullptr);
}

TEST_CASE("the core's own rows are right and their names are unique") {
  uint32_t rows = 0;
  for (uint32_t group = 0; group < kCoreGroups; ++group) {
    const OptionTable table = core_options(static_cast<CoreGroup>(group));
    for (uint32_t i = 0; i < table.count; ++i, ++rows) {
      CAPTURE(table[i].name);
      hprof_option row = table[i];
      row.help = "its help is elsewhere";
      CHECK(option_row_problem(row, sizeof(CoreConfig)) == nullptr);
      CHECK(find_core_option(table[i].name) == &table[i]);
    }
  }
  CHECK(rows > 20);
}
