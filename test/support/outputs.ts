import { spawnSync } from 'node:child_process';
import { type JsonSchema, readSchema, schemaViolations } from './jsonSchema.ts';

/** The schema with no other fields than those that it names: a field without a description in it is an error. */
const closed = (schema: JsonSchema): JsonSchema =>
  JSON.parse(JSON.stringify(schema), (_, value: unknown) =>
    typeof value === 'object' && value !== null && 'properties' in value && !('additionalProperties' in value)
      ? { ...value, additionalProperties: false }
      : value,
  ) as JsonSchema;

/**
 * Runs `trtlens ARGS --json` and returns what in its output does not fit the schema of that name, or why there is none.
 * @param known false: the schema allows fields of later versions, and so does the check
 */
export function outputViolations(cli: string, folder: string, name: string, args: string, known = true): string[] {
  const { stdout, stderr, status } = spawnSync(process.execPath, [cli, ...args.split(' '), '--json'], {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  });
  if (stdout === '' || (status !== 0 && status !== 1)) return [`${args}: exit status ${status}: ${stderr}`];
  const schema = readSchema(name);
  return schemaViolations(JSON.parse(stdout), known ? closed(schema) : schema);
}
