// Parses the sub-records of a VM's heap dump segments as they pass, redacts them in place, and gives objects
// the traces of their allocation.
//
// Bytes come in pieces of any size; a piece may end anywhere. Classes are known from their CLASS DUMPs, which
// VMs write before any instance. [writer]
#pragma once

#include <cstdint>

#include <hprof/cpp/hash_table.hpp>
#include <hprof/cpp/lazy_table.hpp>
#include <hprof/draft/foreign_dump.h>

namespace hprof::binary {

// Values by identifier.
template <class Value>
class IdTable : public HashTable<Value, Growth::kMoves> {
 public:
  bool open(const UnitMemory& memory) {
    return HashTable<Value, Growth::kMoves>::open(memory, kFirst, kMost);
  }

 private:
  static constexpr uint64_t kFirst = 1u << 12;
  static constexpr uint64_t kMost = 1u << 30;
};

// Finds class objects that are referred to but not written.
//
// The VM does not write class objects of the CDS archive whose classes were not loaded, but arrays of the
// archive refer to them. They are in the same blocks of memory as those of loaded classes, so only these
// blocks are watched.
class Mirrors {
 public:
  static constexpr uint32_t kBlockBits = 20;  // 1 MiB
  static constexpr uint32_t kMostBlocks = 1024;
  static constexpr uint32_t kWords = (1u << kBlockBits) / 8 / 64;
  bool open(const Services& services);
  void close();
  void watch(uint64_t id);  // the block of this address
  void mark_written(uint64_t id) {
    if (Block* block = find(id)) block->written[word_of(id)] |= bit_of(id);
  }
  void mark_referred(uint64_t id) {
    if (Block* block = find(id)) block->referred[word_of(id)] |= bit_of(id);
  }
  // Calls visit(id) for each such object.
  template <class Visit>
  void each_missing(const Visit& visit) const {
    for (uint32_t b = 0; b < count_; b++) {
      for (uint32_t w = 0; w < kWords; w++) {
        for (uint64_t bits = blocks_[b].referred[w] & ~blocks_[b].written[w]; bits != 0; bits &= bits - 1) {
          const uint32_t bit = static_cast<uint32_t>(__builtin_ctzll(bits));
          visit((blocks_[b].base << kBlockBits) + (uint64_t{w} * 64 + bit) * 8);
        }
      }
    }
  }

 private:
  struct Block {
    uint64_t base;
    uint64_t written[kWords];
    uint64_t referred[kWords];
  };
  static uint32_t word_of(uint64_t id) { return static_cast<uint32_t>(id >> 9) % kWords; }
  static uint64_t bit_of(uint64_t id) { return uint64_t{1} << (id >> 3 & 63); }
  Block* find(uint64_t id) {
    const uint64_t base = id >> kBlockBits;
    if ((filter_[base >> 6 & 255] >> (base & 63) & 1) == 0 || id == 0 || (id & 7) != 0) return nullptr;
    if (last_ < count_ && blocks_[last_].base == base) return &blocks_[last_];
    for (uint32_t i = 0; i < count_; i++) {
      if (blocks_[i].base == base) return &blocks_[last_ = i];
    }
    return nullptr;
  }

  LazyTable<Block> blocks_;
  uint32_t count_ = 0;
  uint32_t last_ = 0;
  uint64_t filter_[256] = {};  // by the low bits of a block's number; excludes most addresses
};

struct DumpedClass {
  uint64_t id;
  uint64_t super;
  uint32_t instance_size;
  uint32_t first_type;  // index in types_ of its first own instance field
  uint32_t field_count;
  uint32_t is_dumped;  // 0: only a LOAD CLASS so far
};

struct DumpedThread {
  hprof_thread_serial serial;
  uint64_t object;
};

class SubRecords {
 public:
  static constexpr uint32_t kMostClasses = 192 * 1024;
  static constexpr uint32_t kMostTypes = 16 * 1024 * 1024;

  // dump: must outlive this object.
  bool open(const Services& services, const hprof_foreign_dump* dump, uint32_t id_size);
  void close();

  // Parses bytes of segments' bodies and returns how many: all, or with stop_behind_classes up to the first
  // sub-record that is no CLASS DUMP. failed(): no heap dump, or no room.
  uint64_t feed(uint8_t* bytes, uint64_t size, bool stop_behind_classes);
  bool failed() const { return failed_; }
  const char* failure() const {
    return no_room_ ? "no memory for the classes of the VM's dump" : "the VM's dump cannot be read";
  }
  bool is_between() const { return step_ == Step::kTag; }  // at the end of a sub-record

