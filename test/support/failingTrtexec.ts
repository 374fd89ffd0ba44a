import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fakeTool } from './fakeTool.ts';
import { captureText } from './fixtures.ts';

const failed = '[11/21/2026-10:00:00] [E] Error[10]: IBuilder::buildSerializedNetwork: Error Code 10: Internal Error';

/**
 * A trtexec that fails for the reason that `why`, an expression of `has`, gives; '' means it builds. `has(tag, text)` says
 * whether the model has a field with a text: 0x22 an operator, 0x1a the name of a node. For each build the file `calls` gets a dot.
 * @returns its path
 */
export function failingTrtexec(folder: string, name: string, why: string): string {
  const calls = join(folder, 'calls');
  writeFileSync(join(folder, 'help'), captureText('tensorrt-10.6.0/cli.help/log.txt')!);
  const body = `
    const { appendFileSync, readFileSync, writeFileSync } = require('fs');
    if (args[0] === '--help') { process.stdout.write(readFileSync(${JSON.stringify(join(folder, 'help'))})); return; }
    appendFileSync(${JSON.stringify(calls)}, '.');
    const value = (flag) => args.find((arg) => arg.startsWith('--' + flag + '='))?.slice(flag.length + 3);
    const model = readFileSync(value('onnx'));
    // A field of a message: a tag and a short text.
    const has = (tag, text) => model.includes(Buffer.concat([Buffer.from([tag, text.length]), Buffer.from(text)]));
    console.log('&&&& RUNNING TensorRT.trtexec [TensorRT v100600] # trtexec ' + args.join(' '));
    const why = ${why};
    if (why === '') writeFileSync(value('saveEngine'), 'engine');
    else {
      console.log(${JSON.stringify(failed)} + ' (' + why + ')');
      console.log('&&&& FAILED TensorRT.trtexec');
      process.exitCode = 1;
    }`;
  return fakeTool(folder, name, body);
}
