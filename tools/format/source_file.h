// Files as byte sources: regular files, the standard input and, in builds with zlib, gzip files, inflated on
// the fly.
#pragma once

#include <memory>
#include <string>

#include "tools/format/input.h"

namespace hprof::tool {

struct GzipPoints;

// A file that is read several times. The bytes of the standard input are kept in a temporary file while they
// are read for the first time. Thread: any, once one source was read to its end.
class SourceFile {
 public:
  // path: "-" is the standard input. folder: for the temporary file, "" = the system's.
  explicit SourceFile(std::string path, std::string folder = "");
  // Null with *error: it cannot be opened.
  std::unique_ptr<ByteSource> open(std::string* error);
  bool is_pipe() const { return path_ == "-"; }

 private:
  std::unique_ptr<ByteSource> open_plain(std::string* error);

  std::string path_, folder_;
  std::shared_ptr<struct KeptPipe> pipe_;
  std::shared_ptr<GzipPoints> points_;  // of a gzip file
};

// The bytes of an open file, which the source closes.
std::unique_ptr<ByteSource> file_source(int file);

// Opens a file for one source; every source of the standard input ("-") starts at its beginning. Null with
// *error: it cannot be opened.
std::unique_ptr<ByteSource> open_source(const std::string& path, std::string* error);

}  // namespace hprof::tool
