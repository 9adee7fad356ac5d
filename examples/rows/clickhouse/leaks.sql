-- Live bytes by site and day (heap=sites): what grows from the first day to the last. live_bytes is a state: the last window of
-- each process and day counts.
SELECT leaf AS class, stack[length(stack)] AS method, min(day) AS first, max(day) AS last,
  argMin(bytes, day) AS before, argMax(bytes, day) AS after
FROM (
  SELECT day, leaf, stack, sum(bytes) AS bytes FROM (
    SELECT toDate(time) AS day, host, pid, leaf, stack, argMax(bytes, until) AS bytes FROM (
      SELECT time, until, host, pid, leaf, stack, sum(value) AS bytes
      FROM profile FINAL WHERE service = 'shop' AND name = 'live_bytes'
      GROUP BY time, until, host, pid, leaf, stack
    ) GROUP BY day, host, pid, leaf, stack
  ) GROUP BY day, leaf, stack
)
GROUP BY leaf, stack ORDER BY after - before DESC LIMIT 20
