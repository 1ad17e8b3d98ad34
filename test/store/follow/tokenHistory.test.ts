// Goal: the history of a token grows by what its events change, whatever else the token says of
// itself, and tells the token exactly as of each block, also after all of it was taken back.
// Method: a token with the longest texts there are, and thousands of changes of one attribute after
// the other in a real store; expectations are what was written, and sizes are what Postgres tells
// of the tables on disk.
import type { Hex } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemRuntime } from '#runtime/runtime.ts'
import { ChainState } from '#store/ledger/ChainState.ts'
import { CommitBell } from '#store/ledger/commits.ts'
import { findTokenAt } from '#store/read/tokens.ts'
import { token as created, logOf, maker, pathUsd } from '../../api/support/writtenBook.ts'
import type { WrittenLog } from '../../api/support/writtenChain.ts'
import { readBalances } from '../support/balanceOracle.ts'
import { type ChainStore, openChainStore, recordedBatches } from '../support/chainStore.ts'
import { followersOf, recordedCalls, type TestFollowers } from '../support/followers.ts'
import { writeLogs } from '../support/writeLogs.ts'

const recording = 'tempo-dev-2k'
const blocks = 20
const token: Hex = '0x20c0000000000000000000001234567890abcded'
const supplyCapDefault = 2n ** 128n - 1n

/** Texts that nothing compresses, of three bytes a character. */
const textOf = (length: number, seed: number): string =>
  Array.from({ length }, (_, index) =>
    String.fromCodePoint(0x4e00 + (((index + seed) * 7_919 + ((index * seed) % 4_099)) % 20_000)),
  ).join('')
const [name, symbol, longLogo] = [textOf(512, 1), textOf(512, 2), textOf(2_048, 3)]

const capped = (newSupplyCap: bigint): WrittenLog =>
  logOf(token, 'event SupplyCapUpdate(address indexed updater, uint256 indexed newSupplyCap)', {
    ...{ updater: maker, newSupplyCap },
  })
const paused = (isPaused: boolean): WrittenLog =>
  logOf(token, 'event PauseStateUpdate(address indexed updater, bool isPaused)', { updater: maker, isPaused })
const shown = (newLogoURI: string): WrittenLog =>
  logOf(token, 'event LogoURIUpdated(address indexed updater, string newLogoURI)', {
    ...{ updater: maker, newLogoURI },
  })

const CHANGES = 2_000
const changesOf = (make: (nth: number) => WrittenLog): WrittenLog[] =>
  Array.from({ length: CHANGES }, (_, nth) => make(nth))
/** The logs that each block writes, and the token after it. */
const written: readonly {
  readonly at: number
  readonly what: string
  readonly logs: readonly WrittenLog[]
  readonly after: Readonly<Record<string, unknown>>
}[] = [
  {
    ...{ at: 12, what: 'the creation', logs: [created(token, name, symbol, pathUsd), shown(longLogo)] },
    after: { logo_uri: longLogo, supply_cap: supplyCapDefault, paused: false },
  },
  {
    ...{ at: 13, what: 'supply caps', logs: changesOf((nth) => capped(BigInt(nth + 1))) },
    after: { logo_uri: longLogo, supply_cap: BigInt(CHANGES), paused: false },
  },
  {
    ...{ at: 14, what: 'pauses', logs: changesOf((nth) => paused(nth % 2 === 0)) },
    after: { logo_uri: longLogo, supply_cap: BigInt(CHANGES), paused: false },
  },
  {
    ...{ at: 15, what: 'short logos', logs: changesOf((nth) => shown(nth % 2 === 0 ? '' : 'x')) },
    after: { logo_uri: 'x', supply_cap: BigInt(CHANGES), paused: false },
  },
  {
    ...{ at: 16, what: 'both', logs: [shown(longLogo), paused(true), shown(''), capped(7n)] },
    after: { logo_uri: null, supply_cap: 7n, paused: true },
  },
]

/** A row of numbers with its place in two indexes. */
const CHANGE_BYTES_MAX = 400

describe('the history of a token', () => {
  const callContracts = recordedCalls(recording, readBalances(recording))
  let store: ChainStore
  let tokens: TestFollowers
  /** Bytes that the history has on disk after each block that is written. */
  const sizes = new Map<number, number>()

  beforeAll(async () => {
    store = await openChainStore({ headFrom: 0 })
    tokens = followersOf(store, { callContracts, only: ['tokens', 'balances'] })
    const batches = recordedBatches(recording, 1).slice(0, blocks)
    for (const [block, batch] of batches.entries()) {
      await store.head.append(batch)
      const own = written.find(({ at }) => at === block)
      if (own) await writeLogs(store, own.logs, block)
      await tokens.settle()
      sizes.set(block, await historyBytes())
    }
  })
  afterAll(() => store.close())

  async function historyBytes(): Promise<number> {
    const found = await store.postgres.pool.query<{ bytes: string }>(
      `SELECT sum(pg_total_relation_size(format('%I.%I', schemaname, tablename)::regclass)) AS bytes
       FROM pg_tables WHERE schemaname = $1 AND tablename ~ '^token.*_history$'`,
      [store.schema],
    )
    return Number(found.rows[0]?.bytes)
  }

  async function tokenNow(): Promise<unknown> {
    const { rows } = await store.postgres.pool.query(
      `SELECT name, symbol, currency, logo_uri, supply_cap, paused, created_block FROM ${store.schema}.tip20_current WHERE token = $1`,
      [Buffer.from(token.slice(2), 'hex')],
    )
    return rows.map((row) => ({ ...row, supply_cap: BigInt(row.supply_cap) }))
  }
  const same = { name, symbol, currency: 'USD', created_block: 12 }

  test.each(written.filter(({ logs }) => logs.length === CHANGES))(
    `${CHANGES} changes cost what they change: $what`,
    ({ at }) => {
      const grown = Number(sizes.get(at)) - Number(sizes.get(at - 1))
      expect(grown).toBeGreaterThan(CHANGES)
      expect(grown / CHANGES).toBeLessThan(CHANGE_BYTES_MAX)
    },
  )

  test('as of each block the token is what its events had said', async () => {
    const { postgres, schema, chainId } = store
    const state = new ChainState({ chainId, schema, startBlock: 0, postgres, bell: new CommitBell() })
    const chain = { postgres, state, clock: systemRuntime().clock, chainId, kind: 'tempo' as const }
    const at = (block: number) =>
      findTokenAt(chain, token, block, { totals: false }, AbortSignal.timeout(10_000))
    expect(await at(11)).toBeNull()
    for (const { at: block, after } of written)
      expect(await at(block), `${block}`).toMatchObject({
        ...{ name, symbol, currency: 'USD', admin: maker, quoteToken: pathUsd, place: [12, 1_000] },
        logoUri: after['logo_uri'],
      })
  })

  test('a reorganization takes each of them back exactly', async () => {
    for (const { at, after } of written.toReversed()) {
      await store.head.revert(await store.head.refAt(at))
      await tokens.settle()
      expect(await tokenNow(), `${at}`).toEqual([{ ...same, ...after }])
    }
    await store.head.revert(await store.head.refAt(11))
    await tokens.settle()
    expect(await tokenNow()).toEqual([])
  })
})
