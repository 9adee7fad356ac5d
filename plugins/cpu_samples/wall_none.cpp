// No wall-clock samples: builds for small devices sample CPU time.
#include "plugins/cpu_samples/wall_engine.h"

namespace hprof::samples {

WallEngine* WallEngine::make(Shared*) { return nullptr; }
void WallEngine::destroy(WallEngine*) {}
hprof_status WallEngine::start(const char**) { return HPROF_UNSUPPORTED; }
void WallEngine::stop() {}
void WallEngine::close() {}
void WallEngine::thread_start(JNIEnv*, hprof_thread*) {}
void WallEngine::thread_end(hprof_thread*) {}
void WallEngine::forget() {}
bool WallEngine::switch_sampling(hprof_object_id, bool) { return false; }
void WallEngine::settle() {}
hprof_status WallEngine::write_note(uint64_t) const { return HPROF_OK; }

}  // namespace hprof::samples
