-- Adds the last whole hour up, but for states such as live bytes. Run it once an hour, after all windows of that hour have come;
-- when it is run again, rows replace those of before.
INSERT INTO profile_by_hour
SELECT toStartOfHour(time) AS hour, service, collector, name, unit, sum(value) AS value, labels, stack, leaf,
  cityHash64(arrayStringConcat(labels, ';'), arrayStringConcat(stack, ';'), leaf) AS number
FROM profile FINAL
WHERE state = 0 AND name <> 'note' AND time >= toStartOfHour(now() - 3600) AND time < toStartOfHour(now())
GROUP BY hour, service, collector, name, unit, labels, stack, leaf
