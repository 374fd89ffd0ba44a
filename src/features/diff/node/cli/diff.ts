import { checkEachOutput, writeResult } from '../../../../kernel/node/files/writeResult.ts';
import { ParsedFiles } from '../../../../kernel/node/files/parsedFiles.ts';
import { readBuildSide } from '../../../../kernel/node/store/buildSide.ts';
import { withWeights } from '../weightDigests.ts';
import { toComparison } from '../toComparison.ts';
import { diffDocument, diffReports } from '../../diffReports.ts';
import { renderMarkdown, renderText } from '../../../../kernel/document/render.ts';
import { forceOption, readArguments, wholeNumber } from '../../../../kernel/node/cli/arguments.ts';
import { type Command, exitCodes } from '../../../../kernel/node/cli/command.ts';
import { pageKind, writeReport } from '../../../../kernel/node/cli/report.ts';
import { printJson } from '../../../../kernel/node/cli/terminal.ts';

const options = {
  onnx: { type: 'string' },
  'onnx-b': { type: 'string' },
  'optimization-profile': { type: 'string' },
  markdown: { type: 'string' },
  html: { type: 'string' },
  ...forceOption,
  json: { type: 'boolean' },
} as const;

/** The changes that matter fit on a few screens. */
export const diffLength = { most: 30, moreHint: '--json lists all' };

export const diff: Command = {
  help: `trtlens diff A B [--onnx MODEL.onnx] [--onnx-b OTHER.onnx] [--optimization-profile N] [--json] [--markdown FILE] [--html FILE]

Compares two builds. A and B are build folders, or reports by 'trtlens show --json', of any versions, GPUs and
precisions, also of two exports of a model. What is unknown on one side is not comparable, never a change.

  --onnx FILE      model of A (default: the one in its build folder's manifest)
  --onnx-b FILE    model of B (default: the same from its folder; for a report, the model of A)
  --optimization-profile N  the profile of both engines that is compared, from 0; default: 0
  --markdown FILE  also write the result as Markdown, for a pull request
  --html FILE      also write one self-contained page: the changes ranked by what they cost, both timelines, the graph of B
                   with the changes on it, and a table; only the page's data if the name ends in .json
  --force          overwrite files that trtlens did not write
  --json           the whole result as one JSON document

Exit status 0 whether or not anything changed. To fail on changes, use 'trtlens gate'.
`,
  options,
  run: async (args, terminal) => {
    const { values, positionals } = readArguments(args, options, ['A', 'B']);
    const [a, b] = positionals as [string, string];
    const onnxB = values['onnx-b'] ?? values.onnx;
    await checkEachOutput(
      [
        [values.markdown, 'markdown'],
        [values.html, pageKind(values.html)],
      ],
      [a, b, values.onnx, onnxB],
    );
    // A model that both have in common is read once.
    const files = new ParsedFiles();
    const profile = wholeNumber('--optimization-profile', values['optimization-profile']);
    const sides = await withWeights(
      await readBuildSide(a, values.onnx, files, profile),
      await readBuildSide(b, onnxB, files, profile),
    );
    const result = diffReports(...sides);
    if (values.markdown !== undefined)
      await writeResult(values.markdown, renderMarkdown(diffDocument(result), { most: 20 }), 'markdown');
    if (values.html !== undefined) await writeReport(values.html, toComparison(...sides));
    if (values.json) await printJson(terminal, result);
    else await terminal.out(renderText(diffDocument(result), diffLength));
    return exitCodes.done;
  },
};
