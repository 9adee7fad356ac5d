// Modules shaped like the shipped ones, without behaviour, and a LibraryLoader over folders that exist in
// memory only.
#pragma once

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include <hprof/collector.h>
#include <hprof/encoder.h>
#include <hprof/filter.h>
#include <hprof/plugin.h>
#include <hprof/record.h>
#include <hprof/sink.h>
#include <hprof/tables.h>

#include "core/base/message.h"
#include "core/plugin/library_loader.h"
#include "core/plugin/module_set.h"
#include "core/plugin/static_modules.h"

extern "C" const hprof_module* hprof_module_help_texts(const hprof_offer* offer, const char** error);

namespace hprof::fake {

inline const hprof_collector_ops* collector_ops() {
  static hprof_collector_ops ops = [] {
    hprof_collector_ops made = {};
    made.size = sizeof(made);
    made.create = [](const hprof_host*, const void*, void**, char*, uint32_t) -> hprof_status {
      return HPROF_OK;
    };
    made.start = [](void*) -> hprof_status { return HPROF_OK; };
    made.report = [](void*, const hprof_report*) -> hprof_status { return HPROF_OK; };
    made.reset = [](void*) {};
    made.stop = [](void*) {};
    made.destroy = [](void*) {};
    return made;
  }();
  return &ops;
}

inline const hprof_encoder_ops* encoder_ops() {
  static hprof_encoder_ops ops = [] {
    hprof_encoder_ops made = {};
    made.size = sizeof(made);
    made.create = [](const hprof_host*, const void*, void**, char*, uint32_t) -> hprof_status {
      return HPROF_OK;
    };
    made.encode = [](void*, const hprof_record*, hprof_out*) -> hprof_status { return HPROF_OK; };
    made.destroy = [](void*) {};
    made.file_suffix = "";
    return made;
  }();
  return &ops;
}

inline const hprof_sink_ops* sink_ops() {
  static hprof_sink_ops ops = [] {
    hprof_sink_ops made = {};
    made.size = sizeof(made);
    made.open = [](const hprof_host*, const void*, const hprof_sink_target*, void**, char*,
                   uint32_t) -> hprof_status { return HPROF_OK; };
    made.write = [](void*, const uint8_t*, uint64_t size, uint64_t, char*, uint32_t) -> int64_t {
      return static_cast<int64_t>(size);
    };
    made.close = [](void*, uint32_t, char*, uint32_t) -> hprof_status { return HPROF_OK; };
    made.name = [](void*) -> const char* { return "fake"; };
    return made;
  }();
  return &ops;
}

inline const hprof_filter_ops* filter_ops() {
  static hprof_filter_ops ops = [] {
    hprof_filter_ops made = {};
    made.size = sizeof(made);
    made.create = [](const hprof_host*, const void*, void**, char*, uint32_t) -> hprof_status {
      return HPROF_OK;
    };
    made.write = [](void*, const uint8_t*, uint64_t, void*, hprof_filter_pass) -> hprof_status {
      return HPROF_OK;
    };
    made.finish = [](void*, void*, hprof_filter_pass) -> hprof_status { return HPROF_OK; };
    made.destroy = [](void*) {};
    return made;
  }();
  return &ops;
}

inline hprof_unit unit(uint32_t kind, const char* id, const char* select, const char* const* records) {
  hprof_unit made = {};
  made.size = sizeof(made);
  made.kind = kind;
  made.id = id;
  made.select = select;
  made.summary = "a fake";
  made.records = records;
  made.ops = kind == HPROF_UNIT_COLLECTOR ? static_cast<const void*>(collector_ops())
             : kind == HPROF_UNIT_ENCODER ? static_cast<const void*>(encoder_ops())
             : kind == HPROF_UNIT_FILTER  ? static_cast<const void*>(filter_ops())
                                          : static_cast<const void*>(sink_ops());
  return made;
}

// A module of one unit; name and unit can be changed before it is opened. Keep it where it is: the record
// points into it.
struct OneUnit {
  explicit OneUnit(const hprof_unit& from) : offered(from), units{&offered} {
    record.size = sizeof(record);
    record.abi_major = HPROF_ABI_MAJOR;
    record.abi_minor = HPROF_ABI_MINOR;
    record.layout = HPROF_LAYOUT_WORD;
    record.name = from.id;
    record.version = "1.0";
    record.vendor = "fake";
    record.units = units;
    record.unit_count = 1;
  }
  OneUnit(const OneUnit&) = delete;
  OneUnit& operator=(const OneUnit&) = delete;

