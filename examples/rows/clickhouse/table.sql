-- Rows of format=rows (docs/continuous.md, "Rows for a database"). A row that is sent twice is there once after a merge, and in
-- SELECT ... FINAL: its report and number are part of the key.
CREATE TABLE IF NOT EXISTS profile (
  time DateTime, until DateTime,
  service String, host String, pid UInt32, collector String, report UInt32, row UInt32,
  labels Array(String), name String, unit String, value UInt64, state UInt8,
  thread String, context Array(String), stack Array(String), cut UInt8, leaf String
) ENGINE = ReplacingMergeTree() PARTITION BY toYYYYMM(time)
  ORDER BY (service, collector, name, time, host, pid, report, row)
