// The names of a profile in the mock host, for the agent's encoders. One thread.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <hprof/cpp/names.hpp>
#include <hprof/mock/mock_host.h>

#include "tools/hprof/view/profile.h"

namespace hprof::tool {

class EncoderHost {
 public:
  explicit EncoderHost(const Profile& profile);
  EncoderHost(const EncoderHost&) = delete;
  EncoderHost& operator=(const EncoderHost&) = delete;

  MockHost& mock() { return mock_; }
  const hprof_host* host() const { return mock_.host(); }

  // Returns the number of a name, assigned at first use; 0 for "".
  hprof_string_id string(const std::string& text) { return text.empty() ? 0 : mock_.string(text); }
  // Without a source: the first class of that name, whatever its source.
  hprof_class_serial class_named(const std::string& name, const std::string& source);
  // 0, the empty trace, without frames and thread.
  hprof_trace_serial add_trace(const std::vector<ProfileFrame>& frames, const std::string& thread,
                               bool is_cut);

  Known<hprof_trace_info> trace(hprof_trace_serial serial) const { return find_trace(ids_, host(), serial); }
  // The class of a frame; 0: it has none.
  hprof_class_serial owner_of(hprof_frame_id id) const {
    return find_method(ids_, host(), find_frame(ids_, host(), id)->method)->owner;
  }

  // The losses: "3 stacks: no memory for their frames in pprof (max-memory=)".
  std::vector<std::string> losses() const;

 private:
  hprof_thread_serial thread(const std::string& name);
  hprof_frame_id frame_of(const ProfileFrame& frame);

  MockHost mock_;
  const hprof_ids_service* ids_;
  std::map<std::string, std::string> sources_;                                 // the first of each class name
  std::map<std::pair<std::string, std::string>, hprof_class_serial> classes_;  // by name and source
  std::map<std::pair<hprof_class_serial, std::string>, hprof_method_id> methods_;
  std::map<std::string, hprof_thread_serial> threads_;
};

}  // namespace hprof::tool
