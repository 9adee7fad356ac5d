// The HTTP sink: url=http://host:port/path. An agent thread sends each report as a request, so that writing a
// report never waits for a server. Unsent reports wait in bounded memory; the oldest are dropped first, and
// losses are counted.
#include <atomic>

#include <hprof/cpp/writer.hpp>

#include "outbox.h"
#include "post.h"

namespace hprof::http {

namespace {

constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint64_t kIdleNs = 60 * kSecond;  // work wakes it earlier
constexpr uint64_t kFirstPauseNs = kSecond;
constexpr uint64_t kMostPauseNs = 60 * kSecond;
constexpr uint64_t kMostDoubtfulTries = 15;  // of one report: some nine minutes
constexpr uint64_t kCloseNs = 3 * kSecond;   // for unsent reports at the end
constexpr uint64_t kLookNs = 2'000'000;
constexpr uint32_t kHeadersMost = 2048;
constexpr uint32_t kHostNameMost = 256;

struct Config {
  const char* url;
  const char* headers;
  uint32_t method;  // of kMethods
  uint64_t most_bytes;
  double timeout;  // seconds
};
constexpr const char* kMethods[] = {"POST", "PUT"};

const hprof_option kOptions[] = {
    {"url", HPROF_OPTION_TEXT, offsetof(Config, url), nullptr, nullptr, 0, 0, "http://<host>[:<port>]/<path>",
     "post each report there (docs/continuous.md)"},
    {"http-header", HPROF_OPTION_TEXT, offsetof(Config, headers), "", nullptr, 0, 0, "<name>:<value>[|...]",
     "add these headers to the requests of url="},
    {"http-method", HPROF_OPTION_CHOICE, offsetof(Config, method), "post", "post|put", 0, 0, nullptr,
     "HTTP method of the requests of url="},
    {"memory-limit", HPROF_OPTION_SIZE, offsetof(Config, most_bytes), "16m", nullptr, 65536, 1 << 30, nullptr,
     "keep at most this much of an output, or of unsent reports"},
    {"net-timeout", HPROF_OPTION_REAL, offsetof(Config, timeout), "10", nullptr, 0.1, 3600, "<seconds>",
     "give up on the other end after this time; url= tries again"},
};

class Sink {
 public:
  Sink(const hprof_host* host, const Config& config) : services_(host), config_(config) {}

  static constexpr void describe(hprof_sink_ops& ops) { ops.flags = HPROF_SINK_WHOLE_REPORTS; }
  hprof_status open(const hprof_sink_target* target, char* error, uint32_t error_size);
  hprof_status begin_report(const hprof_report_info* info, char* error, uint32_t error_size);
  int64_t write(const uint8_t* bytes, uint64_t size, uint64_t timeout_ns, char* error, uint32_t error_size);
  hprof_status end_report(const hprof_report_info* info, uint32_t complete, char* error, uint32_t error_size);
  hprof_status end(bool complete, char* error, uint32_t error_size);
  bool close() const { return has_ended_; }
  const char* name() const { return url_.shown; }

 private:
  static void run(void* self, void* jni, hprof_agent_thread* thread);
  static bool stops(const void* self);
  void deliver();
  Outcome post_front(const Report& report, TextBuffer* why, Answer* answer);
  void log_again(const char* why, const Answer& answer);
  void log_partial(const Answer& answer);
  void log_refused(const char* why);
  void log_no_room(bool is_too_large, uint64_t lost);
  void log_left(TextBuffer* why);
  uint64_t now() const { return services_.clock->monotonic(services_.host); }

