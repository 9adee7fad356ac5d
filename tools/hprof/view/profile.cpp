#include "tools/hprof/view/profile.h"

#include "tools/hprof/format/ascii_lines.h"

namespace hprof::tool {

ProfileTable samples_table() {
  return {"cpu_samples", "CPU SAMPLES", {{"samples", "samples", ProfileWeight::kCount, true, false}}, {}};
}

ProfileTable times_table() {
  return {"cpu_times",
          "CPU TIME",
          {{"time", "self time", ProfileWeight::kNanoseconds, true, false},
           {"calls", "calls", ProfileWeight::kCount, false, false}},
          {}};
}

ProfileTable sites_table() {
  return {"alloc_sites",
          "SITES",
          {{"live_bytes", "live bytes", ProfileWeight::kBytes, false, true},
           {"live_objects", "live objects", ProfileWeight::kCount, false, true},
           {"allocated_bytes", "allocated bytes", ProfileWeight::kBytes, true, false},
           {"allocated_objects", "allocated objects", ProfileWeight::kCount, false, false}},
          {}};
}

ProfileTable monitors_table() {
  return {"monitor_time",
          "MONITOR TIME",
          {{"time", "time blocked", ProfileWeight::kNanoseconds, true, false},
           {"count", "times blocked", ProfileWeight::kCount, false, false}},
          {}};
}

bool read_profile(const std::string& path, Profile* profile, std::string* error) {
  std::unique_ptr<ByteSource> source = open_source(path, error);
  if (source == nullptr) return false;
  profile->file = path;
  Input in(*source);
  bool good;
  if (!is_text(*source)) {
    good = read_binary_profile(in, profile, error);
  } else {
    constexpr std::string_view kBegin = "JAVA PROFILE ";
    const uint8_t* first = in.bytes(kBegin.size());
    const bool report = first != nullptr && memcmp(first, kBegin.data(), kBegin.size()) == 0;
    in.seek(0);
    good = report ? read_text_profile(in, profile, error) : read_folded_profile(in, profile, error);
  }
  if (good && !source->error().empty()) {
    *error = source->error();
    good = false;
  }
  if (good && profile->tables.empty()) {
    *error = "no table with stacks in it (cpu=samples, cpu=times, heap=sites and monitor=y write one)";
    good = false;
  }
  if (!good) *error = path + ": " + *error;
  return good;
}

}  // namespace hprof::tool
