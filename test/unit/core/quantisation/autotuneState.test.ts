import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { autotunePage } from '../../../../src/core/quantisation/autotunePage.ts';
import { autotuneText, readAutotuneState } from '../../../../src/core/quantisation/autotuneState.ts';

/** As ModelOpt's guide documents it, with what it writes for placements that were not measured. */
const state = `baseline_latency_ms: 12.5
current_profile_pattern_schemes_signature: ghi789
config:
  default_quant_type: int8
patterns:
  - pattern_signature: abc123
    schemes:
      - { insertion_points: [], latency_ms: 12.4 }
      - { insertion_points: [{ node_index: 2, input_index: 0 }], latency_ms: 9.8 }
    best_scheme_index: 1
  - pattern_signature: def456
    schemes:
      - { insertion_points: [], latency_ms: .inf }
    best_scheme_index: 0
  - pattern_signature: ghi789
    schemes: []
    best_scheme_index: null
`;

test('the state of ModelOpt’s autotune: what was tried and chosen', () => {
  const read = readAutotuneState(parse(state))!;
  expect(read).toEqual({
    baselineMs: 12.5,
    interrupted: 'ghi789',
    patterns: [
      { signature: 'abc123', schemes: 2, best: { index: 1, latencyMs: 9.8 } },
      { signature: 'def456', schemes: 1, best: { index: 0, latencyMs: null } },
      { signature: 'ghi789', schemes: 0, best: null },
    ],
  });
  expect(autotuneText(read).split('\n').slice(0, 6)).toEqual([
    'Without Q/DQ nodes: 12.5 ms',
    '3 patterns, 3 placements of Q/DQ nodes tried',
    'abc123: 2 placements, number 1 chosen, 9.80 ms',
    'def456: 1 placement, number 0 chosen',
    'ghi789: 0 placements, none chosen',
    'Interrupted at ghi789: run autotune again to continue.',
  ]);
});

test('the page has the same, and nothing of the file as HTML', () => {
  const html = autotunePage(readAutotuneState(parse(state.replace('abc123', '"<b>&"')))!);
  expect(html).toContain('<p>Without Q/DQ nodes: 12.5 ms</p>');
  expect(html).toContain(
    '<tr><td>&#60;b&#62;&#38;</td><td class="n">2</td><td class="n">1</td><td class="n">9.80 ms</td></tr>',
  );
  expect(html).toContain('<tr><td>ghi789</td><td class="n">0</td><td class="n">none</td><td class="n"></td></tr>');
  expect(html).toContain('<p>Interrupted at ghi789: run autotune again to continue.</p>');
});

test.each([[null], [[]], ['text'], [{ patterns: {} }], [{ patterns: [] }], [{ baseline_latency_ms: 1 }]])(
  '%j is something else',
  (content) => {
    expect(readAutotuneState(content)).toBeNull();
  },
);

test('damaged entries do not stop the reader', () => {
  const read = readAutotuneState({
    baseline_latency_ms: -1,
    patterns: [1, { best_scheme_index: 7, schemes: [{}] }, { schemes: 'x' }],
  });
  expect(read).toEqual({
    baselineMs: null,
    interrupted: null,
    patterns: [
      { signature: '', schemes: 1, best: null },
      { signature: '', schemes: 0, best: null },
    ],
  });
});
