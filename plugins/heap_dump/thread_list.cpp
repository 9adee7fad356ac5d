#include "thread_list.h"

#include <hprof/collector.h>

namespace hprof::dump {

bool ThreadList::take(const DumpEnv& vm, uint64_t* next) {
  vm_ = &vm;
  services_ = vm.services;
  next_ = next;
  first_ = *next;
  count_ = 0;
  frames_ = services_->allocate<jvmtiFrameInfo>(kDepth);
  if (frames_ == nullptr || !entries_.open(*services_, kMost)) return false;
  services_->threads->each(services_->host, vm.jni, this, &ThreadList::visit);
  return true;
}

void ThreadList::close() {
  if (services_ == nullptr) return;
  entries_.close();
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
  if (vm_->jvmti->SetTag(object, static_cast<jlong>(*next_)) != JVMTI_ERROR_NONE) return;
  (*next_)++;
  entries_[count_++] = {thread->serial, stack(thread->serial, object), false};
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
