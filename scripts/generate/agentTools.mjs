// package.json and docs/reference/agent-tools.md: the tools for agents, from the table that `trtlens mcp` serves.
import { loadSource } from './loadSource.mjs';
import { table } from './markdown.mjs';

/** @type {import('../generate.mjs').Producer} */
export async function agentToolsManifest(read) {
  const { agentTools, inputSchema } = await loadSource('src/shell/cli/agents/agentTools.ts');
  const { agentToolPrefix } = await loadSource('src/kernel/vscode/ids.ts');
  const manifest = JSON.parse(read('package.json'));
  manifest.contributes.languageModelTools = Object.entries(agentTools).map(([name, tool]) => ({
    name: agentToolPrefix + name,
    displayName: tool.title,
    toolReferenceName: `tensorrt_${name}`,
    canBeReferencedInPrompt: true,
    modelDescription: tool.description,
    userDescription: tool.title,
    tags: ['tensorrt', 'onnx'],
    ...(tool.builds && { when: 'isWorkspaceTrusted' }),
    inputSchema: inputSchema(tool),
  }));
  return [
    { file: 'package.json', content: `${JSON.stringify(manifest, null, 2)}\n` },
    {
      file: 'docs/reference/agent-tools.md',
      content: `# Tools for agents\n\nWhat \`trtlens mcp\` and the extension offer to [agents](../agents.md).\n\n${toolTable(agentTools)}\n`,
    },
  ];
}

const toolTable = (tools) =>
  table(
    ['tool', 'what it answers', 'arguments'],
    Object.entries(tools).map(([name, { description, parameters }]) => [
      `\`${name}\``,
      description,
      argumentsOf(parameters),
    ]),
  );

const argumentsOf = (parameters) =>
  Object.entries(parameters)
    .map(([name, { required }]) => `\`${name}\`${required ? '' : ' (optional)'}`)
    .join(', ');
