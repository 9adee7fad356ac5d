// Splits a loop among threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <future>
#include <vector>

namespace hprof::tool {

// Calls part(begin, end, number) for `threads` parts of 0 ... count, each in a thread, and waits for all.
// What a part throws is thrown here. Where no thread can be started, its part runs in this one.
template <typename Part>
void in_parallel(unsigned threads, size_t count, const Part& part) {
  constexpr size_t kSmall = 1 << 16;  // not worth a thread
  const unsigned parts = count < kSmall || threads == 0 ? 1 : threads;
  const auto begin_of = [&](unsigned i) { return static_cast<size_t>(uint64_t{count} * i / parts); };
  std::vector<std::future<void>> others;
  for (unsigned i = 1; i < parts; ++i) {
    others.push_back(std::async(std::launch::async | std::launch::deferred,
                                [&, i] { part(begin_of(i), begin_of(i + 1), i); }));
  }
  part(0, begin_of(1), 0u);
  for (std::future<void>& each : others) each.get();
}

}  // namespace hprof::tool
