/** The common part of all runs of tests. */
import { join } from 'node:path'
import { memoryFolder } from './support/memoryFolder.ts'

// As the program does it (main.ts): test files and the processes they start share what was compiled
// before.
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, '../node_modules/.cache/millrace')

const folder = memoryFolder()
if (folder !== undefined) process.env['TMPDIR'] ??= folder

export const notTests = ['node_modules/**', '.millrace/**']

/**
 * One Postgres and one ClickHouse engine serve the whole run (test/support/globalSetup.ts);
 * three forks on the two cores of the reference machine, since suites wait for processes and chains
 * as much as they compute. Limits are for what never comes, on a machine
 * several times slower than ours: a test that passes waits for none of them.
 */
export const shared = {
  globalSetup: [join(import.meta.dirname, 'support/globalSetup.ts')],
  setupFiles: [join(import.meta.dirname, 'support/seed.ts')],
  pool: 'forks' as const,
  maxWorkers: 3,
  // Node loads tests as it loads the program, and keeps what it compiled; nothing is transformed.
  experimental: { viteModuleRunner: false, nodeLoader: false },
  testTimeout: 600_000,
  hookTimeout: 600_000,
  expect: { poll: { timeout: 120_000, interval: 50 } },
}
