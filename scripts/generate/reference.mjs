// docs/reference: a page for each command from its help, and an index with the topics of the help.
import { loadSource } from './loadSource.mjs';
import { table } from './markdown.mjs';

/** Other pages of the folder, and what each lists. */
const others = {
  'build-options.md': 'options of a build, on the command line, in tasks and in matrix files',
  'settings.md': 'settings of the extension',
  'commands.md': 'commands of the extension',
  'fusion-report.md': 'fields of the JSON of `trtlens show`',
  'build-manifest.md': 'fields of `manifest.json` in a build folder',
  'repairs.md': 'repairs of models, each with its proof',
  'agent-tools.md': 'tools for agents',
  'benchmarks.md': 'measured times, memory and errors',
};

/** @type {import('../generate.mjs').Producer} */
export async function referencePages() {
  const { commandModules, commandTable } = await loadSource('src/shell/cli/commandTable.ts');
  const { helpTopics } = await loadSource('src/shell/cli/helpTopics.ts');
  const commands = await Promise.all(
    Object.entries(commandTable)
      // Names of the release before need no page: each says its new one.
      .filter(([, { replacedBy }]) => replacedBy === undefined)
      .map(async ([name, row]) => ({
        name,
        ...row,
        helps: await Promise.all(row.parts.map(async (part) => (await commandModules[part]()).help)),
      })),
  );
  const pages = commands.map(({ name, summary, helps }) => ({
    file: `docs/reference/trtlens/${name}.md`,
    content: `# trtlens ${name}\n\n${sentence(summary)}\n\n${helps.map(text).join('\n')}`,
  }));
  const topics = Object.entries(helpTopics).map(
    ([name, { summary, text: body }]) =>
      `## ${name === 'exit' ? 'Exit statuses' : sentence(name).slice(0, -1)}\n\n${sentence(summary)}\n\n${text(body)}`,
  );
  const index = `# Reference

Generated from the sources by \`npm run generate\`. \`trtlens help COMMAND\` and \`trtlens help TOPIC\` print the same.

${table(
  ['command', 'what it does'],
  commands.map(({ name, summary }) => [`[${name}](trtlens/${name}.md)`, summary]),
)}

${table(
  ['page', 'what it lists'],
  Object.entries(others).map(([file, what]) => [`[${file}](${file})`, what]),
)}

${topics.join('\n')}`;
  return [...pages, { file: 'docs/reference/README.md', content: index }];
}

const sentence = (words) => `${words[0].toUpperCase()}${words.slice(1)}.`;

/** As a terminal shows it. */
const text = (body) => `\`\`\`text\n${body.trim()}\n\`\`\`\n`;
