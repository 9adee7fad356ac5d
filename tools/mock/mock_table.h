// Makes the table of a service from the functions of the mock host, by their names.
#pragma once

#include <type_traits>

#include <hprof/draft/class_file.h>
#include <hprof/draft/code.h>
#include <hprof/draft/foreign_dump.h>
#include <hprof/draft/objects.h>
#include <hprof/draft/output.h>
#include <hprof/draft/thread_context.h>
#include <hprof/draft/vm_counts.h>
#include <hprof/draft/vm_dump.h>
#include <hprof/draft/vm_flags.h>
#include <hprof/draft/walk.h>
#include <hprof/draft/weaks.h>
#include <hprof/service/machine.h>

#include "mock_host.h"

namespace hprof {

// A function that Mock does not have is NULL, as in a core that does not have it.
template <class Table, class Mock>
const Table* mock_table() {
  static const Table table = [] {
    Table made{};
    made.size = sizeof made;
#define HPROF_FUNCTION(service, function, tags)                                \
  if constexpr (std::is_same_v<Table, hprof_##service##_service>) {            \
    [[maybe_unused]] const auto find =                                         \
        [](auto* mock) -> decltype(&std::decay_t<decltype(*mock)>::function) { \
      return &std::decay_t<decltype(*mock)>::function;                         \
    };                                                                         \
    if constexpr (std::is_invocable_v<decltype(find), Mock*>)                  \
      made.function = find(static_cast<Mock*>(nullptr));                       \
  }
#include <hprof/service/functions.def>
#undef HPROF_FUNCTION
    return made;
  }();
  return &table;
}

}  // namespace hprof
