#include "vm_dumper.h"

#include <jvmti.h>

#include <hprof/collector.h>
#include <hprof/cpp/jni_exception.hpp>

namespace hprof::dump {

namespace {

constexpr uint32_t kFirstApart = 22;  // the first Java version that writes objects separately

// The threads that the output lists, by the address of their objects.
class ThreadAddresses {
 public:
  explicit ThreadAddresses(const DumpServices& services)
      : services_(services), jni_(static_cast<JNIEnv*>(services.jvm->jni(services.host))) {}
  ~ThreadAddresses() {
    for (uint32_t i = 0; i < count_; i++) jni_->DeleteWeakGlobalRef(static_cast<jweak>(threads_[i].weak));
    threads_.close();
    addresses_.close();
  }
  ThreadAddresses(const ThreadAddresses&) = delete;
  ThreadAddresses& operator=(const ThreadAddresses&) = delete;

  // Takes references to all threads, and writes their START THREAD. Without memory no thread is known.
  // [control]
  hprof_status open() {
    if (jni_ == nullptr || !threads_.open(services_, kMost) || !addresses_.open(&services_, kMost))
      return HPROF_OK;
    services_.threads->each(services_.host, jni_, this, [](void* self, hprof_thread* thread, void* ref) {
      return static_cast<ThreadAddresses*>(self)->add(thread->serial, static_cast<jthread>(ref));
    });
    hprof_status status = HPROF_OK;
    for (uint32_t i = 0; i < count_ && status == HPROF_OK; i++)
      status = services_.emit->define(services_.host, HPROF_RECORD_THREAD_START, threads_[i].serial);
    return status;
  }
  // While the VM is stopped, once. [control]
  void read() {
    for (uint32_t i = 0; i < count_; i++)
      addresses_.add(services_.weaks->address(services_.host, threads_[i].weak), i + 1);
    addresses_.finish();
  }
  hprof_thread_serial find(uint64_t address) {
    const uint32_t number = addresses_.find(address);
    return number != 0 ? threads_[number - 1].serial : 0;
  }

 private:
  static constexpr uint32_t kMost = 64 * 1024;
  struct Thread {
    void* weak;
    hprof_thread_serial serial;
  };

  uint32_t add(hprof_thread_serial serial, jthread thread) {
    if (thread == nullptr || !threads_.cover(uint64_t{count_} + 1)) return thread == nullptr;
    jweak weak = without_exception(jni_, jni_->NewWeakGlobalRef(thread));
    if (weak != nullptr) threads_[count_++] = {weak, serial};
    return 1;
  }

  const DumpServices& services_;
  JNIEnv* jni_;  // of the thread that dumps
  LazyTable<Thread> threads_;
  uint32_t count_ = 0;
  AddressTable addresses_;
};

// Passes one dump from the VM to the encoder.
class Passing {
 public:
  // threads: nullptr if they are not known.
  Passing(const Services& services, const Config& config, ObjectTraces* traces, ThreadAddresses* threads,
          Progress* progress)
      : services_(services), traces_(traces), threads_(threads), progress_(progress) {
    dump_.size = sizeof(dump_);
    if (!config.wants_fields()) dump_.flags |= HPROF_FOREIGN_NO_FIELDS;
    if (!config.wants_arrays()) dump_.flags |= HPROF_FOREIGN_NO_ARRAYS;
    if (!config.wants_text()) dump_.flags |= HPROF_FOREIGN_NO_TEXT;
    if (!config.wants_strings()) dump_.flags |= HPROF_FOREIGN_NO_STRINGS;
    if (services.settings().java_version >= kFirstApart) dump_.flags |= HPROF_FOREIGN_APART;
    dump_.argument = this;
    if (traces->is_used())
      dump_.trace_of = [](void* self, uint64_t address) {
        return static_cast<Passing*>(self)->traces_->find(address);
      };
    if (threads != nullptr)
      dump_.thread_of = [](void* self, uint64_t address) {
        return static_cast<Passing*>(self)->threads_->find(address);
      };
  }

  const hprof_foreign_dump& dump() const { return dump_; }

