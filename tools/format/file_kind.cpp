#include "tools/format/file_kind.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "tools/format/json.h"

namespace hprof::tool {

namespace {

using namespace std::string_view_literals;

struct Magic {
  std::string_view bytes;
  const char* name;
  ProfileKind profile = ProfileKind::kNone;
};
constexpr Magic kMagics[] = {
    {"FLR\0"sv, "a recording of JDK Flight Recorder, which hprof print, view, diff and convert read",
     ProfileKind::kJfr},
    {"\0\x12portable heap dump"sv, "a heap dump of OpenJ9 (PHD), which Eclipse MAT reads"},
    {"PK\3\4"sv, "a zip archive, to be unpacked first"},
    {"\x28\xb5\x2f\xfd"sv, "a zstd file, to be unpacked first"},
    {"\x04\x22\x4d\x18"sv, "an LZ4 file, to be unpacked first"},
    {"\xfd"
     "7zXZ\0"sv,
     "an xz file, to be unpacked first"},
    {"BZh"sv, "a bzip2 file, to be unpacked first"},
    {"MDMP"sv, "a core dump of Windows"},
    {"\xca\xfe\xba\xbe"sv, "a Java class"},
};

// Bytes that no text has.
bool has_controls(const std::string& text) {
  return std::any_of(text.begin(), text.end(), [](char letter) {
    const auto c = static_cast<unsigned char>(letter);
    return c < 0x20 && c != '\t' && c != '\n' && c != '\r';
  });
}

// The fields of a core dump's ELF header have the byte order of its system; the type is 4.
std::string elf_name(const std::string& begin) {
  constexpr size_t kByteOrder = 5, kType = 16;
  constexpr char kBigEndian = 2, kCore = 4;
  if (begin.size() < kType + 2) return "";
  const bool is_core = begin[kType + (begin[kByteOrder] == kBigEndian ? 1 : 0)] == kCore;
  return is_core ? "a core dump, of which jhsdb jmap --binaryheap makes a heap dump"
                 : "an ELF program or library";
}

// A pprof profile begins with the empty string of its table of strings (field 6), or with a message whose
// first field is a number: a type, mapping, location or function (1, 3, 4, 5). In OTLP the first field is a
// message that begins with another one, or the dictionary (2), of whose tables each begins with an empty
// entry; in pprof 2 is a sample.
FileKind protobuf_kind(std::string_view begin) {
  const auto end_of_number = [&](size_t at) {
    while (at < begin.size() && (static_cast<uint8_t>(begin[at]) & 0x80) != 0) ++at;
    return at + 1;
  };
  const size_t at = end_of_number(1), entry = end_of_number(at + 1);
  const char field = at < begin.size() ? begin[at] : '\0';
  const bool is_table = "\x0a\x12\x1a\x22\x2a\x32\x3a"sv.find(field) != std::string_view::npos;
  const bool is_empty = entry <= begin.size() && begin.find_first_not_of('\x80', at + 1) == entry - 1 &&
                        begin[entry - 1] == '\0';
  const bool numbered = "\x0a\x1a\x22\x2a"sv.find(begin[0]) != std::string_view::npos && field == '\x08';
  if (numbered || begin.substr(0, 2) == "\x32\0"sv)
    return {"a pprof profile, which hprof print, view, diff and convert read", ProfileKind::kPprof};
  if ((begin[0] == '\x0a' && (field == '\x0a' || field == '\x12')) ||
      (begin[0] == '\x12' && is_table && is_empty))
    return {"a profile of OpenTelemetry (OTLP), which hprof print, view, diff and convert read",
            ProfileKind::kOtlp};
  return {};
}

// Frames with semicolons between them, a blank, and a number.
bool is_folded(const std::string& line) {
  const size_t blank = line.rfind(' ');
  if (blank == std::string::npos || blank == 0 || blank + 1 == line.size()) return false;
  const bool counts = std::all_of(line.begin() + static_cast<std::ptrdiff_t>(blank) + 1, line.end(),
                                  [](char c) { return c >= '0' && c <= '9'; });
  return counts && (line.find(';') != std::string::npos || line.find(' ') == blank);
}

FileKind text_kind(Input& in, const std::string& begin) {
  constexpr size_t kLineMax = 1 << 16;
  const size_t first = begin.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) return {};
  std::string_view record;
  if (begins_record(std::string_view(begin).substr(first), &record))
    return {"lines of JSON of hprof, which hprof print, view, diff and convert read", ProfileKind::kJson};
  // Folded stacks may begin with a frame such as [cut].
  const size_t second = begin.find_first_not_of(" \t\r\n", first + 1);
  const bool is_list = begin[first] == '[' && second != std::string::npos &&
                       std::string("{[]\"-0123456789").find(begin[second]) != std::string::npos;
  if (begin[first] == '{' || is_list) return {"a JSON file"};
  std::string word = begin.substr(first, 9);
  std::transform(word.begin(), word.end(), word.begin(),
                 [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
  if (word == "<!doctype" || word.rfind("<html", 0) == 0) return {"an HTML page"};
  std::string line;
  bool cut = false;
  in.seek(0);
  in.line(kLineMax, &line, &cut);
  if (is_folded(line))
    return {"folded stacks, which hprof print, view, diff and convert read", ProfileKind::kFolded};
  return {};
}

FileKind kind_by(Input& in, const std::string& begin) {
  if (begin.rfind("JAVA PROFILE ", 0) == 0) return {};
  for (const Magic& each : kMagics) {
    if (std::string_view(begin).substr(0, each.bytes.size()) == each.bytes) return {each.name, each.profile};
  }
  if (begin.rfind("\x7f"
                  "ELF",
                  0) == 0)
    return {elf_name(begin)};
  return has_controls(begin) ? protobuf_kind(begin) : text_kind(in, begin);
}

}  // namespace

FileKind kind_of(Input& in) {
  constexpr size_t kLooked = 64;
  std::string begin;
  in.seek(0);
  in.text(kLooked, &begin);
  FileKind kind = kind_by(in, begin);
  kind.is_binary = has_controls(begin);
  in.seek(0);
  return kind;
}

}  // namespace hprof::tool
