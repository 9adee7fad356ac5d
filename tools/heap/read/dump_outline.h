// The first reading of a dump: its definitions, its objects, and where its pieces begin.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tools/format/definitions.h"
#include "tools/format/id_set.h"
#include "tools/format/source_file.h"
#include "tools/heap/read/heap_classes.h"

namespace hprof::tool {

// Opens the dump again; every thread reads its own source.
class DumpOpener {
 public:
  virtual ~DumpOpener() = default;
  virtual std::unique_ptr<ByteSource> open(std::string* error) = 0;
  // Size and time of a file, which show that an index is stale; both 0: there are none.
  virtual void identify(uint64_t* size, uint64_t* changed) { *size = *changed = 0; }
};

class DumpFile : public DumpOpener {
 public:
  // folder: for temporary files.
  explicit DumpFile(const std::string& path, const std::string& folder = "")
      : path_(path), file_(path, folder) {}
  std::unique_ptr<ByteSource> open(std::string* error) override { return file_.open(error); }
  void identify(uint64_t* size, uint64_t* changed) override;

 private:
  std::string path_;
  SourceFile file_;
};

// Whole sub-records of one record.
struct DumpPiece {
  uint64_t begin, end;                        // file offsets
  uint32_t lowest = UINT32_MAX, highest = 0;  // numbers of its objects
};

struct DumpedRoot {
  uint64_t object;
  uint32_t thread;  // serial number, 0 when it has none
  uint32_t frame;   // depth in its stack, or the trace of a thread object
  uint8_t tag;
};

// An array by its length, to find the VM's layout from addresses.
struct ArraySample {
  uint64_t id;
  uint32_t length;
  uint8_t type;
};

struct DumpOutline {
  FileHeader header;
  bool seekable = false;  // the source can be read in any order
  uint64_t size = 0;      // bytes of the (inflated) file, as far as it could be read
  Definitions names;
  HeapClasses classes;
  IdSet ids;  // of all objects
  std::vector<DumpedRoot> roots;
  std::vector<DumpPiece> pieces;
  std::vector<ArraySample> samples;
  uint64_t array_references = 0;      // elements of object arrays
  uint64_t repeated = 0;              // objects whose id had occurred before
  bool traced = false;                // objects have different allocation traces
  unsigned dumps = 0;                 // heap dumps in the file
  std::vector<std::string> problems;  // what could not be read, as sentences
};

// dump: which one of the file, from 1; 0 = the last. False with *error: it is not a dump. A truncated or
// broken file is read as far as possible.
bool read_outline(DumpOpener& opener, unsigned dump, DumpOutline* outline, std::string* error);

}  // namespace hprof::tool
