import { usePackages } from '../tools/ownPackages.ts';
import { confirmDownload, type Terminal } from './terminal.ts';

export interface RuntimeValues {
  python?: string | undefined;
  buildPython?: string | undefined;
  yes?: boolean | undefined;
}

/** ONNX Runtime: the user's own, or in the private environment, set up after consent. */
export function runtimeFor(values: RuntimeValues, terminal: Terminal) {
  return usePackages('onnxruntime', {
    confirm: (text) => confirmDownload(terminal, values.yes ?? false, text),
    progress: (line) => terminal.note(line),
    signal: terminal.signal,
    python: values.python,
    buildPython: values.buildPython,
  });
}
