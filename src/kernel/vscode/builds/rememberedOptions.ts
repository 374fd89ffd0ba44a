import type * as vscode from 'vscode';
import type { TaskOptions } from './taskProperties.ts';

/** The answers of the last build of each model, in the workspace's memory. */
export class RememberedOptions {
  readonly #memory: vscode.Memento;

  constructor(memory: vscode.Memento) {
    this.#memory = memory;
  }

  /** {}: none were given yet. */
  of(uri: vscode.Uri): Partial<TaskOptions> {
    return this.#memory.get<Partial<TaskOptions>>(keyOf(uri)) ?? {};
  }

  async put(uri: vscode.Uri, options: Partial<TaskOptions>): Promise<void> {
    await this.#memory.update(keyOf(uri), options);
  }
}

const keyOf = (uri: vscode.Uri): string => `tensorrtLens.buildOptions ${uri.toString()}`;
