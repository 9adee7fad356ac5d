// Reads strings of the JDK's own classes.
#include "tools/heap/questions/heap_names.h"

#include "tools/format/utf8.h"
#include "tools/heap/read/object_values.h"

namespace hprof::tool {

void name_threads(Snapshot& snapshot) {
  ObjectFetcher fetcher(snapshot);
  std::vector<uint32_t> wanted;
  for (const HeapThread& thread : snapshot.threads)
    wanted.push_back(thread.name.empty() ? thread.object : kNoObject);
  std::vector<ObjectValues> values = fetcher.fetch(wanted);
  for (uint32_t& each : wanted)
    each = fetcher.target(values[static_cast<size_t>(&each - wanted.data())], "name");
  std::vector<std::string> names = fetcher.texts(wanted);
  for (size_t i = 0; i < names.size(); ++i) {
    if (!names[i].empty()) snapshot.threads[i].name = printable(names[i]);
  }
}

std::string java_version(const Snapshot& snapshot) {
  const DumpOutline& outline = snapshot.outline;
  for (const char* name : {"java.lang.VersionProps", "sun.misc.Version"}) {
    uint32_t index = outline.classes.named(name);
    if (index == kNoClass) continue;
    uint32_t text = kNoObject;
    for (const char* field : {"java_version", "java_runtime_version"}) {
      for (const DumpedField& each : outline.classes.list[index].statics) {
        if (each.type == HPROF_TYPE_OBJECT && outline.names.string(each.name) == field) {
          uint32_t object = snapshot.numbers.number_of(each.value);
          if (object != kNoObject) text = object;
        }
      }
    }
    // A dump made with redact= has zeros instead of the text.
    std::string version = ObjectFetcher(snapshot).texts({text})[0];
    if (version.find_first_not_of('\0') != std::string::npos) return printable(version);
  }
  return "";
}

}  // namespace hprof::tool
