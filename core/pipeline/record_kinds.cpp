#include "core/pipeline/record_kinds.h"

#include <cstring>

#include "core/pipeline/record_check.h"

namespace hprof {

namespace {

// By number, from 1 on.
constexpr char kOwnKinds[][sizeof HPROF_KIND_HEAP_PRIMITIVE_ARRAY] = {
    HPROF_KIND_FILE_BEGIN,   HPROF_KIND_FILE_END,
    HPROF_KIND_STRING,       HPROF_KIND_CLASS,
    HPROF_KIND_CLASS_UNLOAD, HPROF_KIND_FRAME,
    HPROF_KIND_TRACE,        HPROF_KIND_THREAD_START,
    HPROF_KIND_THREAD_END,   HPROF_KIND_CONTROL_SETTINGS,
    HPROF_KIND_NOTE,         HPROF_KIND_REPORT_BEGIN,
    HPROF_KIND_REPORT_END,   HPROF_KIND_TABLE,
    HPROF_KIND_MONITOR_WAIT, HPROF_KIND_MONITOR_WAITED,
    HPROF_KIND_MONITOR_DUMP, HPROF_KINDS_OF_HEAP_DUMP,
    HPROF_KIND_FOREIGN_DUMP,
};
static_assert(sizeof(kOwnKinds) / sizeof(kOwnKinds[0]) == HPROF_RECORD_FOREIGN_DUMP, "every kind has a name");

constexpr char kOwnPrefix[] = "hprof.";

uint32_t own_number(const char* name) {
  for (uint32_t number = 1; number <= HPROF_RECORD_FOREIGN_DUMP; number++) {
    if (strcmp(kOwnKinds[number - 1], name) == 0) return number;
  }
  return 0;
}

}  // namespace

bool is_taken(const char* const* list, const char* name) {
  if (list == nullptr || hprof_is_listed(list, name) != 0) return true;
  return own_number(name) == 0 && hprof_is_listed(list, HPROF_KIND_TABLE) != 0;
}

bool have_common(const char* const* one, const char* const* other) {
  for (; one != nullptr && *one != nullptr; one++) {
    if (hprof_is_listed(other, *one) != 0) return true;
  }
  return false;
}

uint32_t RecordKinds::number(const char* name) {
  if (name == nullptr || name[0] == '\0' || strlen(name) > HPROF_KIND_NAME_MOST) return 0;
  if (strncmp(name, kOwnPrefix, sizeof(kOwnPrefix) - 1) == 0) return own_number(name);
  platform::MutexLock hold(lock_);
  const uint32_t count = count_.load(std::memory_order_relaxed);
  for (uint32_t i = 0; i < count; i++) {
    if (strcmp(names_[i], name) == 0) return HPROF_RECORD_REGISTERED + i;
  }
  if (count == kMostRegistered) return 0;
  memcpy(names_[count], name, strlen(name) + 1);
  count_.store(count + 1, std::memory_order_release);
  return HPROF_RECORD_REGISTERED + count;
}

void TakenKinds::resolve(const char* const* list, RecordKinds* kinds) {
  list_ = list;
  takes_all_ = list == nullptr;
  own_ = registered_ = 0;
  for (; list != nullptr && *list != nullptr; list++) {
    const uint32_t number = kinds->number(*list);
    if (number >= HPROF_RECORD_REGISTERED) {
      registered_ |= uint64_t{1} << (number - HPROF_RECORD_REGISTERED);
    } else if (number != 0) {
      own_ |= uint64_t{1} << number;
    }
  }
}

bool TakenKinds::takes_table(const hprof_record& record) const {
  if (record.kind != HPROF_RECORD_TABLE) return false;
  const auto& table = reinterpret_cast<const hprof_rec_table&>(record);
  return is_sound(table) && hprof_is_listed(list_, table.schema->name) != 0;
}

}  // namespace hprof
