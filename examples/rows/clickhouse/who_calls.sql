-- Which services run a class or method at all, and when they last did: a dead dependency, or one that must be patched.
SELECT service, max(until) AS last, uniqExact(host, pid) AS processes
FROM profile FINAL
WHERE arrayExists(frame -> startsWith(frame, 'org.apache.logging.log4j.'), stack)
GROUP BY service ORDER BY last DESC
