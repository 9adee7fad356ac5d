#include "core/agent/vm/class_files.h"

#include "core/agent/services/service_tables.h"
#include "core/agent/session/session_parts.h"
#include "core/agent/vm/class_rewriter.h"
#include "core/agent/vm/loader_book.h"

namespace hprof {

namespace {

uint8_t* allocate(const hprof_class_file* file, uint32_t size) {
  unsigned char* bytes = nullptr;
  auto* jvmti = static_cast<jvmtiEnv*>(file->reserved);
  return jvmti->Allocate(size, &bytes) == JVMTI_ERROR_NONE ? bytes : nullptr;
}

}  // namespace

const hprof_class_file_service kClassFileService = {
    sizeof(hprof_class_file_service),
    0,
    [](const hprof_host* host, void* self, ClassFiles::Handler handler) -> hprof_status {
      const SessionParts& parts = *slot_of(host)->parts;
      if ((parts.settings.granted & HPROF_NEED_CLASS_HOOKS) == 0 || handler == nullptr)
        return HPROF_UNSUPPORTED;
      return parts.class_files.add(slot_of(host), self, handler) ? HPROF_OK : HPROF_FAILED;
    },
};

bool ClassFiles::add(const UnitSlot* unit, void* self, Handler handler) {
  for (uint32_t i = 0; i < count_; i++) {
    if (rows_[i].unit == unit) return false;
  }
  if (count_ == kMostCollectors) return false;
  rows_[count_++] = {unit, self, handler};
  return true;
}

void ClassFiles::load(jvmtiEnv* jvmti, const LoadedFile& file, LoaderBook& loaders, ClassRewriter& rewriter,
                      unsigned char** bytes, jint* size) const {
  if (file.size == 0) return;
  hprof_class_file shown = {sizeof(shown),  file.size,   file.bytes,  file.name, file.jni,
                            file.redefined, file.loader, file.domain, &allocate, jvmti};
  unsigned char* made = nullptr;
  for (uint32_t i = 0; i < count_; i++) {
    uint32_t new_size = 0;
    uint8_t* next = nullptr;
    {
      const TagScope scope(tag::kApp);
      next = rows_[i].handler(rows_[i].self, &shown, &new_size);
    }
    if (next != nullptr && new_size == 0) jvmti->Deallocate(next);
    if (next == nullptr || new_size == 0) continue;
    if (made != nullptr) jvmti->Deallocate(made);
    made = next;
    shown.bytes = next;
    shown.byte_count = new_size;
  }
  jint rewritten_size = 0;
  unsigned char* rewritten = nullptr;
  const uint32_t loader = rewriter.is_active() ? loaders.number(file.jni, file.loader) : 0;
  rewriter.class_file(jvmti, loader, static_cast<jint>(shown.byte_count), shown.bytes, &rewritten_size,
                      &rewritten);
  if (rewritten != nullptr && made != nullptr) jvmti->Deallocate(made);
  if (rewritten == nullptr && made == nullptr) return;
  *bytes = rewritten != nullptr ? rewritten : made;
  *size = rewritten != nullptr ? rewritten_size : static_cast<jint>(shown.byte_count);
}

}  // namespace hprof
