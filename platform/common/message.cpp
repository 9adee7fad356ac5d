// The notice of lost messages.
#include "platform/common/message.h"

#include <stdio.h>

namespace hprof::platform {

void LostMessages::take(char (&notice)[kLostNoticeSize], uint32_t* count) {
  notice[0] = '\0';
  *count = count_.exchange(0, std::memory_order_relaxed);
  if (*count == 0) return;
  snprintf(notice, sizeof notice, "HPROF: %u messages were lost: nobody read stderr\n",
           static_cast<unsigned>(*count));
}

}  // namespace hprof::platform
