import { open } from 'node:fs/promises';
import { inspectFile } from '../../core/inspect/inspectFile.ts';
import { readWhole, withFile } from './fileSource.ts';
import { fileTrouble, UserError } from '../userError.ts';

/** How the files begin that trtlens writes. */
const beginnings = {
  page: /<title>TensorRT Lens<\/title>|<meta name="generator" content="TensorRT Lens">/,
  viewData: /^\{"title":/,
  trace: /^\{"traceEvents":/,
  nodeData: /^\{"(?:[^"\\]|\\.)*":\{"name":/,
} as const;

const shown = { page: 'a page', viewData: 'page data', trace: 'a trace', nodeData: 'node data' } as const;

/** Of a page, the title comes after comments and the policy. */
const headBytes = 1 << 14;

/**
 * Makes sure that a file is missing, empty, or one that trtlens wrote before as the same kind.
 * @param force overwrite it, whatever it is; undefined: the command has no such option
 * @throws {UserError} if something else is there
 */
export async function checkOwn(path: string, kind: keyof typeof beginnings, force?: boolean): Promise<void> {
  if (force) return;
  const head = await headOf(path);
  if (head !== '' && !beginnings[kind].test(head))
    throw new UserError(
      `${path} already exists and is not ${shown[kind]} of trtlens. Choose another file${force === undefined ? '' : ', or pass --force to overwrite it'}`,
    );
}

/**
 * Makes sure that a file is missing, empty, or of the kind that is to be written: what replaces a model is a model.
 * @throws {UserError} if something else is there, such as an engine
 */
export async function checkKind(path: string, kind: 'onnx' | 'overrides', force = false): Promise<void> {
  if (force || (await headOf(path)) === '') return;
  const found = await withFile(path, (source) => inspectFile(source));
  if (found.kind !== kind)
    throw new UserError(
      `${path} already exists and is not ${kind === 'onnx' ? 'a model' : 'a file of rules'}. Choose another file, or pass --force to overwrite it`,
    );
}

/**
 * Makes sure that a file is missing, empty, or as it is to be written: what was edited by hand stays.
 * @throws {UserError} if its content is another
 */
export async function checkContent(path: string, text: string, force = false): Promise<void> {
  if (force || (await headOf(path)) === '') return;
  if (!Buffer.from(text).equals(await readWhole(path)))
    throw new UserError(
      `${path} already exists with other content. Choose another file, or pass --force to overwrite it`,
    );
}

/** '' if the file is missing. */
async function headOf(path: string): Promise<string> {
  try {
    const file = await open(path);
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(headBytes), 0, headBytes, 0);
      return buffer.toString('utf8', 0, bytesRead);
    } finally {
      await file.close();
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw fileTrouble(path, error);
  }
}
