import { defineConfig } from 'vitest/config';

const project = (name: string, options: object = {}) => ({
  extends: true as const,
  test: { name, include: [`test/${name}/**/*.test.ts`], ...options },
});

/** Fast ones first: `unit` and `rules` need nothing but Node; the others need what their folder's README says. */
export default defineConfig({
  test: {
    projects: [
      project('unit', { testTimeout: 60_000 }),
      project('rules', { testTimeout: 60_000 }),
      project('webview', { testTimeout: 60_000, hookTimeout: 60_000, fileParallelism: false }),
      project('driver', { testTimeout: 120_000, hookTimeout: 300_000, fileParallelism: false }),
      project('real', { testTimeout: 300_000, hookTimeout: 300_000, fileParallelism: false }),
    ],
  },
});
