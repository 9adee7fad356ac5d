// hprof convert: sums by method are the same before and after, whatever the formats.
#include "tools/hprof/convert/convert.h"

#include <cctype>
#include <doctest/doctest.h>
#include <fstream>
#include <map>
#include <sstream>

#include <hprof/mock/unit_run.h>

#include "tests/unit/golden/pprof_reader.h"
#include "tools/hprof/print/profile_sums.h"

using namespace hprof::tool;

extern "C" const hprof_module* hprof_module_encoder_otlp(const hprof_offer*, const char**);

namespace {

constexpr const char* kFormats[] = {"collapsed", "pprof", "ascii", "json", "otlp"};

// `hprof convert` does not write it.
const hprof_unit& unit_of(const std::string& format) {
  return format == "otlp" ? *hprof::mock_open(hprof_module_encoder_otlp)->units[0] : *encoder_of(format);
}

std::string golden(const std::string& name) {
  std::ifstream file(std::string(HPROF_GOLDEN_DIR) + "/" + name, std::ios::binary);
  REQUIRE_MESSAGE(file.good(), name);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// The bytes of a golden file in hexadecimal: "000000  4a 41 ...  JA".
std::string golden_bytes(const std::string& name) {
  std::istringstream lines(golden(name));
  std::string bytes, line;
  while (std::getline(lines, line)) {
    std::istringstream digits(line.substr(8, 48));
    unsigned byte = 0;
    while (digits >> std::hex >> byte) bytes.push_back(static_cast<char>(byte));
  }
  return bytes;
}

Profile read(const std::string& bytes) {
  MemorySource source(bytes.data(), bytes.size());
  Profile profile;
  std::string error;
  REQUIRE_MESSAGE(read_profile(source, &profile, &error), error);
  return profile;
}

std::string convert(const Profile& profile, const std::string& format, const std::string& table,
                    const std::string& weight) {
  std::string bytes, error;
  std::vector<std::string> said;
  REQUIRE_MESSAGE(convert_profile(profile, unit_of(format), {table, weight}, &bytes, &said, &error), error);
  for (const std::string& line : said) CHECK(line.rfind("lost", 0) != 0);
  return bytes;
}

// Formats differ in what they make of letters that have a meaning in them.
std::string plain(const std::string& name) {
  std::string letters;
  for (const char letter : name) {
    if (std::isgraph(static_cast<unsigned char>(letter)) != 0 && letter != '_') letters.push_back(letter);
  }
  return letters;
}

const ProfileTable& last_of(const Profile& profile, const std::string& name) {
  for (const LastTable& last : last_tables(profile)) {
    if (last.table->name == name) return *last.table;
  }
  REQUIRE_MESSAGE(false, name);
  return profile.tables[0];
}

using Sums =
    std::map<std::string, std::pair<uint64_t, uint64_t>>;  // self and total by method, what is 0 left out

// skip: frames on top of each stack that are no methods.
Sums sums_by_method(const Profile& profile, const ProfileTable& table, const std::string& weight,
                    size_t skip = 0) {
  size_t index = 0;
  while (index < table.weights.size() && table.weights[index].name != weight) ++index;
  REQUIRE_MESSAGE(index < table.weights.size(), weight);
  Sums sums;
  for (const ProfileRow& row : table.rows) {
    const uint64_t value = row.values[index];
    const auto trace = profile.traces.find(row.trace);
    if (value == 0) continue;
    std::map<std::string, bool> methods;  // of the stack: innermost or not
    for (size_t i = skip; trace != profile.traces.end() && i < trace->second.size(); ++i) {
      const std::string name = plain(method_text(trace->second[i]));
      if (name != "[unknown]") methods.emplace(name, i == skip);
    }
    if (methods.empty()) methods.emplace("", true);
    for (const auto& [name, innermost] : methods) {
      sums[name].first += innermost ? value : 0;
      sums[name].second += value;
    }
  }
  return sums;
}

// Text has hundredths of a percent of times.
bool is_exact(const std::string& format, const ProfileWeight& weight) {
  return format != "ascii" || weight.unit != ProfileWeight::kNanoseconds;
}

void check_round_trips(const Profile& profile) {
  for (const LastTable& last : last_tables(profile)) {
    const ProfileTable& table = *last.table;
    for (const char* format : kFormats) {
      for (const ProfileWeight& weight : table.weights) {
        if (!is_exact(format, weight)) continue;
        CAPTURE(table.name);
        CAPTURE(format);
        CAPTURE(weight.name);
        const Profile again = read(convert(profile, format, table.name, weight.name));
        const bool is_folded = std::string(format) == "collapsed";
        const Sums wanted = sums_by_method(profile, table, weight.name);
        // The text has no zero column of its own for what the file did not say.
        if (wanted.empty()) continue;
        const std::string name = is_folded                ? "folded"
                                 : table.name == "folded" ? again.tables[0].name
                                                          : table.name;
        const std::string column = is_folded                                         ? "count"
                                   : table.name == "folded" && name == "cpu_samples" ? "samples"
                                                                                     : weight.name;
        CHECK(sums_by_method(again, last_of(again, name), column, is_folded && table.leaf ? 1 : 0) == wanted);
      }
    }
  }
}

}  // namespace

TEST_CASE("convert: golden files of every format keep their sums by method") {
  for (const char* name : {"ascii.txt", "ascii_thread_y_lineno_n.txt", "collapsed.txt"}) {
    CAPTURE(name);
    const Profile profile = read(golden(name));
    REQUIRE(!profile.tables.empty());
    check_round_trips(profile);
  }
  for (const char* name : {"pprof.hex", "binary.hex"}) {
    CAPTURE(name);
    check_round_trips(read(golden_bytes(name)));
  }
}

TEST_CASE("convert: pprof has what the text had, as an independent reader sees it") {
  const Profile profile = read(golden("ascii.txt"));
  hprof::PprofProfile pprof;
  REQUIRE(pprof.read(convert(profile, "pprof", "alloc_sites", "")) == "");
  REQUIRE(pprof.types.size() == 4);
  CHECK(pprof.types[0].type == "inuse_space");
  CHECK(pprof.comments.size() == profile.notes.size());
  const Sums wanted = sums_by_method(profile, last_of(profile, "alloc_sites"), "allocated_bytes");
  for (const auto& [method, value] : pprof.self(2)) {
    if (method != "[unknown]") CHECK(wanted.at(plain(method)).first == static_cast<uint64_t>(value));
  }
}

TEST_CASE("convert: JSON keeps stacks, threads, cuts, names and totals") {
  Profile profile;
  profile.created_ms = 1000;
  profile.traces[7] = {{"a.A", "x", "A.java", 3}, {"", "main", "", 0}};
  profile.threads[7] = "worker \"1\"";
  profile.cut.insert(7);
  profile.traces[8] = {};
  ProfileTable table{"com.acme.heat/1", "HEAT", {{"heat", "heat", ProfileWeight::kBytes, true, true}}, {}};
  table.leaf = true;
  table.totals = {50};
  table.rows = {{8, {1}, "b.B"}, {7, {UINT64_MAX - 1}, "c.C[]"}};
  profile.tables = {table};
  const std::string json = convert(profile, "json", "", "");
  const auto at = [&](const std::string& part) {
    const size_t found = json.find(part);
    CHECK_MESSAGE(found != std::string::npos, part, "\n", json);
    return found;
  };
  at(R"("created_ms":1000)");
  at(R"("name":"com.acme.heat/1","title":"HEAT")");
  at(R"("flags":["weight","state")");
  at(R"("totals":{"heat":50})");
  at(R"("class":"a.A",)");
  at(R"("method":"x","signature":null,"source":"A.java","line":3)");
  at(R"("name":"worker \"1\"")");
  at(R"("cut":true)");
  // The largest first.
  CHECK(at(R"("heat":18446744073709551614)") < at(R"("heat":1,)"));
  at(R"("name":"c.C[]")");
}

TEST_CASE("convert: lines of JSON have the tables of the text") {
  const Profile json = read(golden("json.txt")), text = read(golden("ascii.txt"));
  for (const LastTable& last : last_tables(text)) {
    const ProfileTable& table = last_of(json, last.table->name);
    CAPTURE(table.name);
    CHECK(table.title == last.table->title);
    CHECK(table.weights[preferred_weight(table)].name ==
          last.table->weights[preferred_weight(*last.table)].name);
    for (const ProfileWeight& weight : last.table->weights)
      if (is_exact("ascii", weight))
        CHECK(sums_by_method(json, table, weight.name) == sums_by_method(text, *last.table, weight.name));
  }
  CHECK(json.notes.size() == text.notes.size());
  CHECK(json.all_threads.size() == text.all_threads.size());
}

TEST_CASE("convert: what is wrong in lines of JSON is named with its line") {
  const auto refused = [](const std::string& text) {
    MemorySource source(text.data(), text.size());
    Profile profile;
    std::string error;
    CHECK_FALSE(read_profile(source, &profile, &error));
    return error;
  };
  const std::string begin = R"({"record":"begin","version":1,"created_ms":0})"
                            "\n";
  CHECK(refused(begin + "x") == "line 2: expected {\"record\": ..., as format=json writes it");
  CHECK(refused(begin + R"({"record":"note","text":)") == "line 2: the file ends within it: cut short");
  CHECK(refused(begin + R"({"record":"note","text":})"
                        "\n") == "line 2: no object of JSON");
  CHECK(refused(begin + R"({"record":"trace","id":1,"frames":[3]})"
                        "\n") == "line 2: the trace has frame 3, which is not before it");
  CHECK(refused(begin + R"({"record":"row","table":"a","cells":{}})"
                        "\n") == "line 2: a row of a, of which no table is before it");
}

TEST_CASE("convert: lines of JSON may have blanks") {
  const std::string text = R"( { "record" : "begin", "created_ms": 5 })"
                           "\n"
                           R"({"record": "note", "text": "said"})"
                           "\n";
  const Profile profile = read(text);
  CHECK(profile.created_ms == 5);
  CHECK(profile.notes == std::vector<std::string>{"said"});
}

TEST_CASE("convert: texts of JSON that are keys name a row, before its top frame") {
  const Profile profile = read(
      R"({"record":"begin","created_ms":5})"
      "\n"
      R"({"record":"table","name":"hprof.io_calls/1","title":"FILES AND SOCKETS","columns":[)"
      R"({"name":"operation","type":"text","flags":["key"]},{"name":"note","type":"text","flags":[]},)"
      R"({"name":"target","type":"text","flags":["key","leaf"]},{"name":"trace","type":"trace","flags":["key"]},)"
      R"({"name":"bytes","type":"bytes","flags":["weight"]}]})"
      "\n"
      R"({"record":"row","table":"hprof.io_calls/1","cells":)"
      R"({"operation":"file read","note":"no","target":"/a.log","trace":0,"bytes":3}})"
      "\n");
  REQUIRE(profile.tables.size() == 1);
  CHECK(profile.tables[0].rows.at(0).name == "file read /a.log");
}

TEST_CASE("convert: events of JSON are sums of their own") {
  const std::string columns =
      R"("columns":[{"name":"trace","type":"trace","flags":[]},{"name":"samples","title":"count","type":"count",)"
      R"("unit":"samples","flags":["weight","default"]}],"order":null})";
  const std::string table =
      R"({"record":"table","name":"hprof.cpu_sample_events/1","flags":["events"],)" + columns + "\n";
  const std::string row =
      R"({"record":"row","table":"hprof.cpu_sample_events/1","cells":{"trace":2,"samples":3}})"
      "\n";
  const Profile profile = read(R"({"record":"begin","created_ms":5})"
                               "\n" +
                               table + row + row + table + row);
  CHECK(profile.created_ms == 5);
  REQUIRE(profile.tables.size() == 1);
  CHECK(profile.tables[0].name == "cpu_sample_events");
  REQUIRE(profile.tables[0].rows.size() == 1);
  CHECK(profile.tables[0].rows[0].values == std::vector<uint64_t>{9});
}

TEST_CASE("convert: what is wrong in OTLP is named with its byte") {
  const std::string good = convert(read(golden("ascii.txt")), "otlp", "", "");
  for (size_t size = 3; size < good.size(); ++size) {
    MemorySource source(good.data(), size);
    Profile profile;
    std::string error;
    if (!read_profile(source, &profile, &error))
      CHECK_MESSAGE(error.find("byte ") != std::string::npos, error);
  }
}

TEST_CASE("convert: the suffix of a file names its format") {
  CHECK(encoder_of_file("a.pb") == encoder_of("pprof"));
  CHECK(encoder_of_file("a.b/x.folded") == encoder_of("collapsed"));
  CHECK(encoder_of_file("a.collapsed") == encoder_of("collapsed"));
  CHECK(encoder_of_file("a.json") == encoder_of("json"));
  CHECK(encoder_of_file("a.txt") == encoder_of("ascii"));
  CHECK(encoder_of_file(".pb") == nullptr);
  CHECK(encoder_of_file("a.pb.gz") == encoder_of("pprof"));
  CHECK(encoder_of_file("a.folded.gz") == encoder_of("collapsed"));
  CHECK(encoder_of_file("a.otlp.pb") == nullptr);
  CHECK(encoder_of_file("a.gz") == nullptr);
}

TEST_CASE("convert: what is not there is said with what is") {
  const Profile profile = read(golden("ascii.txt"));
  std::string bytes, error;
  std::vector<std::string> said;
  CHECK_FALSE(convert_profile(profile, *encoder_of("json"), {"nope", ""}, &bytes, &said, &error));
  CHECK(error.find("no table nope; there are: cpu_samples, cpu_times") == 0);
  CHECK_FALSE(
      convert_profile(profile, *encoder_of("collapsed"), {"cpu_times", "live_bytes"}, &bytes, &said, &error));
  CHECK(error == "no weight live_bytes in cpu_times; there are: time, calls");
  CHECK(encoder_of("html") == nullptr);
  REQUIRE(convert_profile(profile, *encoder_of("pprof"), {}, &bytes, &said, &error));
  REQUIRE(said.size() == 2);
  CHECK(said[1] == "left out, without stacks: MONITOR DUMP, GC_PAUSES, HEAP DUMP");
  CHECK(said[0].find("takes the last cpu_samples of ") == 0);
}
