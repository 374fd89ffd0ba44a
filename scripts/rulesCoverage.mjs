// `npm run rules:coverage`: on which recording each diagnosis rule is the first finding. Fails where a row has neither
// such a recording nor a reason. `--write FILE` keeps what is said of every recording; `--against FILE` compares with what
// was kept, and fails for each difference that no deleted row explains.
import { readFileSync, writeFileSync } from 'node:fs';
import { loadSource } from './generate/loadSource.mjs';
import { recordings } from './generate/recordings.mjs';

const { diagnoseLog, BuildLogReader, RULES } = await loadSource('test/support/diagnosis.ts');
const [option, file] = process.argv.slice(2);

const found = {};
for (const [name, text] of recordings()) {
  const reader = new BuildLogReader({ times: false, registered: false });
  reader.push(text());
  found[name] = diagnoseLog(reader.end().value);
}

const firstOf = new Map();
for (const [name, [first]] of Object.entries(found))
  if (first?.rule) firstOf.set(first.rule, [...(firstOf.get(first.rule) ?? []), name]);

const ids = new Set(RULES.map(({ id }) => id));
if (option === '--write') writeFileSync(file, JSON.stringify(found));
else if (option === '--against') compare(JSON.parse(readFileSync(file, 'utf8')));
else list();

function list() {
  const wrong = [];
  let recorded = 0;
  let reasons = 0;
  for (const { id, evidence, reason } of RULES) {
    const names = firstOf.get(id) ?? [];
    if (evidence !== undefined && names.includes(evidence)) recorded++;
    else if (evidence === undefined && reason !== undefined) reasons++;
    else wrong.push(id);
    console.log(`${id}: ${names[0] ?? reason ?? 'nothing'}${names.length > 1 ? ` and ${names.length - 1} more` : ''}`);
    if (evidence !== undefined && !names.includes(evidence))
      console.log(`  its evidence, ${evidence}, is not there or says something else first`);
  }
  console.log(`${recorded} rows with a recording, ${reasons} kept for a reason`);
  console.log(
    `${RULES.length} rows, ${wrong.length} without a recorded first finding${wrong.length > 0 ? `: ${wrong.join(', ')}` : ''}`,
  );
  process.exitCode = wrong.length > 0 ? 1 : 0;
}

/** A diagnosis without what follows from it, and what that adds. */
function causeOf(diagnosis) {
  return JSON.stringify({ ...diagnosis, follows: [], layer: null, nodes: [] });
}

function compare(before) {
  let explained = 0;
  for (const [name, old] of Object.entries(before)) {
    const now = found[name];
    if (now === undefined || JSON.stringify(old) === JSON.stringify(now)) continue;
    const deleted = old.flatMap(({ rule }) => (rule !== null && !ids.has(rule) ? [rule] : []));
    if (deleted.length > 0) {
      explained++;
      console.log(`${name}: ${deleted.join(', ')} deleted`);
      continue;
    }
    const isSame = old.length === now.length && old.every((one, at) => causeOf(one) === causeOf(now[at]));
    console.log(`${name}: ${isSame ? 'what follows from a cause differs' : 'differs'}`);
    if (isSame) continue;
    process.exitCode = 1;
    for (let at = 0; at < Math.max(old.length, now.length); at++)
      if (JSON.stringify(old[at]) !== JSON.stringify(now[at]))
        console.log(`  was ${JSON.stringify(old[at])}\n  is  ${JSON.stringify(now[at])}`);
  }
  console.log(`${Object.keys(before).length} recordings, ${explained} differ by a deleted row`);
}
