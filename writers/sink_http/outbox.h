// Reports that wait to be posted, in bounded memory.
//
// One thread appends (begin, add, end), another takes from the front (front, done). A report at the front is
// complete, and stays until done().
#pragma once

#include <cstdint>

#include <hprof/cpp/lock.hpp>

namespace hprof::http {

struct Report {
  Report* next;
  uint8_t* bytes;
  uint64_t size;
  uint64_t from, until;  // seconds since 1970
  uint64_t sequence;
  uint64_t doubtful_tries;  // answers of 500. [control]
  const char* unit;
  const char* labels;
  const char* content_type;
};

class Outbox {
 public:
  // False: no memory. [onload]
  bool open(const Services& services, uint64_t most);
  void close();  // no thread uses it any more

  // Begins the next report; its bytes follow. [writer]
  void begin(const Report& head);
  // False: the report is too large for the outbox, or no memory; do not add the rest. [writer]
  bool add(const uint8_t* bytes, uint64_t size);
  // Makes the report available, unless it has no bytes. Drops the oldest waiting ones if there is too much,
  // and returns how many; UINT64_MAX: this one. [control]
  uint64_t end();
  void drop() { is_building_ = false; }  // drops an incomplete report [writer]

  // The oldest report; nullptr: none. It is not dropped before done(). [control]
  Report* front();
  void done();
  void release_front();  // the report stays, but may be dropped
  uint64_t count();      // reports that wait

 private:
  void destroy(Report* report);
  uint64_t make_room(Report** gone, uint64_t size);

  Services services_;
  uint64_t most_ = 0;
  // The report being written, in address space for the largest one, of which `charged_` bytes are in use.
  Report head_ = {};
  uint8_t* built_ = nullptr;
  uint64_t charged_ = 0;
  bool is_building_ = false;
  Lock lock_;  // of the members below
  Report* first_ = nullptr;
  Report* last_ = nullptr;
  bool is_front_taken_ = false;
  uint64_t held_ = 0;  // bytes
  uint64_t count_ = 0;
};

}  // namespace hprof::http
