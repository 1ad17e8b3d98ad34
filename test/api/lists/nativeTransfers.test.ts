// Goal: movements of the native coin are told once each, with one identity, in lists of transfers,
// activities and SQL of both engines: by value before a chain logs them (EIP-7708), then by logs.
// Method: a block before the fork and one after it, written by hand, in a real store behind a server;
// and a block of the specification's tests, whose roots prove its log.
import { type Hex, keccak256, numberToHex, toBytes } from 'viem'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { listAnyTransfers } from '#store/read/transfers.ts'
import type { RecordedBlock } from '../../chain/recordings.ts'
import { decode } from '../../store/support/chainStore.ts'
import { amsterdamBlocks } from '../../support/amsterdam.ts'
import { ethereumProfile, rangeOf } from '../../transform/ranges.ts'
import { type ChainApi, openChainApi } from '../support/chainApi.ts'
import { type ResponseCheck, responseCheck } from '../support/openapi.ts'
import { events, logOf } from '../support/writtenBook.ts'

const account = (digit: string): Hex => `0x${digit.repeat(40)}`
const [alice, bob, carol, token] = [account('a'), account('b'), account('c'), account('7')]
const coin: Hex = `0x${'f'.repeat(39)}e`
const requests: Hex = '0x0000bff46984e3725691ca540a8c7589300d8282'
const sent = (emitter: Hex, from: Hex, to: Hex, amount: bigint) =>
  logOf(emitter, events.transfer, { from, to, amount })
type Log = ReturnType<typeof sent>

interface Sent {
  readonly to: Hex
  readonly value: bigint
  readonly logs: readonly Log[]
  readonly status?: Hex
}

const payments: readonly (readonly Sent[])[] = [
  [
    { to: bob, value: 5n, logs: [] },
    { to: bob, value: 9n, logs: [], status: '0x0' },
    { to: token, value: 3n, logs: [sent(token, alice, bob, 40n)] },
  ],
  [
    { to: bob, value: 7n, logs: [sent(coin, alice, bob, 7n)] },
    { to: token, value: 0n, logs: [sent(token, alice, bob, 41n), sent(coin, token, carol, 2n)] },
    { to: requests, value: 0n, logs: [{ address: requests, topics: [], data: '0x0102' }] },
  ],
]
const builder = { index: '0x1', validatorIndex: '0x10000000003', address: carol, amount: '0x5' }

function blocksOf(): readonly RecordedBlock[] {
  const [template] = amsterdamBlocks()
  if (!template) throw new Error('no block to write others after')
  const model = Object(template.block)
  let parentHash = model.parentHash
  return payments.map((transactions, at) => {
    const number = numberToHex(at + 1)
    const hash = keccak256(toBytes(`native block ${number}`))
    const place = { blockHash: hash, blockNumber: number }
    let logIndex = 0
    const written = transactions.map(({ to, value, logs, status = '0x1' }, index) => {
      const transactionHash = keccak256(toBytes(`native transaction ${at}/${index}`))
      const inTx = { ...place, transactionHash, transactionIndex: numberToHex(index) }
      return {
        tx: {
          ...{ ...model.transactions[0], ...place, hash: transactionHash, from: alice, to },
          ...{ transactionIndex: numberToHex(index), value: numberToHex(value) },
        },
        receipt: {
          ...{ ...Object(Object(template.receipts)[0]), ...inTx, from: alice, to, status },
          ...{ gasUsed: '0x5208', cumulativeGasUsed: numberToHex(21_000 * (index + 1)) },
          logs: logs.map((log) => ({
            ...{ ...log, ...inTx, removed: false },
            logIndex: numberToHex(logIndex++),
          })),
        },
      }
    })
    const header = { ...model, number, hash, parentHash, timestamp: numberToHex(1_800_000_000 + at) }
    parentHash = hash
    const transactionsOf = written.map(({ tx }) => tx)
    return {
      block: { ...header, withdrawals: [builder], transactions: transactionsOf },
      receipts: written.map(({ receipt }) => receipt),
    }
  })
}

