#pragma once

#include <cstring>

#include <hprof/cpp/services.hpp>

namespace hprof::jvmpi {

// The bytes of a dump, unaligned; numbers are big-endian, pointers native. They grow at both ends and never
// move: the address space is reserved. Written pages take memory that does not count towards max-memory=.
class DumpBytes {
 public:
  explicit DumpBytes(const Services& services) : services_(services) {}
  ~DumpBytes() { services_.mem->unreserve(services_.host, bytes_, room_); }
  DumpBytes(const DumpBytes&) = delete;
  DumpBytes& operator=(const DumpBytes&) = delete;

  // Reserves address space for `room` bytes, or as much of it as possible; a quarter is for prepend(). False:
  // none.
  bool open(uint64_t room);

  void u1(uint8_t value) { put(&value, 1); }
  void u4(uint32_t value) { number(value, sizeof(value)); }
  // Appends the lower `width` bytes of a number.
  void number(uint64_t value, uint32_t width);
  template <class T>
  void pointer(T* value) {
    put(&value, sizeof(value));
  }
  void put(const void* bytes, uint64_t count);
  // Puts bytes in front of all others.
  void prepend(const void* bytes, uint64_t count);

  // Appends `count` zeros and returns their position; see failed().
  uint64_t append(uint64_t count);
  // Overwrites bytes that append() has made.
  void put_number(uint64_t at, uint64_t value, uint32_t width);
  template <class T>
  void put_pointer(uint64_t at, T* value) {
    std::memcpy(bytes_ + at, &value, sizeof(value));
  }
  char* at(uint64_t offset) const { return bytes_ + offset; }

  char* begin() const { return bytes_ + begin_; }
  char* end() const { return bytes_ + end_; }
  uint64_t next() const { return end_; }  // the position of the next append()
  uint64_t size() const { return end_ - begin_; }
  uint64_t room() const { return room_; }
  bool failed() const { return failed_; }  // there was no room: nothing was written since

 private:
  const Services& services_;
  char* bytes_ = nullptr;
  uint64_t room_ = 0;
  uint64_t begin_ = 0, end_ = 0;
  bool failed_ = false;
};

}  // namespace hprof::jvmpi
