import { basename } from 'node:path';

/** How a build was or will be made, in a few words each; where its files go is not among them. */
export function optionWords(options: Record<string, unknown>): string[] {
  const words: string[] = [];
  if (typeof options['precision'] === 'string') words.push(options['precision']);
  if (options['stronglyTyped'] === true) words.push('strongly typed');
  if (options['outputs'] === 'all') words.push('unfused');
  if (typeof options['overrides'] === 'string') words.push(`overrides ${basename(options['overrides'])}`);
  if (options['profiles'] !== undefined) words.push('custom shapes');
  if (typeof options['workspace'] === 'number') words.push(`workspace ${options['workspace']} MiB`);
  if (options['randomWeights'] === true) words.push('random weights');
  if (options['profileRun'] === true) words.push('layer times');
  return words;
}
