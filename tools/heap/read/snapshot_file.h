// An index beside a dump: a snapshot with graph and dominator tree, read back by mapping it.
//
// It holds arrays as they are in memory, and is used by the same build only. An index that does not match the
// dump (its size, its time), the options or the build, that is truncated, or whose bytes have changed is
// ignored. So are files that others may write.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/heap/read/snapshot.h"

namespace hprof::tool {

class IndexTables;

class SnapshotFile {
 public:
  // `path` of the index; the dump is that of the snapshot.
  SnapshotFile(std::string path, DumpOpener& opener);
  ~SnapshotFile();
  SnapshotFile(const SnapshotFile&) = delete;
  SnapshotFile& operator=(const SnapshotFile&) = delete;

  // Fills a new snapshot and its graph, whose arrays live as long as this object. False: there is no matching
  // index.
  bool load(Snapshot& snapshot, ReferenceGraph& graph);

  uint64_t bytes() const { return size_; }  // of the index that was loaded

  // create() makes the file, which goes with this object unless finish() succeeds. begin() writes what was
  // read, finish() the dominator tree. False with *error.
  bool create(std::string* error);
  bool begin(Snapshot& snapshot, ReferenceGraph& graph, std::string* error);
  bool finish(Snapshot& snapshot, std::string* error);

 private:
  struct Part {
    uint64_t offset, size;  // bytes
  };
  struct Head;
  Head head_of(const Snapshot& snapshot) const;
  bool write(const void* data, uint64_t size, std::string* error);
  bool map(const Head& expected);
  uint64_t sum_of_parts(uint64_t parts_offset) const;
  template <typename Visit>
  static bool arrays_of_objects(Snapshot& snapshot, ReferenceGraph& graph, const Visit& visit);
  template <typename Visit>
  static bool arrays_of_tree(Snapshot& snapshot, const Visit& visit);
  void borrow_arrays(Snapshot& snapshot, ReferenceGraph& graph) const;
  // Write the tables, or fill them in.
  static void put_classes(IndexTables& io, HeapClasses& classes);
  void put_tables(IndexTables& io, Snapshot& snapshot);
  void close();

  std::string path_;
  DumpOpener& opener_;
  int file_ = -1;
  bool unfinished_ = false;
  const uint8_t* region_ = nullptr;
  uint64_t size_ = 0;
  uint64_t written_ = 0;
  uint64_t sum_ = 0;  // of the bytes after the head
  std::vector<Part> parts_;
  std::vector<OwnSizes::Large> large_;
};

}  // namespace hprof::tool
