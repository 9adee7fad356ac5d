-- Two versions of a service (labels=service:shop;version:1), each as its share of all samples: methods that changed most.
SELECT method, round(100 * sumIf(value, old) / any(all_old), 2) AS before, round(100 * sumIf(value, new) / any(all_new), 2) AS after
FROM (
  SELECT arrayJoin(arrayDistinct(stack)) AS method, value, has(labels, 'version:1') AS old, has(labels, 'version:2') AS new
  FROM profile FINAL WHERE service = 'shop' AND collector = 'cpu_samples' AND name = 'samples'
) CROSS JOIN (
  SELECT sumIf(value, has(labels, 'version:1')) AS all_old, sumIf(value, has(labels, 'version:2')) AS all_new
  FROM profile FINAL WHERE service = 'shop' AND collector = 'cpu_samples' AND name = 'samples'
)
GROUP BY method HAVING before <> after ORDER BY abs(after - before) DESC LIMIT 20