  hprof_unit offered;
  const hprof_unit* units[1];
  hprof_module record = {};
};

// The file system and the dynamic linker of a test. An entry function cannot carry data, so each test names a
// fixed one.
class Folders {
 public:
  void add(const std::string& path, hprof_module_entry entry) { files_[path] = entry; }
  const std::vector<std::string>& opened() const { return opened_; }

  LibraryLoader loader() {
    LibraryLoader made = {};
    made.open = [](void* self, const char* path, char* reason, size_t size) -> void* {
      Folders& folders = *static_cast<Folders*>(self);
      folders.opened_.push_back(path);
      auto found = folders.files_.find(path);
      if (found == folders.files_.end()) {
        TextWriter(reason, size).put("no such file");
        return nullptr;
      }
      return &*found;
    };
    made.symbol = [](void*, void* library, const char* name) -> void* {
      const auto& file = *static_cast<std::pair<const std::string, hprof_module_entry>*>(library);
      void* symbol = nullptr;
      if (strcmp(name, HPROF_MODULE_ENTRY_NAME) == 0) memcpy(&symbol, &file.second, sizeof(symbol));
      return symbol;
    };
    // All folders but "/absent" and what is a file.
    made.exists = [](void* self, const char* path) {
      const std::map<std::string, hprof_module_entry>& files = static_cast<Folders*>(self)->files_;
      const std::string name = path;
      const bool is_folder = name.size() > 2 && name.compare(name.size() - 2, 2, "/.") == 0;
      if (!is_folder) return files.count(name) != 0;
      return name != "/absent/." && files.count(name.substr(0, name.size() - 2)) == 0;
    };
    made.list = [](void* self, const char* folder, bool (*visit)(void*, const char*), void* argument) {
      const std::string prefix = std::string(folder) + "/";
      for (const auto& file : static_cast<Folders*>(self)->files_) {
        const std::string& path = file.first;
        if (path.compare(0, prefix.size(), prefix) != 0) continue;
        if (path.find('/', prefix.size()) != std::string::npos) continue;
        if (!visit(argument, path.c_str() + prefix.size())) return;
      }
    };
    made.context = this;
    made.suffix = ".so";
    made.list_separator = ':';
    return made;
  }

