#include "platform/common/message.h"

#include <stdio.h>
#include <string.h>

namespace hprof::platform {

static void make_printable(char* text) {
  for (auto* at = reinterpret_cast<unsigned char*>(text); *at != 0;) {
    const unsigned char lead = *at;
    uint32_t more = lead < 0x80 || lead >= 0xf5 ? 0 : lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : lead >= 0xc2;
    bool good = lead < 0x80 ? (lead >= 0x20 && lead != 0x7f) || lead == '\n' || lead == '\t' : more != 0;
    for (uint32_t i = 1; good && i <= more; ++i) good = (at[i] & 0xc0) == 0x80;
    good = good && !(lead == 0xc2 && at[1] < 0xa0);
    if (!good) {
      *at = '?';
      more = 0;
    }
    at += more + 1;
  }
}

size_t printable_piece(const char* text, char (&piece)[kPieceSize]) {
  const size_t left = strlen(text);
  size_t size = left < kPieceSize ? left : kPieceSize - 1;
  while (size < left && size > 1 && (text[size] & 0xc0) == 0x80) --size;  // not inside a character
  memcpy(piece, text, size);
  piece[size] = '\0';
  make_printable(piece);
  return size;
}

void LostMessages::take(char (&notice)[kLostNoticeSize], uint32_t* count) {
  notice[0] = '\0';
  *count = count_.exchange(0, std::memory_order_relaxed);
  if (*count == 0) return;
  snprintf(notice, sizeof notice, "HPROF: %u messages were lost: nobody read stderr\n",
           static_cast<unsigned>(*count));
}

}  // namespace hprof::platform
