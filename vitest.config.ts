import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

// As the program does it (main.ts): test files and the processes they start share what was compiled
// before.
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, 'node_modules/.cache/millrace')

/**
 * One Postgres and one ClickHouse engine serve the whole run (test/support/globalSetup.ts); two
 * forks because the reference machine has two cores. Limits are for what never comes, on a machine
 * several times slower than ours: a test that passes waits for none of them.
 */
export default defineConfig({
  test: {
    globalSetup: ['test/support/globalSetup.ts'],
    setupFiles: ['test/support/seed.ts'],
    include: ['**/*.test.ts'],
    exclude: ['node_modules/**', '**/*.{full,long}.test.ts', 'test/extra/**', '.millrace/**'],
    pool: 'forks',
    maxWorkers: 2,
    provide: { breadth: 'few' },
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 120_000, interval: 50 } },
  },
})
