// The bytes of dumps.
#pragma once

#include <cstring>

#include <hprof/cpp/services.hpp>

namespace hprof::jvmpi {

// Bytes in a row, unaligned; numbers are big-endian, pointers as they are. They grow at both ends, and never
// move: the address space is reserved. It costs memory where it is written, which does not count towards
// max-memory=.
class DumpBytes {
 public:
  explicit DumpBytes(const Services& services) : services_(services) {}
  ~DumpBytes() { services_.mem->unreserve(services_.host, bytes_, room_); }
  DumpBytes(const DumpBytes&) = delete;
  DumpBytes& operator=(const DumpBytes&) = delete;

  // Address space for `room` bytes, or as much of that as there is; a quarter is for prepend(). False: there
  // is none.
  bool open(uint64_t room);

  void u1(uint8_t value) { put(&value, 1); }
  void u4(uint32_t value) { number(value, sizeof(value)); }
  // The lower `width` bytes of a number.
  void number(uint64_t value, uint32_t width);
  template <class T>
  void pointer(T* value) {
    put(&value, sizeof(value));
  }
  void put(const void* bytes, uint64_t count);
  // In front of all.
  void prepend(const void* bytes, uint64_t count);

  // Makes room for `count` zeros and returns where they are; see failed().
  uint64_t append(uint64_t count);
  // Over what append() has made room for.
  void put_number(uint64_t at, uint64_t value, uint32_t width);
  template <class T>
  void put_pointer(uint64_t at, T* value) {
    std::memcpy(bytes_ + at, &value, sizeof(value));
  }
  char* at(uint64_t offset) const { return bytes_ + offset; }

  char* begin() const { return bytes_ + begin_; }
  char* end() const { return bytes_ + end_; }
  uint64_t next() const { return end_; }  // where append() continues
  uint64_t size() const { return end_ - begin_; }
  uint64_t room() const { return room_; }
  bool failed() const { return failed_; }  // no room: nothing was put since

 private:
  const Services& services_;
  char* bytes_ = nullptr;
  uint64_t room_ = 0;
  uint64_t begin_ = 0, end_ = 0;
  bool failed_ = false;
};

}  // namespace hprof::jvmpi
