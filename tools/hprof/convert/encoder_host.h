// A host for the agent's encoders in this program: the ids of a profile's names, memory, loss counters and
// local time. One thread.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <hprof/host.h>
#include <hprof/service/ids.h>

#include "tools/hprof/view/profile.h"

namespace hprof::tool {

class EncoderHost {
 public:
  EncoderHost();
  EncoderHost(const EncoderHost&) = delete;
  EncoderHost& operator=(const EncoderHost&) = delete;

  const hprof_host* host() const { return &table_.base; }
  hprof_settings settings = {};

  // Numbers of names, assigned at first use; 0 for "".
  hprof_string_id string(const std::string& text);
  // Without a source: the first class of that name, whatever its source.
  hprof_class_serial class_named(const std::string& name, const std::string& source);
  hprof_thread_serial thread(const std::string& name);
  // Each call makes one; without frames and thread it is the empty trace, 0.
  hprof_trace_serial add_trace(const std::vector<ProfileFrame>& frames, const std::string& thread,
                               bool is_cut);

  // Look-ups; the number must have been handed out.
  const hprof_trace_info& trace(hprof_trace_serial serial) const { return traces_[serial - 1].info; }
  const hprof_frame_info& frame(hprof_frame_id id) const { return frames_[id - 1]; }
  const hprof_method_info& method(hprof_method_id id) const { return methods_[id - 1]; }

  // What was lost: "2 tables: a pprof message has one".
  std::vector<std::string> losses() const;

 private:
  friend struct HostServices;
  // The ABI's struct first, so that a service finds this object by it.
  struct Table {
    hprof_host base = {};
    EncoderHost* self = nullptr;
  };
  struct Trace {
    hprof_trace_info info;
    std::vector<hprof_frame_id> frames;
  };

  hprof_frame_id frame_of(const ProfileFrame& frame);

  Table table_;
  std::deque<std::string> strings_;
  std::map<std::string, hprof_string_id> string_ids_;
  std::deque<hprof_class_info> classes_;
  std::map<std::pair<hprof_string_id, hprof_string_id>, hprof_class_serial> class_ids_;  // by name and source
  std::map<hprof_string_id, hprof_class_serial> first_class_;                            // by name
  std::deque<hprof_method_info> methods_;
  std::map<std::pair<hprof_class_serial, hprof_string_id>, hprof_method_id> method_ids_;
  std::deque<hprof_frame_info> frames_;
  std::map<std::pair<hprof_method_id, int32_t>, hprof_frame_id> frame_ids_;
  std::deque<Trace> traces_;
  std::deque<hprof_thread_info> threads_;
  std::map<std::string, hprof_thread_serial> thread_ids_;
  std::deque<std::pair<std::string, uint64_t>> counters_;  // of losses
};

}  // namespace hprof::tool
