#include "thread_list.h"

#include <algorithm>

#include <hprof/collector.h>
#include <hprof/cpp/names.hpp>

namespace hprof::dump {

bool ThreadList::take(const DumpEnv& vm) {
  vm_ = &vm;
  services_ = vm.services;
  count_ = 0;
  frames_ = services_->allocate<jvmtiFrameInfo>(kDepth);
  if (frames_ == nullptr || !entries_.open(*services_, kMost) || !ids_.open(services_)) return false;
  services_->threads->each(services_->host, vm.jni, this, &ThreadList::visit);
  std::sort(entries_.data(), entries_.data() + count_,
            [](const Entry& a, const Entry& b) { return a.tag < b.tag; });
  return true;
}

void ThreadList::close() {
  if (services_ == nullptr) return;
  entries_.close();
  ids_.close();
  services_->release(frames_, kDepth);
  frames_ = nullptr;
  count_ = 0;
}

uint32_t ThreadList::visit(void* self, hprof_thread* thread, void* jthread_ref) {
  auto* list = static_cast<ThreadList*>(self);
  list->add(thread, static_cast<jthread>(jthread_ref));
  return list->count_ < kMost ? 1 : 0;
}

void ThreadList::add(hprof_thread* thread, jthread object) {
  jlong tag = 0;
  if (object == nullptr || !entries_.cover(count_ + 1) ||
      vm_->jvmti->GetTag(object, &tag) != JVMTI_ERROR_NONE || tag != 0)
    return;
  const uint64_t id = find_thread(services_->ids, services_->host, thread->serial)->object;
  if (!is_id(id) || !ids_.add(id - kFirstId) ||
      vm_->jvmti->SetTag(object, static_cast<jlong>(id)) != JVMTI_ERROR_NONE)
    return;
  entries_[count_++] = {id, thread->serial, stack(thread->serial, object), false};
}

ThreadList::Entry* ThreadList::find(uint64_t tag) {
  if (!is_id(tag)) return nullptr;
  Entry* end = entries_.data() + count_;
  Entry* at =
      std::lower_bound(entries_.data(), end, tag, [](const Entry& e, uint64_t t) { return e.tag < t; });
  return at != end && at->tag == tag ? at : nullptr;
}

hprof_trace_serial ThreadList::stack(hprof_thread_serial serial, jthread object) {
  jint count = 0;
  if (vm_->jvmti->GetStackTrace(object, 0, kDepth, frames_, &count) != JVMTI_ERROR_NONE) count = 0;
  hprof_frame_id ids[kDepth];
  for (jint i = 0; i < count; i++) {
    const hprof_raw_frame frame = {frames_[i].method, frames_[i].location};
    ids[i] = services_->ids->frame(services_->host, vm_->jni, &frame, 1);
  }
  const auto size = static_cast<uint32_t>(count);
  return services_->ids->trace(services_->host, serial, ids, size, trace_flags(size, kDepth));
}

hprof_status ThreadList::define() const {
  hprof_status status = HPROF_OK;
  for (uint32_t i = 0; i < count_ && status == HPROF_OK; i++) {
    status = services_->emit->define(services_->host, HPROF_RECORD_THREAD_START, entries_[i].serial);
    if (status == HPROF_OK)
      status = services_->emit->define(services_->host, HPROF_RECORD_TRACE, entries_[i].trace);
  }
  return status;
}

}  // namespace hprof::dump
