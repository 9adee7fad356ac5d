// What the outputs of a session are. Units::plan_outputs makes the plan once, from the options and the
// descriptors of the selected units; whoever opens, writes or ends an output reads it.
#pragma once

#include <cstdint>

namespace hprof {

struct OutputPlan {
  // No running collector writes records, so no output is opened. Reports are made all the same.
  bool none = false;
  // Each round of reports has an output of its own: the address has %n, or with every= %t, or one of the next
  // two is true.
  bool each_round = false;
  // Each heap dump has an output of its own. The sink removes an incomplete one
  // (hprof_sink_target.whole_only).
  bool each_dump = false;
  // Each collector's report is a document and has an output of its own.
  bool each_report = false;
  // The sink is called around each report: it has begin_report or end_report.
  bool marks_reports = false;
  // HPROF_SINK_WHOLE_REPORTS: a new encoder is created for each report.
  bool whole_reports = false;
  // One encoder writes all outputs: it makes documents of reports, to which earlier events belong.
  bool keeps_encoder = false;
  // The sink is a connection, and its peer can send commands.
  bool duplex = false;
  // An output that cannot be opened, or fails, is opened again later.
  bool retries = false;
  // The sink can overwrite bytes that it has taken, and no filter is before it.
  bool patches = false;
  // The encoder takes notes, records of unloaded classes, and foreign dumps.
  bool takes_notes = false;
  bool takes_unloads = false;
  bool takes_foreign_dumps = false;
  // The most closed outputs that stay; 0: all.
  uint32_t keep = 0;

  // Readers get one collector's report without those of others.
  bool is_report_alone() const { return each_report || whole_reports; }
};

}  // namespace hprof
