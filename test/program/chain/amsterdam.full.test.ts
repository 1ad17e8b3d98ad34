// Goal: a chain that passes Amsterdam's fork is told rightly by a whole program: its coin's movements in
// REST, SQL of both engines, live and in files, its requests and builders' withdrawals as they are, its
// gas by header and by receipts, and what of all that is proved.
// Method: the program in processes of its own before a node of a few lines, whose chain has true roots.
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { type Answer, ask } from '../../api/support/chainApi.ts'
import { openStream } from '../../api/support/eventStream.ts'
import type { FakeNode } from '../../ingest/support/proxyNode.ts'
import {
  AMSTERDAM_CHAIN_ID,
  amsterdamChain,
  BUILDER_INDEX,
  coinRowsOf,
  parties,
  requestData,
  startBlocksNode,
} from '../../support/amsterdamChain.ts'
import type { BuiltBlock } from '../../support/builtBlock.ts'
import { chainOf, freshDataDir, get, type RunningMillrace, startMillrace } from '../support/millrace.ts'

const [FORK, HEAD, LATER, FINAL_BELOW] = [9, 24, 27, 4]
const { sender, bob, carol, token, requests, coin } = parties

let blocks: readonly BuiltBlock[]
beforeAll(async () => {
  blocks = await amsterdamChain(LATER + 1, FORK)
})

async function startOn(node: FakeNode, settings: Readonly<Record<string, string>> = {}) {
  const dataDir = freshDataDir(AMSTERDAM_CHAIN_ID)
  const program = await startMillrace({ DATA_DIR: dataDir.path, RPC_URL: node.url, ...settings })
  const close = async () => {
    await program.stop()
    await node.close()
    dataDir.remove()
  }
  return { program, close }
}

const nodeAt = (head: () => number) =>
  startBlocksNode(blocks, { chainId: AMSTERDAM_CHAIN_ID, head, finalized: () => head() - FINAL_BELOW })

/** The bound of waits in hooks, where `expect.poll` does not go; the slowest machine needs less. */
const wait = { timeout: 120_000, interval: 100 }

const ready = (origin: string) =>
  vi.waitFor(
    async () => expect((await get(`${origin}/ready`)).status, 'the program is ready').toBe(200),
    wait,
  )

/** Every row of a list. */
async function walk(origin: string, path: string): Promise<readonly Answer['body'][]> {
  const rows: unknown[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const { body }: Answer = await ask(`${origin}${path}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`)
    rows.push(...body.data)
    cursor = body.nextCursor
  }
  return rows
}

const told = ({ blockNumber, logIndex, sourceToken, recipient }: Answer['body']) => [
  ...[blockNumber, logIndex, Number(sourceToken.amount), recipient],
]
const coinRows = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, at) => coinRowsOf(from + at, from + at >= FORK)).flat()

