// Deflates, and inflates gzip files and notes where inflation can begin, so that a second reading can be in
// any order.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tools/format/input.h"

namespace hprof::tool {

// Places to begin at. The first source that reads a file notes them; later ones only read them.
struct GzipPoints {
  struct Point {
    uint64_t out;                 // offset in the inflated bytes
    uint64_t in;                  // offset in the file of the next whole byte
    unsigned bits;                // of the byte before that are still to be read
    bool member;                  // a gzip header stands here
    std::vector<uint8_t> window;  // the inflated bytes before; none at a header
  };
  std::vector<Point> points;
  uint64_t size = kUnknownSize;  // of the inflated bytes, once they were read to the end without an error
};

// True: this build can inflate.
extern const bool kInflates;
// Null: no memory, or this build cannot inflate. `packed` is at its begin.
std::unique_ptr<ByteSource> inflate_source(std::unique_ptr<ByteSource> packed,
                                           std::shared_ptr<GzipPoints> points);

// Makes a gzip file of the bytes. False: no memory, or this build has no zlib.
bool deflate_gzip(std::string* bytes);

}  // namespace hprof::tool
