import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { renderHtml, renderText } from '../../../../src/core/document/render.ts';
import { autotuneDocument, readAutotuneState } from '../../../../src/core/quantization/calibration.ts';

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
  expect(renderText(autotuneDocument(read)).split('\n').slice(1, 9)).toEqual([
    'Latency without Q/DQ nodes: 12.5 ms',
    'Patterns: 3',
    'Placements tried: 3',
    'pattern  placements tried    chosen  latency',
    'abc123                  2  number 1  9.80 ms',
    'def456                  1  number 0',
    'ghi789                  0      none',
    'Interrupted at ghi789: run autotune again to continue.',
  ]);
});

test('the page has the same, and nothing of the file as HTML', () => {
  const html = renderHtml(autotuneDocument(readAutotuneState(parse(state.replace('abc123', '"<b>&"')))!));
  expect(html).toContain('<dt>Latency without Q/DQ nodes</dt><dd>12.5 ms</dd>');
  expect(html).toContain(
    '<tr><th scope="row">&#60;b&#62;&#38;</th><td class="n">2</td><td class="n">number 1</td><td class="n">9.80 ms</td></tr>',
  );
  expect(html).toContain('<p class="note">Interrupted at ghi789: run autotune again to continue.</p>');
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
