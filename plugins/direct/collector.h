// direct=y: blocks of memory outside of the heap, and mapped files, by the stack that took them.
//
// Probes call java.lang.HprofDirect (java/) in the JDK's methods that take and free them: from JDK 9 on those
// of jdk.internal.misc.Unsafe, to which sun.misc.Unsafe passes all calls; on JDK 8, where these are native,
// the Deallocator of a direct buffer. Blocks that live are in a table by address, and lead to their site: a
// trace and a kind. A block is put there after it was taken, and removed before it is freed: so no two
// threads have the same address at a time.
#pragma once

#include <atomic>
#include <jni.h>

#include <hprof/collector.h>
#include <hprof/cpp/current_stacks.hpp>
#include <hprof/cpp/hash_table.hpp>
#include <hprof/cpp/live_table.hpp>

namespace hprof::direct {

struct Config {
  uint32_t direct;  // the option that selects the unit
};

constexpr const char* kDirectMemory = "hprof.direct_memory/1";
constexpr const char* kMappedFiles = "hprof.mapped_files/1";

enum class Kind : uint32_t {
  kNone,
  kDirectBuffer,     // these two are in the VM's own count, its pool "direct"
  kReservedSegment,  // in Java 22 all segments of arenas, in Java 25 those of Arena.ofAuto()
  kSegment,
  kUnsafe,
  kMappedFile,
};

// Only bytes and blocks that lived are ever added, so what was freed is never more than what was taken.
struct Site {
  std::atomic<uint64_t> taken_bytes, taken_blocks;
  std::atomic<uint64_t> freed_bytes, freed_blocks;
  uint64_t before_bytes, before_blocks;  // taken before the last reset [control]
};

struct Block {
  uint64_t size;
  Site* site;
};

class Collector {
 public:
  using Sites = HashTable<Site, Growth::kLevels>;  // by kind and trace

  Collector(const hprof_host* host, const Config&) : services_(host) {}
  hprof_status open(char* error, uint32_t error_size);
  hprof_status start();
  void stop();
  hprof_status report(const hprof_report& report);
  void reset();
  bool close();

  // The native methods of HprofDirect. [app]
  void frees(JNIEnv* jni, jobject self, uint64_t address);
  void ends(JNIEnv* jni, uint64_t call, jobject result, uint64_t value, jobject thread);
  void fails();

 private:
  uint32_t number(hprof_method_id method) const;
  void add(uint64_t address, uint64_t size, Kind kind, hprof_trace_serial trace);
  hprof_trace_serial trace_of(JNIEnv* jni, jobject thread, Kind* kind);
  Kind role_of(hprof_frame_id frame) const;
  bool takes_reserved(JNIEnv* jni, uint64_t size);

  Services services_;
  uint32_t probes_ = 0;  // of the service
  Sites sites_;
  LiveTable<Block> blocks_;
  CurrentStacks stacks_;
  // By JNIEnv: what java.nio.Bits has reserved for the block that the thread is about to take.
  HashTable<std::atomic<uint64_t>, Growth::kLevels> reserved_;
  jclass carrier_ = nullptr;  // jdk.internal.misc.CarrierThread, or null
  uint64_t *lost_sites_ = nullptr, *lost_blocks_ = nullptr, *lost_failed_ = nullptr;
};

}  // namespace hprof::direct
