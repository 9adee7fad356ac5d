-- The windows of a service that used the most CPU time: those at or above its 99th percentile.
SELECT service, host, pid, time, seconds FROM (
  SELECT service, host, pid, time, round(sum(value) / 1e9, 2) AS seconds
  FROM profile FINAL WHERE collector = 'cpu_samples' AND name = 'time' AND time >= now() - 86400
  GROUP BY service, host, pid, time
) ANY INNER JOIN (
  SELECT service, quantileExact(0.99)(seconds) AS limit FROM (
    SELECT service, round(sum(value) / 1e9, 2) AS seconds
    FROM profile FINAL WHERE collector = 'cpu_samples' AND name = 'time' AND time >= now() - 86400
    GROUP BY service, host, pid, time
  ) GROUP BY service
) USING service
WHERE seconds >= limit ORDER BY seconds DESC
