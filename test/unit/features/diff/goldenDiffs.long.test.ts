import { expect, test, beforeAll, describe } from 'vitest';
import {
  markedTensors,
  nodesToMatch,
  type BuildDiff,
  type DiffInput,
} from '../../../../src/kernel/report/buildDiff.ts';
import { diffDocument, diffReports } from '../../../../src/features/diff/diffReports.ts';
import { renderText } from '../../../../src/kernel/document/render.ts';
import { expectGoldenText } from '../../../support/golden.ts';
import { readSchema, schemaViolations, withoutOtherFields } from '../../../support/jsonSchema.ts';
import { inputOf, reportOf, captures, metaOf } from '../../kernel/fusion/loadCapture.ts';

async function side(source: string) {
  const [report, input] = [await reportOf(source), await inputOf(source)];
  expect(report && input, source).toBeTruthy();
  return {
    source,
    report: report!,
    network: nodesToMatch(input!.model),
    marked: markedTensors(input!.model, input!.log?.bindings ?? []),
  };
}

test.each([
  // FP16 merges attention and GELU into one kernel each, saves a reformat, and the last Gemm shares a kernel with a Cast.
  ['vit_tiny-fp32-fp16', 'tensorrt-10.6.0/vit_tiny.fp32', 'tensorrt-10.6.0/vit_tiny.fp16'],
  // 8.6 does not list kernels: the ForeignNodes are compared as a whole, and kernels are no change.
  ['vit_tiny-8.6-10.6', 'tensorrt-8.6.1/vit_tiny.fp16', 'tensorrt-10.6.0/vit_tiny.fp16'],
  // Layer names alone do not say what a kernel computes: no kernel and no format is called changed.
  ['vit_tiny-names-only', 'tensorrt-10.6.0/vit_tiny.names_only', 'tensorrt-10.6.0/vit_tiny.fp16'],
  // Two files: the Q/DQ nodes are only in B, and keep the Add behind each second Conv in a layer of its own. The build of B
  // failed after the fusions, so its layers are those of the plan and three nodes are unknown.
  ['resnet18-qdq', 'tensorrt-10.6.0/resnet18.fp32', 'tensorrt-10.6.0/resnet18_qdq.fp32'],
  // FP32 rules on two Softmax and a LayerNormalization: nodes around the norm move, the attentions stay fused as they were.
  ['vit_tiny-rules', 'tensorrt-10.6.0/vit_tiny.fp16', 'tensorrt-10.6.0/vit_tiny.prec_obey'],
  // Three tensors became outputs: only what they cross is split.
  ['fusion_zoo-outputs', 'tensorrt-rtx-1.7.1/fusion_zoo', 'tensorrt-rtx-1.7.1/fusion_zoo_mark3'],
  // Every tensor became an output: most fusions dissolve, but TensorRT-RTX still computes several nodes in some kernels.
  ['fusion_zoo-unfused', 'tensorrt-rtx-1.7.1/fusion_zoo', 'tensorrt-rtx-1.7.1/fusion_zoo_markall'],
  // Another product: TensorRT-RTX compiles ahead of time, with other kernels around the same ForeignNode.
  ['resnet18-10.6-rtx', 'tensorrt-10.6.0/resnet18.fp32', 'tensorrt-rtx-1.7.1/resnet18'],
])('%s', async (name, a, b) => {
  const diff = diffReports(await side(a), await side(b));
  expect(schemaViolations(diff, withoutOtherFields(readSchema('diff')))).toEqual([]);
  expectGoldenText(`diff/${name}.txt`, renderText(diffDocument(diff), { most: 60 }));
});

const sides: DiffInput[] = [];
beforeAll(async () => {
  for (const source of captures()) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other: each is large while it is read
    const [report, input] = [await reportOf(source), await inputOf(source)];
    if (report && input) sides.push({ source, report, network: nodesToMatch(input.model) });
  }
});

/** Both ways, a third of the captures of the same model: many differ in an option of the build only. */
const pairs = () =>
  sides.flatMap((a, i) =>
    sides
      .filter((b, j) => (i + j) % 3 === 0 && metaOf(a.source).model === metaOf(b.source).model)
      .map((b) => [a, b] as const),
  );

/** By both captures: each of hundreds of comparisons is made once for all tests. */
const compared = new Map<string, Pick<BuildDiff, 'totals' | 'time'>>();
function compare(a: DiffInput, b: DiffInput): Pick<BuildDiff, 'totals' | 'time'> {
  const key = `${a.source} ${b.source}`;
  const known = compared.get(key);
  if (known) return known;
  const { totals, time } = diffReports(a, b);
  compared.set(key, { totals, time });
  return { totals, time };
}

describe('over every capture', () => {
  test('a build compared with itself has no change', () => {
    expect(sides.length).toBeGreaterThan(100);
    for (const side of sides) {
      const { changes, matched, totals } = diffReports(side, side);
      expect({ source: side.source, changes, only: [...matched.onlyA, ...matched.onlyB] }).toEqual({
        source: side.source,
        changes: [],
        only: [],
      });
      expect(totals.states.same + totals.states.notComparable).toBe(side.report.nodes.length);
    }
  });

  test('each node is in exactly one state, and all time that differs is attributed', () => {
    for (const [a, b] of pairs()) {
      const { totals, time } = compare(a, b);
      const counted = Object.values(totals.states).reduce((sum, count) => sum + count, 0);
      expect(counted, `${a.source} ${b.source}`).toBe(a.report.nodes.length + totals.states.onlyB);
      if (time.attributedMs !== null) expect(time.attributedMs + time.noiseMs!).toBeCloseTo(time.bMs! - time.aMs!, 4);
    }
  });

  test('the reverse comparison has the reverse states', () => {
    for (const [a, b] of pairs()) {
      const [one, other] = [compare(a, b).totals.states, compare(b, a).totals.states];
      expect(
        {
          split: other.split,
          merged: other.merged,
          moved: other.moved,
          // What only the other build lost is computed there again.
          folded: other.folded + other.lost,
          computed: other.computed,
        },
        `${a.source} ${b.source}`,
      ).toEqual({
        split: one.merged,
        merged: one.split,
        moved: one.moved,
        folded: one.computed,
        computed: one.folded + one.lost,
      });
    }
  });

  test('without edges the same model gives the same comparison', () => {
    for (const [a, b] of pairs().filter((_, index) => index % 7 === 0)) {
      const names = diffReports({ ...a, network: undefined }, { ...b, network: undefined });
      expect(names.changes, `${a.source} ${b.source}`).toEqual(diffReports(a, b).changes);
    }
  });
});
