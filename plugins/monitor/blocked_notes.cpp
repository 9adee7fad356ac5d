#include "plugins/monitor/blocked_notes.h"

#include <hprof/cpp/note.hpp>

namespace hprof::monitor {

namespace {

void add_text(const Services& s, hprof_string_id id, Note* note) {
  const hprof_text text = s.ids->string_text(s.host, id);
  note->add(text.data, text.size);
}

void add_thread(const Services& s, hprof_thread_serial serial, Note* note) {
  hprof_thread_info info = {};
  info.size = sizeof info;
  if (s.ids->thread_info(s.host, serial, &info) == 0) {
    note->add("a thread without a name");
    return;
  }
  note->add("\"");
  add_text(s, info.name, note);
  note->add("\"");
}

// "Shop.ship", of the innermost frame.
void add_place(const Services& s, hprof_trace_serial serial, Note* note) {
  hprof_trace_info trace = {};
  trace.size = sizeof trace;
  hprof_frame_info frame = {};
  frame.size = sizeof frame;
  hprof_method_info method = {};
  method.size = sizeof method;
  hprof_class_info owner = {};
  owner.size = sizeof owner;
  const bool known = serial != 0 && s.ids->trace_info(s.host, serial, &trace) != 0 &&
                     trace.frame_count != 0 && s.ids->frame_info(s.host, trace.frames[0], &frame) != 0 &&
                     s.ids->method_info(s.host, frame.method, &method) != 0 &&
                     s.ids->class_info(s.host, method.owner, &owner) != 0;
  if (!known) return;
  note->add(", which is in ");
  add_text(s, owner.name, note);
  note->add(".");
  add_text(s, method.name, note);
  if (frame.line > 0) note->add(":").add(static_cast<uint64_t>(frame.line));
}

}  // namespace

hprof_status write_held(const Services& services, const Held& held) {
  Note note;
  note.add("monitor: ");
  add_thread(services, held.thread, &note);
  hprof_class_info lock = {};
  lock.size = sizeof lock;
  note.add(" waits for ");
  if (services.ids->class_info(services.host, held.lock, &lock) != 0) add_text(services, lock.name, &note);
  if (held.owner == 0 || held.owner == HPROF_OWNER_UNKNOWN) {
    note.add(", held by a thread that the VM does not tell");
  } else {
    note.add(", held by ");
    add_thread(services, held.owner, &note);
    add_place(services, held.owner_trace, &note);
  }
  return write_note(services, note);
}

bool ParkedLocks::open() {
  if (tried_) return owner_ != nullptr;
  tried_ = true;
  synchronizer_ = jni_->FindClass("java/util/concurrent/locks/AbstractOwnableSynchronizer");
  jclass thread = synchronizer_ != nullptr ? jni_->FindClass("java/lang/Thread") : nullptr;
  if (thread != nullptr) blocker_ = jni_->GetFieldID(thread, "parkBlocker", "Ljava/lang/Object;");
  if (blocker_ != nullptr)
    owner_ = jni_->GetFieldID(synchronizer_, "exclusiveOwnerThread", "Ljava/lang/Thread;");
  if (jni_->ExceptionCheck()) jni_->ExceptionClear();
  return owner_ != nullptr;
}

bool ParkedLocks::find(jthread thread, hprof_class_serial* lock, hprof_thread_serial* owner) {
  if (!open()) return false;
  jobject blocker = jni_->GetObjectField(thread, blocker_);
  bool found = false;
  if (blocker != nullptr && jni_->IsInstanceOf(blocker, synchronizer_)) {
    jobject holder = jni_->GetObjectField(blocker, owner_);
    if (holder != nullptr) {
      jclass of = jni_->GetObjectClass(blocker);
      *lock = services_.ids->class_serial(services_.host, jni_, of);
      *owner = services_.threads->serial_of(services_.host, holder);
      jni_->DeleteLocalRef(of);
      jni_->DeleteLocalRef(holder);
      found = true;
    }
  }
  if (blocker != nullptr) jni_->DeleteLocalRef(blocker);
  return found;
}

}  // namespace hprof::monitor
