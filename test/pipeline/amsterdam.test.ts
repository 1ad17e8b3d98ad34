// Goal: blocks of Amsterdam go from a node into both stores proved, with their list's hash, their slot
// and every movement of the coin; both stores are equal, also where ClickHouse was emptied.
// Method: a chain of our own that passes the fork, and the vectors of other implementations, behind two
// servers; the program's source and lanes in this process, on the engines of the run.
import { describe, expect, onTestFinished, test } from 'vitest'
import type { BlockRange } from '#ingest/range.ts'
import { createSource, type PooledSource } from '#ingest/rpc/rpcSource.ts'
import type { RawRange } from '#ingest/source.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { selectRows } from '#store/clickhouse/client.ts'
import { compareRange } from '#store/compare/parity.ts'
import { verifyRange } from '#store/compare/verify.ts'
import { countProofs } from '#store/ledger/proofs.ts'
import { silentLogger } from '#telemetry.ts'
import type { Checks } from '#transform/profile.ts'
import type { RecordedBlock } from '../chain/recordings.ts'
import { decode } from '../store/support/chainStore.ts'
import { expectInClickHouse, expectInPostgres } from '../store/support/expectHeld.ts'
import { amsterdamBlocks, amsterdamHeader } from '../support/amsterdam.ts'
import {
  amsterdamChain,
  coinRowsOf,
  parties,
  requestData,
  startBlocksNode,
} from '../support/amsterdamChain.ts'
import { fullTest, onceTest, share } from '../support/breadth.ts'
import { migratedDatabase } from '../support/engines.ts'
import { ethereumProfile, rangeOf } from '../transform/ranges.ts'
import { type Access, type IndexedChain, openIndexedChain } from './support/indexedChain.ts'

const wait = { timeout: 120_000, interval: 50 }
const [HEAD, FORK] = [24, 11]

interface Indexed extends IndexedChain {
  readonly source: PooledSource
  readonly range: BlockRange
  readonly blocks: readonly RecordedBlock[]
}

async function openAccess(): Promise<Access> {
  const { drop, ...access } = await migratedDatabase()
  onTestFinished(drop)
  return access
}

/** The chain of these blocks behind two endpoints, until both stores hold it. */
async function index(access: Access, blocks: readonly RecordedBlock[], checks: Checks = 'roots') {
  const { range } = rangeOf(blocks)
  const { chainId } = access
  const served = { chainId, from: range.from, head: () => range.to, finalized: () => range.to }
  const nodes = await Promise.all([1, 2].map(() => startBlocksNode(blocks, served)))
  onTestFinished(async () => {
    for (const node of nodes) await node.close()
  })
  const source = createSource({
    chainId,
    urls: nodes.map(({ url }) => url),
    finalityDepth: 0,
    runtime: systemRuntime(),
    log: silentLogger,
    batchBlocksMax: 5,
  })
  const opened = await openIndexedChain({ access, source, checks, startBlock: range.from, kind: 'evm' })
  let closed: Promise<void> | undefined
  const close = () => (closed ??= opened.close())
  onTestFinished(close)
  await opened.chain.start()
  for (const store of ['postgres', 'clickhouse'] as const)
    await expect.poll(() => opened.chain.state.coverage(store), wait).toEqual([range])
  return { ...opened, close, source, range, blocks }
}

/** Both stores hold what the encoder makes of the node's answers, and the checks of each say so. */
async function expectEqual(indexed: Indexed, checks: Checks = 'roots'): Promise<void> {
  const { blocks, range, chain } = indexed
  const batch = decode({ ...rangeOf(blocks), endpoint: 'test' }, checks, ethereumProfile)
  await expectInPostgres(indexed, [batch])
  await expectInClickHouse(indexed, [batch])
  const compared = await compareRange(indexed, range)
  expect(compared.filter(({ firstDifference }) => firstDifference !== null)).toEqual([])
  const again = async (raw: RawRange) => decode(raw, checks, chain.profile)
  const verified = await verifyRange({ ...indexed, decode: again }, range)
  const held = range.to - range.from + 1
  expect(verified).toMatchObject({
    ...{ differences: [], uncovered: { postgres: [], clickhouse: [] } },
    comparedBlocks: { postgres: held, clickhouse: held },
    ...(checks === 'roots' && { provedBlocks: held, unprovableBlocks: 0 }),
  })
}

