-- Folded stacks of a service: duckdb -noheader -list -c "$(cat profile.sql flame_graph.sql)" | hprof view - -o page.html
SELECT array_to_string([replace(frame, ';', '_') FOR frame IN stack], ';') || ' ' || sum(value)
FROM profile WHERE service = 'shop' AND collector = 'cpu_samples' AND name = 'samples'
GROUP BY stack;
