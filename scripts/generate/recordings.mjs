import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Where recordings are, by what their names begin with; all but the first stand next to the checkout. */
const PLACES = {
  fixtures: 'test/fixtures',
  captures: '../shared/captures',
  samples: '../shared/samples',
  public: '../shared/round5/public',
  field: '../shared/round5/field/logs',
  truth: '../shared/round5/truth',
  facts: '../shared/facts/parsers',
};

/** What a real program wrote; `harmless.txt` was written for tests, and layer lists say nothing. */
const IS_LOG =
  /(?:^|\/)(?:log\d*\.txt|errors\.txt|[\w.-]*\.log)(?:\.gz)?$|^(?:issues|issue-logs)\/\d?.*\.txt$|^[LQ]\d+_.*\.txt$|^poly[\w.]*\.txt$/;

/**
 * Every recorded log, by its name: `fixtures:captures/…`, `samples:issue-logs/…`. A file with sections (`=== name`) gives
 * one log for each, as do the texts that the real parsers gave for models of one node (`facts:…#12`).
 * @returns {Map<string, () => string>}
 */
export function recordings() {
  const found = new Map();
  for (const [place, folder] of Object.entries(PLACES)) {
    const at = join(root, folder);
    if (!existsSync(at) || place === 'facts') continue;
    for (const path of filesBelow(at))
      if (IS_LOG.test(path)) found.set(`${place}:${path}`, () => textOf(join(at, path)));
  }
  // The repository has most captures itself.
  for (const name of found.keys())
    if (name.startsWith('captures:') && found.has(`fixtures:captures/${name.slice('captures:'.length)}`))
      found.delete(name);
  addSections(found, 'fixtures:failures/rtx-1.7.1.txt', join(root, 'test/fixtures/failures/rtx-1.7.1.txt'));
  for (const name of ['logs', 'logs-10.6']) addTexts(found, `hardModels/${name}.json.gz`);
  addParserTexts(found, join(root, PLACES.facts));
  return found;
}

function addSections(found, name, path) {
  for (const part of readFileSync(path, 'utf8').split(/^=== /m).slice(1)) {
    const end = part.indexOf('\n');
    found.set(`${name}#${part.slice(0, end)}`, () => part.slice(end + 1));
  }
}

/** Logs of many models in one file. */
function addTexts(found, path) {
  const logs = JSON.parse(textOf(join(root, PLACES.fixtures, path)));
  for (const [model, text] of Object.entries(logs)) found.set(`fixtures:${path}#${model}`, () => text);
}

function addParserTexts(found, folder) {
  if (!existsSync(folder)) return;
  const logged = (text) => `[E] [TRT] ${text}\n`;
  for (const [index, text] of Object.entries(JSON.parse(textOf(join(folder, 'measured_errors.json')))))
    found.set(`facts:measured_errors.json#${index}`, () => logged(text));
  for (const { id, measuredText } of JSON.parse(textOf(join(folder, 'errors.json'))).errors)
    if (measuredText) found.set(`facts:errors.json#${id}`, () => logged(measuredText));
}

const filesBelow = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) =>
      join(entry.parentPath ?? entry.path, entry.name)
        .slice(folder.length)
        .replaceAll('\\', '/')
        .replace(/^\//, ''),
    )
    .filter((path) => !path.startsWith('failures/'))
    .toSorted();

function textOf(path) {
  const bytes = readFileSync(path);
  return (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
}
