// `npm run evidence`: what each repair, option, setting, command, overlay and tool for agents rests on. A repair rests on a
// recorded model that TensorRT rejects or computes wrong and on which it applies; of everything else, and of repairs whose
// models are not kept, `evidence.json` says it: the first row whose pattern fits. Fails where a row rests on nothing.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadSource } from './generate/loadSource.mjs';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const reasons = JSON.parse(readFileSync('scripts/evidence.json', 'utf8'));
const { contributes } = JSON.parse(readFileSync('package.json', 'utf8'));
const { bytesOf, catalogue, checkModel, planRepair, readModel, RepairSubject } =
  await loadSource('test/support/repairs.ts');
const { agentTools } = await loadSource('src/shell/cli/agents/agentTools.ts');
const { overlayKinds } = await loadSource('src/kernel/picture/graph/overlay.ts');

const MODELS = ['../shared/captures/models', '../shared/samples/onnx', '../shared/round5', '../shared/wrong-engines'];
const VERSIONS = [
  ['tensorrt-rtx', '1.7'],
  ['tensorrt', '10.6'],
  ['tensorrt', '8.6'],
];

/** A recorded model for each repair that applies to one that is refused. */
async function repairedModels() {
  const found = new Map();
  for (const path of [...MODELS, 'test/fixtures'].filter(existsSync).flatMap(modelsBelow)) {
    const source = bytesOf(new Uint8Array(readFileSync(path)));
    const { value } = await readModel(source, { spans: true });
    const refuses = ([product, version]) =>
      checkModel(value, { product, version, capability: null }).some(({ severity }) => severity === 'error');
    if (!value || !VERSIONS.some(refuses)) continue;
    for (const repair of catalogue) {
      if (found.has(repair.id)) continue;
      const given = { shapes: [], open: () => Promise.reject(new Error('no data')), compute: async () => new Map() };
      const { edits } = await planRepair(new RepairSubject(value, source, given), repair, new Set());
      if (edits) found.set(repair.id, path);
    }
  }
  return found;
}

const modelsBelow = (folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.onnx') && !name.startsWith('hostile'))
    .map((name) => join(folder, name));

/** `build --fp16` for each option of each subcommand, as the completion of the bundled command line has them. */
function options() {
  const text = execFileSync(process.execPath, ['dist/cli.js', 'completion', 'bash'], { encoding: 'utf8' });
  return [...text.matchAll(/^ {4}(\S+)\)\n.*\n\s+options='(.*)'/gm)].flatMap(([, command, names]) =>
    names.split(' ').flatMap((name) => (/^--(?!help)/.test(name) ? [`${command} ${name}`] : [])),
  );
}

const settings = [contributes.configuration].flat().flatMap(({ properties }) => Object.keys(properties));
const rows = {
  repair: catalogue.map(({ id }) => id),
  option: options(),
  setting: settings.map((name) => name.replace('tensorrtLens.', '')),
  command: contributes.commands.map(({ command }) => command.replace('tensorrtLens.', '')),
  overlay: [...overlayKinds],
  tool: Object.keys(agentTools),
};
const computed = await repairedModels();
let count = 0;
const without = [];
for (const [kind, names] of Object.entries(rows))
  for (const name of names) {
    count++;
    const listed = reasons[kind].find(([pattern]) => new RegExp(`^(?:${pattern})$`).test(name))?.[1];
    const evidence = (kind === 'repair' && computed.get(name)) || listed;
    if (evidence === undefined) without.push(`${kind} ${name}`);
    console.log(`${kind} ${name}: ${evidence ?? 'nothing'}`);
  }
console.log(`${count} rows, ${without.length} without evidence${without.length > 0 ? `: ${without.join(', ')}` : ''}`);
process.exitCode = without.length > 0 ? 1 : 0;
