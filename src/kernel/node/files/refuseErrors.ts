import type { Problem } from '../../base/problem.ts';
import { UserError } from './userError.ts';
import { counted } from '../../base/text.ts';

/** @throws {UserError} with the first error among problems with a model */
export function refuseErrors(path: string, problems: Problem[]): void {
  const errors = problems.filter(({ severity }) => severity === 'error');
  const [first] = errors;
  if (!first) return;
  const more = errors.length > 1 ? ` (and ${counted(errors.length - 1, 'more problem')})` : '';
  throw new UserError(`${path}: ${first.message}${more}`);
}
