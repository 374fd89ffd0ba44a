// A process of protobufjs' reader, which needs the whole file in memory: counts the nodes and tensors of a model and
// passes over everything else. That is the least that any reading by protobufjs does.
import { readFileSync } from 'node:fs';
import { Reader } from 'protobufjs/minimal.js';

const start = performance.now();
const reader = Reader.create(readFileSync(process.argv[2]!));
let nodes = 0;
let tensors = 0;
walk(reader.len, (field) => field === 7 && walkGraph());
const callMilliseconds = performance.now() - start;
const peak = /VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'));
process.stdout.write(JSON.stringify({ nodes, tensors, callMilliseconds, peakKib: Number(peak![1]) }));

function walkGraph(): true {
  walk(reader.uint32() + reader.pos, (field) => {
    if (field === 1) nodes++;
    else if (field === 5) tensors++;
    return false;
  });
  return true;
}

/** Visits the fields up to a position; those that the visitor does not read are passed over. */
function walk(end: number, visit: (field: number) => boolean): void {
  while (reader.pos < end) {
    const tag = reader.uint32();
    if (!visit(tag >>> 3)) reader.skipType(tag & 7);
  }
}