  void add_loaded(uint64_t class_id);
  uint32_t class_count() const { return class_count_; }
  const DumpedClass& class_at(uint32_t number) const { return classes_[number]; }
  const DumpedClass* find_class(uint64_t id) const;
  uint64_t objects() const { return objects_; }
  uint64_t traced() const { return traced_; }  // objects with a trace
  // The threads of the dump that the output knows.
  template <class Visit>
  void each_thread(const Visit& visit) const {
    threads_.each(visit);
  }
  // The serial of the VM's thread; 0: the output does not know it.
  hprof_thread_serial find_thread(uint32_t vm_serial) const {
    const DumpedThread* thread = threads_.find(vm_serial);
    return thread != nullptr ? thread->serial : 0;
  }
  const Mirrors& mirrors() const { return mirrors_; }
  uint64_t object_class() const { return object_class_; }  // java.lang.Object: the class without a superclass
  // Reports the names of fields in CLASS DUMPs.
  void (*on_name)(void* context, uint64_t string_id) = nullptr;
  void* name_context = nullptr;
  // Written into the first bytes of string ids (the second of 8) and of threads' traces (the first of 4).
  uint8_t mark = 0;
  // Threads that the output knows get its serials.
  bool maps_threads = false;

 private:
  enum class Step : uint32_t {
    kTag,
    kRoot,
    kClass,
    kConstantCount,
    kConstant,
    kStaticCount,
    kStatic,
    kFieldCount,
    kField,
    kInstance,
    kObjectArray,
    kPrimitiveArray
  };

  bool take_step();
  bool take_tag();
  bool take_class();
  bool take_static();
  bool take_field();
  bool take_instance();
  bool take_primitive_array();
  void mark_numbers(uint8_t* bytes, uint32_t begin, uint32_t end);
  bool no_room() {
    no_room_ = true;
    return false;
  }
  hprof_trace_serial find_trace(uint64_t object);
  void put_trace(uint8_t* bytes, uint32_t begin, uint32_t end);
  void put_thread(uint8_t* bytes, uint32_t begin, uint32_t end);
  void take_thread();
  void want(Step step, uint32_t bytes) {
    step_ = step;
    need_ = bytes;
    have_ = 0;
  }
  uint64_t take_whole(uint8_t* bytes, uint64_t size);
  uint64_t read_id(const uint8_t* bytes) const;
  uint64_t id_at(uint32_t offset) const;
  bool leaves_out(uint32_t flag) const { return (dump_->flags & flag) != 0; }
  bool zeroes_array(uint32_t type) const;
  DumpedClass* make_class(uint64_t id);
  void zero_masked(uint8_t* bytes, uint64_t size);
  void mark_elements(const uint8_t* bytes, uint64_t size);

  const hprof_foreign_dump* dump_ = nullptr;
  uint32_t id_size_ = 8;
  Step step_ = Step::kTag;
  uint32_t need_ = 1, have_ = 0;  // of head_
  uint8_t head_[96] = {};
  uint32_t tag_ = 0;
  uint64_t pass_ = 0;  // bytes to pass before the next step
  bool zero_ = false;  // and to zero
  // and to zero where the class has primitive fields
  bool masked_ = false;
  uint64_t mask_class_ = 0;
  uint32_t mask_field_ = 0, mask_left_ = 0;
  uint32_t list_left_ = 0;  // constants, statics or fields to come

  IdTable<uint32_t> numbers_;  // of classes
  LazyTable<DumpedClass> classes_;
  uint32_t class_count_ = 0;
  LazyTable<uint8_t> types_;
  uint32_t type_count_ = 0;
  DumpedClass* current_ = nullptr;
  IdTable<DumpedThread> threads_;  // by the VM's serials, which count from 1
  uint32_t thread_ = 0;            // serial in the output of the last ROOT THREAD OBJECT; 0: not known
  uint64_t object_class_ = 0;
  uint64_t objects_ = 0;
  uint64_t traced_ = 0;
  hprof_trace_serial trace_ = 0;  // of the object whose head is read
  bool failed_ = false;
  bool no_room_ = false;   // the reason for failed()
  bool elements_ = false;  // the passing bytes are ids
  uint8_t split_[8] = {};  // an id that is split between two pieces
  uint32_t split_have_ = 0;
  Mirrors mirrors_;
};

}  // namespace hprof::binary
