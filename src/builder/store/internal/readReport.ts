import type { FusionReport } from '../../../core/fusion/fusionReport.ts';
import { UserError } from '../../userError.ts';

/**
 * The report in a file that trtlens wrote, by itself or inside the output of another command.
 * @throws {UserError} if the text is not a fusion report
 */
export function readReport(path: string, text: string): FusionReport {
  let value: unknown;
  try {
    const parsed = JSON.parse(text) as { fusion?: unknown; report?: unknown } | null;
    // What `trtlens build --json` and `trtlens report -o x.json` write holds the report, too.
    value = parsed?.fusion ?? parsed?.report ?? parsed;
  } catch {
    throw new UserError(`${path} is not JSON: pass a build folder, or what \`trtlens fusion --json\` wrote`);
  }
  if (!isReport(value))
    throw new UserError(`${path} is not a fusion report: pass a build folder, or what \`trtlens fusion --json\` wrote`);
  return value;
}

/** Whether a value has all lists and objects that its users walk through. */
function isReport(value: unknown): value is FusionReport {
  const { schema, model, tensorrt, accounting, nodes, layers, foreignNodes, problems } = fields(value);
  const has = (list: unknown, texts: readonly string[], lists: readonly string[]) =>
    Array.isArray(list) &&
    list.every((one) => {
      const own = fields(one);
      return texts.every((key) => typeof own[key] === 'string') && lists.every((key) => Array.isArray(own[key]));
    });
  return (
    schema === 1 &&
    typeof fields(model)['file'] === 'string' &&
    [tensorrt, accounting].every((one) => typeof one === 'object' && one !== null) &&
    has(nodes, ['id', 'name', 'op', 'fate'], ['layers']) &&
    has(layers, ['name', 'kind'], ['nodes', 'evidence', 'inputs', 'outputs']) &&
    has(foreignNodes, ['name'], ['nodes', 'layers']) &&
    has(problems, ['code'], [])
  );
}

const fields = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
