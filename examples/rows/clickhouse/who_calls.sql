-- Which services run a class or method at all, and when they last did: a dead dependency, or one that must be patched. It reads all
-- stacks of a day; ask profile_by_hour for months.
SELECT service, max(until) AS last, uniqExact(host, pid) AS processes
FROM profile
WHERE time >= now() - 86400 AND arrayExists(frame -> startsWith(frame, 'org.apache.logging.log4j.'), stack)
GROUP BY service ORDER BY last DESC
