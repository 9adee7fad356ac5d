#include "tools/format/records.h"

namespace hprof::tool {

bool RecordReader::next() {
  in_.clear_limit();
  if (begun_) {
    in_.seek(head_.body());
    if (!in_.skip(head_.length)) {
      end_ = End::kWithinBody;
      return false;
    }
  }
  begun_ = true;
  bool cut = false;
  if (!read_record_head(in_, &head_, &cut)) {
    end_ = cut ? End::kWithinHead : End::kWhole;
    return false;
  }
  in_.set_limit(head_.end());
  return true;
}

std::string RecordReader::problem() const {
  return end_ == End::kWhole ? ""
                             : "byte " + std::to_string(head_.offset) + ": the file ends within a record";
}

SitesHead read_sites(Input& in) { return {in.u2(), in.u4(), in.u4(), in.u4(), in.u8(), in.u8(), in.u4()}; }

SamplesHead read_samples(Input& in) { return {in.u4(), in.u4()}; }

bool read_row(Input& in, SiteRow* row) {
  *row = {in.u1(), in.u4(), in.u4(), in.u4(), in.u4(), in.u4(), in.u4()};
  return in.ok();
}

bool read_row(Input& in, SampleRow* row) {
  *row = {in.u4(), in.u4()};
  return in.ok();
}

}  // namespace hprof::tool
