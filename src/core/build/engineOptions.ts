import type { OptionName, OptionValue } from './buildOptions.ts';

export type Backend = Exclude<OptionValue<'backend'>, 'auto'>;
export type PrecisionMode = OptionValue<'precision'>;

/**
 * What the user asks of a build, whichever program runs it: the task definition of `tasks.json`, a matrix and the command
 * line's options are this object, and the table of options (`buildOptions`) says what each member is. Functions named
 * after a program translate it for one program and version, or say why not.
 */
export type EngineOptions = {
  /** Path of the ONNX file. */
  model: string;
} & { [Name in OptionName]?: OptionValue<Name> };

/** Files that a build leaves in its folder. */
export interface BuildFiles {
  engine: string;
  layers: string;
  profile: string;
  times: string;
  /** Where the choices go, and `record_choices.py`: both where choices are requested, else neither. */
  choices?: string;
  recorder?: string;
}

/** A command to run, and what was changed or rejected on the way to it. */
export interface CommandLine {
  /** Arguments without the program itself. */
  args: string[];
  notes: CommandNote[];
  /** Variables that the program needs. */
  environment?: Record<string, string>;
}

export interface CommandNote {
  /**
   * `translated`: another flag does it in this version. `dropped`: an argument of our own that this version does not
   * need. `ignored`: a request without effect; the build goes on with a warning. `warned`: what the build does that no
   * one asked for. `refused`: without it the engine would be another one than asked for, don't build.
   */
  kind: 'translated' | 'dropped' | 'ignored' | 'warned' | 'refused';
  flag: string;
  message: string;
}

/** Whether a note is a warning: on stderr, and in the manifest. */
export const isWarning = ({ kind }: CommandNote): boolean => kind === 'ignored' || kind === 'warned';
