// A collector of a plugin that is compiled with exceptions, made with hprof/cpp: what it throws ends in it.
#include <hprof/cpp/collector.hpp>

namespace {

class Throwing {
 public:
  explicit Throwing(const hprof_host*) {}
  void vm_init(void*, hprof_thread*) { throw 1; }
  hprof_status report(const hprof_report&) { throw 2; }
};

const char* const kRecords[] = {HPROF_KIND_NOTE, nullptr};

constexpr hprof_unit make_unit() {
  hprof_unit unit = hprof::collector_unit<Throwing>("throwing", nullptr, "throwing");
  unit.records = kRecords;
  return unit;
}
constexpr hprof_unit kUnit = make_unit();
const hprof_unit* const kUnits[] = {&kUnit};

}  // namespace

HPROF_MODULE(throwing, "1.0", "nobody", kUnits, 1)
