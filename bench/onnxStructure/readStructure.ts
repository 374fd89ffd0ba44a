// One whole process of our reader: prints what it read, and what that took.
import { readFileSync } from 'node:fs';
import { openFile } from '../../src/builder/fileSource.ts';
import { readModel } from '../../src/core/onnx/readModel.ts';

async function main(path: string): Promise<void> {
  const source = await openFile(path);
  let bytesRead = 0;
  const { value, problems } = await readModel({
    size: source.size,
    read: (offset, length) => {
      bytesRead += length;
      return source.read(offset, length);
    },
  });
  await source.close();
  if (!value || problems.length > 0) throw new Error(JSON.stringify(problems));
  // Not the system's "maximum resident set size", which a child inherits from the process that started it.
  const peak = /VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'));
  const { nodes, initializers } = value.graph;
  const run = { nodes: nodes.length, tensors: initializers.length, peakKib: Number(peak![1]), bytesRead };
  process.stdout.write(JSON.stringify(run));
}

void main(process.argv[2]!);
