// package.json and docs/agents.md: the tools for agents, from the table that `trtlens mcp` serves.
import { loadSource } from './loadSource.mjs';
import { replacePart } from './replacePart.mjs';

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
  const page = 'docs/agents.md';
  return [
    { file: 'package.json', content: `${JSON.stringify(manifest, null, 2)}\n` },
    { file: page, content: replacePart(read(page), 'tools', table(agentTools)) },
  ];
}

const table = (tools) =>
  [
    '| tool | what it answers | arguments |',
    '| --- | --- | --- |',
    ...Object.entries(tools).map(
      ([name, { description, parameters }]) => `| \`${name}\` | ${description} | ${argumentsOf(parameters)} |`,
    ),
  ].join('\n');

const argumentsOf = (parameters) =>
  Object.entries(parameters)
    .map(([name, { required }]) => `\`${name}\`${required ? '' : ' (optional)'}`)
    .join(', ');
