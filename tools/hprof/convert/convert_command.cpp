// hprof convert FILE --to=FORMAT: a profile in another format.
#include <iostream>

#include "tools/format/gzip_source.h"
#include "tools/hprof/command.h"
#include "tools/hprof/convert/convert.h"
#include "tools/hprof/output_file.h"
#include "tools/hprof/print/print.h"
#include "tools/hprof/view/inputs.h"
#include "tools/os/os.h"

namespace hprof::tool {

namespace {

bool is_same_file(const std::string& one, const std::string& other) {
  std::string error;
  const std::string path = os::absolute_path(other, &error);
  return !path.empty() && path == os::absolute_path(one, &error);
}

int convert(const Given& given) {
  WindowChoice choice;
  std::string format;
  if (!read_choice(given, &choice, Which::kLast, &format)) return kFailed;
  const bool is_named = !format.empty();
  const hprof_unit* encoder = is_named ? encoder_of(format) : encoder_of_file(given.text("-o"));
  if (encoder == nullptr && is_named)
    return given.misuse("no format '" + format + "'; one of " + format_names());
  if (encoder == nullptr)
    return given.misuse((given.has("-o") ? "no format has the suffix of -o " + given.text("-o")
                                         : std::string("--to=FORMAT is missing")) +
                        "; one of " + format_names());
  const ConvertOptions options = {given.text("--table"), given.text("--weight")};
  std::string target = given.text("-o");
  if (target.empty()) target = output_base(given.words) + suffix_of(*encoder);
  const Arguments files = files_of(given.words);
  for (const std::string& file : files)
    if (is_same_file(file, target)) return fail(target + " is the file to be converted: -o names another");
  Profile profile;
  std::string error, bytes;
  if (!read_inputs(given.words, choice, Usable::kStacks, &profile, &error)) return unreadable(files, error);
  const std::string& file = profile.file;
  if (given.has("--thread") && !keep_threads(given.text("--thread"), &profile, &error))
    return unreadable(files, file + " " + error);
  for (const auto& [key, value] : profile.about)
    if (key == "windows") profile.notes.push_back("the sum of " + value);
  std::vector<std::string> said;
  if (!convert_profile(profile, *encoder, options, &bytes, &said, &error)) return fail(file + ": " + error);
  for (const std::string& line : said) std::cerr << "hprof: " << file << ": " << line << '\n';
  if (target != "-") {
    std::string path;
    if (without_gz(target) != target && !deflate_gzip(&bytes))
      return fail("-o " + target + ": this build has no zlib; name it without .gz");
    if (write_output(given, target, agent_suffix_of_file(target), bytes, &path) != kDone) return kFailed;
    std::cout << path << '\n';
    return kDone;
  }
  constexpr int kStdout = 1;
  if (os::is_terminal(kStdout)) {
    std::cout << bytes;
    return kDone;
  }
  return os::write_all(kStdout, bytes.data(), bytes.size(), &error)
             ? kDone
             : fail("cannot write to stdout: " + error);
}

constexpr OptionRow kOptions[] = {
    {"--to", "FORMAT|TIME",
     "collapsed: folded stacks, for FlameGraph, speedscope and IntelliJ: one table, one weight;\n"
     "pprof: profile.proto, for go tool pprof, Pyroscope and Parca: one table;\n"
     "json: lines of JSON, all tables;\n"
     "ascii: text, as format=a, all tables; default the one of the suffix of -o FILE;\n"
     "a time of day: take windows until then"},
    {"-o", "FILE", "where the result goes, default FILE with the format's suffix; - is stdout"},
    kForceOption,
    {"--table", "NAME",
     "cpu_samples, cpu_times, alloc_sites, monitor_time ...; for formats with one table, default the\n"
     "last one with the name of the first"},
    {"--weight", "NAME",
     "number to write for folded stacks: samples, time, calls, live_bytes ...; default the one by\n"
     "which the table is ranked"},
    kThreadOption,
    kWindowOption,
    kFromOption,
};
constexpr Verb kVerbs[] = {{"", "FILE...", "", convert, kOptions}};

}  // namespace

const Command kConvertCommand = {
    "convert",
    "FILE... [--to=FORMAT]",
    "write a profile in another format",
    kVerbs,
    R"(Writes a profile in another format. FILE is what hprof view takes. The path of the result is printed.
)",
    R"(  hprof convert java.hprof.txt -o app.pb
  hprof convert app.pb.gz --to=collapsed --weight=alloc_space -o - | flamegraph.pl > app.svg

Exit status: 0 done, 1 unreadable, 2 wrong usage or failed.
)",
    {},
    nullptr,
    false,
    true};

}  // namespace hprof::tool
