// The program of every doctest test.
#include <mutex>

#if defined(_WIN32) && !defined(_GLIBCXX_HAS_GTHREADS)
// MinGW's "win32" kind has no std::mutex, but doctest wants one. The tests report from one thread only.
namespace std {
struct mutex {
  void lock() {}
  void unlock() {}
};
}  // namespace std
#endif

#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
