// Passes each contention and each wait on as an event, if the output takes events.
#pragma once

#include <hprof/cpp/services.hpp>
#include <hprof/tables.h>

namespace hprof::monitor {

class MonitorEvents {
 public:
  void open(const Services& services);
  bool are_on() const { return services_ != nullptr; }

  // A thread got a lock, or was found waiting for one. [app], an agent's thread
  void contention(const hprof_monitor_event& event) const;
  // A wait is over. [app]
  void wait(const hprof_monitor_event& event) const;

 private:
  const Services* services_ = nullptr;  // null: there are no events
};

}  // namespace hprof::monitor
