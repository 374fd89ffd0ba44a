// What is derived from the catalogue of repairs: the tables in docs/repair.md.
import { loadSource } from './loadSource.mjs';
import { replacePart } from './replacePart.mjs';

/** @type {import('../generate.mjs').Producer} */
export async function repairPage(read) {
  const { catalogue } = await loadSource('src/features/repair/planRepair.ts');
  const rows = catalogue.map(({ id, class: kind, title, rejected, proof, versions, issues }) => {
    const links = issues.map((issue) => `[${issue}](https://github.com/${issue.replace('#', '/issues/')})`).join(', ');
    return [`\`${id}\``, kind, `${title}. ${proof}`, rejected, versions, links].map(cell).join(' | ');
  });
  const head = ['repair', 'class', 'what it does', 'what is rejected', 'needed for', 'issues'];
  const table = [head.join(' | '), head.map(() => '---').join(' | '), ...rows].map((row) => `| ${row} |`).join('\n');
  return [{ file: 'docs/repair.md', content: replacePart(read('docs/repair.md'), 'repairs', table) }];
}

const cell = (text) => text.replaceAll('|', '\\|');
