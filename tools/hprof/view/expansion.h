// Bounds what a reader makes of a file: a stack or a name is in the file once, and may be referred to any
// number of times.
#pragma once

#include <algorithm>

#include "tools/hprof/view/profile.h"

namespace hprof::tool {

class Expansion {
 public:
  static constexpr const char* kProblem =
      "stacks and names are referred to so often that they take more than 128 MiB and 256 bytes "
      "for each byte of the file";

  // How many bytes of the file have been read.
  void reach(uint64_t bytes) { read_ = std::min(std::max(read_, bytes), kMostRead); }
  // Adds bytes that were made of bytes read before, or as many steps. False: kProblem.
  bool take(uint64_t bytes) {
    taken_ = add_saturated(taken_, bytes);
    return taken_ <= kBase + kPerByte * read_;
  }
  // What a frame and its part of a key of its trace take.
  static uint64_t bytes_of(const ProfileFrame& frame) {
    return sizeof frame + 2 * uint64_t{frame.class_name.size() + frame.method.size() + frame.source.size()};
  }

 private:
  static constexpr uint64_t kBase = uint64_t{128} << 20, kPerByte = 256,
                            kMostRead = UINT64_MAX / kPerByte / 2;
  uint64_t read_ = 0, taken_ = 0;
};

}  // namespace hprof::tool
