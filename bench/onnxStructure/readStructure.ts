// A process of our reader: reads a model's structure once or several times, prints what it read and what that took.
import { readFileSync } from 'node:fs';
import { openFile } from '../../src/kernel/node/files/fileSource.ts';
import { readModel } from '../../src/kernel/read/onnx/readModel.ts';

async function main(path: string, times: number): Promise<void> {
  let run = await readOnce(path);
  for (let done = 1; done < times; done++) {
    // eslint-disable-next-line no-await-in-loop -- one after the other is what is measured
    const next = await readOnce(path);
    if (next.callMilliseconds < run.callMilliseconds) run = next;
  }
  // Not the system's "maximum resident set size", which a child inherits from the process that started it.
  const peak = /VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'));
  process.stdout.write(JSON.stringify({ ...run, peakKib: Number(peak![1]) }));
}

async function readOnce(path: string): Promise<{ [figure: string]: number; callMilliseconds: number }> {
  const start = performance.now();
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
  const { nodes, initializers } = value.graph;
  const callMilliseconds = performance.now() - start;
  return { nodes: nodes.length, tensors: initializers.length, bytesRead, callMilliseconds };
}

void main(process.argv[2]!, Number(process.argv[3] ?? 1));
