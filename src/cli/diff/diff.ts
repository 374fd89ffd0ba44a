import { checkOutput } from '../../builder/files/checkOutput.ts';
import { writeWhole } from '../../builder/files/writeWhole.ts';
import { readBuildSide } from '../../builder/store/buildSide.ts';
import { diffReports } from '../../core/diff/diffReports.ts';
import { diffMarkdown, diffText } from '../../core/diff/output/diffText.ts';
import { readArguments } from '../arguments.ts';
import { type Command, exitCodes } from '../command.ts';
import { printJson } from '../terminal.ts';

const options = {
  onnx: { type: 'string' },
  'onnx-b': { type: 'string' },
  markdown: { type: 'string' },
  json: { type: 'boolean' },
} as const;

export const diff: Command = {
  name: 'diff',
  summary: 'what changed between two builds, node by node',
  help: `trtlens diff A B [--onnx MODEL.onnx] [--onnx-b OTHER.onnx] [--json] [--markdown FILE]

Compares two builds. A and B are build folders, or reports that 'trtlens fusion --json' wrote: of any versions, GPUs and
precisions, and of two exports of a model. What one side cannot know is not comparable, never a change.

  --onnx FILE      model of A; by default where its build folder says it is
  --onnx-b FILE    model of B; by default as its build folder says, and for a report the model of A
  --markdown FILE  also write the result as Markdown, for a pull request
  --json           the whole result as one JSON document

Exit status 0, whether or not anything changed: 'trtlens gate' judges.
`,
  run: async (args, terminal) => {
    const { values, positionals } = readArguments(args, options, ['A', 'B']);
    const [a, b] = positionals as [string, string];
    const onnxB = values['onnx-b'] ?? values.onnx;
    const sides = await Promise.all([readBuildSide(a, values.onnx), readBuildSide(b, onnxB)]);
    const result = diffReports(...sides);
    if (values.markdown !== undefined) {
      await checkOutput(values.markdown, [a, b, values.onnx, onnxB]);
      await writeWhole(values.markdown, diffMarkdown(result));
    }
    if (values.json) await printJson(terminal, result);
    else await terminal.out(diffText(result));
    return exitCodes.done;
  },
};
