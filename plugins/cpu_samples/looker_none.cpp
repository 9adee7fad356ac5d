// No looks at random moments: builds for small devices keep to timers.
#include "plugins/cpu_samples/looker.h"

namespace hprof::samples {

bool Looker::is_possible(const char** why) const {
  *why = "this build has no looks at threads";
  return false;
}
bool Looker::start(const char**) { return false; }
bool Looker::stop() { return true; }
void Looker::close() {}
void Looker::add(SampledThread*) {}
void Looker::remove(SampledThread*, hprof_thread_serial) {}
bool Looker::is_early(SampledThread*, uint32_t, bool) { return false; }

}  // namespace hprof::samples
