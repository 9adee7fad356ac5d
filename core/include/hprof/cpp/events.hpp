// SPDX-License-Identifier: Apache-2.0
// Rows that are events (HPROF_TABLE_EVENTS), for collectors.
//
//   if (takes_events(services.host)) emit_event(services, schema, row);
#pragma once

#include <hprof/cpp/services.hpp>
#include <hprof/cpp/table.hpp>
#include <hprof/host.h>

namespace hprof {

// True: the output takes events. The same during the whole session. [any]
inline bool takes_events(const hprof_host* host) {
  return HPROF_REACHES(host->settings, hprof_settings, events) && host->settings->events != 0;
}

// An event as a record, which points to the row.
template <class Row>
hprof_rec_table event_of(const hprof_table_schema& schema, const Row& row) {
  hprof_rec_table table = table_of(schema, &row, 1);
  table.flags = HPROF_TABLE_EVENTS;
  return table;
}

// Loses the event if the queue to the writer is full, which the core counts. [app][gc][control]
template <class Row>
void emit_event(const Services& services, const hprof_table_schema& schema, const Row& row) {
  const hprof_rec_table table = event_of(schema, row);
  services.emit->event(services.host, &table.head);
}

}  // namespace hprof
