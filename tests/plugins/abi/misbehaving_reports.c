/* Collectors that break a rule in their reports. */
#include <hprof/service/log.h>

#include "misbehaving_collectors.h"

/* The note after a record that has to be refused. */
static hprof_status refused_report(void* self, hprof_record* wrong, const hprof_report* why) {
  return write_record(self, wrong) != HPROF_FAILED ? HPROF_FAILED : report(self, why);
}
static hprof_status stuck(void* self, const hprof_report* why) {
  sleep_seconds(FOR_EVER);
  return report(self, why);
}
static hprof_status no_status_report(void* self, const hprof_report* why) {
  (void)self;
  (void)why;
  return 77;
}
static hprof_status foreign_kind_report(void* self, const hprof_report* why) {
  hprof_record of_nobody = {sizeof(of_nobody), 4711, 0};
  hprof_rec_definition of_the_core = {{sizeof(of_the_core), HPROF_RECORD_FILE_END, 0}, 0, 0};
  int i;
  for (i = 0; i < 3; i++) write_record(self, &of_nobody);
  return refused_report(self, &of_the_core.head, why);
}
static hprof_status short_record_report(void* self, const hprof_report* why) {
  hprof_record headless = {sizeof(uint32_t), HPROF_RECORD_NOTE, 0};
  hprof_record too_short = {sizeof(hprof_record), HPROF_RECORD_MONITOR_DUMP, 0};
  write_record(self, &headless);
  write_record(self, NULL);
  return refused_report(self, &too_short, why);
}
static hprof_status table_report(void* self, const hprof_table_schema* schema, const hprof_report* why) {
  const hprof_cell cell = {4000000};
  hprof_rec_table table = {.head = {sizeof(table), HPROF_RECORD_TABLE, 0},
                           .schema = schema,
                           .rows = &cell,
                           .row_count = 1,
                           .row_stride = sizeof(cell),
                           .order = HPROF_NO_COLUMN,
                           .period_column = HPROF_NO_COLUMN};
  return refused_report(self, &table.head, why);
}
static hprof_status no_schema_report(void* self, const hprof_report* why) {
  return table_report(self, NULL, why);
}
/* The second of two events is the earlier one; or they have no time at all. */
static hprof_status events_report(void* self, uint32_t type, const hprof_report* why) {
  const hprof_column column = {"at", NULL, type, 0, NULL, NULL};
  const hprof_table_schema schema = {
      sizeof(hprof_table_schema), 1, sizeof(hprof_column), 0, "com.wrong.events/1", "EVENTS", &column};
  const hprof_cell cells[] = {{2}, {1}};
  hprof_rec_table table = {.head = {sizeof(table), HPROF_RECORD_TABLE, 0},
                           .schema = &schema,
                           .rows = cells,
                           .row_count = 2,
                           .row_stride = sizeof(cells[0]),
                           .flags = HPROF_TABLE_EVENTS,
                           .order = HPROF_NO_COLUMN,
                           .period_column = HPROF_NO_COLUMN};
  return refused_report(self, &table.head, why);
}
static hprof_status unordered_events_report(void* self, const hprof_report* why) {
  return events_report(self, HPROF_COLUMN_TIME, why);
}
static hprof_status timeless_events_report(void* self, const hprof_report* why) {
  return events_report(self, HPROF_COLUMN_COUNT, why);
}
static hprof_status unknown_trace_report(void* self, const hprof_report* why) {
  static const hprof_column column = {"trace", NULL, HPROF_COLUMN_TRACE, 0, NULL, NULL};
  static const hprof_table_schema schema = {
      sizeof(hprof_table_schema), 1, sizeof(hprof_column), 0, "com.wrong.traces/1", "TRACES", &column};
  return table_report(self, &schema, why);
}
static hprof_status cells_report(void* self, const char* name, uint32_t type, const hprof_cell* cells,
                                 uint32_t count, uint32_t order) {
  const hprof_column column = {"a", NULL, type, 0, NULL, NULL};
  const hprof_table_schema schema = {
      sizeof(hprof_table_schema), 1, sizeof(hprof_column), 0, name, "CELLS", &column};
  hprof_rec_table table = {.head = {sizeof(table), HPROF_RECORD_TABLE, 0},
                           .schema = &schema,
                           .rows = cells,
                           .row_count = count,
                           .row_stride = sizeof(*cells),
                           .order = order,
                           .period_column = HPROF_NO_COLUMN};
  return write_record(self, &table.head);
}
static hprof_status cell_report(void* self, const char* name, uint32_t type, uint64_t bits) {
  const hprof_cell cell = {bits};
  return cells_report(self, name, type, &cell, 1, HPROF_NO_COLUMN);
}
static hprof_status undeclared_report(void* self, const hprof_report* why) {
  report(self, why);
  return cell_report(self, "com.wrong.hidden/1", HPROF_COLUMN_COUNT, 1);
}
static hprof_status odd_column_report(void* self, const hprof_report* why) {
  report(self, why);
  return cell_report(self, CELLS, 99, 1);
}
static hprof_status no_number_report(void* self, const hprof_report* why) {
  report(self, why);
  return cell_report(self, CELLS, HPROF_COLUMN_REAL, ~0ull);
}
static hprof_status unranked_report(void* self, const hprof_report* why) {
  const hprof_cell cells[] = {{3}, {1}, {2}};
  report(self, why);
  return cells_report(self, CELLS, HPROF_COLUMN_COUNT, cells, 3, 0);
}
/* As unsigned numbers they would be ranked. */
static hprof_status unranked_below_zero_report(void* self, const hprof_report* why) {
  const hprof_cell cells[] = {{.i = -1}, {.i = 1}};
  report(self, why);
  return cells_report(self, CELLS, HPROF_COLUMN_INT, cells, 2, 0);
}
static const hprof_column count_column = {"a", NULL, HPROF_COLUMN_COUNT, 0, NULL, NULL};
static const hprof_column nameless_column = {NULL, NULL, HPROF_COLUMN_COUNT, 0, NULL, NULL};
static const hprof_cell one_cell = {1};
/* A table of one row, right but for what is passed. */
static hprof_status odd_table(void* self, const hprof_report* why, hprof_table_schema schema,
                              const hprof_cell* rows, uint32_t stride, uint32_t order) {
  hprof_rec_table table = {.head = {sizeof(table), HPROF_RECORD_TABLE, 0},
                           .schema = &schema,
                           .rows = rows,
                           .row_count = 1,
                           .row_stride = stride,
                           .order = order,
                           .period_column = HPROF_NO_COLUMN};
  return refused_report(self, &table.head, why);
}
#define SCHEMA(size, count, title, column) \
  ((hprof_table_schema){size, count, sizeof(hprof_column), 0, CELLS, title, &column})
