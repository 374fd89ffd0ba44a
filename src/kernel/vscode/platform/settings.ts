import * as vscode from 'vscode';
import { type Backend, buildOptions } from '../../build/buildOptions.ts';
import { settingsSection } from '../ids.ts';

/** The settings in use for one resource. No one else reads the configuration. */
export interface Settings {
  /** Interpreter for builds and for the private environment of TensorRT-RTX; '' finds one. */
  pythonPath: string;
  /** Programs to build with; '' takes the one on the PATH. */
  trtexecPath: string;
  polygraphyPath: string;
  /** Reads reports of Nsight Systems and profiles builds. */
  nsysPath: string;
  /** Backend of a build that names none. */
  backend: Backend | 'auto';
  /** Launchers by name, as the user wrote them. */
  launchers: Record<string, unknown>;
  /** Launcher of a build that names none; '': it runs here. */
  launcher: string;
  /** Whether a finished build brings up the side bar. */
  revealAfterBuild: boolean;
  /** The version of TensorRT that code in the editor is checked for; null: it is not checked. */
  lintTarget: string | null;
  /** Builds that are kept of each model; older ones are deleted. */
  keptBuilds: number;
  /** What the builds of all models may take together, MiB; beyond it the oldest are deleted. */
  keptMebibytes: number;
}

/** Reads the settings. A value typed by hand may be anything: one that is not known counts as not set. */
export function readSettings(resource?: vscode.Uri): Settings {
  const configuration = vscode.workspace.getConfiguration(settingsSection, resource);
  const text = (name: string): string => {
    const value: unknown = configuration.get(name);
    return typeof value === 'string' ? value.trim() : '';
  };
  const launchers: unknown = configuration.get('launchers');
  const kept: unknown = configuration.get('build.keep');
  const mebibytes: unknown = configuration.get('build.keepSize');
  return {
    pythonPath: text('python.path'),
    trtexecPath: text('trtexec.path'),
    polygraphyPath: text('polygraphy.path'),
    nsysPath: text('nsys.path'),
    launchers: typeof launchers === 'object' && launchers !== null ? { ...launchers } : {},
    launcher: text('build.launcher'),
    backend: buildOptions.backend.kind.find((backend) => backend === text('build.backend')) ?? 'auto',
    revealAfterBuild: configuration.get('build.reveal') !== false,
    lintTarget: /^\d{1,2}(?:\.\d{1,3}){0,3}$/.exec(text('lint.tensorrt'))?.[0] ?? null,
    keptBuilds: typeof kept === 'number' && kept >= 1 ? Math.floor(kept) : 20,
    keptMebibytes: typeof mebibytes === 'number' && mebibytes >= 1 ? mebibytes : 10_240,
  };
}
