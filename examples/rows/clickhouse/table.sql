-- Rows of format=rows (docs/continuous.md, "Rows for a database"). A row that is sent twice is there once after a merge, and in
-- SELECT ... FINAL: its report and number are part of the key. FINAL costs most of the time of a question: leave it out where no row comes twice, as in a replicated table,
-- or of days after OPTIMIZE TABLE profile PARTITION '2026-11-29' FINAL.
-- Frames are numbers of a dictionary, a sixth of the bytes of text; before 19.6 with SET allow_experimental_low_cardinality_type = 1.
-- A partition is a day, which ALTER TABLE profile DROP PARTITION '2026-11-29' deletes; since 19.6 also TTL time + INTERVAL 30 DAY.
CREATE TABLE IF NOT EXISTS profile (
  time DateTime, until DateTime,
  service String, host String, pid UInt32, collector String, report UInt32, row UInt32,
  labels Array(LowCardinality(String)), name String, unit String, value UInt64, state UInt8,
  thread String, context Array(LowCardinality(String)), stack Array(LowCardinality(String)), cut UInt8, leaf String,
  method LowCardinality(String) MATERIALIZED stack[length(stack)]
) ENGINE = ReplacingMergeTree() PARTITION BY toDate(time)
  ORDER BY (service, collector, name, time, host, pid, report, row)
