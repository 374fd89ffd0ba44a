import type { Selection } from '../../src/kernel/protocol/views.ts';

/** Whether two selections are the same thing. */
export function sameSelection(a: Selection, b: Selection): boolean {
  if (a.kind === 'nodes' && b.kind === 'nodes') return sameList(a.ids, b.ids);
  if (a.kind === 'layers' && b.kind === 'layers') return sameList(a.ids, b.ids);
  if (a.kind === 'foreignNode' && b.kind === 'foreignNode') return a.id === b.id;
  if (a.kind === 'fate' && b.kind === 'fate') return a.fate === b.fate;
  return a.kind === 'none' && b.kind === 'none';
}

function sameList<T>(a: readonly T[], b: readonly T[]): boolean {
  return a.length === b.length && a.every((value, index) => value === b[index]);
}
