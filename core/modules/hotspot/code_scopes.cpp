#include "core/modules/hotspot/code_scopes.h"

namespace hprof {

static constexpr uint32_t kFirstWithoutZeros = 20;  // JDK; from it on compressed numbers have no byte 0

bool CodeScopes::open(const VmStructs& structs, uint32_t java_version) {
  LayoutReader layout(structs);
  const bool has_records = layout.size("PcDesc") == kDescWords * sizeof(int32_t) &&
                           layout.offset("PcDesc", "_scope_decode_offset") == sizeof(int32_t);
  pcs_offset_ = layout.offset("nmethod", "_scopes_pcs_offset");
  const_of_method_ = layout.offset("Method", "_constMethod");
  const_size_ = layout.size("ConstMethod");
  const struct {
    const char* types;
    const char* name;
    uint32_t* offset;
  } fields[] = {{"CodeBlob", "_code_begin", &code_begin_},
                {"CodeBlob", "_code_offset", &code_offset_},
                {"nmethod|CompiledMethod", "_scopes_data_begin", &scopes_begin_},
                {"nmethod", "_scopes_data_offset", &scopes_offset_},
                {"nmethod", "_metadata_offset", &metadata_offset_},
                {"nmethod", "_immutable_data", &immutable_data_},
                {"CodeBlob", "_mutable_data", &mutable_data_},
                {"CodeBlob", "_relocation_size", &relocation_size_}};
  for (const auto& field : fields) {
    const int64_t found = structs.offset(field.types, field.name);
    if (found >= 0) *field.offset = static_cast<uint32_t>(found);
  }
  // What follows the records.
  pcs_end_ =
      layout.offset("nmethod", immutable_data_ != kNone ? "_scopes_data_offset" : "_dependencies_offset");
  lowest_ = java_version >= kFirstWithoutZeros ? 1 : 0;
  // With immutable but without mutable data, no field tells where the metadata is.
  const bool has_data = immutable_data_ != kNone
                            ? (mutable_data_ | relocation_size_ | scopes_offset_) != kNone
                            : metadata_offset_ != kNone && (scopes_begin_ & scopes_offset_) != kNone;
  is_open_ = layout.complete() && has_records && has_data && (code_begin_ & code_offset_) != kNone;
  return is_open_;
}

uint64_t CodeScopes::code_of(uint64_t blob) const {
  return code_begin_ != kNone ? guarded_at<uint64_t>(blob + code_begin_)
                              : blob + guarded_at<uint32_t>(blob + code_offset_);
}

uint64_t CodeScopes::scopes_of(uint64_t blob) const {
  if (immutable_data_ != kNone)
    return guarded_at<uint64_t>(blob + immutable_data_) + guarded_at<uint32_t>(blob + scopes_offset_);
  return scopes_begin_ != kNone ? guarded_at<uint64_t>(blob + scopes_begin_)
                                : blob + guarded_at<uint32_t>(blob + scopes_offset_);
}

uint64_t CodeScopes::pcs_of(uint64_t blob) const {
  const uint64_t from = immutable_data_ != kNone ? guarded_at<uint64_t>(blob + immutable_data_) : blob;
  return from + guarded_at<uint32_t>(blob + pcs_offset_);
}

uint64_t CodeScopes::metadata_of(uint64_t blob) const {
  if (immutable_data_ != kNone)
    return guarded_at<uint64_t>(blob + mutable_data_) + guarded_at<uint32_t>(blob + relocation_size_);
  return blob + guarded_at<uint32_t>(blob + metadata_offset_);
}

// PcDescs are sorted by position; the first is before the code, the last after it.
uint32_t CodeScopes::find_from(uint64_t blob, int64_t wanted, bool exact) const {
  constexpr uint32_t kBytes = kDescWords * sizeof(int32_t), kMostBytes = 1u << 26;
  const uint64_t first = pcs_of(blob);
  const uint32_t bytes = guarded_at<uint32_t>(blob + pcs_end_) - guarded_at<uint32_t>(blob + pcs_offset_);
  if (bytes > kMostBytes || guarded_at<int32_t>(first) != -1) return 0;
  const uint32_t count = bytes / kBytes;
  uint32_t low = 1, high = count;
  while (low < high) {
    const uint32_t middle = (low + high) / 2;
    if (guarded_at<int32_t>(first + uint64_t{middle} * kBytes) < wanted) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low >= count) return 0;
  const uint64_t found = first + uint64_t{low} * kBytes;
  if (exact && guarded_at<int32_t>(found) != wanted) return 0;
  return guarded_at<uint32_t>(found + sizeof(int32_t));
}

// Reads an UNSIGNED5: up to four bytes that announce another one, and a fifth.
uint32_t CodeScopes::number(uint64_t* at) const {
  constexpr uint32_t kFollowed = 192, kBits = 6, kLastShift = 24;
  uint32_t sum = 0;
  for (uint32_t shift = 0; shift <= kLastShift; shift += kBits) {
    const uint32_t byte = guarded_at<uint8_t>((*at)++);
    sum += (byte - lowest_) << shift;
    if (byte < kFollowed) break;
  }
  return sum;
}

bool CodeScopes::read(uint64_t blob, uint32_t scope, Scope* to) const {
  uint64_t at = scopes_of(blob) + scope;
  to->sender = number(&at);
  const uint32_t method = number(&at);
  const auto bci = static_cast<int32_t>(number(&at)) - 1;
  to->bci = bci < 0 ? 0 : bci;  // -1: on entry of a synchronized method
  if (method == 0 || to->sender == scope) return false;
  to->method = guarded_at<uint64_t>(metadata_of(blob) + uint64_t{method - 1} * sizeof(uint64_t));
  return to->method != 0;
}

}  // namespace hprof
