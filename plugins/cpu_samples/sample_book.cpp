// Turns stacks into traces and counts.
#include "sample_book.h"

#include <cstring>

namespace hprof::samples {

static constexpr uint32_t kEnds = 2;  // frames beside those of the stack

hprof_status SampleBook::open(const Services& services, uint32_t depth) {
  services_ = &services;
  has_continuations_ = services.settings().java_version >= 19;
  // Made while there is memory, since readers of the ASCII format fail on a row without frames.
  if (lost_trace_ == 0) lost_trace_ = synthetic_trace("no_memory_for_the_trace");
  probe_ = services.ids->synthetic_frame(services.host, "JVM", "hprof_probe");
  if (has_continuations_) hole_ = services.ids->synthetic_frame(services.host, "JVM", "frames_in_the_heap");
  if (depth == 0) depth = 1;
  if (depth == depth_) return HPROF_OK;
  hprof_frame_id* frames = services.allocate<hprof_frame_id>(depth + kEnds);
  if (frames == nullptr) return HPROF_NO_MEMORY;
  services.release(frames_, depth_ + kEnds);
  frames_ = frames;
  depth_ = depth;
  return HPROF_OK;
}

void SampleBook::close() {
  if (services_ == nullptr) return;
  virtual_threads.close();
  counts_.close();
  services_->release(frames_, depth_ + kEnds);
  frames_ = nullptr;
  depth_ = 0;
}

void SampleBook::clear() {
  counts_.clear();
  total_ = samples_ = other_labels_ = 0;
  squares_ = 0;
  memset(reasons_, 0, sizeof reasons_);
  memset(found_, 0, sizeof found_);
  memset(kinds_, 0, sizeof kinds_);
}

static bool is_text(hprof_text text, const char* expected) {
  return text.data != nullptr && text.size == strlen(expected) && memcmp(text.data, expected, text.size) == 0;
}

// The methods of jdk.internal.vm.Continuation that separate the frames of a mounted virtual thread from its
// carrier's (JDK 19 to 27): ... VirtualThread.run, [VThreadContinuation$1.run,] Continuation.enter0, enter,
// enterSpecial, run, VirtualThread.runContinuation, ... Not run, which also calls what mounts and unmounts,
// on the carrier.
enum class Entry { kNone, kEnter, kSpecial };
static Entry entry_of(const Services& s, hprof_frame_id frame) {
  const auto method = find_method(s.ids, s.host, find_frame(s.ids, s.host, frame)->method);
  const auto owner = find_class(s.ids, s.host, method->owner);
  if (!is_text(s.ids->string_text(s.host, owner->name), "jdk.internal.vm.Continuation")) return Entry::kNone;
  hprof_text name = s.ids->string_text(s.host, method->name);
  if (is_text(name, "enterSpecial")) return Entry::kSpecial;
  return is_text(name, "enter") || is_text(name, "enter0") ? Entry::kEnter : Entry::kNone;
}

static bool is_synthetic(const Services& s, hprof_frame_id frame) {
  const auto method = find_method(s.ids, s.host, find_frame(s.ids, s.host, frame)->method);
  return s.ids->string_text(s.host, method->signature).size == 0;
}

// Returns how many of the frames belong to the virtual thread; all if none is mounted, and those of a carrier
// that is itself in the entry methods, or in what Continuation.run calls. *has_hole: frames of the virtual
// thread are in the heap. It is so if enterSpecial is not called by enter; a carrier's own stack lacks none.
uint32_t SampleBook::below_continuation(const hprof_frame_id* frames, uint32_t count, bool* has_hole) const {
  for (uint32_t i = 0; i < count; i++) {
    const Entry entry = entry_of(*services_, frames[i]);
    if (entry == Entry::kNone) continue;
    *has_hole = i != 0 && (*has_hole || entry == Entry::kSpecial);
    return i == 0 ? count : i;
  }
  return count;
}

void SampleBook::add(const SampleHead& head, hprof_trace_serial trace, uint64_t weight) {
  total_ = total_ > UINT64_MAX - weight ? UINT64_MAX : total_ + weight;
  samples_++;
  if (in_draw_) {
    drawn_ += weight;
  } else {
    squares_ += static_cast<double>(weight) * static_cast<double>(weight);
  }
  const hprof_string_id set = labels.counted(head.context.labels);
  if (set != head.context.labels) other_labels_ += weight;
  counts_.add(*services_, trace, weight, set);
  events.write(head, trace, weight);
}

void SampleBook::end_draw() {
  in_draw_ = false;
  squares_ += static_cast<double>(drawn_) * static_cast<double>(drawn_);
  drawn_ = 0;
}

uint64_t SampleBook::effective_samples() const {
  const auto total = static_cast<double>(total_);
  return squares_ == 0 ? 0 : static_cast<uint64_t>(total * total / squares_ + 0.5);
}

hprof_trace_serial SampleBook::trace_of(void* jni, hprof_thread_serial thread, const hprof_raw_frame* frames,
                                        uint32_t count, hprof_frame_id last, hprof_frame_id first,
                                        bool* has_hole) {
  const Services& s = *services_;
  hprof_frame_id* to = frames_ + 1;
  const uint32_t most = count < depth_ ? count : depth_;
  uint32_t frame_count = 0, merged = 0;
  for (uint32_t i = 0; i < most; i++) {
    hprof_frame_id frame = frames[i].method == nullptr ? 0 : s.ids->frame(s.host, jni, &frames[i], 0);
    if (frame == 0) frame = s.ids->synthetic_frame(s.host, "JVM", "unknown_method");
    if (frame == 0) return lost_trace_;
    // Adjacent frames of probes, which call each other, become one.
    const bool is_same = frame == probe_ && frame_count != 0 && to[frame_count - 1] == probe_;
    merged += is_same ? 1 : 0;
    if (!is_same) to[frame_count++] = frame;
  }
  bool is_missing = has_hole != nullptr && *has_hole;
  if (has_continuations_) frame_count = below_continuation(to, frame_count, &is_missing);
  is_missing = is_missing && last == 0;
  if (has_hole != nullptr) *has_hole = is_missing;
  const uint32_t asked = depth_ < s.settings().depth ? depth_ : s.settings().depth;
  const uint32_t flags = trace_flags(frame_count + merged, asked);
  if (is_missing) last = hole_;
  if (last != 0) to[frame_count++] = last;
  if (first != 0) {
    *--to = first;
    frame_count++;
  }
  return or_lost(s.ids->trace(s.host, s.settings().thread_in_traces ? thread : 0, to, frame_count, flags));
}

hprof_trace_serial SampleBook::trace_of(hprof_thread_serial thread, Reason reason,
                                        hprof_frame_id last) const {
  const Services& s = *services_;
  const hprof_frame_id frames[] = {s.ids->synthetic_frame(s.host, "JVM", reason_method(reason)), last};
  if (frames[0] == 0) return lost_trace_;
  return or_lost(
      s.ids->trace(s.host, s.settings().thread_in_traces ? thread : 0, frames, last != 0 ? 2 : 1, 0));
}

bool SampleBook::add_stack(void* jni, const SampleHead& head, const hprof_raw_frame* frames, uint32_t count,
                           uint64_t weight, bool has_hole, hprof_frame_id outside) {
  const hprof_trace_serial trace = trace_of(jni, head.thread, frames, count, 0, outside, &has_hole);
  SampleHead at = head;
  if (events.has_code() && is_synthetic(*services_, frames_[1])) at.kind = HPROF_FRAME_UNKNOWN;
  add(at, trace, weight);
  return has_hole;
}

// Names of the VM's code are texts: "StubRoutines (1)". Readers split rows at blanks and parentheses.
hprof_frame_id SampleBook::outside_frame(const hprof_native_name& name, bool in_call) const {
  const Services& s = *services_;
  const bool has_symbol = name.symbol[0] != '\0';
  if (in_call) return s.ids->synthetic_frame(s.host, "[kernel]", has_symbol ? name.symbol : "system_call");
  if (name.owner[0] != '\0')
    return s.ids->synthetic_frame(s.host, name.owner, has_symbol ? name.symbol : "no_symbol");
  char method[sizeof name.symbol];
  uint32_t size = 0;
  for (const char* from = name.symbol; *from != '\0'; from++) {
    const bool is_plain = (*from >= '0' && *from <= '9') || ((*from | 0x20) >= 'a' && (*from | 0x20) <= 'z');
    if (is_plain || (size != 0 && method[size - 1] != '_')) method[size++] = is_plain ? *from : '_';
  }
  while (size != 0 && method[size - 1] == '_') size--;
  method[size] = '\0';
  return s.ids->synthetic_frame(s.host, "JVM", size != 0 ? method : "code_of_no_library");
}

void SampleBook::add_reason(const SampleHead& head, Reason reason, uint64_t weight) {
  reasons_[reason] += weight;
  add(head, trace_of(head.thread, reason, 0), weight);
}

hprof_trace_serial SampleBook::synthetic_trace(const char* method) const {
  const Services& s = *services_;
  hprof_frame_id frame = s.ids->synthetic_frame(s.host, "JVM", method);
  return frame == 0 ? lost_trace_ : or_lost(s.ids->trace(s.host, 0, &frame, 1, 0));
}

}  // namespace hprof::samples
