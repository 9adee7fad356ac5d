// The signal that samples come by.
#pragma once

namespace hprof::platform {

int sample_signal();  // [signal]

}  // namespace hprof::platform
