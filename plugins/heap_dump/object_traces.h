// The traces in which objects of a dump were allocated, if another unit follows them (hprof_object_traces).
//
// Objects are looked up by address if addresses can be read at the safepoint, where all are read at once and
// sorted; otherwise by tags set before the walk. Only traces that the output has already are used: nothing
// can be defined within a dump.
#pragma once

#include <cstdint>

#include <hprof/cpp/lazy_table.hpp>
#include <hprof/draft/object_traces.h>

#include "dump_services.h"
#include "page_table.h"

namespace hprof::dump {

// Numbers of traces by address of the object: 8 bytes each, 16 while they are sorted, then up to 4 more for
// the index.
class AddressTable {
 public:
  static constexpr uint32_t kMostTraces = 1u << 19;
  static constexpr uint32_t kMostAddressBits = 48;

  // Reserves address space for `most`, which becomes memory when entries are added. [control][heap]
  bool open(const Services* services, uint64_t most);
  void close();
  // trace: from 1, below kMostTraces. False: no room, or no address of an object. [control][heap]
  bool add(uint64_t address, uint32_t trace);
  bool finish();  // sorts the entries; false: no memory for the index, the table is empty [control][heap]
  // The number at that address; 0: there is none. After finish(). [control][heap]
  uint32_t find(uint64_t address);
  uint64_t size() const { return count_; }
  bool is_full() const { return is_full_; }  // an entry was not added: no room, or no memory

 private:
  static constexpr uint32_t kAlignBits = 3;
  static constexpr uint32_t kTraceBits = 19;
  static constexpr uint64_t kFirstBuckets = 1u << 12;
  static_assert(kMostTraces == 1u << kTraceBits && kMostAddressBits - kAlignBits + kTraceBits <= 64);

  void sort();
  uint64_t address_at(uint64_t i) const { return entries_[i] >> kTraceBits << kAlignBits; }
  uint64_t bucket_of(uint64_t address) const { return (address - lowest_) >> shift_; }

  const Services* services_ = nullptr;
  LazyTable<uint64_t> entries_;  // address, then trace; sorted by finish()
  LazyTable<uint32_t> buckets_;  // first entry of each range of addresses, and the end
  uint64_t count_ = 0;
  uint64_t next_ = 0;  // the first entry at or above the last address of find(), or the next one
  uint64_t lowest_ = 0, highest_ = 0;
  uint32_t shift_ = 0;
  bool is_full_ = false;
};

class ObjectTraces {
 public:
  enum class How : uint32_t { kNone, kByAddress, kByTag };

  // Finds the unit that follows objects. False: there is none, or it follows no objects. [control]
  bool begin(const DumpServices* services);
  bool is_used() const { return begun_; }
  // True: the addresses of followed objects can be read. jvmti: with can_tag_objects. [control]
  bool knows_addresses(void* jvmti, void* jni) const;
  // Writes the traces of all objects followed now, before a dump begins. [control]
  hprof_status define(How how);
  How how() const { return how_; }
  // kByTag: calls visit(weak, number) for each followed object; number: for set_tag. [control]
  template <class Visit>
  void each_weak(const Visit& visit) const;
  void set_tag(uint64_t tag, uint32_t number) {
    if (uint32_t* at = by_tag_.at(tag)) *at = number;
  }
  // kByAddress: reads the addresses at the safepoint, once. Without memory no object has a trace.
  // [control][heap]
  void take_addresses();
  // The trace of an object by its address or tag; 0: not known. Called once for each object. [control][heap]
  hprof_trace_serial find(uint64_t object) {
    const uint32_t number = how_ == How::kByAddress ? by_address_.find(object)
                            : how_ == How::kByTag   ? by_tag_.get(object)
                                                    : 0;
    if (number == kUndefined) left_out_++;
    return number != 0 && number != kUndefined ? serials_[number] : 0;
  }
  // Resets the results of find() before a walk. [control]
  void begin_walk() { left_out_ = 0; }
  // Objects so far whose traces were not defined before the dump. [control]
  uint64_t left_out() const { return left_out_; }
  // Takes the result: objects of the dump, and how many have a trace. [control]
  void set_outcome(uint64_t objects, uint64_t traced) {
    objects_ = objects;
    traced_ = traced;
  }
  uint64_t objects() const { return objects_; }
  uint64_t traced() const { return traced_; }
  void end();  // [control]

 private:
  static constexpr uint32_t kUndefined = AddressTable::kMostTraces - 1;  // trace without a definition

  // The number of a trace; 0: the empty trace.
  uint32_t number_of(hprof_trace_serial serial) const {
    const uint32_t number = numbers_.get(serial);
    return number != 0 || serial == 0 ? number : kUndefined;
  }
  bool add_trace(hprof_trace_serial serial);
  void give_up();
  void close_tables();

  const DumpServices* services_ = nullptr;
  const hprof_object_traces* table_ = nullptr;
  bool begun_ = false;
  How how_ = How::kNone;
  uint64_t followed_ = 0;  // objects, at begin()
  uint64_t left_out_ = 0;
  uint64_t objects_ = 0, traced_ = 0;
  PageTable numbers_;                      // number of each defined trace, by serial
  LazyTable<hprof_trace_serial> serials_;  // by number
  uint32_t trace_count_ = 0;
  hprof_trace_serial last_added_ = 0;  // cached: neighbours often have the same
  AddressTable by_address_;
  PageTable by_tag_;
};

template <class Visit>
void ObjectTraces::each_weak(const Visit& visit) const {
  struct Context {
    const ObjectTraces* traces;
    const Visit* visit;
  } context{this, &visit};
  table_->each(&context, [](void* argument, void* weak, hprof_trace_serial serial) {
    auto* at = static_cast<Context*>(argument);
    (*at->visit)(weak, at->traces->number_of(serial));
  });
}

}  // namespace hprof::dump
