-- A folder of rows (format=rows,file=rows-%n-%p.jsonl.gz,compress=gzip) as a table, for a team without a server.
CREATE VIEW profile AS SELECT * FROM read_json('*.jsonl*', format = 'newline_delimited', union_by_name = true, columns = {
  time: 'BIGINT', until: 'BIGINT', service: 'VARCHAR', host: 'VARCHAR', pid: 'BIGINT', collector: 'VARCHAR', report: 'BIGINT',
  "row": 'BIGINT', labels: 'VARCHAR[]', name: 'VARCHAR', unit: 'VARCHAR', value: 'UBIGINT', state: 'BOOLEAN', thread: 'VARCHAR',
  context: 'VARCHAR[]', stack: 'VARCHAR[]', cut: 'BOOLEAN', leaf: 'VARCHAR'});