const withBlock = (recorded: RecordedBlock, change: (block: Record<string, unknown>) => object) => ({
  ...recorded,
  block: change(Object(recorded.block)),
})

/** The stores' check by one other endpoint. */
async function verifiedBy(indexed: Indexed, blocks: readonly RecordedBlock[]) {
  const { range, chain } = indexed
  const served = {
    chainId: chain.state.chainId,
    from: range.from,
    head: () => range.to,
    finalized: () => range.to,
  }
  const node = await startBlocksNode(blocks, served)
  const source = createSource({
    ...{ chainId: chain.state.chainId, urls: [node.url], finalityDepth: 0, batchBlocksMax: 5 },
    ...{ runtime: systemRuntime(), log: silentLogger },
  })
  onTestFinished(async () => {
    await source.close()
    await node.close()
  })
  const again = async (raw: RawRange) => decode(raw, 'roots', chain.profile)
  return verifyRange({ ...indexed, source, decode: again }, range)
}

const tables = ['blocks', 'native_transfers', 'token_transfers', 'logs'] as const

/** Rows that both stores hold, as text, and that they are the same. */
async function rowsOf(
  { postgres, schema, clickhouse, database }: IndexedChain,
  [table, columns, order]: readonly [
    (typeof tables)[number],
    readonly (readonly [string, 'bytes' | 'plain'])[],
    string,
  ],
) {
  const [ours, theirs] = ['postgres', 'clickhouse'].map((engine) =>
    columns.map(([name, kind]) => {
      const hex = engine === 'postgres' ? `encode("${name}", 'hex')` : `lower(hex("${name}"))`
      const plain = engine === 'postgres' ? `"${name}"::text` : `toString("${name}")`
      return `${kind === 'bytes' ? hex : plain} AS "${name}"`
    }),
  )
  const inPostgres = await postgres.pool.query(`SELECT ${ours} FROM ${schema}.${table} t ORDER BY ${order}`)
  const inClickHouse = await selectRows<Readonly<Record<string, string | null>>>(
    clickhouse,
    `SELECT ${theirs} FROM ${database}.${table} t ORDER BY ${order}`,
  )
  expect(inClickHouse).toEqual(inPostgres.rows)
  return inClickHouse
}

const headersOf = (indexed: IndexedChain) =>
  rowsOf(indexed, [
    'blocks',
    [
      ['num', 'plain'],
      ['block_access_list_hash', 'bytes'],
      ['slot_number', 'plain'],
      ['gas_used', 'plain'],
    ],
    't.num',
  ])

const coinsOf = (indexed: IndexedChain) =>
  rowsOf(indexed, [
    'native_transfers',
    [
      ['block_num', 'plain'],
      ['log_idx', 'plain'],
      ['amount', 'plain'],
      ['to', 'bytes'],
      ['is_logged', 'plain'],
    ],
    't.block_num, t.log_idx, t.tx_idx',
  ])

const toldHeader = ({ block }: RecordedBlock) => {
  const { number, blockAccessListHash: list, slotNumber, gasUsed } = Object(block)
  return {
    num: `${Number(number)}`,
    block_access_list_hash: list?.slice(2) ?? null,
    slot_number: slotNumber === undefined ? null : `${Number(slotNumber)}`,
    gas_used: `${Number(gasUsed)}`,
  }
}

