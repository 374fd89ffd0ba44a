/** What a build is doing, in the order that its log shows. */
export type BuildStage = 'start' | 'parse' | 'optimize' | 'calibrate' | 'tactics' | 'finalize' | 'run' | 'end';

/** What the log of a running build says, as it is written. `line` counts from 1. */
export type BuildEvent =
  | { kind: 'stage'; stage: BuildStage; line: number }
  | { kind: 'node'; name: string; op: string; parsed: number; line: number }
  | { kind: 'funnel'; stage: string; layers: number; line: number }
  | { kind: 'foreign-node'; name: string; line: number }
  /** A layer's tactics are being timed now. `layer` counts the layers timed so far, this one included. */
  | { kind: 'timing'; name: string; layer: number; line: number }
  | { kind: 'combination'; name: string; formats: string; line: number }
  | { kind: 'chosen'; name: string; runner: string; tactic: string; ms: number | null; line: number }
  | { kind: 'cache-hit'; name: string; hits: number; line: number }
  | { kind: 'skipped'; name: string; reason: string; line: number }
  | { kind: 'message'; severity: 'warning' | 'error'; text: string; line: number }
  | { kind: 'outcome'; outcome: 'passed' | 'failed'; line: number };
