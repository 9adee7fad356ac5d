// The records of a binary file in order, and the contents of its tables.
#pragma once

#include "tools/format/binary_format.h"
#include "tools/format/definitions.h"

namespace hprof::tool {

class RecordReader {
 public:
  // Why there is no next record.
  enum class End { kWhole, kWithinHead, kWithinBody };

  explicit RecordReader(Input& in) : in_(in) {}

  // Reads the header. False: header().problem.
  bool begin() { return read_header(in_, &header_); }
  const FileHeader& header() const { return header_; }
  // Moves the input to the body of the next record, with its end as the limit. False: the end; for
  // kWithinBody, head() is the record that is cut.
  bool next();
  const RecordHead& head() const { return head_; }
  End end() const { return end_; }
  // "byte 17: the file ends within a record"; "" at kWhole.
  std::string problem() const;

 private:
  Input& in_;
  FileHeader header_;
  RecordHead head_{};
  End end_ = End::kWhole;
  bool begun_ = false;
};

// An ALLOC SITES record up to its rows.
struct SitesHead {
  uint16_t flags;
  uint32_t cutoff;  // the bits of a float
  uint32_t live_bytes, live_objects;
  uint64_t bytes, objects;  // allocated
  uint32_t rows;
  bool is_by_allocation() const { return (flags & 2) != 0; }
};
struct SiteRow {
  uint8_t array;
  uint32_t class_serial, trace;
  uint32_t live_bytes, live_objects;
  uint32_t bytes, objects;  // allocated
};
struct SamplesHead {
  uint32_t total, rows;
};
struct SampleRow {
  uint32_t count, trace;
};
SitesHead read_sites(Input& in);
SamplesHead read_samples(Input& in);
// False: there are no more rows.
bool read_row(Input& in, SiteRow* row);
bool read_row(Input& in, SampleRow* row);

}  // namespace hprof::tool
