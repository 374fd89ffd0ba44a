import { searchChange, type SearchRequest } from '../../builder/run/searchChange.ts';
import { renderText } from '../../core/document/render.ts';
import { searchDocument } from '../../core/surgery/searchChange.ts';
import { wholeNumber } from '../arguments.ts';
import { type BuildValues, textOf } from '../build/buildOptions.ts';
import { exitCodes } from '../command.ts';
import { printJson, type Terminal } from '../terminal.ts';

export const searchKinds = ['break', 'separate', 'fuse'] as const;

/** As many changes are tried where the user does not say. */
export const defaultBuilds = 24;

export const searchArguments = {
  break: { type: 'string', multiple: true },
  separate: { type: 'string', multiple: true },
  fuse: { type: 'string', multiple: true },
  'max-builds': { type: 'string' },
  'max-minutes': { type: 'string' },
} as const;

/** Searches for a change and prints what was found. Exit status 1: no change reaches the goal. */
export async function searchAndPrint(
  request: Pick<SearchRequest, 'options' | 'kind' | 'base'>,
  values: BuildValues,
  terminal: Terminal,
): Promise<number> {
  const result = await searchChange(
    {
      ...request,
      nodes: [values[request.kind]].flat() as string[],
      maxBuilds: wholeNumber('--max-builds', textOf(values, 'max-builds')) ?? defaultBuilds,
      maxMinutes: wholeNumber('--max-minutes', textOf(values, 'max-minutes')),
    },
    (done, of, reached) => terminal.status(`${done} of ${of} changes tried, ${reached} work`),
    terminal.signal,
  ).finally(() => terminal.status(null));
  const { candidates: _, ...printed } = result;
  if (values['json']) await printJson(terminal, printed);
  else await terminal.out(renderText(searchDocument(result)));
  return result.tried.some(({ reached }) => reached) ? exitCodes.done : exitCodes.checkFailed;
}
