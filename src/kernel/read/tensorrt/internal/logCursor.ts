import type { HostProgram } from '../buildOutput.ts';

/** One line of a log, as a stretch of the text that holds it: most lines are judged without copying them. */
export interface LogCursor {
  text: string;
  /** Where the message starts, after the writer's prefix. */
  from: number;
  /** Where the line ends, exclusive. */
  to: number;
  /** Counts from 1. */
  line: number;
  /** The line is longer than what is read of it. */
  cut: boolean;
  severity: LogSeverity;
  /** Whether the line starts with a writer's prefix; a line without one continues what is before it. */
  prefixed: boolean;
  /** The prefix says that the library itself wrote the message. */
  library: boolean;
  /** Who writes prefixes of this form, where only one does. */
  writer: 'python' | 'onnxruntime' | 'untimed' | null;
  /** The program around TensorRT that writes prefixes of this form. */
  host: HostProgram | null;
}

export type LogSeverity = 'none' | 'verbose' | 'info' | 'warning' | 'error';

export function emptyCursor(): LogCursor {
  return {
    text: '',
    from: 0,
    to: 0,
    line: 0,
    cut: false,
    severity: 'none',
    prefixed: false,
    library: false,
    writer: null,
    host: null,
  };
}
