// SPDX-License-Identifier: Apache-2.0
/* The option depth=, and the command of that name, for collectors that keep fewer frames than these allow. */
#ifndef HPROF_CPP_DEPTH_HPP
#define HPROF_CPP_DEPTH_HPP

#include <hprof/cpp/services.hpp>
#include <hprof/cpp/text.hpp>

namespace hprof {

/* The smaller of `depth` and `most`; logs a message if that is `most`. `collector`: "heap=sites". [control] */
inline uint32_t depth_within(const Services& services, const char* collector, uint64_t depth, uint32_t most) {
  if (depth <= most) return static_cast<uint32_t>(depth);
  TextLine<120> line;
  line.add(collector).add(": depth=").add(depth).add(" is cut to ").add(most);
  services.log->message(services.host, line.c_str());
  return most;
}

}  // namespace hprof

#endif