describe('a chain that passes the fork', () => {
  /** As the stores hold them: a value that no log tells has no log of its own, so it is left out here. */
  const toldCoins = Array.from({ length: HEAD + 1 }, (_, number) => coinRowsOf(number, number >= FORK))
    .flat()
    .map(([number, logIndex, amount, to]) => ({
      ...{ block_num: `${number}`, log_idx: logIndex === null ? expect.any(String) : `${logIndex}` },
      ...{ amount: `${amount}`, to: to.slice(2), is_logged: `${logIndex !== null}` },
    }))

  onceTest('arrives whole and equal, and so again where ClickHouse was emptied', async () => {
    const blocks = await amsterdamChain(HEAD + 1, FORK)
    const access = await openAccess()
    const first = await index(access, blocks)
    const expectAll = async (indexed: Indexed) => {
      await expectEqual(indexed)
      expect(await headersOf(indexed)).toEqual(blocks.map((block) => toldHeader(block)))
      expect(await coinsOf(indexed)).toEqual(toldCoins)
    }
    await expectAll(first)
    await first.clickhouse.command({ query: `DROP DATABASE ${first.database} SYNC` })
    await first.close()
    await expectAll(await index(access, blocks))
  })

  fullTest('is held with VERIFY=links, which says of no block that it is proved or unprovable', async () => {
    const blocks = await amsterdamChain(HEAD + 1, FORK)
    const indexed = await index(await openAccess(), blocks, 'links')
    await expectEqual(indexed, 'links')
    expect(await coinsOf(indexed)).toEqual(toldCoins)
    expect(await countProofs(indexed.postgres, indexed.schema)).toEqual({
      ...{ provedBlocks: 0, unprovableBlocks: 0, unprovableTxs: 0 },
    })
  })

  fullTest('is the same to a node that leaves out slots, whichever the stores were filled by', async () => {
    const told = await amsterdamChain(HEAD + 1, FORK)
    const slotless = told.map((recorded) => withBlock(recorded, ({ slotNumber: _, ...block }) => block))
    const forged = slotless.map((recorded) =>
      Number(Object(recorded.block).number) === FORK + 2
        ? withBlock(recorded, (block) => ({ ...block, extraData: '0x11' }))
        : recorded,
    )
    for (const [held, others] of [
      [told, slotless],
      [slotless, told],
    ] as const) {
      const indexed = await index(await openAccess(), held)
      expect((await verifiedBy(indexed, others)).differences).toEqual([])
      const places = (await verifiedBy(indexed, forged)).differences.map(
        ({ store, table, block }) => `${store} ${table} ${block}`,
      )
      expect(places).toEqual(
        ['postgres blocks', 'postgres raw', 'clickhouse blocks'].map((place) => `${place} ${FORK + 2}`),
      )
    }
  })

  onceTest('has no token of the coin, and logs of requests as they were emitted', async () => {
    const blocks = (await amsterdamChain(HEAD + 1, 0)).slice(5)
    const indexed = await index(await openAccess(), blocks)
    await expectEqual(indexed)
    const tokens = await rowsOf(indexed, ['token_transfers', [['token', 'bytes']], 't.block_num, t.log_idx'])
    expect(new Set(tokens.map(({ token }) => token))).toEqual(new Set([parties.token.slice(2)]))
    const columns = (['address', 'topic0', 'data'] as const).map((name) => [name, 'bytes'] as const)
    const logs = await rowsOf(indexed, ['logs', columns, 't.block_num, t.log_idx'])
    const requests = logs.filter(({ address }) => address === parties.requests.slice(2))
    expect(requests).toEqual(
      Array.from({ length: HEAD - 4 }, (_, index) => ({
        ...{ address: parties.requests.slice(2), topic0: null, data: requestData(index + 5).slice(2) },
      })),
    )
  })
})

const bare = (name: Parameters<typeof amsterdamHeader>[0]) => ({ block: amsterdamHeader(name), receipts: [] })

const vectors = [
  ['a devnet over its fork', [bare('devnet191prague'), bare('devnet192amsterdam')]],
  ['a header by go-ethereum', [bare('synthetic')]],
  ...amsterdamBlocks().map((block, at) => [`block ${at} of the specification`, [block]] as const),
] as const

test.each(share(vectors, 2))('vectors arrive proved in both stores: %s', async (_, blocks) => {
  const indexed = await index(await openAccess(), blocks)
  await expectEqual(indexed)
  expect(await headersOf(indexed)).toEqual(blocks.map((block) => toldHeader(block)))
  const paid = blocks.flatMap(({ block }) => Object(block).transactions)
  expect(await coinsOf(indexed)).toEqual(
    paid.map(({ to, value }) => ({
      ...{ block_num: '1', log_idx: '0', amount: `${BigInt(value)}`, to: to.slice(2), is_logged: 'true' },
    })),
  )
})
