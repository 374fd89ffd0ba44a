import type { TextDocument } from 'vscode-languageserver-textdocument';
import { overrideLanguageId, replayLanguageIds } from '../../kernel/protocol/language.ts';
import type { FactsParams } from '../../kernel/protocol/language.ts';
import { noFacts, readFacts } from '../../kernel/server/facts.ts';
import type { DocumentFacts } from '../../kernel/server/facts.ts';
import { analyzeOverrides } from '../../features/precision/server/overrideAnalysis.ts';
import type { OverrideAnalysis } from '../../features/precision/server/overrideAnalysis.ts';
import { analyzeReplay } from '../../features/replay/server/replayAnalysis.ts';
import type { ReplayAnalysis } from '../../features/replay/server/replayAnalysis.ts';

export type Analysis = ({ kind: 'overrides' } & OverrideAnalysis) | ({ kind: 'replay' } & ReplayAnalysis);

/** What is known of each document, and its analysis: made once for each version of the text and of the facts. */
export class Documents {
  private readonly facts = new Map<string, DocumentFacts>();
  private readonly analyses = new Map<string, { version: number; facts: DocumentFacts; analysis: Analysis | null }>();

  /** Takes what the host knows for a document. */
  learn(params: FactsParams): void {
    this.facts.set(params.uri, readFacts(params));
  }

  /** Forgets a closed document; its facts come again when it is opened. */
  close(uri: string): void {
    this.analyses.delete(uri);
    this.facts.delete(uri);
  }

  /** null: a document that is not ours, such as any other JSON. */
  analyze(document: TextDocument): Analysis | null {
    const { uri, version } = document;
    const facts = this.facts.get(uri) ?? noFacts;
    const known = this.analyses.get(uri);
    if (known?.version === version && known.facts === facts) return known.analysis;
    const analysis = analyze(document, facts, known?.analysis ?? null);
    this.analyses.set(uri, { version, facts, analysis });
    return analysis;
  }
}

function analyze(document: TextDocument, facts: DocumentFacts, before: Analysis | null): Analysis | null {
  if (document.languageId === overrideLanguageId) {
    return {
      kind: 'overrides',
      ...analyzeOverrides(document, facts, before?.kind === 'overrides' ? before.file : null),
    };
  }
  if (!replayLanguageIds.includes(document.languageId)) return null;
  const replay = analyzeReplay(document, facts);
  return replay && { kind: 'replay', ...replay };
}