 private:
  std::map<std::string, hprof_module_entry> files_;
  std::vector<std::string> opened_;
};

// What was said.
class Said {
 public:
  Messages messages() {
    Messages made;
    made.say = [](void* self, bool detail, const char* text) {
      Said& said = *static_cast<Said*>(self);
      (detail ? said.details : said.lines).push_back(text);
    };
    made.context = this;
    return made;
  }
  std::vector<std::string> lines;
  std::vector<std::string> details;
};

// --- the shipped set ---

struct SamplesConfig {
  uint64_t interval_ns;
  const char* cpu;
};
inline const hprof_option kSamplesOptions[] = {
    {"beat", HPROF_OPTION_MILLIS, offsetof(SamplesConfig, interval_ns), "10", nullptr, 0.1, 60000, nullptr,
     "sample interval in ms"},
    {"cpu", HPROF_OPTION_TEXT, offsetof(SamplesConfig, cpu), "samples", nullptr, 0, 0, nullptr, "shared"},
};
struct DumpConfig {
  uint32_t fields;
  uint32_t arrays;
};
inline const hprof_option kDumpOptions[] = {
    {"primfields", HPROF_OPTION_FLAG, offsetof(DumpConfig, fields), "y", nullptr, 0, 0, nullptr,
     "primitive fields?"},
    {"primarrays", HPROF_OPTION_FLAG, offsetof(DumpConfig, arrays), "y", nullptr, 0, 0, nullptr,
     "primitive arrays?"},
};

template <class Config, uint32_t kCount>
hprof_unit with_options(hprof_unit made, const hprof_option (&rows)[kCount]) {
  made.options = rows;
  made.option_count = kCount;
  made.option_stride = sizeof(hprof_option);
  made.config_size = sizeof(Config);
  return made;
}

inline const hprof_variant kVariants[] = {{"gc=pauses", HPROF_NEED_GC_EVENTS, 0}};

// Needs of every sort.
inline hprof_unit with_needs(hprof_unit made) {
  made.needs = HPROF_NEED_TAG_OBJECTS | HPROF_NEED_GC_EVENTS;
  made.wants = HPROF_NEED_SAMPLED_ALLOC;
  made.variants = kVariants;
  made.variant_count = 1;
  made.variant_stride = sizeof(hprof_variant);
  return made;
}

struct GzipConfig {
  const char* compress;
};
const hprof_option kGzipOptions[] = {
    {"compress", HPROF_OPTION_TEXT, offsetof(GzipConfig, compress), nullptr, nullptr, 0, 0, "gzip|n",
     "compress the output"},
};

// An encoder that wants to be packed.
inline hprof_unit packed_encoder(const char* id) {
  static const hprof_encoder_ops ops = [] {
    hprof_encoder_ops made = *encoder_ops();
    made.compress = "gzip";
    return made;
  }();
  hprof_unit made = unit(HPROF_UNIT_ENCODER, id, nullptr, nullptr);
  made.ops = &ops;
  return made;
}

constexpr const char* kSamplesRecords[] = {HPROF_TABLE_CPU_SAMPLES, nullptr};
constexpr const char* kTimesRecords[] = {HPROF_TABLE_CPU_TIMES, HPROF_TABLE_CPU_OLD, nullptr};
constexpr const char* kSitesRecords[] = {HPROF_TABLE_ALLOC_SITES, nullptr};
constexpr const char* kDumpRecords[] = {HPROF_KIND_HEAP_DUMP_BEGIN, nullptr};
constexpr const char* kMonitorRecords[] = {HPROF_TABLE_MONITOR_TIME, nullptr};
constexpr const char* kBinaryRecords[] = {HPROF_TABLE_CPU_SAMPLES, HPROF_TABLE_ALLOC_SITES,
                                          HPROF_KIND_HEAP_DUMP_BEGIN, nullptr};

#define HPROF_FAKE_ENTRY(name, ...)                                          \
  inline const hprof_module* open_##name(const hprof_offer*, const char**) { \
    static OneUnit module(__VA_ARGS__);                                      \
    return &module.record;                                                   \
  }

HPROF_FAKE_ENTRY(cpu_samples, with_options<SamplesConfig>(unit(HPROF_UNIT_COLLECTOR, "cpu_samples",
                                                               "cpu=samples|cpu=y", kSamplesRecords),
                                                          kSamplesOptions))
HPROF_FAKE_ENTRY(cpu_times, unit(HPROF_UNIT_COLLECTOR, "cpu_times", "cpu=times|cpu=old", kTimesRecords))
HPROF_FAKE_ENTRY(heap_sites, unit(HPROF_UNIT_COLLECTOR, "heap_sites", "heap=sites|heap=all", kSitesRecords))
HPROF_FAKE_ENTRY(heap_dump, with_options<DumpConfig>(unit(HPROF_UNIT_COLLECTOR, "heap_dump",
                                                          "heap=dump|heap=all", kDumpRecords),
                                                     kDumpOptions))