#define ODD_TABLE(name, schema, rows, stride, order)                       \
  static hprof_status name##_report(void* self, const hprof_report* why) { \
    return odd_table(self, why, schema, rows, stride, order);              \
  }
ODD_TABLE(no_column_name, SCHEMA(sizeof(hprof_table_schema), 1, "CELLS", nameless_column), &one_cell, 8,
          HPROF_NO_COLUMN)
ODD_TABLE(no_title, SCHEMA(sizeof(hprof_table_schema), 1, NULL, count_column), &one_cell, 8, HPROF_NO_COLUMN)
ODD_TABLE(narrow_rows, SCHEMA(sizeof(hprof_table_schema), 1, "CELLS", count_column), &one_cell, 4,
          HPROF_NO_COLUMN)
ODD_TABLE(absent_rows, SCHEMA(sizeof(hprof_table_schema), 1, "CELLS", count_column), NULL, 8, HPROF_NO_COLUMN)
ODD_TABLE(many_columns, SCHEMA(sizeof(hprof_table_schema), 4000, "CELLS", count_column), &one_cell, 32000,
          HPROF_NO_COLUMN)
ODD_TABLE(zero_schema, SCHEMA(0, 1, "CELLS", count_column), &one_cell, 8, HPROF_NO_COLUMN)
ODD_TABLE(no_such_order, SCHEMA(sizeof(hprof_table_schema), 1, "CELLS", count_column), &one_cell, 8, 7)
static hprof_status absent_note_report(void* self, const hprof_report* why) {
  hprof_rec_note note = {{sizeof(note), HPROF_RECORD_NOTE, 0}, {NULL, 100}};
  return refused_report(self, &note.head, why);
}
static hprof_status absent_threads_report(void* self, const hprof_report* why) {
  hprof_rec_monitor_dump dump = {.head = {sizeof(dump), HPROF_RECORD_MONITOR_DUMP, 0},
                                 .thread_count = 5,
                                 .thread_stride = sizeof(hprof_dump_thread)};
  return refused_report(self, &dump.head, why);
}
static hprof_status long_text_report(void* self, const hprof_report* why) {
  char text[5000];
  memset(text, 'x', sizeof(text) - 1);
  text[sizeof(text) - 1] = 0;
  SERVICE(self, hprof_log_service, HPROF_SERVICE_LOG)->message((const hprof_host*)self, text);
  return report(self, why);
}
static hprof_status minus_one_report(void* self, const hprof_report* why) {
  report(self, why);
  return -1;
}
static hprof_status loud_report(void* self, const hprof_report* why) {
  const hprof_log_service* log = SERVICE(self, hprof_log_service, HPROF_SERVICE_LOG);
  log->message((const hprof_host*)self, "one line\nHPROF ERROR: forged \033[31m");
  log->message((const hprof_host*)self, NULL);
  return report(self, why);
}
static hprof_status write_behind_block(void* self, const hprof_report* why) {
  const hprof_host* host = (const hprof_host*)self;
  char* block = (char*)MEM(host)->allocate(host, 100);
  if (block == NULL) return HPROF_NO_MEMORY;
  block[100] = 'x';
  MEM(host)->release(host, block, 100);
  return report(self, why);
}

#define REPORT(id_, report_) COLLECTOR(id_, create, start, report_, none, 0)
MISBEHAVING_MODULE(misbehaving_reports, REPORT(stuck_report, stuck), REPORT(no_status, no_status_report),
                   REPORT(foreign_kind, foreign_kind_report), REPORT(short_record, short_record_report),
                   REPORT(no_schema, no_schema_report), REPORT(unordered_events, unordered_events_report),
                   REPORT(timeless_events, timeless_events_report),
                   REPORT(unknown_trace, unknown_trace_report), REPORT(undeclared, undeclared_report),
                   REPORT(odd_column, odd_column_report), REPORT(no_number, no_number_report),
                   REPORT(unranked, unranked_report), REPORT(unranked_below_zero, unranked_below_zero_report),
                   REPORT(no_column_name, no_column_name_report), REPORT(no_title, no_title_report),
                   REPORT(narrow_rows, narrow_rows_report), REPORT(absent_rows, absent_rows_report),
                   REPORT(many_columns, many_columns_report), REPORT(zero_schema, zero_schema_report),
                   REPORT(no_such_order, no_such_order_report), REPORT(absent_note, absent_note_report),
                   REPORT(absent_threads, absent_threads_report), REPORT(long_text, long_text_report),
                   REPORT(minus_one, minus_one_report), REPORT(loud, loud_report),
                   REPORT(writes_behind_block, write_behind_block))
