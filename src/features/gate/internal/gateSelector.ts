import { type PrecisionType } from '../../../kernel/rules/overrideFile.ts';
import { readOverrides } from '../../../kernel/rules/readOverrides.ts';

/** A selector of a gate file with its type, as the one rule of a .trtprec file. */
export const readSelector = (key: string, type: PrecisionType): ReturnType<typeof readOverrides> =>
  readOverrides(`${isBare.test(key) ? key : JSON.stringify(key)} ${type}\n`);

/** In a .trtprec file a name in quotes is not a glob; here it may be either, because YAML has its own quotes. */
const isBare = /^[^\s,"#]+$/;

/** What is wrong with a selector; null: nothing. */
export const selectorProblem = (key: string): string | null =>
  readSelector(key, 'fp32').problems.find(({ severity }) => severity === 'error')?.message ?? null;
