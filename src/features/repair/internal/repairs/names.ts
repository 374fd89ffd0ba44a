import type { OnnxNode } from '../../../../kernel/read/onnx/onnxModel.ts';
import type { RepairDraft } from '../draft.ts';
import type { Repair } from '../repair.ts';

/** TensorRT takes names of up to 4,096 bytes, and adds to some. */
const longest = 3900;

export const shortenNames: Repair = {
  id: 'shorten-names',
  title: 'Shorten names of nodes and inner tensors over 3,900 bytes',
  class: 'exact',
  rejected: 'A name of more than 4,096 characters.',
  proof: 'Names of nodes and inner tensors have no influence on results.',
  versions: 'all',
  issues: [],
  answers: /name.*(?:exceed|too long|longer|length)|4096/i,
  apply: (draft) => {
    /** By node that changes: its name then. */
    const changed = new Map<OnnxNode, string>();
    for (const node of draft.rest) {
      for (const [index, output] of node.outputs.entries()) {
        if (!isLong(output) || draft.subject.isOutput(node, output)) continue;
        const short = cut(draft, output);
        draft.nameOutput(node, index, short);
        draft.rewireReaders(node, output, short);
        for (const one of [node, ...draft.subject.readers(node, output)]) changed.set(one, one.name);
      }
    }
    for (const node of draft.rest) {
      if (!isLong(node.name)) continue;
      const short = cut(draft, node.name);
      draft.rename(node, short);
      changed.set(node, short);
    }
    for (const [node, name] of changed) draft.place(node, [name]);
  },
};

// A character takes up to four bytes.
const isLong = (name: string): boolean => name.length * 4 > longest;
const cut = (draft: RepairDraft, name: string): string => draft.fresh(`${name.slice(0, 64)}_cut`);

export const uniqueNames: Repair = {
  id: 'unique-names',
  title: 'Give nodes of the same name names of their own',
  class: 'exact',
  rejected: 'Several nodes with the same name, where TensorRT looks up one by its name.',
  proof: 'Names of nodes have no influence on results.',
  versions: 'all',
  issues: [],
  answers: /(?:same|duplicate|repeated) (?:layer )?name|names? (?:is|are) not unique/i,
  apply: (draft) => {
    const seen = new Set<string>();
    for (const node of draft.rest) {
      if (node.name === '') continue;
      if (seen.has(node.name)) {
        const other = draft.fresh(`${node.name}_copy`);
        draft.rename(node, other);
        draft.place(node, [other]);
      }
      seen.add(node.name);
    }
  },
};

export const nameOutputs: Repair = {
  id: 'name-outputs',
  title: 'Name the outputs that a node leaves out',
  class: 'exact',
  rejected: 'Split, TopK or Dropout with an output that has no name.',
  proof: 'What the new names stand for is read by nothing.',
  versions: 'TensorRT 8.6 to 11.2, TensorRT-RTX 1.7',
  issues: [],
  operators: ['Split', 'TopK', 'Dropout'],
  apply: (draft) => {
    for (const node of draft.nodes('Split', 'TopK', 'Dropout')) {
      const missing = node.outputs.flatMap((name, index) => (name === '' ? [index] : []));
      for (const index of missing) draft.nameOutput(node, index, unused(draft.fresh.bind(draft), node));
      if (missing.length > 0) draft.place(node);
    }
  },
};

const unused = (fresh: (base: string) => string, { name, op }: OnnxNode): string => fresh(`${name || op}/unused`);
