import type { Message } from './rpc.ts';
import type { Selection, ViewCommand, ViewHost } from './views.ts';

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === 'string';
const isFlag: Check = (value) => typeof value === 'boolean';
const isCount: Check = (value) => Number.isSafeInteger(value);
const oneOf =
  (...known: string[]): Check =>
  (value) =>
    isText(value) && known.includes(value as string);
const listOf =
  (fits: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(fits);

/** Whether something from a page is a selection. */
export function isSelection(value: unknown): value is Selection {
  if (typeof value !== 'object' || value === null) return false;
  const { kind, ids, id, fate } = value as Record<string, unknown>;
  switch (kind) {
    case 'nodes':
      return listOf(isText)(ids);
    case 'layers':
      return listOf(isCount)(ids);
    case 'foreignNode':
      return isCount(id);
    case 'fate':
      return isText(fate);
    default:
      return kind === 'none';
  }
}

const viewCommands: Record<ViewCommand, true> = {
  openFusion: true,
  openGraph: true,
  keepFp32: true,
  keepFp16: true,
  keepBf16: true,
  showInTimeline: true,
  showInTable: true,
  goToSource: true,
  randomWeights: true,
  shapes: true,
  buildAs: true,
  build: true,
  check: true,
  profile: true,
  attach: true,
  attachNear: true,
  log: true,
  cancel: true,
  chooseModel: true,
  optimizationProfile: true,
  plugin: true,
  repair: true,
  reduce: true,
  memory: true,
};

const parameters: Record<keyof ViewHost, Check[]> = {
  ready: [isFlag],
  selected: [isSelection],
  openLine: [oneOf('log', 'failedLog', 'logBefore', 'overrides'), isCount],
  exportPicture: [oneOf('svg', 'png'), isText, isText],
  run: [oneOf(...Object.keys(viewCommands)), listOf(isText)],
  failed: [isText],
};

/**
 * Whether a message is one that a view sends, with arguments of the right types. A view draws what other people's models
 * say, so what comes from it is looked at before anything is done.
 */
export function isViewMessage(message: unknown): message is Message {
  if (typeof message !== 'object' || message === null) return false;
  const { method, args } = message as Record<string, unknown>;
  if (typeof method !== 'string' || !Object.hasOwn(parameters, method) || !Array.isArray(args)) return false;
  return parameters[method as keyof ViewHost].every((fits, index) => fits(args[index]));
}
