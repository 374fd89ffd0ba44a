// sqljs_rows.cjs SQLJS TRACE: what SQLite itself, as WebAssembly, needs for less than our join: each kernel with the call
// that launched it, added up by name, and the ranges, added up by name, without a join of the two.
const { readFileSync } = require('node:fs');
const [, , sqljs, trace] = process.argv;
const query = `select s.value, count(*), sum(k.end - k.start), sum(r.end - r.start)
  from CUPTI_ACTIVITY_KIND_KERNEL k
  join CUPTI_ACTIVITY_KIND_RUNTIME r on r.correlationId = k.correlationId
  join StringIds s on s.id = k.shortName group by k.shortName`;
require(sqljs)().then(({ Database }) => {
  const database = new Database(readFileSync(trace));
  const [{ values }] = database.exec(query);
  database.exec('select textId, count(*), sum(end - start) from NVTX_EVENTS group by textId');
  process.stdout.write(JSON.stringify(values.reduce((sum, [, count]) => sum + count, 0)));
});
