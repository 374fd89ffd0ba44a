import { expect, it } from 'vitest';
import { withCommands } from '../../../src/cli/commandHints.ts';
import { driverCommand } from '../../../src/core/build/buildCommand.ts';
import { RULES } from '../../../src/core/diagnose/internal/ruleTable.ts';

it('adds the command that does what a message advises', () => {
  const files = { model: 'm', engine: 'e', precisions: 'p' };
  const { notes } = driverCommand({ model: 'm', precision: 'fp16' }, files, { product: 'tensorrt-rtx' });
  expect(withCommands(notes[0]!.message)).toMatch(/typed copy of the model\. \(trtlens precision apply\)$/);
  const { advice } = RULES.find(({ id }) => id === 'replay-tactic')!;
  expect(withCommands(advice as string)).toContain('(trtlens replay check)');
  expect(withCommands('Nothing to add.')).toBe('Nothing to add.');
});
