import { command } from '../../../kernel/server/lensCommand.ts';
import type { CodeLens } from 'vscode-languageserver';
import { languageCommands } from '../../../kernel/protocol/language.ts';
import { spanRange } from '../../../kernel/server/places.ts';
import { idsOf, type ReplayAnalysis } from './replayAnalysis.ts';
import { counted } from '../../../kernel/base/text.ts';

/** Above the file: build with it. Above each entry: its nodes in the graph, and the log line where it failed or was timed. */
export function replayLenses(analysis: ReplayAnalysis): CodeLens[] {
  const { document, facts, hints, read } = analysis;
  const uri = document.uri;
  const lenses: CodeLens[] = [];
  if (read.value && read.value.entries.length > 0) {
    const top = { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } };
    lenses.push({ range: top, command: command('Build with this replay', languageCommands.buildWithReplay, { uri }) });
  }
  for (const hint of hints) {
    const range = spanRange(document, hint.entry.key);
    if (hint.nodes.length > 0) {
      const title = `Show ${counted(hint.nodes.length, 'node')} in the graph`;
      lenses.push({
        range,
        command: command(title, languageCommands.showNodes, { uri, nodes: idsOf(analysis, hint) }),
      });
    }
    const failed = facts.mismatches.find(({ layer, kind }) => layer === hint.entry.layer && kind !== 'not-found');
    const timed = facts.choices.find(({ lines }) => lines)?.lines?.get(hint.entry.layer);
    const line = failed?.line ?? timed;
    if (line === undefined) continue;
    const title = failed ? `Log line ${line}` : `Timed on line ${line} of the log`;
    const passed = failed ? {} : { passed: true };
    lenses.push({ range, command: command(title, languageCommands.openLogLine, { uri, line, ...passed }) });
  }
  return lenses;
}
