// The monitor collector in a scripted VM: what threads do to monitors, and what a report says of it.
#pragma once

#include <hprof/tables.h>

#include "tests/unit/support/unit_vm.h"

namespace hprof {

class MonitorVm : public UnitVm {
 public:
  MonitorVm();

  int collections_while_holding = 0;  // so many garbage collections, one in each GetLoadedClasses

  // Virtual threads are known, but not visited.
  Thread* add_thread(hprof_thread_serial serial, const std::string& method, uint32_t flags = 0);
  void create(const std::map<std::string, std::string>& options = {});
  // What thread t does, at mock.now_ns.
  void enter(Thread* t, Object* o) {
    run(t), ops->handlers->monitor_contended_enter(self, jni(), t->view, o);
  }
  void entered(Thread* t, Object* o) {
    run(t), ops->handlers->monitor_contended_entered(self, jni(), t->view, o);
  }
  void wait(Thread* t, Object* o, int64_t ms) {
    run(t), ops->handlers->monitor_wait(self, jni(), t->view, o, ms);
  }
  void waited(Thread* t, Object* o) { run(t), ops->handlers->monitor_waited(self, jni(), t->view, o, 0); }
  void end(Thread* t) { run(t), ops->handlers->thread_end(self, jni(), t->view); }
  void collect() { ops->handlers->gc_start(self), ops->handlers->gc_finish(self); }

  // Of the last report.
  struct Row {
    uint64_t count, ms;
    std::string frame, monitor;
    bool operator==(const Row& o) const {
      return count == o.count && ms == o.ms && frame == o.frame && monitor == o.monitor;
    }
  };
  std::vector<Row> rows() const;
  std::vector<Row> blame() const;  // ms: blamed, count: waiters
  const hprof_rec_monitor_dump* dump() const;
  // "WAIT 3 java.lang.Object 30": all events so far.
  std::vector<std::string> events() const;
  std::string class_text(hprof_class_serial serial) const;
};

}  // namespace hprof