describe('a program that sees the fork', () => {
  let head = HEAD
  let program: RunningMillrace
  let origin: string
  let close = async () => {}

  beforeAll(async () => {
    const started = await startOn(await nodeAt(() => head))
    ;({ close, program } = started)
    origin = program.origin
    await ready(origin)
    await vi.waitFor(async () => {
      const { stores, projections } = await chainOf(program, AMSTERDAM_CHAIN_ID)
      expect(stores.clickhouse.tip, 'ClickHouse has what is final').toBe(HEAD - FINAL_BELOW)
      for (const { name, tip } of projections) expect(tip, `${name} has the head`).toBe(HEAD)
    }, wait)
  })
  afterAll(() => close())

  test('has proved every block, whatever the gas of its header', async () => {
    expect(await chainOf(program, AMSTERDAM_CHAIN_ID)).toMatchObject({
      coverage: [{ from: 0, to: HEAD }],
      verification: {
        ...{ checks: 'roots', headerRule: 'ethereum', unproved: [], unprovableBlocks: 0, unprovableTxs: 0 },
        provedBlocks: HEAD + 1,
      },
    })
    for (const number of [FORK - 1, FORK, FORK + 1]) {
      const { body } = await ask(`${origin}/v1/blocks/${number}`)
      const { gasUsed, transactions } = Object(blocks[number]?.block)
      const last = await ask(`${origin}/v1/receipts/${transactions[3].hash}`)
      expect([body.gasUsed, last.body.cumulativeGasUsed]).toEqual([Number(gasUsed), 84_000])
    }
  })

  test('lists every movement of the coin once, and from which block on those are all', async () => {
    const rows = await walk(origin, '/v1/transfers?token=native&order=asc&limit=7')
    expect(rows.map(told)).toEqual(coinRows(1, HEAD))
    const { headers } = await ask(`${origin}/v1/transfers?limit=5`)
    expect(headers.get('svc-native-from')).toBe(`${FORK}`)
  })

  test('shows in activities what contracts passed on, and a payment once', async () => {
    const activitiesOf = async (account: string) => {
      const rows = await walk(origin, `/v1/addresses/${account}/activities?limit=7`)
      return rows.map(({ title, logIndex, data }) => [title, logIndex, data.sourceToken.amount]).reverse()
    }
    const title = 'Native coin transferred'
    const since = Array.from({ length: HEAD - FORK + 1 }, (_, at) => FORK + at)
    expect(await activitiesOf(carol)).toEqual(since.map(() => [title, 3, '2']))
    expect(await activitiesOf(bob)).toEqual(
      Array.from({ length: HEAD }, (_, at) => [title, at + 1 < FORK ? null : 0, `${1_001 + at}`]),
    )
  })

  test('has no token of the coin, no holder and no balance of one', async () => {
    // The token is listed once the node was asked for its name.
    const status = async () => (await ask(`${origin}/v1/tokens/${token}`)).status
    await expect.poll(status, { message: 'the token is not listed' }).toBe(200)
    const tokens = await walk(origin, '/v1/tokens?limit=50')
    expect(tokens.map(({ address }) => address)).toEqual([token])
    const one = await ask(`${origin}/v1/tokens/${coin}`)
    expect([one.status, one.body.error.code]).toEqual([404, 'token_not_found'])
    const holders = await ask(`${origin}/v1/tokens/${coin}/holders`)
    expect(holders.body.data ?? []).toEqual([])
    for (const account of [sender, bob, carol, token]) {
      const { body } = await ask(`${origin}/v1/addresses/${account}/balances`)
      const held = body.data.map((row: Answer['body']) => [row.token.address, row.amount])
      expect(held).toEqual(account === sender ? [[token, `${40 * HEAD}`]] : [])
    }
  })

  test('answers analysts’ SQL, and streams each block that became final', async () => {
    const final = HEAD - FINAL_BELOW
    const url = (sql: string) => `${origin}/v1/indexer/query?engine=clickhouse&sql=${encodeURIComponent(sql)}`
    const columns = `SELECT block_num, log_idx, amount, "to", token, is_logged FROM native_transfers`
    const order = 'ORDER BY block_num, log_idx'
    const { body } = await ask(url(`${columns} WHERE block_num >= ${FORK} ${order}`))
    const shown = ([block, log, amount, to, none, isLogged]: Answer['body']) => [
      ...[Number(block), log, Number(amount), to, none, isLogged],
    ]
    const rows = (from: number, to: number) => coinRows(from, to).map((row) => [...row, null, true])
    expect(body.rows.map(shown)).toEqual(rows(FORK, final))

    const live = await openStream(`${url(`${columns} ${order}`)}&live=true`)
    onTestFinished(() => live.close())
    await expect.poll(() => live.events.length, { message: 'the stream does not begin' }).toBeGreaterThan(0)
    head = LATER
    const streamed = () => {
      const results = live.events.filter(({ event }) => event === 'result')
      return results.flatMap(({ data }) => data.rows ?? []).map(shown)
    }
    const expected = rows(final + 1, LATER - FINAL_BELOW)
    await expect.poll(streamed, { message: 'the stream does not go on' }).toEqual(expected)
    const tip = async () => (await chainOf(program, AMSTERDAM_CHAIN_ID)).stores.postgres.tip
    await expect.poll(tip, { message: 'Postgres does not reach the head' }).toBe(LATER)
  })

  test.each(['postgres', 'clickhouse'])(
    'gives requests as they were logged, in files too (%s)',
    async (engine) => {
      const sql = `SELECT block_num, topic0, data FROM logs
        WHERE address = '${requests}' AND block_num <= 12 ORDER BY block_num`
      const url = `${origin}/v1/indexer/query?engine=${engine}&sql=${encodeURIComponent(sql)}`
      const numbers = Array.from({ length: 12 }, (_, at) => at + 1)
      const { body } = await ask(url)
      expect(body.rows.map(([number, ...rest]: unknown[]) => [Number(number), ...rest])).toEqual(
        numbers.map((number) => [number, null, requestData(number)]),
      )
      const csv = await ask(`${url}&format=csv`)
      expect(String(csv.body).trim().split(/\r?\n/)).toEqual([
        'block_num,topic0,data',
        ...numbers.map((number) => `${number},,${requestData(number)}`),
      ])
      const arrow = await fetch(`${url}&format=arrow`)
      expect(arrow.headers.get('svc-result-digest')).toBe(body.digest)
      const file = Buffer.from(await arrow.arrayBuffer())
      for (const number of numbers)
        expect(file.includes(Buffer.from(requestData(number).slice(2), 'hex'))).toBe(true)
    },
  )

  test('gives withdrawals of builders with their whole index', async () => {
    const number = `0x${FORK.toString(16)}`
    const withdrawal = { validatorIndex: `0x${BUILDER_INDEX.toString(16)}`, address: carol, amount: '0x5' }
    const { body } = await ask(`${origin}/v1/blocks/${FORK}`)
    expect(body.meta.rpc.withdrawals).toEqual([{ index: number, ...withdrawal }])
    const rpc = await ask(`${origin}/rpc/${AMSTERDAM_CHAIN_ID}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'eth_getBlockByNumber',
        params: [number, false],
      }),
    })
    const { blockAccessListHash, slotNumber, hash } = Object(blocks[FORK]?.block)
    expect(rpc.body.result).toMatchObject({
      ...{ hash, blockAccessListHash, slotNumber, withdrawals: [{ index: number, ...withdrawal }] },
    })
  })
})

test.each(['roots', 'links'] as const)(
  'a first block after the fork is told with VERIFY=%s',
  async (checks) => {
    const start = FORK + 3
    const { program, close } = await startOn(await nodeAt(() => HEAD), {
      ...{ START_BLOCK: `${start}`, VERIFY: checks },
    })
    onTestFinished(close)
    const { origin } = program
    await ready(origin)
    const held = HEAD - start + 1
    expect(await chainOf(program, AMSTERDAM_CHAIN_ID)).toMatchObject({
      coverage: [{ from: start, to: HEAD }],
      verification: {
        checks,
        unproved: [],
        provedBlocks: checks === 'roots' ? held : 0,
        unprovableBlocks: 0,
      },
    })
    const rows = await walk(origin, '/v1/transfers?token=native&order=asc&limit=50')
    expect(rows.map(told)).toEqual(coinRows(start, HEAD))
    const { headers } = await ask(`${origin}/v1/transfers?limit=5`)
    expect(headers.get('svc-native-from')).toBe(`${start}`)
  },
)
