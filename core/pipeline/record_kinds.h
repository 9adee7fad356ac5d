// Kinds of records by name: the core's own, and those that units have registered.
#pragma once

#include <atomic>
#include <cstdint>

#include <hprof/draft/foreign_dump.h>

#include "platform/platform.h"

namespace hprof {

// True: an encoder with this list takes the record kind or table of that name. nullptr: all. A name that is
// not a kind of the core may be a table's.
bool is_taken(const char* const* list, const char* name);
// True: the lists share a name.
bool have_common(const char* const* one, const char* const* other);

// Numbers of vendors' names in a session: one number for each name.
class RecordKinds {
 public:
  static constexpr uint32_t kMostRegistered = 32;

  // Registers a vendor's name if it is new. 0: not a name, an unknown one of the core's, or no room.
  // [onload][control]
  uint32_t number(const char* name);
  // True: number() has returned it for a vendor's kind.
  bool is_registered(uint32_t kind) const {
    return kind >= HPROF_RECORD_REGISTERED &&
           kind - HPROF_RECORD_REGISTERED < count_.load(std::memory_order_acquire);
  }

 private:
  char names_[kMostRegistered][HPROF_KIND_NAME_MOST + 1] = {};
  std::atomic<uint32_t> count_{0};
  platform::Mutex lock_;  // held while adding one
};

// The kinds that an encoder takes, or that a collector may leave out, by number.
class TakenKinds {
 public:
  static TakenKinds none() {
    TakenKinds kinds;
    kinds.takes_all_ = false;
    return kinds;
  }
  // The list must live as long as this object. Registers its new names. [onload]
  void resolve(const char* const* list, RecordKinds* kinds);
  bool takes(uint32_t kind) const {
    if (kind >= HPROF_RECORD_REGISTERED) {
      const uint32_t index = kind - HPROF_RECORD_REGISTERED;
      return takes_all_ || (index < RecordKinds::kMostRegistered && (registered_ >> index & 1) != 0);
    }
    return takes_all_ || (kind < 64 && (own_ >> kind & 1) != 0);
  }
  // A table is taken by its kind or by its own name.
  bool takes(const hprof_record& record) const { return takes(record.kind) || takes_table(record); }

 private:
  bool takes_table(const hprof_record& record) const;

  const char* const* list_ = nullptr;
  bool takes_all_ = true;
  uint64_t own_ = 0, registered_ = 0;  // a bit each
  static_assert(RecordKinds::kMostRegistered <= 64 && HPROF_RECORD_FOREIGN_DUMP < 64, "a bit each");
};

}  // namespace hprof
