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
      'test/store/maintain/audit.test.ts',
      'test/store/clickhouse/clickhouseLane.test.ts',
      'test/store/ledger/fencing.test.ts',
      'test/store/clickhouse/reconcile.test.ts',
      'test/store/maintain/rederive.test.ts',
      'test/store/maintain/rewind.test.ts',
      'test/store/ledger/seal.test.ts',
      'test/store/ledger/segments.test.ts',
      'test/store/ledger/sinks.test.ts',
      'test/store/maintain/verify.test.ts',
      'test/store/ledger/writersEnd.test.ts',
      'test/transform/engineRoundTrip.test.ts',
    ],
  },
})
