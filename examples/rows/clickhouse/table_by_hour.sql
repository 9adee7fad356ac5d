-- What remains of a service for months: no process, thread nor context. by_hour.sql fills it.
CREATE TABLE IF NOT EXISTS profile_by_hour (
  hour DateTime, service String, collector String, name String, unit String, value UInt64,
  labels Array(LowCardinality(String)), stack Array(LowCardinality(String)), leaf String, number UInt64
) ENGINE = ReplacingMergeTree() PARTITION BY toYYYYMM(hour)
  ORDER BY (service, collector, name, hour, number)
