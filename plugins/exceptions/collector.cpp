#include "collector.h"

#include <cstring>

#include <hprof/cpp/core_tables.hpp>
#include <hprof/cpp/note.hpp>
#include <hprof/cpp/report_rows.hpp>

namespace hprof::exceptions {

namespace {

constexpr uint64_t kWasCaught = 1ull << 31, kSiteBits = kWasCaught - 1;
constexpr uint64_t kMostName = 1024;
constexpr uint32_t kSpareRows = 64;  // for what is counted first during a report

constexpr hprof_column kClass = {"class", nullptr, HPROF_COLUMN_CLASS, HPROF_COLUMN_LEAF, nullptr, nullptr};
constexpr hprof_column kMadeAt = {
    "trace", nullptr, HPROF_COLUMN_TRACE,
    0,       nullptr, "that made them; none: the VM reuses them, or they were not seen"};
constexpr hprof_column kColumns[] = {
    {"made", nullptr, HPROF_COLUMN_COUNT, tables::kFirst, "exceptions", "made here, thrown or not"},
    {"caught", nullptr, HPROF_COLUMN_COUNT, tables::kWeight, "exceptions",
     "times that a catch clause got one of them"},
    {"uncaught", nullptr, HPROF_COLUMN_COUNT, tables::kState, "exceptions",
     "of those made, how many no catch clause has got"},
    kClass,
    kMadeAt,
};
constexpr hprof_column kCatchColumns[] = {
    {"caught", nullptr, HPROF_COLUMN_COUNT, tables::kFirst, "exceptions",
     "times that a catch clause of the method got one"},
    {"caught_in", "caught in", HPROF_COLUMN_METHOD, 0, nullptr, "that has the catch clause"},
    {"class", nullptr, HPROF_COLUMN_CLASS, 0, nullptr, nullptr},
    {"name", nullptr, HPROF_COLUMN_TEXT, HPROF_COLUMN_LEAF, nullptr, "class and method"},
    kMadeAt,
};
constexpr auto kSites = tables::schema<hprof_exceptions_row>(HPROF_TABLE_EXCEPTIONS, "EXCEPTIONS", kColumns);
constexpr auto kCatches =
    tables::schema<hprof_catches_row>(HPROF_TABLE_CATCHES, "EXCEPTIONS CAUGHT", kCatchColumns);

struct Most {
  bool operator()(const hprof_exceptions_row& a, const hprof_exceptions_row& b) const {
    if (a.made != b.made) return a.made > b.made;
    if (a.caught != b.caught) return a.caught > b.caught;
    return a.trace != b.trace ? a.trace < b.trace : a.owner < b.owner;
  }
  bool operator()(const hprof_catches_row& a, const hprof_catches_row& b) const {
    if (a.caught != b.caught) return a.caught > b.caught;
    if (a.trace != b.trace) return a.trace < b.trace;
    return a.method != b.method ? a.method < b.method : a.owner < b.owner;
  }
};

Collector& of(jlong self) { return *reinterpret_cast<Collector*>(static_cast<uintptr_t>(self)); }

// "java.io.IOException caught in com.acme.Main.run"
hprof_string_id name_of(const Services& services, hprof_class_serial owner, hprof_method_id id) {
  TextLine<kMostName> name;
  const auto add = [&](hprof_string_id string) {
    const hprof_text text = services.ids->string_text(services.host, string);
    if (text.data != nullptr) name.add(text.data, text.size);
  };
  const auto method = find_method(services.ids, services.host, id);
  add(find_class(services.ids, services.host, owner)->name);
  name.add(" caught in ");
  add(find_class(services.ids, services.host, method->owner)->name);
  name.add(".");
  add(method->name);
  return services.ids->string(services.host, {name.c_str(), name.size()});
}

template <class Rows, class Row>
hprof_status write_rows(const Services& services, const hprof_table_schema& schema, Rows* rows,
                        const Row& totals, uint64_t created_ms) {
  rows->sort();
  hprof_rec_table table = table_of(schema, rows->data(), rows->size());
  table.created_ms = created_ms;
  table.totals = cells_of(&totals);
  table.order = 0;
  return services.emit->write(services.host, &table.head);
}

}  // namespace

hprof_status Collector::open(char* error, uint32_t error_size) {
  static const hprof_target kTargets[] = {
      {HPROF_POINT_MADE, 0, nullptr, reinterpret_cast<void (*)()>(&on_made)},
      {HPROF_POINT_CAUGHT, 0, nullptr, reinterpret_cast<void (*)()>(&on_caught)}};
  jvmti_ = static_cast<jvmtiEnv*>(services_.jvm->jvmti(services_.host));
  lost_ = services_.log->loss_counter(services_.host, "exceptions: too many classes and stacks");
  displaced_ = services_.log->loss_counter(services_.host,
                                           "exceptions: others took their room before a catch clause got "
                                           "them");
  most_sites_ =
      static_cast<uint32_t>(entries_in_budget(services_, sizeof(Site), kFewestSites, kMostSites, 16));
  hprof_probe_user user = {};
  user.size = sizeof user;
  user.flags = HPROF_PROBES_ON_DEMAND | HPROF_PROBES_ATTACHED;
  user.targets = kTargets;
  user.target_count = 2;
  user.self = this;
  hprof_status status = HPROF_UNSUPPORTED;
  if (services_.probes != nullptr)
    status = allocate() ? services_.probes->ask(services_.host, &user, &probes_) : HPROF_NO_MEMORY;
  if (status == HPROF_UNSUPPORTED)
    TextBuffer(error, error_size).add("exceptions=y: this VM or build has no probes");
  asked_ = status == HPROF_OK;
  return status;
}

bool Collector::allocate() {
  sites_ = services_.allocate<Site>(most_sites_);
  recent_ = services_.allocate<Recent>(kRecents);
  return sites_ != nullptr && recent_ != nullptr &&
         stacks_.open(services_, "exceptions=y", services_.probes->frames) &&
         site_numbers_.open(services_, kFewestSites, kMostSites) &&
         catches_.open(services_, kFewestSites, kMostSites);
}

// The object stays if probes that have begun may still run: they find its gate closed.
bool Collector::close() {
  if (!gate_.close(services_, "exceptions=y")) return false;
  services_.release(sites_, most_sites_);
  services_.release(recent_, kRecents);
  stacks_.close();
  site_numbers_.close();
  catches_.close();
  return !asked_;
}

hprof_status Collector::start() {
  stacks_.start();
  since_ = services_.clock->monotonic(services_.host);
  gate_.open();
  return services_.probes->start(services_.host, probes_);
}

void Collector::stop() {
  services_.probes->stop(services_.host, probes_);
  counted_ns_ = counted_ns();
  since_ = 0;
}

uint64_t Collector::counted_ns() const {
  return counted_ns_ + (since_ != 0 ? services_.clock->monotonic(services_.host) - since_ : 0);
}

void JNICALL Collector::on_made(JNIEnv* jni, jclass, jlong self, jobject exception) {
  of(self).gate_.enter([&] { of(self).made(jni, exception); });
}
void JNICALL Collector::on_caught(JNIEnv* jni, jclass, jlong self, jobject exception, jint method) {
  of(self).gate_.enter([&] { of(self).caught(jni, exception, static_cast<uint32_t>(method)); });
}

bool Collector::is_agent(JNIEnv* jni) const {
  return (services_.probes->thread(services_.host, jni, nullptr, nullptr) & HPROF_THREAD_AGENT) != 0;
}

void Collector::made(JNIEnv* jni, jobject exception) {
  if (is_agent(jni)) return;
  const uint32_t site = site_of_stack(jni, exception);
  if (site == 0) return count_loss(lost_);
  sites_[site].made.fetch_add(1, std::memory_order_relaxed);
  remember(identity_of(exception), site);
}

void Collector::caught(JNIEnv* jni, jobject exception, uint32_t method) {
  if (is_agent(jni)) return;
  uint32_t site = recognise(identity_of(exception));
  if (site == 0) site = site_of(jni, exception, 0);
  std::atomic<uint64_t>* catches = site != 0 ? catches_.make(uint64_t{site} << 32 | method) : nullptr;
  if (site != 0) sites_[site].caught.fetch_add(1, std::memory_order_relaxed);
  if (catches == nullptr) return count_loss(lost_);
  catches->fetch_add(1, std::memory_order_relaxed);
}

uint64_t Collector::identity_of(jobject exception) const {
  jint hash = 0;
  return jvmti_->GetObjectHashCode(exception, &hash) == JVMTI_ERROR_NONE ? static_cast<uint32_t>(hash) : 0;
}

// Takes the word of an older exception with the same hash, of one that was caught, or of any.
void Collector::remember(uint64_t identity, uint32_t site) {
  std::atomic<uint64_t>* to = &recent(identity).words[identity & 3];
  for (std::atomic<uint64_t>& word : recent(identity).words) {
    const uint64_t there = word.load(std::memory_order_relaxed);
    if (there == 0 || (there & kWasCaught) != 0 || there >> 32 == identity) to = &word;
    if (there >> 32 == identity) break;
  }
  const uint64_t before = to->exchange(identity << 32 | site, std::memory_order_relaxed);
  if (before != 0 && (before & kWasCaught) == 0) count_loss(displaced_);
}

// The site of an exception that a catch clause gets; 0: it was not seen made, or has no room any more.
uint32_t Collector::recognise(uint64_t identity) {
  for (std::atomic<uint64_t>& word : recent(identity).words) {
    uint64_t there = word.load(std::memory_order_relaxed);
    if (there == 0 || there >> 32 != identity) continue;
    const uint32_t site = static_cast<uint32_t>(there & kSiteBits);
    if ((there & kWasCaught) == 0 &&
        word.compare_exchange_strong(there, there | kWasCaught, std::memory_order_relaxed))
      sites_[site].handled.fetch_add(1, std::memory_order_relaxed);
    return site;
  }
  return 0;
}

// The constructors on the stack tell the class, too: equal frames are the same site.
uint32_t Collector::site_of_stack(JNIEnv* jni, jobject exception) {
  return static_cast<uint32_t>(stacks_.current(
      jni, 0,
      [&](const jvmtiFrameInfo& raw, hprof_frame_id) {
        return is_constructor_of(jni, exception, raw.method);
      },
      [&](hprof_trace_serial trace) { return site_of(jni, exception, trace); }));
}

// 0: there is no room for another.
uint32_t Collector::site_of(JNIEnv* jni, jobject exception, hprof_trace_serial trace) {
  jclass type = jni->GetObjectClass(exception);
  const hprof_class_serial owner = services_.ids->class_serial(services_.host, jni, type);
  jni->DeleteLocalRef(type);
  std::atomic<uint32_t>* number = site_numbers_.make(uint64_t{owner} << 32 | trace);
  if (number == nullptr) return 0;
  uint32_t site = number->load(std::memory_order_acquire);
  if (site != 0) return site;
  uint32_t fresh = site_count_.load(std::memory_order_relaxed);
  do {
    if (fresh >= most_sites_) return 0;
  } while (!site_count_.compare_exchange_weak(fresh, fresh + 1, std::memory_order_relaxed));
  sites_[fresh].owner = owner;
  sites_[fresh].trace = trace;
  return number->compare_exchange_strong(site, fresh, std::memory_order_acq_rel) ? fresh : site;
}

bool Collector::is_constructor_of(JNIEnv* jni, jobject exception, jmethodID method) const {
  char* name = nullptr;
  if (jvmti_->GetMethodName(method, &name, nullptr, nullptr) != JVMTI_ERROR_NONE) return false;
  const bool is_constructor = std::strcmp(name, "<init>") == 0;
  jvmti_->Deallocate(reinterpret_cast<unsigned char*>(name));
  jclass owner = nullptr;
  if (!is_constructor || jvmti_->GetMethodDeclaringClass(method, &owner) != JVMTI_ERROR_NONE) return false;
  const bool is_its = jni->IsInstanceOf(exception, owner) == JNI_TRUE;
  jni->DeleteLocalRef(owner);
  return is_its;
}

void Collector::reset() {
  for (uint32_t i = 0; i < kRecents; i++) {
    for (std::atomic<uint64_t>& word : recent_[i].words) word.store(0, std::memory_order_relaxed);
  }
  for (uint32_t i = 1; i < site_count_.load(std::memory_order_relaxed); i++) {
    sites_[i].made.store(0, std::memory_order_relaxed);
    sites_[i].caught.store(0, std::memory_order_relaxed);
    sites_[i].handled.store(0, std::memory_order_relaxed);
  }
  catches_.each([](uint64_t, std::atomic<uint64_t>& count) { count.store(0, std::memory_order_relaxed); });
  counted_ns_ = 0;
  if (since_ != 0) since_ = services_.clock->monotonic(services_.host);
}

hprof_status Collector::write_rate(uint64_t made) const {
  const uint64_t ns = counted_ns(), ms = ns / 1'000'000;
  if (made == 0 || ms == 0) return HPROF_OK;
  Note note;
  note.add("exceptions: ").add(made).add(" made in ").seconds(ns).add(", ");
  note.decimal(made * 10'000 / ms, 1).add(" a second");
  return write_note(services_, note);
}

hprof_status Collector::write_sites(uint64_t created_ms) const {
  ReportRows<hprof_exceptions_row, Most> rows(services_);
  const uint32_t count = site_count_.load(std::memory_order_relaxed);
  if (!rows.open(count)) return HPROF_NO_MEMORY;
  hprof_exceptions_row totals = {};
  for (uint32_t i = 1; i < count; i++) {
    const Site& site = sites_[i];
    // `handled` first: it is never more than what is made.
    const uint64_t handled = site.handled.load(std::memory_order_acquire);
    const uint64_t made = site.made.load(std::memory_order_relaxed);
    const uint64_t caught = site.caught.load(std::memory_order_relaxed);
    if (made == 0 && caught == 0) continue;
    const hprof_exceptions_row row = {made, caught, made > handled ? made - handled : 0, site.owner,
                                      site.trace};
    rows.add(row);
    totals.made += row.made;
    totals.caught += row.caught;
    totals.uncaught += row.uncaught;
  }
  const hprof_status status = write_rows(services_, kSites, &rows, totals, created_ms);
  return status == HPROF_OK ? write_rate(totals.made) : status;
}

hprof_status Collector::write_catches(uint64_t created_ms) const {
  ReportRows<hprof_catches_row, Most> rows(services_);
  if (!rows.open(catches_.size() + kSpareRows)) return HPROF_NO_MEMORY;
  hprof_catches_row totals = {};
  catches_.each([&](uint64_t key, std::atomic<uint64_t>& count) {
    const Site& site = sites_[key >> 32];
    const auto method = static_cast<hprof_method_id>(key);
    const hprof_catches_row row = {count.load(std::memory_order_relaxed), method, site.owner,
                                   name_of(services_, site.owner, method), site.trace};
    if (row.caught != 0) rows.add(row);
    totals.caught += row.caught;
  });
  return write_rows(services_, kCatches, &rows, totals, created_ms);
}

hprof_status Collector::report(const hprof_report&) {
  const uint64_t created_ms = services_.clock->wall_ms(services_.host);
  hprof_status status = write_sites(created_ms);
  if (status == HPROF_OK) status = write_catches(created_ms);
  return status == HPROF_OK ? write_note_on_probes(services_, probes_, "exceptions: not looked at: ")
                            : status;
}

}  // namespace hprof::exceptions
