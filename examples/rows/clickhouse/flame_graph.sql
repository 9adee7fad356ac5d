-- Folded stacks of a service between two times: clickhouse-client < flame_graph.sql | hprof view - -o page.html
SELECT concat(arrayStringConcat(arrayMap(frame -> replaceAll(frame, ';', '_'), stack), ';'), ' ', toString(sum(value)))
FROM profile FINAL
WHERE service = 'shop' AND collector = 'cpu_samples' AND name = 'samples' AND time >= now() - 3600 AND time < now()
GROUP BY stack FORMAT TSVRaw
