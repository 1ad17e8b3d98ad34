import { expect, test } from 'vitest'
import { type Report, type ReportedChain, renderReport } from './terminal.ts'

const chain: ReportedChain = {
  chainId: 4217,
  role: 'writer',
  isLocal: false,
  head: 12_345,
  finalized: 12_341,
  finality: {
    ...{ rule: 'proved', certificateHeight: 12_341, epoch: 0, lastCheckedMs: 997_000 },
    ...{ endpointsServing: 1, statedKey: { fromEpoch: 2_042 } },
  },
  lagBlocks: 1,
  stores: {
    postgres: { tip: 12_344, state: 'running', problem: null },
    clickhouse: { tip: 12_300, state: 'retrying', problem: 'it does not answer' },
  },
  lanes: [{ name: 'head', state: 'running', problem: null }],
  history: {
    blocksTotal: 10_000,
    blocksDone: 9_999,
    blocksPerSecond: 250,
    etaSeconds: 0.004,
    chunks: [{ from: 0, to: 4_095, tip: 2_047 }],
  },
  verification: { checks: 'roots', provedBlocks: 12_000, unprovableBlocks: 3 },
}
const nowMs = 1_000_000
const report: Report = { ready: false, chains: [chain], notes: ['access is open'] }

test('the view shows heights, rates between two samples, bars, trouble and notes', () => {
  const earlier: Report = {
    ...report,
    chains: [{ ...chain, stores: { ...chain.stores, postgres: { ...chain.stores.postgres, tip: 12_324 } } }],
  }
  const text = renderReport({ report, atMs: 10_000, nowMs }, { report: earlier, atMs: 0, nowMs }).join('\n')
  expect(text).toMatchInlineSnapshot(`
    "catching up

    chain 4217
      head        12,345   finalized 12,341   lag 1 block
      finality    final by proof, certificate of block 12,341 checked 3 s ago; the key from epoch 2,042 on is stated, not seen signing
      Postgres    12,344   2.0 blocks/s
      ClickHouse  12,300   0.0 blocks/s   retrying: it does not answer
      verified    12,000 blocks (roots, 3 not provable)
      history     [#######################.] 99.9 %   250 blocks/s   1 s left
        [############............] 0 to 4,095

    note  access is open"
  `)
})

test('a standby is told apart from the writer', () => {
  const standby: Report = { ...report, chains: [{ ...chain, role: 'standby' }] }
  expect(renderReport({ report: standby, atMs: 0, nowMs }, null)).toContain(
    'chain 4217 (standby: another process writes)',
  )
  expect(renderReport({ report, atMs: 0, nowMs }, null)).toContain('chain 4217')
})

test('what is not finished is never shown as 100 %, and one block is no blocks', () => {
  const history = { blocksTotal: 10_000, blocksDone: 9_999, blocksPerSecond: 1, etaSeconds: 1, chunks: [] }
  const nearly: ReportedChain = { ...chain, history, lagBlocks: 0 }
  const text = renderReport({ report: { ...report, chains: [nearly] }, atMs: 0, nowMs }, null).join('\n')
  expect(text).toContain('99.9 %')
  expect(text).toContain('lag no blocks')
})
