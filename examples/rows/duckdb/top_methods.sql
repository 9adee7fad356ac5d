-- Where the CPU time of all services goes: seconds as innermost frame, and in how many services.
SELECT stack[-1] AS method, round(sum(value) / 1e9, 2) AS seconds, count(DISTINCT service) AS services
FROM profile WHERE collector = 'cpu_samples' AND name = 'time'
GROUP BY method ORDER BY seconds DESC LIMIT 20;
