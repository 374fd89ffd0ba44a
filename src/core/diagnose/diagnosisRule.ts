import type { DiagnosisCode } from './diagnosis.ts';

/** What a rule makes of one event of the log. */
export interface Finding {
  /** `this node` in it becomes the name of the layer if there is one. */
  message: string;
  advice: string;
  /** Overrides the severity of the log's line. */
  severity?: 'error' | 'warning';
  /** Operator, input or file that the text names. */
  op?: string;
  input?: string;
  layer?: string;
  /** Tensors that the text names. */
  tensors?: string[];
  /** Nodes that the text lists. */
  names?: string[];
}

export interface DiagnosisRule {
  code: DiagnosisCode;
  /** Tried in order; the first that matches wins. */
  pattern: RegExp;
  /** As text; `m` is the match, texts as TensorRT wrote them. */
  say(m: RegExpMatchArray, text: string): Finding;
}