  // Before the VM is asked, since an encoder without memory refuses the dump.
  hprof_status begin() {
    const hprof_status status = write(0, HPROF_FOREIGN_BEGINS, nullptr, 0);
    return status == HPROF_OK && dump_.failure != nullptr ? hprof_status{HPROF_UNSUPPORTED} : status;
  }

  hprof_status take(uint32_t stream, uint8_t* bytes, uint64_t size) {
    // No object moves until the first call returns.
    if (!begun_ && traces_->is_used()) traces_->take_addresses();
    if (!begun_ && threads_ != nullptr) threads_->read();
    begun_ = true;
    bytes_ += size;
    const hprof_status status = write(stream, 0, bytes, size);
    progress_->update(dump_.objects, bytes_);
    return status;
  }

  // status: what the VM's dumper returned.
  hprof_status end(hprof_status status) {
    if (status == HPROF_OK) return write(0, HPROF_FOREIGN_ENDS, nullptr, 0);
    write(0, HPROF_FOREIGN_BROKEN, nullptr, 0);
    return status;
  }

 private:
  hprof_status write(uint32_t stream, uint32_t flags, uint8_t* bytes, uint64_t size) {
    hprof_rec_foreign_dump record = {
        {sizeof(record), HPROF_RECORD_FOREIGN_DUMP, 0}, &dump_, stream, flags, bytes, size};
    return services_.emit->write(services_.host, &record.head);
  }

  const Services& services_;
  ObjectTraces* traces_;
  ThreadAddresses* threads_;
  Progress* progress_;
  hprof_foreign_dump dump_ = {};
  uint64_t bytes_ = 0;
  bool begun_ = false;
};

hprof_status pass_on(void* argument, uint32_t stream, uint8_t* bytes, uint64_t size) {
  return static_cast<Passing*>(argument)->take(stream, bytes, size);
}

}  // namespace

bool VmDumper::reads_addresses() const {
  const DumpServices& s = *services_;
  auto* java_vm = static_cast<JavaVM*>(s.jvm->java_vm(s.host));
  void* jni = s.jvm->jni(s.host);
  void* environment = nullptr;
  if (jni == nullptr || s.weaks == nullptr || java_vm->GetEnv(&environment, JVMTI_VERSION_1_2) != JNI_OK)
    return false;
  auto* jvmti = static_cast<jvmtiEnv*>(environment);
  jvmtiCapabilities capabilities = {};
  capabilities.can_tag_objects = 1;
  const bool known = jvmti->AddCapabilities(&capabilities) == JVMTI_ERROR_NONE &&
                     s.weaks->prove_addresses(s.host, jvmti, jni) != 0;
  jvmti->DisposeEnvironment();
  return known;
}

hprof_status VmDumper::dump(const Config& config, ObjectTraces* traces, Progress* progress, char* why,
                            uint32_t why_size) {
  const DumpServices& s = *services_;
  if (traces->is_used()) {
    const hprof_status status = traces->define(ObjectTraces::How::kByAddress);
    if (status != HPROF_OK) return status;
  }
  // Numbers of threads in the dump can only be replaced where the output can be patched.
  ThreadAddresses threads(s);
  const bool knows_threads =
      s.foreign_dump->is_taken(s.host, 2) != 0 && (traces->is_used() || reads_addresses());
  if (knows_threads) {
    const hprof_status status = threads.open();
    if (status != HPROF_OK) return status;
  }
  Passing passing(s, config, traces, knows_threads ? &threads : nullptr, progress);
  const hprof_foreign_dump& dump = passing.dump();
  hprof_status status = passing.begin();
  if (dump.failure != nullptr) TextBuffer(why, why_size).add(dump.failure);
  if (status != HPROF_OK) return status;
  status = s.vm_dump->run(s.host, config.live == 0 ? 1 : 0, &passing, &pass_on, why, why_size);
  status = passing.end(status);
  traces->set_outcome(dump.objects, dump.traced);
  const char* reason = dump.failure != nullptr ? dump.failure : why;
  if (status != HPROF_OK && status != HPROF_UNSUPPORTED && reason[0] != 0) {
    TextLine<300> line;
    s.log->message(s.host, line.add("heap dump: ").add(reason).c_str());
  }
  return status;
}

}  // namespace hprof::dump
