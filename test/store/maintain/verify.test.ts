// Goal: whatever is wrong with one row of one table of one store, verify names that store, that
// table and that block, and nothing else.
// Method: the recorded chain in both engines; one row at a time is changed, deleted or doubled by
// SQL behind our back, the blocks around it are verified against the node, and the rows of the
// block are put back.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type VerifyReport, verifyRange } from '#store/compare/verify.ts'
import { analyticsTableNames, ledgerTableNames, type TableName, tables } from '#transform/tables.ts'
import { share } from '../../support/breadth.ts'
import { loadRecordedChain, recordedSource } from '../../support/recordedChain.ts'
import { type ChainStore, decode, openChainStore, recordedBatches, writeAll } from '../support/chainStore.ts'
import { ClickHouseDamage, type Damage, PostgresDamage } from '../support/damage.ts'

const recording = 'tempo-dev-2k'
/**
 * A column with bytes in every row that is in no sorting key, which ClickHouse would not update.
 */
const flipped: Partial<Record<TableName, string>> = {
  blocks: 'state_root',
  txs: 'hash',
  logs: 'tx_hash',
  token_transfers: 'to',
  holder_deltas: 'counterparty',
  raw: 'payload',
}
const flippedNames = (stored: readonly TableName[]) => stored.filter((name) => name in flipped)
const [head, uncoveredFrom] = [122, 110]

describe('verify', () => {
  let store: ChainStore
  let verify: (range: { from: number; to: number }) => Promise<VerifyReport>
  /**
   * A block with at least two rows of the table, so that a doubled row does not double the block.
   */
  let blockOf: (name: TableName) => number

  beforeAll(async () => {
    store = await openChainStore({ headFrom: 0 })
    const batches = recordedBatches(recording, 10)
    for (const batch of batches) await store.head.append(batch)
    await store.head.finalize(uncoveredFrom - 1)
    await writeAll(store)
    const source = recordedSource(await loadRecordedChain(recording, head, 0), store.chainId, 20)
    verify = (range) => verifyRange({ ...store, source, decode: async (raw) => decode(raw) }, range)
    blockOf = (name) => {
      for (const { range, tables: encoded } of batches) {
        const index = encoded[name].blockRowCounts.findIndex((rows) => rows >= (name === 'blocks' ? 1 : 2))
        if (index >= 0) return range.from + index
      }
      throw new Error(`the recording has no block with two rows of ${name}`)
    }
  })
  afterAll(() => store.close())

  test('what was written agrees, and says how much of it was proved', async () => {
    const report = await verify({ from: 0, to: uncoveredFrom - 1 })
    expect(report).toEqual({
      range: { from: 0, to: uncoveredFrom - 1 },
      comparedBlocks: { postgres: uncoveredFrom, clickhouse: uncoveredFrom },
      differences: [],
      uncovered: { postgres: [], clickhouse: [] },
      provedBlocks: uncoveredFrom,
      unprovableBlocks: 0,
    })
  })

  test('blocks a store does not claim to hold are told, not compared', async () => {
    const report = await verify({ from: uncoveredFrom - 10, to: head })
    expect(report.differences).toEqual([])
    expect(report.uncovered).toEqual({ postgres: [], clickhouse: [{ from: uncoveredFrom, to: head }] })
    expect(report.comparedBlocks).toEqual({ postgres: head - uncoveredFrom + 11, clickhouse: 10 })
  })

  /** Damages one block of a table, verifies its neighbourhood, repairs it. */
  async function reportOf(
    damage: Damage,
    name: TableName,
    act: keyof Pick<Damage, 'flip' | 'drop' | 'double'>,
  ) {
    const block = blockOf(name)
    const restore = await damage.keep(name, block)
    try {
      await damage[act](name, block, flipped[name] ?? '')
      const { differences } = await verify({ from: Math.max(0, block - 1), to: block + 1 })
      return { block, differences }
    } finally {
      await restore()
    }
  }

  for (const [title, damageOf, names] of [
    ['postgres', () => new PostgresDamage(store), flippedNames(ledgerTableNames)],
    ['clickhouse', () => new ClickHouseDamage(store), flippedNames(analyticsTableNames)],
  ] as const)
    describe(title, () => {
      test.each(share(names, 4))('one flipped byte in %s is named with its block', async (name) => {
        const { block, differences } = await reportOf(damageOf(), name, 'flip')
        expect(differences).toMatchObject([{ store: title, table: name, block, kind: 'content' }])
      })

      test.each(share(names, 2))('one missing row of %s is named with its block', async (name) => {
        const { block, differences } = await reportOf(damageOf(), name, 'drop')
        expect(differences).toMatchObject([{ store: title, table: name, block, kind: 'count' }])
        expect((differences[0]?.expectedRows ?? 0) - (differences[0]?.foundRows ?? 0)).toBe(1)
      })

      test.each(share(names, 2))('one doubled row of %s is named with its block', async (name) => {
        const { block, differences } = await reportOf(damageOf(), name, 'double')
        expect(differences).toMatchObject([{ store: title, table: name, block, kind: 'count' }])
        expect((differences[0]?.foundRows ?? 0) - (differences[0]?.expectedRows ?? 0)).toBe(1)
      })
    })

  test('a row of a block that has none in that table is named too', async () => {
    const damage = new ClickHouseDamage(store)
    const empty = 0
    await damage.move('logs', blockOf('logs'), empty)
    const { differences } = await verify({ from: 0, to: 1 })
    expect(differences).toMatchObject([
      { store: 'clickhouse', table: 'logs', block: empty, kind: 'count', expectedRows: 0, foundRows: 1 },
    ])
    await store.clickhouse.command({
      query: `ALTER TABLE ${store.database}.logs DELETE WHERE ${tables.logs.blockColumn} = ${empty}`,
      clickhouse_settings: { mutations_sync: '2' },
    })
  })

  test('after every repair the stores agree again', async () => {
    const { differences } = await verify({ from: 0, to: uncoveredFrom - 1 })
    expect(differences).toEqual([])
  })
})