let api: ChainApi
let check: ResponseCheck
beforeAll(async () => {
  api = await openChainApi({ kind: 'evm', headFrom: 1, startBlock: 1 })
  const decoded = blocksOf().map((block) =>
    decode({ ...rangeOf([block]), endpoint: 'written' }, 'links', ethereumProfile),
  )
  await api.append(decoded)
  await api.finalize(2)
  await api.fillClickHouse()
  check = await responseCheck(api)
})
afterAll(() => api?.close())

type Row = Readonly<Record<string, never>>
const shortOf = (row: Row) => [
  row['blockNumber'],
  row['logIndex'],
  Object(row['sourceToken']).address,
  Object(row['sourceToken']).amount,
  row['recipient'],
]
const newestFirst = [
  [2, 2, null, '2', carol],
  [2, 1, token, '41', bob],
  [2, 0, null, '7', bob],
  [1, 0, token, '40', bob],
  [1, null, null, '3', token],
  [1, null, null, '5', bob],
]

describe('lists of transfers', () => {
  test('have tokens and the coin in the order of the chain, a payment once', async () => {
    const list = await api.get('/v1/transfers?include=token,totalCount')
    expect(check('/v1/transfers', list)).toEqual([])
    expect(list.body.data.map(shortOf)).toEqual(newestFirst)
    expect(list.body.meta.totalCount).toBe(6)
    expect(list.headers.get('svc-native-from')).toBe('2')
    expect(list.body.data[0].sourceToken).toEqual({ address: null, amount: '2', decimals: 18 })
    const ids = list.body.data.map(({ id }: { id: string }) => id)
    expect(new Set(ids).size).toBe(6)
    expect(ids[5]).toMatch(/-value$/)
  })

  test.each(['asc', 'desc'] as const)('are walked one by one without loss or repeat (%s)', async (order) => {
    const rows: unknown[] = []
    const { store, state } = api
    let position: readonly number[] | null = []
    while (position !== null && rows.length < 9) {
      const page = {
        ...{ order, limit: 1, offset: 0, wantTotal: false, signal: AbortSignal.timeout(60_000) },
        ...(position.length > 0 && { position }),
      } as const
      const found: Awaited<ReturnType<typeof listAnyTransfers>> = await listAnyTransfers(
        ...([store.postgres, state, { values: {} }, page, 'both'] as const),
      )
      rows.push(...found.rows.map((row) => [Number(row.block_num), row.token, `${row.amount}`, row.to]))
      position = found.next
    }
    const expected = newestFirst.map(([block, , token, amount, to]) => [block, token, amount, to])
    expect(rows).toEqual(order === 'desc' ? expected : expected.toReversed())
  })

  test.each([
    ['token=native', newestFirst.filter(([, , address]) => address === null)],
    [`token=${token}`, newestFirst.filter(([, , address]) => address === token)],
    [`recipient=${carol}`, newestFirst.slice(0, 1)],
    [`sender=${token}`, newestFirst.slice(0, 1)],
    [`sender=${alice}&recipient=${token}`, newestFirst.slice(4, 5)],
    [`token=native&address=${bob}`, [newestFirst[2], newestFirst[5]]],
  ])('are filtered by %s', async (filter, expected) => {
    const list = await api.get(`/v1/transfers?${filter}`)
    expect(list.body.data.map(shortOf)).toEqual(expected)
  })

  test('name a token that is neither an address nor the coin', async () => {
    const refused = await api.get('/v1/transfers?token=coin')
    expect([refused.status, refused.body.error.details[0].path]).toEqual([400, ['query', 'token']])
  })
})

describe('activities', () => {
  test('show what an account got by a contract, and from which block on they are complete', async () => {
    const feed = await api.get(`/v1/addresses/${carol}/activities`)
    expect(check('/v1/addresses/{address}/activities', feed)).toEqual([])
    expect(feed.headers.get('svc-native-from')).toBe('2')
    expect(feed.body.data).toMatchObject([
      {
        ...{ type: 'transfer', title: 'Native coin transferred', perspective: 'incoming', logIndex: 2 },
        data: {
          sender: token,
          recipient: carol,
          direction: 'in',
          sourceToken: { address: null, amount: '2' },
        },
      },
    ])
  })

  test('show a payment of before the fork by its value, and one since then once', async () => {
    const feed = await api.get(`/v1/addresses/${bob}/activities`)
    const told = feed.body.data.map(({ logIndex, data }: { logIndex: number; data: Row }) => [
      logIndex,
      Object(data['sourceToken']).amount,
    ])
    expect(told).toEqual([
      [1, '41'],
      [0, '7'],
      [0, '40'],
      [null, '5'],
    ])
  })
})

