// What is derived from the catalogue of repairs: docs/reference/repairs.md.
import { loadSource } from './loadSource.mjs';
import { table } from './markdown.mjs';

/** @type {import('../generate.mjs').Producer} */
export async function repairPage() {
  const { catalogue } = await loadSource('src/features/repair/planRepair.ts');
  const rows = catalogue.map(({ id, class: kind, title, rejected, proof, versions, issues }) => {
    const links = issues.map((issue) => `[${issue}](https://github.com/${issue.replace('#', '/issues/')})`).join(', ');
    return [`\`${id}\``, kind, `${title}. ${proof}`, rejected, versions, links];
  });
  const head = ['repair', 'class', 'what it does', 'what is rejected', 'needed for', 'issues'];
  const intro =
    'What `trtlens repair` does to a model that [TensorRT rejects or computes wrong](../build-failed.md#make-the-model-build).';
  return [{ file: 'docs/reference/repairs.md', content: `# Repairs\n\n${intro}\n\n${table(head, rows)}\n` }];
}
