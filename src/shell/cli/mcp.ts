import { resolve } from 'node:path';
import { stat } from 'node:fs/promises';
import { Server } from '@modelcontextprotocol/server';
// oxlint-disable-next-line no-restricted-imports -- a package, not src/server
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { UserError } from '../../kernel/node/files/userError.ts';
import { sizeText } from '../../kernel/base/text.ts';
import { agentTools, inputSchema } from './agents/agentTools.ts';
import { callTool } from './agents/callTool.ts';
import { readArguments } from '../../kernel/node/cli/arguments.ts';
import { type Command, exitCodes, docsUrl } from '../../kernel/node/cli/command.ts';
import { version } from '../../kernel/node/cli/version.ts';

const instructions =
  'TensorRT Lens explains what TensorRT did with an ONNX model. Each statement names its evidence; "derived" is a conclusion, "exact" is what TensorRT says. Begin with summary for a build that passed and with diagnose for one that failed.';

const options = { root: { type: 'string', multiple: true } } as const;

export const mcp: Command = {
  help: `trtlens mcp [--root FOLDER]…

Serves tools for agents (${docsUrl}/agents.md) with the Model Context Protocol on standard input and output: ${Object.keys(agentTools).join(', ')}. Answers have less than 1,000 characters. Nothing is written into your files.

  --root FOLDER  a folder that may be read, with what is in it; may be repeated (default: the current folder).
                 Links that lead out of it are refused
`,
  keepsLittle: true,
  options,
  run: async (args, { signal }) => {
    const { values } = readArguments(args, options);
    const roots = (values.root ?? ['.']).map((root) => resolve(root));
    for (const root of roots)
      // oxlint-disable-next-line no-await-in-loop -- a handful of folders
      if (
        !(await stat(root).then(
          (found) => found.isDirectory(),
          () => false,
        ))
      )
        throw new UserError(`--root: ${root} is not a folder`);
    await serve(roots, signal);
    return exitCodes.done;
  },
};

/** Resolves when the client closes the connection, or on Ctrl-C. */
async function serve(roots: readonly string[], ended: AbortSignal): Promise<void> {
  const transport = new StdioServerTransport();
  const closed = new Promise<void>((resolved) => {
    for (const event of ['end', 'close'] as const) process.stdin.once(event, resolved);
    ended.addEventListener('abort', () => resolved(), { once: true });
  });
  let handle: ReturnType<typeof serveStdio> | undefined;
  // The transport closes after a message that is too large, and nothing else would keep the process running.
  const failed = new Promise<never>((_, reject) => {
    const onerror = ({ message }: Error): void => {
      const [, most] = /exceeded maximum size of (\d+) bytes/.exec(message) ?? [];
      if (most !== undefined)
        reject(new UserError(`a message is larger than ${sizeText(Number(most))}. Send less in one message`));
    };
    handle = serveStdio(() => makeServer(roots, ended), { transport, onerror });
  });
  try {
    await Promise.race([closed, failed]);
  } finally {
    await handle?.close();
  }
}

function makeServer(roots: readonly string[], ended: AbortSignal): Server {
  const server = new Server({ name: 'tensorrt-lens', version }, { capabilities: { tools: {} }, instructions });
  server.setRequestHandler('tools/list', () => ({
    tools: Object.entries(agentTools).map(([name, tool]) => ({
      name,
      title: tool.title,
      description: tool.description,
      inputSchema: inputSchema(tool),
      // A build takes minutes and fills caches, but changes nothing of the user's.
      annotations: { readOnlyHint: !tool.builds, destructiveHint: false, openWorldHint: false },
    })),
  }));
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
    const signal = AbortSignal.any([mcpReq.signal, ended]);
    const { text, isError } = await callTool(params.name, params.arguments ?? {}, { roots, signal });
    return { content: [{ type: 'text', text }], isError };
  });
  return server;
}
