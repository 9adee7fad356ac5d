-- Where the CPU time of all services goes: seconds as innermost frame, and in how many services.
SELECT method, round(sum(value) / 1e9, 2) AS seconds, uniqExact(service) AS services
FROM profile FINAL
WHERE collector = 'cpu_samples' AND name = 'time' AND time >= now() - 86400
GROUP BY method ORDER BY seconds DESC LIMIT 20
