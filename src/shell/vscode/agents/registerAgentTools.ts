import * as vscode from 'vscode';
import { type AgentTool, agentTools } from '../../cli/agents/agentTools.ts';
import { agentToolPrefix } from '../../../kernel/vscode/ids.ts';
import { readSettings } from '../../../kernel/vscode/platform/settings.ts';
import { mayRun, untrustedMessage } from '../../../kernel/vscode/platform/trust.ts';
import { isFileUri } from '../../../kernel/vscode/platform/fileUri.ts';

/** The tools of `trtlens mcp` for the editor's own agents; nothing where an editor has no such interface. */
export function registerAgentTools(): vscode.Disposable {
  const api = vscode.lm as typeof vscode.lm | undefined;
  if (typeof api?.registerTool !== 'function') return { dispose: () => {} };
  return vscode.Disposable.from(
    ...Object.entries(agentTools).map(([name, tool]) => api.registerTool(agentToolPrefix + name, toolFor(name, tool))),
  );
}

const toolFor = (
  name: string,
  tool: AgentTool,
): vscode.LanguageModelTool<Record<string, unknown>> & { prepareInvocation: () => vscode.PreparedToolInvocation } => ({
  prepareInvocation: () => ({
    invocationMessage: tool.title,
    ...(tool.builds && {
      confirmationMessages: {
        title: tool.title,
        message: 'This builds engines with TensorRT, which takes minutes. None of your files is changed.',
      },
    }),
  }),
  invoke: async ({ input }, token) => {
    const roots = (vscode.workspace.workspaceFolders ?? [])
      .filter(({ uri }) => isFileUri(uri))
      .map(({ uri }) => uri.fsPath);
    // An agent reads the message of an error.
    if (roots.length === 0) throw new Error('No folder on a local disk is open. Ask the user to open one.');
    const abort = new AbortController();
    const cancelled = token.onCancellationRequested(() => abort.abort());
    try {
      const { callTool } = await import('../../cli/agents/callTool.ts');
      const buildOptions = tool.builds ? optionsOfBuilds() : [];
      const { text, isError } = await callTool(name, input, { roots, buildOptions, signal: abort.signal });
      if (isError) throw new Error(text);
      return new vscode.LanguageModelToolResult([new vscode.LanguageModelTextPart(text)]);
    } finally {
      cancelled.dispose();
    }
  },
});

/** What the settings say of every build. */
function optionsOfBuilds(): string[] {
  if (!mayRun()) throw new Error(untrustedMessage());
  const { pythonPath, trtexecPath, polygraphyPath, backend, launcher } = readSettings();
  if (launcher !== '')
    throw new Error(
      'The setting tensorrtLens.build.launcher sends builds to another machine, which this tool cannot do. Ask the user to build there and pass the build.',
    );
  const options = { python: pythonPath, trtexec: trtexecPath, polygraphy: polygraphyPath, backend };
  return Object.entries(options).flatMap(([option, value]) => (value === '' ? [] : [`--${option}=${value}`]));
}
