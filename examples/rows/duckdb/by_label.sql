-- CPU time by version, zone, route, tenant: each label of the process (labels=) and of its requests (plugin=context).
SELECT service, unnest(labels || context) AS label, round(sum(value) / 1e9, 2) AS seconds
FROM profile WHERE collector = 'cpu_samples' AND name = 'time'
GROUP BY service, label ORDER BY seconds DESC LIMIT 50;
