#include "vm_dumper.h"

namespace hprof::dump {

namespace {

constexpr uint32_t kFirstApart = 22;  // the first Java version that writes objects separately

// Passes one dump from the VM to the encoder.
class Passing {
 public:
  Passing(const Services& services, const Config& config, ObjectTraces* traces, Progress* progress)
      : services_(services), traces_(traces), progress_(progress) {
    dump_.size = sizeof(dump_);
    if (!config.wants_fields()) dump_.flags |= HPROF_FOREIGN_NO_FIELDS;
    if (!config.wants_arrays()) dump_.flags |= HPROF_FOREIGN_NO_ARRAYS;
    if (!config.wants_text()) dump_.flags |= HPROF_FOREIGN_NO_TEXT;
    if (!config.wants_strings()) dump_.flags |= HPROF_FOREIGN_NO_STRINGS;
    if (services.settings().java_version >= kFirstApart) dump_.flags |= HPROF_FOREIGN_APART;
    if (!traces->is_used()) return;
    dump_.argument = traces;
    dump_.trace_of = [](void* argument, uint64_t address) {
      return static_cast<ObjectTraces*>(argument)->find(address);
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
    begun_ = true;
    bytes_ += size;
    const hprof_status status = write(stream, 0, bytes, size);
    progress_->note(dump_.objects, bytes_);
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
  Progress* progress_;
  hprof_foreign_dump dump_ = {};
  uint64_t bytes_ = 0;
  bool begun_ = false;
};

hprof_status pass_on(void* argument, uint32_t stream, uint8_t* bytes, uint64_t size) {
  return static_cast<Passing*>(argument)->take(stream, bytes, size);
}

}  // namespace

hprof_status VmDumper::dump(const Config& config, ObjectTraces* traces, Progress* progress, char* why,
                            uint32_t why_size) {
  const DumpServices& s = *services_;
  if (traces->is_used()) {
    const hprof_status status = traces->define(ObjectTraces::How::kByAddress);
    if (status != HPROF_OK) return status;
  }
  Passing passing(s, config, traces, progress);
  const hprof_foreign_dump& dump = passing.dump();
  hprof_status status = passing.begin();
  if (dump.failure != nullptr) TextBuffer(why, why_size).add(dump.failure);
  if (status != HPROF_OK) return status;
  status = s.vm_dump->run(s.host, config.live == 0 ? 1 : 0, &passing, &pass_on, why, why_size);
  status = passing.end(status);
  traces->set_outcome(dump.objects, dump.traced);
  const char* words = dump.failure != nullptr ? dump.failure : why;
  if (status != HPROF_OK && status != HPROF_UNSUPPORTED && words[0] != 0) {
    TextLine<300> line;
    s.log->message(s.host, line.add("heap dump: ").add(words).c_str());
  }
  return status;
}

}  // namespace hprof::dump
