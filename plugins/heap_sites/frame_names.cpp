#include "plugins/heap_sites/frame_names.h"

#include <cstring>

namespace hprof::sites {

void FrameNames::set_epoch(uint32_t epoch) {
  if (epoch_ == epoch) return;
  epoch_ = epoch;
  if (pairs_ != nullptr) memset(static_cast<void*>(pairs_), 0, sizeof(Pair) * kPairs);
  if (methods_ != nullptr) memset(static_cast<void*>(methods_), 0, sizeof(Method) * kMethods);
}

void FrameNames::put(const hprof_raw_frame& frame, hprof_frame_id id) {
  if (pairs_ == nullptr || id == 0 || frame.location > INT32_MAX || frame.location < INT32_MIN) return;
  Entry* entries = pairs_[place(frame)].entries;
  if (entries[0].method != frame.method || entries[0].location != frame.location) entries[1] = entries[0];
  entries[0] = {frame.method, static_cast<int32_t>(frame.location), id};
}

}  // namespace hprof::sites
