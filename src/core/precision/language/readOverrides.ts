import type { Directive, OverrideFile } from './overrideFile.ts';
import { problemAt, removeLine } from './precisionProblem.ts';
import { readOverrideLine } from './readOverrideLine.ts';

/**
 * Reads an override file. Never throws: a line that cannot be read is an error with its range, and the others count.
 * Rules on lines that stand as they stood in `before` are the very same objects, so that a keystroke costs one line here
 * and in everything that is remembered by rule.
 */
export function readOverrides(text: string, before: OverrideFile | null = null): OverrideFile {
  const file: OverrideFile = {
    lines: [],
    rules: [],
    model: null,
    base: null,
    require: null,
    scales: null,
    problems: [],
  };
  const lines = text.split(/\r\n|\n|\r/);
  for (const [index, content] of lines.entries()) {
    const old = before?.lines[index];
    // A directive's use depends on other lines.
    const kept = old?.text === content && old.statement?.kind !== 'directive';
    const line = kept ? old : readOverrideLine(content, index + 1);
    file.lines.push(line);
    for (const problem of line.problems) file.problems.push(problem);
    if (line.statement?.kind === 'rule') file.rules.push(line.statement);
    if (line.statement?.kind === 'directive') placeDirective(file, line.statement);
  }
  return file;
}

function placeDirective(file: OverrideFile, directive: Directive): void {
  const earlier = file[directive.name];
  if (earlier === null || (!earlier.usable && directive.usable)) {
    file[directive.name] = directive;
    return;
  }
  const problem = problemAt(
    directive.range,
    'error',
    'duplicate-directive',
    `Line ${earlier.range.line} already sets "${directive.name}", and only that one applies. Keep one of them.`,
    [{ title: 'Remove this line', edits: [removeLine(directive.range.line)], preferred: true }],
  );
  problem.related.push({ range: earlier.range, message: `first "${directive.name}" line` });
  directive.usable = false;
  file.problems.push(problem);
}