  const Services services_;
  const Config config_;
  Url url_ = {};
  char headers_[kHeadersMost] = "";
  char host_name_[kHostNameMost] = "";
  Outbox outbox_;
  bool has_ended_ = true;   // its thread; else the memory must stay
  bool in_report_ = false;  // [writer]
  bool is_lost_ = false;    // the report being written is dropped [writer]
  hprof_agent_thread* thread_ = nullptr;
  bool has_said_large_ = false, has_said_full_ = false;  // [control]
  bool last_is_lost_ = false;                            // too large [control]
  uint64_t pause_ns_ = 0;         // before the next try; 0: the last one succeeded. Thread only
  char refusal_[64] = "";         // the last refusal in a message. Thread only
  bool last_is_refused_ = false;  // the last answered report was refused. Thread only
  std::atomic<bool> is_closing_{false};
  std::atomic<bool> has_given_up_{false};
  std::atomic<uint64_t> deadline_ns_{UINT64_MAX};  // of the current request
  uint64_t* too_large_ = nullptr;
  uint64_t* no_room_ = nullptr;
  uint64_t* refused_ = nullptr;
  uint64_t* rejected_ = nullptr;
  uint64_t* left_ = nullptr;
};

hprof_status Sink::open(const hprof_sink_target* target, char* error, uint32_t error_size) {
  const char* url = config_.url != nullptr ? config_.url : "";
  TextBuffer headers(headers_, sizeof headers_);
  if (!parse_url(url, &url_, error, error_size)) return HPROF_FAILED;
  if (!put_headers(config_.headers, &headers, error, error_size)) return HPROF_FAILED;
  const bool is_known = HPROF_HAS(target, hprof_sink_target, host_name) && target->host_name[0] != 0;
  TextBuffer(host_name_, sizeof host_name_).add(is_known ? target->host_name : "localhost");
  if (!outbox_.open(services_, config_.most_bytes)) {
    TextBuffer(error, error_size).add("no memory for memory-limit=");
    return HPROF_FAILED;
  }
  const auto* log = services_.log;
  too_large_ = log->loss_counter(services_.host,
                                 "reports: larger than the limit, or no memory for them (memory-limit=)");
  no_room_ = log->loss_counter(services_.host, "reports: unsent ones filled their memory (memory-limit=)");
  refused_ = log->loss_counter(services_.host, "reports: the server refused them (url=)");
  rejected_ = log->loss_counter(services_.host, "profiles: the server rejected them (url=)");
  left_ = log->loss_counter(services_.host, "reports: not sent before the end (exit-timeout=)");
  return HPROF_OK;
}

// --- the report that is being written

hprof_status Sink::begin_report(const hprof_report_info* info, char*, uint32_t) {
  Report head = {};
  head.from = info->begin_wall_ns / kSecond;
  head.until = info->end_wall_ns / kSecond;
  head.sequence = info->sequence;
  head.unit = info->unit;
  head.labels = info->labels;
  head.content_type = info->content_type;
  in_report_ = true;
  is_lost_ = false;
  outbox_.begin(head);
  return HPROF_OK;
}

// Ignores bytes outside of reports, which are for readers of the whole stream.
int64_t Sink::write(const uint8_t* bytes, uint64_t size, uint64_t, char*, uint32_t) {
  if (in_report_ && !is_lost_) is_lost_ = !outbox_.add(bytes, size);
  return static_cast<int64_t>(size);
}

hprof_status Sink::end_report(const hprof_report_info*, uint32_t complete, char*, uint32_t) {
  in_report_ = false;
  if (complete == 0) {
    outbox_.drop();
    return HPROF_OK;
  }
  const uint64_t gone = is_lost_ ? UINT64_MAX : outbox_.end();
  last_is_lost_ = gone == UINT64_MAX;
  if (gone != 0) log_no_room(last_is_lost_, gone);
  if (thread_ == nullptr) thread_ = services_.threads->start(services_.host, "HPROF http", &Sink::run, this);
  if (thread_ != nullptr) services_.threads->wake(thread_);
  return HPROF_OK;
}

void Sink::run(void* self, void*, hprof_agent_thread* thread) {
  auto* sink = static_cast<Sink*>(self);
  uint64_t next_try = 0, now = 0;
  do {
    now = sink->now();
    // A new report wakes the thread during a pause, but waits like the others.
    if (next_try > now && !sink->is_closing_.load(std::memory_order_acquire)) continue;
    sink->deliver();
    now = sink->now();
    next_try = sink->pause_ns_ != 0 ? now + sink->pause_ns_ : 0;
  } while (sink->services_.threads->wait(thread, next_try > now ? next_try - now : kIdleNs) != 0);
}

bool Sink::stops(const void* self) {
  const auto* sink = static_cast<const Sink*>(self);
  return sink->now() > sink->deadline_ns_.load(std::memory_order_acquire);
}

Outcome Sink::post_front(const Report& report, TextBuffer* why, Answer* answer) {
  const Facts facts = {report.unit,    report.labels, host_name_,
                       report.from,    report.until,  services_.io->process_id(services_.host),
                       report.sequence};
  char target[kTargetMost];
  if (!fill_in(url_.pattern, facts, target)) {
    why->add("the path is too long after its % fields are filled in");
    return Outcome::kRefused;
  }
  const Request request = {kMethods[config_.method], &url_,        target,     headers_,
                           report.content_type,      report.bytes, report.size};
  const Patience patience = {static_cast<uint64_t>(config_.timeout * 1e9), &Sink::stops, this};
  return post(services_, request, patience, why, answer);
}

// Posts until the outbox is empty, or a report must be retried.
void Sink::deliver() {
  while (Report* report = outbox_.front()) {
    TextLine<256> why;
    Answer answer;
    Outcome outcome = post_front(*report, &why, &answer);
    if (outcome == Outcome::kMaybe)
      outcome = ++report->doubtful_tries < kMostDoubtfulTries ? Outcome::kAgain : Outcome::kRefused;
    if (outcome == Outcome::kTaken || outcome == Outcome::kRefused) {
      outbox_.done();
      last_is_refused_ = outcome == Outcome::kRefused;
      if (last_is_refused_) log_refused(why.c_str());
      log_partial(answer);
      if (pause_ns_ != 0 && outcome == Outcome::kTaken)
        services_.log->message(services_.host,
                               TextLine<kUrlMost + 64>().add("posting again to ").add(name()).c_str());
      pause_ns_ = 0;
      continue;
    }
    outbox_.release_front();
    if (outcome == Outcome::kAgain) log_again(why.c_str(), answer);
    has_given_up_.store(true, std::memory_order_release);
    return;
  }
  has_given_up_.store(false, std::memory_order_release);
}

void Sink::log_again(const char* why, const Answer& answer) {
  if (pause_ns_ == 0) {
    TextLine<kUrlMost + 400> line;
    line.add("can't post to ").add(name()).add(": ").add(why);
    if (!is_closing_.load(std::memory_order_acquire)) line.add("; it is tried again while the program runs");
    services_.log->message(services_.host, line.c_str());
  }
  pause_ns_ = pause_ns_ == 0 ? kFirstPauseNs : pause_ns_ * 2;
  if (pause_ns_ > kMostPauseNs) pause_ns_ = kMostPauseNs;
  if (pause_ns_ < answer.retry_after_s * kSecond) pause_ns_ = answer.retry_after_s * kSecond;
}

// Prints what a collector did not take of a report that it has taken; the same words once.
void Sink::log_partial(const Answer& answer) {
  if (answer.rejected == 0 && answer.message.size() == 0 && answer.other_type.size() == 0) return;
  count_loss(rejected_, answer.rejected);
  TextLine<sizeof refusal_> words;
  words.add("in part: ").add(answer.other_type.c_str()).add(answer.message.c_str());
  if (std::strcmp(refusal_, words.c_str()) == 0) return;
  TextBuffer(refusal_, sizeof refusal_).add(words.c_str());
  TextLine<kUrlMost + 400> line;
  line.add(name());
  if (answer.other_type.size() != 0) {
    line.add(" took a report, but answers with ").add(answer.other_type.c_str());
    line.add(", not as an OpenTelemetry collector: it may drop profiles");
  } else if (answer.rejected == 0) {
    line.add(" warns of a report");
  }
  if (answer.rejected != 0) line.add(" rejects ").add(answer.rejected).add(" profiles of a report");
  if (answer.message.size() != 0) line.add(": ").add(answer.message.c_str());
  services_.log->message(services_.host, line.c_str());
}

// Counts what memory-limit= has no room for, and prints it the first time: the report that would say so may
// be lost, too.
void Sink::log_no_room(bool is_too_large, uint64_t lost) {
  count_loss(is_too_large ? too_large_ : no_room_, is_too_large ? 1 : lost);
  bool& has_said = is_too_large ? has_said_large_ : has_said_full_;
  if (has_said) return;
  has_said = true;
  TextLine<kUrlMost + 400> line;
  line.add(is_too_large ? "a report for " : "the oldest report for ").add(name());
  line.add(is_too_large ? " is larger than memory-limit=" : " is dropped: unsent ones fill memory-limit=");
  line.add(config_.most_bytes).add(is_too_large ? ", or no memory is left; it is lost" : "");
  line.add(" (compress=gzip, cutoff= and depth= make reports smaller)");
  services_.log->message(services_.host, line.c_str());
}

// Prints a repeated refusal once.
void Sink::log_refused(const char* why) {
  count_loss(refused_);
  if (std::strncmp(refusal_, why, sizeof refusal_ - 1) == 0) return;
  TextBuffer(refusal_, sizeof refusal_).add(why);
  TextLine<kUrlMost + 400> line;
  line.add("a report is not taken by ").add(name()).add(": ").add(why).add("; it is lost");
  services_.log->message(services_.host, line.c_str());
}

void Sink::log_left(TextBuffer* why) {
  const uint64_t count = outbox_.count();
  if (count == 0 && last_is_refused_) why->add("the last report was refused");
  if (count == 0 && last_is_lost_) why->add("the last report was larger than memory-limit=");
  if (count == 0) return;
  count_loss(left_, count);
  why->add(count).add(count == 1 ? " report was" : " reports were").add(" not posted by the end");
}

hprof_status Sink::end(bool, char* error, uint32_t error_size) {
  const uint64_t deadline = now() + kCloseNs;
  has_given_up_.store(false, std::memory_order_release);
  is_closing_.store(true, std::memory_order_release);
  deadline_ns_.store(deadline, std::memory_order_release);
  // Without a thread nothing has been tried yet.
  thread_ != nullptr ? services_.threads->wake(thread_) : deliver();
  while (thread_ != nullptr && outbox_.count() != 0 && !has_given_up_.load(std::memory_order_acquire) &&
         now() < deadline) {
    services_.threads->pause(services_.host, kLookNs);
  }
  deadline_ns_.store(0, std::memory_order_release);
  has_ended_ = thread_ == nullptr || services_.threads->stop(services_.host, thread_) == HPROF_OK;
  TextBuffer why(error, error_size);
  log_left(&why);
  if (has_ended_) outbox_.close();
  return error[0] == 0 ? HPROF_OK : HPROF_FAILED;
}

// --- the unit

// CMake reads this line, too, for the core's table of shipped modules.
constexpr const char* kSelect = "url";

const hprof_unit kUnit =
    sink_unit<Sink, Config>("sink_http", kSelect, "requests to an HTTP server", kOptions);
const hprof_unit* const kUnits[] = {&kUnit};

}  // namespace

}  // namespace hprof::http

HPROF_MODULE(sink_http, "1.0", "hprof", hprof::http::kUnits, 1)