describe('of a transaction', () => {
  test('activities say from which block on they are complete', async () => {
    const list = await api.get(`/v1/transfers?recipient=${carol}`)
    const feed = await api.get(`/v1/transactions/${list.body.data[0].transactionHash}/activities`)
    expect(check('/v1/transactions/{transactionHash}/activities', feed)).toEqual([])
    expect([feed.status, feed.headers.get('svc-native-from')]).toEqual([200, '2'])
  })
})

describe('the coin', () => {
  test.each(['', '/transactions', '/holders'])('is no token at /v1/tokens/{coin}%s', async (door) => {
    const refused = await api.get(`/v1/tokens/${coin}${door}`)
    expect(check(`/v1/tokens/{token}${door}`, refused)).toEqual([])
    expect([refused.status, refused.body.error.code]).toEqual([404, 'token_not_found'])
  })
})

const csvOf = async (sql: string) => {
  const file = await api.get(`/v1/indexer/query?engine=clickhouse&format=csv&sql=${encodeURIComponent(sql)}`)
  return String(file.body).trim().split(/\r?\n/)
}

describe('the table', () => {
  test('has the same rows in SQL, of a token that is null', async () => {
    const sql =
      'SELECT block_num, log_idx, tx_idx, token, "to", amount, is_logged, is_value FROM native_transfers ORDER BY block_num, log_idx, tx_idx'
    expect(await csvOf(sql)).toEqual([
      'block_num,log_idx,tx_idx,token,to,amount,is_logged,is_value',
      `1,0,0,,${bob},5,false,true`,
      `1,0,2,,${token},3,false,true`,
      `2,0,0,,${bob},7,true,true`,
      `2,2,1,,${carol},2,true,false`,
    ])
  })

  test('has them in Postgres, and neither store has the coin among tokens', async () => {
    const { postgres, schema } = api.store
    const held = await postgres.pool.query(
      `SELECT block_num, log_idx, tx_idx, amount, is_logged, is_value FROM ${schema}.native_transfers ORDER BY 1, 2, 3`,
    )
    expect(held.rows.map((row) => [...Object.values(row)].map(String).join())).toEqual([
      '1,0,0,5,false,true',
      '1,0,2,3,false,true',
      '2,0,0,7,true,true',
      '2,2,1,2,true,false',
    ])
    expect(await csvOf('SELECT DISTINCT token FROM token_transfers')).toEqual(['token', token])
  })
})

test('anonymous logs and withdrawals of builders arrive as they are', async () => {
  const held = await csvOf(`SELECT topic0, data FROM logs WHERE address = '${requests}'`)
  expect(held).toEqual(['topic0,data', ',0x0102'])
  const block = await api.get('/v1/blocks/2')
  expect(block.body.meta.rpc.withdrawals).toEqual([builder])
})

test('a log that the receipts root proves is the payment', async () => {
  const [real] = amsterdamBlocks()
  if (!real) throw new Error('no block of the specification')
  const proved = await openChainApi({ kind: 'evm', headFrom: 1, startBlock: 1 })
  onTestFinished(() => proved.close())
  const batch = decode({ ...rangeOf([real]), endpoint: 'test' }, 'roots', ethereumProfile)
  expect(batch.proofs).toMatchObject({ provedBlocks: 1, unprovableBlocks: 0 })
  await proved.append([batch])
  const list = await proved.get('/v1/transfers')
  const [tx] = Object(real.block).transactions
  expect(list.body.data.map(shortOf)).toEqual([[1, 0, null, `${BigInt(tx.value)}`, tx.to]])
})
