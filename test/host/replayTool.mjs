// Stands in for Polygraphy where it loads a tactic replay of vit_tiny: it holds the convolution's entry against the choices
// that TensorRT 10.6 once offered, and plays the recorded run that ended so. With --save-tactics it gives the recorded
// replay, and with the script that records choices what TensorRT then offered.
import { copyFileSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const capture = 'tensorrt-10.6.0/vit_tiny.poly_replay';
const recorded = (name) => fileURLToPath(new URL(`../fixtures/captures/${capture}/${name}`, import.meta.url));
const layer = '/patch_embed/proj/Conv';

const args = process.argv.slice(2);
const after = (flag) => (args.includes(flag) ? args[args.indexOf(flag) + 1] : undefined);
const [load, save] = [after('--load-tactics'), after('--save-tactics')];

/** Numbers as their text: ids have up to 64 bits. */
const exact = (_, value, { source } = {}) => (typeof value === 'number' ? source : value);

function wasOffered(path) {
  const entry = JSON.parse(readFileSync(path, 'utf8'), exact).replay[layer];
  if (entry === undefined) return true;
  const tuple = (infos) =>
    infos.map(
      (i) => `TensorInfo(${i.dtype}, (${i.strides.join(', ')}), ${i.vectorized_dim}, ${i.components_per_element})`,
    );
  const [inputs, outputs] = [tuple(entry.inputs), tuple(entry.outputs)];
  const text = `(Implementation: ${entry.implementation}, Tactic: ${entry.tactic}) | Inputs: (${inputs.join(', ')},) | Outputs: (${outputs.join(', ')},)`;
  const log = readFileSync(recorded('log2.txt'), 'utf8');
  const offers = log.slice(log.indexOf('Provided choices were:'), log.indexOf('[ERROR] Exception caught'));
  return offers.split('\n').some((line) => line.trim() === text);
}

const fails = load !== undefined && !wasOffered(load);
if (save !== undefined) copyFileSync(recorded('replay.json'), save);
if (after('--trt-config-postprocess-script')?.endsWith('record_choices.py:postprocess_config'))
  copyFileSync(recorded('../vit_tiny.algolog/choices.jsonl'), process.env.TRTLENS_CHOICES);
if (args.includes('--help')) {
  console.log(
    '--convert-to --fp16 --profiling-verbosity --load-tactics --save-tactics --trt-config-postprocess-script',
  );
  process.exit();
}
Object.assign(process.env, {
  PLAYER_CAPTURE: capture,
  PLAYER_AS: 'polygraphy',
  PLAYER_LOG: load === undefined ? 'log0.txt' : fails ? 'log2.txt' : 'log1.txt',
  PLAYER_CODE: fails ? '1' : '0',
});
await import('../support/player.mjs');
