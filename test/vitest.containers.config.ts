import { defineConfig } from 'vitest/config'
import { shared } from './vitest.shared.ts'

process.env['TEST_CONTAINERS'] = '1'

/**
 * Suites of what the stores' writers ask of the engines: DDL, inserts and their tokens, locks,
 * partitions. Elsewhere ClickHouse is the embedded engine, here both are the servers that operators
 * run. Suites of user queries are not among them: a container has no reader's login.
 */
export default defineConfig({
  test: {
    ...shared,
    provide: { breadth: 'few' },
    include: [
      'test/pipeline/chain.test.ts',
      'test/store/audit.test.ts',
      'test/store/clickhouseLane.test.ts',
      'test/store/fencing.test.ts',
      'test/store/reconcile.test.ts',
      'test/store/rederive.test.ts',
      'test/store/rewind.test.ts',
      'test/store/seal.test.ts',
      'test/store/segments.test.ts',
      'test/store/sinks.test.ts',
      'test/store/verify.test.ts',
      'test/store/writersEnd.test.ts',
      'test/transform/engineRoundTrip.test.ts',
    ],
  },
})
