import { checkOutput } from '../../builder/files/checkOutput.ts';
import { ParsedFiles } from '../../builder/files/parsedFiles.ts';
import { writeWhole } from '../../builder/files/writeWhole.ts';
import { readBuildSide } from '../../builder/store/buildSide.ts';
import { withWeights } from '../../builder/store/weightDigests.ts';
import { toComparison } from '../../builder/store/comparison.ts';
import { diffReports } from '../../core/diff/diffReports.ts';
import { diffMarkdown, diffText } from '../../core/diff/output/diffText.ts';
import { readArguments } from '../arguments.ts';
import { type Command, exitCodes } from '../command.ts';
import { writeReport } from '../report.ts';
import { printJson } from '../terminal.ts';

const options = {
  onnx: { type: 'string' },
  'onnx-b': { type: 'string' },
  markdown: { type: 'string' },
  html: { type: 'string' },
  json: { type: 'boolean' },
} as const;

export const diff: Command = {
  help: `trtlens diff A B [--onnx MODEL.onnx] [--onnx-b OTHER.onnx] [--json] [--markdown FILE] [--html FILE]

Compares two builds. A and B are build folders, or reports by 'trtlens fusion --json', of any versions, GPUs and
precisions, also of two exports of a model. What is unknown on one side is not comparable, never a change.

  --onnx FILE      model of A (default: the one in its build folder's manifest)
  --onnx-b FILE    model of B (default: the same from its folder; for a report, the model of A)
  --markdown FILE  also write the result as Markdown, for a pull request
  --html FILE      also write one self-contained page: the changes ranked by what they cost, both timelines, the graph of B
                   with the changes on it, and a table; only the page's data if the name ends in .json
  --json           the whole result as one JSON document

Exit status 0 whether or not anything changed. To fail on changes, use 'trtlens gate'.
`,
  run: async (args, terminal) => {
    const { values, positionals } = readArguments(args, options, ['A', 'B']);
    const [a, b] = positionals as [string, string];
    const onnxB = values['onnx-b'] ?? values.onnx;
    // A model that both have in common is read once.
    const files = new ParsedFiles();
    const sides = await withWeights(await readBuildSide(a, values.onnx, files), await readBuildSide(b, onnxB, files));
    const result = diffReports(...sides);
    if (values.markdown !== undefined) {
      await checkOutput(values.markdown, [a, b, values.onnx, onnxB]);
      await writeWhole(values.markdown, diffMarkdown(result));
    }
    if (values.html !== undefined) {
      await checkOutput(values.html, [a, b, values.onnx, onnxB]);
      await writeReport(values.html, toComparison(...sides));
    }
    if (values.json) await printJson(terminal, result);
    else await terminal.out(diffText(result));
    return exitCodes.done;
  },
};
