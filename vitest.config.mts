import { basename } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take minutes. Begun last, one of them would run alone at the end, with a core idle. */
const longest = [
  'repair',
  'precisionOnnx',
  'accuracyOracle',
  'sameCounts',
  'captureReports',
  'membershipAccuracy',
  'orphans',
  'start',
  'build',
  'reduce',
  'precisionBuild',
  'matrix',
  'diagnoseLog',
];

/** The longest files first, then as vitest has them: the largest first. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const at = longest.indexOf(basename(moduleId).replace(/\..*/, ''));
      return at < 0 ? longest.length : at;
    };
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
  }
}

const project = (name: string, options: object = {}) => ({
  extends: true as const,
  test: { name, include: [`test/${name}/**/*.test.ts`], ...options },
});

const setupFiles = ['test/support/registerSteps.ts', 'test/support/randomCases.ts'];

/**
 * Fast ones first: `unit` and `rules` need nothing but Node; for the others see CONTRIBUTING.md. Without isolation, a
 * process runs many files: modules are loaded once, and what a file reads of the captures serves the files after it, which
 * halves the time. A file must therefore leave environment, current folder and globals as they were.
 */
// oxlint-disable-next-line no-default-export -- Vitest asks for one
export default defineConfig({
  test: {
    maxWorkers: '100%',
    sequence: { sequencer: LongestFirst },
    // How long a machine takes is no matter of a test that only waits; its own time limit remains.
    expect: { poll: { timeout: 60_000 } },
    // Nor of a hook, which prepares what a file's tests need.
    hookTimeout: 600_000,
    projects: [
      project('unit', { testTimeout: 60_000, setupFiles, isolate: false, exclude: ['**/*.long.test.ts'] }),
      // Whole captures, random cases by the thousand, whole processes: the same modules, but minutes.
      project('long', {
        testTimeout: 120_000,
        setupFiles,
        globalSetup: 'test/support/buildCli.ts',
        isolate: false,
        include: ['test/unit/**/*.long.test.ts'],
      }),
      project('rules', { testTimeout: 60_000 }),
      project('webview', { testTimeout: 120_000, isolate: false }),
      project('driver', { testTimeout: 120_000, setupFiles, fileParallelism: false }),
      project('samples', { testTimeout: 300_000, setupFiles, isolate: false }),
      project('release', { testTimeout: 600_000 }),
      project('real', { testTimeout: 300_000, setupFiles, isolate: false }),
    ],
  },
});
