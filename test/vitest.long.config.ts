import { defineConfig } from 'vitest/config'

/** Suites that take minutes: crash matrices, soak runs, large seeds. */
export default defineConfig({
  test: {
    globalSetup: ['test/support/globalSetup.ts'],
    setupFiles: ['test/support/seed.ts'],
    include: ['**/*.long.test.ts'],
    exclude: ['node_modules/**', 'test/extra/**', '.millrace/**'],
    pool: 'forks',
    maxWorkers: 1,
    provide: { breadth: 'long' },
    testTimeout: 1_800_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 120_000, interval: 50 } },
  },
})