HPROF_FAKE_ENTRY(monitor, unit(HPROF_UNIT_COLLECTOR, "monitor", "monitor=y", kMonitorRecords))
HPROF_FAKE_ENTRY(encoder_ascii, unit(HPROF_UNIT_ENCODER, "encoder_ascii", "format=a", nullptr))
HPROF_FAKE_ENTRY(encoder_binary, unit(HPROF_UNIT_ENCODER, "encoder_binary", "format=b", kBinaryRecords))
HPROF_FAKE_ENTRY(encoder_json, unit(HPROF_UNIT_ENCODER, "encoder_json", nullptr, nullptr))
HPROF_FAKE_ENTRY(encoder_pprof, packed_encoder("encoder_pprof"))
HPROF_FAKE_ENTRY(filter_gzip,
                 with_options<GzipConfig>(unit(HPROF_UNIT_FILTER, "filter_gzip", "compress=gzip*", nullptr),
                                          kGzipOptions))
HPROF_FAKE_ENTRY(sink_file, unit(HPROF_UNIT_SINK, "sink_file", "file", nullptr))
HPROF_FAKE_ENTRY(sink_socket, unit(HPROF_UNIT_SINK, "sink_socket", "net", nullptr))
HPROF_FAKE_ENTRY(sink_http, unit(HPROF_UNIT_SINK, "sink_http", "url", nullptr))
HPROF_FAKE_ENTRY(sink_memory, unit(HPROF_UNIT_SINK, "sink_memory", nullptr, nullptr))
HPROF_FAKE_ENTRY(gc_pauses, with_needs(unit(HPROF_UNIT_COLLECTOR, "gc_pauses", "gc=pauses", nullptr)))
#undef HPROF_FAKE_ENTRY

// A vendor's module with a unit of each kind, none of them called like the module.
inline const hprof_module* open_acme(const hprof_offer*, const char**) {
  static const hprof_unit made[] = {
      unit(HPROF_UNIT_COLLECTOR, "acme_one", "acme=one|acme=all", nullptr),
      unit(HPROF_UNIT_COLLECTOR, "acme_two", "acme=two|acme=all|heap=acme", nullptr),
      unit(HPROF_UNIT_ENCODER, "acme_text", "format=acme", nullptr),
      unit(HPROF_UNIT_SINK, "acme_cloud", "cloud", nullptr),
      unit(HPROF_UNIT_FILTER, "acme_zstd", "compress=zstd*", nullptr),
  };
  static const hprof_unit* const units[] = {&made[0], &made[1], &made[2], &made[3], &made[4]};
  static hprof_module module = [] {
    hprof_module record = {};
    record.size = sizeof(record);
    record.abi_major = HPROF_ABI_MAJOR;
    record.abi_minor = HPROF_ABI_MINOR;
    record.layout = HPROF_LAYOUT_WORD;
    record.name = "acme";
    record.version = "2.5";
    record.vendor = "Acme Inc.";
    record.units = units;
    record.unit_count = 5;
    return record;
  }();
  return &module;
}

// All of the original's, in the agent's plugin folder.
inline void add_shipped(Folders* folders) {
  const std::string at = "/jdk/lib/hprof/plugins/";
  folders->add(at + "cpu_samples.so", open_cpu_samples);
  folders->add(at + "cpu_times.so", open_cpu_times);
  folders->add(at + "heap_sites.so", open_heap_sites);
  folders->add(at + "heap_dump.so", open_heap_dump);
  folders->add(at + "monitor.so", open_monitor);
  folders->add(at + "encoder_ascii.so", open_encoder_ascii);
  folders->add(at + "encoder_binary.so", open_encoder_binary);
  folders->add(at + "sink_file.so", open_sink_file);
  folders->add(at + "sink_socket.so", open_sink_socket);
}

inline ModuleSearch search(Folders* folders) {
  ModuleSearch made;
  made.agent_folder = "/jdk/lib";
  made.loader = folders->loader();
  made.verify = &verify_module_for;
  return made;
}

// The same with the module of help and guesses linked in.
inline ModuleSearch search_with_help(Folders* folders) {
  static const StaticModule kHelp[] = {{"help_texts", hprof_module_help_texts}, {nullptr, nullptr}};
  ModuleSearch made = search(folders);
  made.linked_in = kHelp;
  return made;
}

}  // namespace hprof::fake
