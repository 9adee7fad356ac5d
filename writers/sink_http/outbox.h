// Reports that wait to be posted, in memory of a bounded size.
//
// Who writes: one thread appends (begin, add, end), another takes from the front (front, done). A report is
// whole before it can be seen at the front, and stays where it is until done().
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
  const char* unit;
  const char* labels;
  const char* content_type;
};

class Outbox {
 public:
  // False: no memory. [onload]
  bool open(const Services& services, uint64_t most);
  void close();  // nobody uses it any more

  // The report that comes, without its bytes. [writer]
  void begin(const Report& head);
  // False: it is too large for the outbox, or there is no memory; the rest of it is not taken. [writer]
  bool add(const uint8_t* bytes, uint64_t size);
  // It is whole: it can be posted. Of those that wait the oldest go if there is too much; returns how many,
  // UINT64_MAX: this one. [control]
  uint64_t end();
  void drop() { is_building_ = false; }  // it is not whole. [writer]

  // The oldest; nullptr: none. Until done() it is not taken away. [control]
  Report* front();
  void done();
  void release_front();  // it stays, and may be taken away
  uint64_t count();      // of those that wait

 private:
  void destroy(Report* report);
  uint64_t make_room(Report** gone, uint64_t size);

  Services services_;
  uint64_t most_ = 0;
  // What is being written: address space for the largest report, of which `charged_` bytes are in use.
  Report head_ = {};
  uint8_t* built_ = nullptr;
  uint64_t charged_ = 0;
  bool is_building_ = false;
  Lock lock_;  // of what follows
  Report* first_ = nullptr;
  Report* last_ = nullptr;
  bool is_front_taken_ = false;
  uint64_t held_ = 0;  // bytes
  uint64_t count_ = 0;
};

}  // namespace hprof::http
