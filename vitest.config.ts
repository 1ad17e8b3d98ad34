import { defineConfig } from 'vitest/config'

/**
 * One Postgres and one ClickHouse engine serve the whole run (test/support/globalSetup.ts); two forks because the
 * reference machine has two cores.
 */
export default defineConfig({
  test: {
    globalSetup: ['test/support/globalSetup.ts'],
    setupFiles: ['test/support/seed.ts'],
    include: ['**/*.test.ts'],
    exclude: ['node_modules/**', '**/*.long.test.ts', '.millrace/**'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
})
