import { type Fix, replaceRange, type TypeWord } from '../../../kernel/rules/overrideFile.ts';

/** Fixes that put a type that every version and every GPU has in place of another. */
export function changeTo({ type, range }: TypeWord, others: readonly string[] = ['fp16', 'fp32']): Fix[] {
  return others
    .filter((other) => other !== type)
    .map((other) => ({ title: `Change to ${other}`, edits: [replaceRange(range, other)] }));
}
