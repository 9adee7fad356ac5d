#include <doctest/doctest.h>
#include <string>
#include <vector>

#include <hprof/cpp/collector.hpp>

#include "tools/mock/mock_host.h"

using namespace hprof;

namespace {

std::vector<std::string> calls;
bool may_close = true;
hprof_status opens = HPROF_OK;

struct Config {
  uint32_t number;
};

struct Object {};

class Full {
 public:
  Full(const hprof_host*, const Config& config) : number_(config.number) {}
  ~Full() { calls.push_back("gone"); }
  hprof_status open(char* error, uint32_t) {
    if (opens != HPROF_OK) error[0] = '!';
    return opens;
  }
  hprof_status start() { return called("start"); }
  hprof_status report(const hprof_report& report) {
    return called("report " + std::to_string(report.reason));
  }
  void reset() { called("reset"); }
  void stop() { called("stop"); }
  bool close() {
    called("close");
    return may_close;
  }
  hprof_status control(const hprof_control& control) {
    return called("control " + std::to_string(control.what));
  }
  void reported() { called("reported"); }
  void gc_finish() { called("gc_finish"); }
  // What is void* in the ABI arrives as it is wanted.
  void vm_object_alloc(const int* jni, hprof_thread* thread, Object* object, void*, int64_t size) {
    called("object " + std::to_string(*jni) + " " + std::to_string(thread->serial) + " " +
           std::to_string(object != nullptr) + " " + std::to_string(size));
  }

 private:
  hprof_status called(const std::string& what) {
    calls.push_back(std::to_string(number_) + ": " + what);
    return HPROF_OK;
  }
  uint32_t number_;
};

class Least {
 public:
  explicit Least(const hprof_host*) {}
  hprof_status report(const hprof_report&) { return HPROF_FAILED; }
};

constexpr hprof_option kRows[] = {
    {"number", HPROF_OPTION_INT, 0, nullptr, nullptr, 0, 0, nullptr, "a number"}};
constexpr hprof_unit kFull = collector_unit<Full, Config>("full", "full=y", "all of it");
constexpr hprof_unit kLeast = collector_unit<Least>("least", nullptr, "nothing");

const hprof_collector_ops& ops_of(const hprof_unit& unit) {
  return *static_cast<const hprof_collector_ops*>(unit.ops);
}

}  // namespace

TEST_CASE("a class with everything is called for everything") {
  MockHost mock;
  const hprof_collector_ops& ops = ops_of(kFull);
  const Config config = {5};
  void* self = nullptr;
  char error[8] = "";
  calls.clear();
  REQUIRE(ops.create(mock.host(), &config, &self, error, sizeof error) == HPROF_OK);
  CHECK(ops.start(self) == HPROF_OK);
  const hprof_report report = {sizeof(hprof_report), HPROF_REPORT_COMMAND, 0, 0, 0, nullptr};
  CHECK(ops.report(self, &report) == HPROF_OK);
  const hprof_control control = {sizeof(hprof_control), HPROF_CONTROL_DEPTH, 0, 0};
  CHECK(ops.control(self, &control) == HPROF_OK);
  ops.reported(self);
  ops.handlers->gc_finish(self);
  int jni = 7;
  hprof_thread thread = {sizeof(hprof_thread), 9, 0, 0, 0, nullptr};
  Object object;
  ops.handlers->vm_object_alloc(self, &jni, &thread, &object, nullptr, 24);
  ops.reset(self);
  ops.stop(self);
  ops.destroy(self);
  CHECK(calls == std::vector<std::string>{"5: start", "5: report 3", "5: control 3", "5: reported",
                                          "5: gc_finish", "5: object 7 9 1 24", "5: reset", "5: stop",
                                          "5: close", "gone"});
  CHECK(mock.memory_used == 0);
}

TEST_CASE("handlers that a class has are its events, others are not subscribed") {
  CHECK(kFull.events == (HPROF_EVENT_GC_FINISH | HPROF_EVENT_VM_OBJECT_ALLOC));
  CHECK(kFull.config_size == sizeof(Config));
  CHECK(std::string(kFull.id) == "full");
  CHECK(std::string(kFull.select) == "full=y");
  const hprof_handlers& handlers = *ops_of(kFull).handlers;
  CHECK(handlers.size == sizeof handlers);
  CHECK((handlers.gc_start == nullptr));
  CHECK((handlers.thread_start == nullptr));
  CHECK(kLeast.events == 0);
  CHECK(kLeast.config_size == 0);
  CHECK((ops_of(kLeast).handlers == nullptr));
  CHECK((ops_of(kLeast).reported == nullptr));
  constexpr hprof_unit unit = collector_unit<Full, Config>("full", "full=y", "all of it", nullptr, kRows);
  CHECK(unit.options == kRows);
  CHECK(unit.option_count == 1);
  CHECK(unit.option_stride == sizeof(hprof_option));
}

TEST_CASE("a class with the least has answers for the rest") {
  MockHost mock;
  const hprof_collector_ops& ops = ops_of(kLeast);
  void* self = nullptr;
  REQUIRE(ops.create(mock.host(), nullptr, &self, nullptr, 0) == HPROF_OK);
  CHECK(ops.start(self) == HPROF_OK);
  const hprof_control control = {sizeof(hprof_control), HPROF_CONTROL_DEPTH, 0, 0};
  CHECK(ops.control(self, &control) == HPROF_UNSUPPORTED);
  const hprof_report report = {sizeof(hprof_report), HPROF_REPORT_EXIT, 0, 0, 0, nullptr};
  CHECK(ops.report(self, &report) == HPROF_FAILED);
  ops.reset(self);
  ops.stop(self);
  ops.destroy(self);
  CHECK(mock.memory_used == 0);
}

TEST_CASE("what does not open is given back, what cannot close stays") {
  MockHost mock;
  const hprof_collector_ops& ops = ops_of(kFull);
  const Config config = {5};
  void* self = nullptr;
  char error[8] = "";
  opens = HPROF_FAILED;
  CHECK(ops.create(mock.host(), &config, &self, error, sizeof error) == HPROF_FAILED);
  CHECK(std::string(error) == "!");
  CHECK(self == nullptr);
  CHECK(mock.memory_used == 0);
  opens = HPROF_OK;
  mock.memory_limit = 0;
  CHECK(ops.create(mock.host(), &config, &self, error, sizeof error) == HPROF_NO_MEMORY);
  mock.memory_limit = UINT64_MAX;
  REQUIRE(ops.create(mock.host(), &config, &self, error, sizeof error) == HPROF_OK);
  may_close = false;
  ops.destroy(self);
  CHECK(mock.memory_used != 0);
  may_close = true;
  ops.destroy(self);
  CHECK(mock.memory_used == 0);
}
