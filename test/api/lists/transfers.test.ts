// Goal: transfers are what the tokens' logs say, each movement one row with its memo, under every
// filter; payments in another token fold into one row. Method: the recorded chain decoded by viem,
// and a chain written for what the recording lacks.
import { encodeAbiParameters, encodeEventTopics, type Hex, parseEventLogs } from 'viem'
import { Abis } from 'viem/tempo'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readMemo } from '#present/memo.ts'
import { readRecording } from '../../chain/recordings.ts'
import { recordedBatches } from '../../store/support/chainStore.ts'
import { share } from '../../support/breadth.ts'
import { type ChainApi, openChainApi, walk } from '../support/chainApi.ts'
import { type ResponseCheck, responseCheck } from '../support/openapi.ts'
import { commonest, type RpcObject } from '../support/oracle.ts'
import { recordedTransfers, type TransferRow, transferRows } from '../support/transferOracle.ts'
import { batchesOf, type WrittenLog, type WrittenTransaction, writtenChain } from '../support/writtenChain.ts'

const recording = 'tempo-dev-2k'
const exchange = '0xdec0000000000000000000000000000000000000'
const feeManager = '0xfeec000000000000000000000000000000000000'
describe('transfers', () => {
  let api: ChainApi
  let check: ResponseCheck
  let rows: readonly TransferRow[]
  beforeAll(async () => {
    rows = recordedTransfers(recording)
    api = await openChainApi()
    await api.append(recordedBatches(recording, 10))
    await api.finalize(122)
    check = await responseCheck(api)
  })
  afterAll(() => api.close())

  test('a walk over all of them equals the logs row for row, memos and names included', async () => {
    const path = '/v1/transfers?limit=100&include=memo,token'
    const newest = await walk(api, path, async (page) => {
      expect(check('/v1/transfers', page)).toEqual([])
    })
    expect(newest).toEqual(rows.toReversed())
    expect(await walk(api, `${path}&order=asc`)).toEqual(rows)
    expect(rows.filter(({ memo }) => memo !== undefined).length).toBeGreaterThan(100)
    expect(new Set(rows.map(({ attribution }) => attribution))).toEqual(
      new Set([undefined, 'Example', 'MPP Service']),
    )
  })

  test('memos, attributions and names come where asked for only', async () => {
    const plain = await walk(api, '/v1/transfers?limit=200')
    expect(plain).toEqual(
      rows.toReversed().map(({ memo: _, attribution: __, sourceToken: { address, amount }, ...row }) => ({
        ...row,
        sourceToken: { address, amount },
      })),
    )
  })

  const cases: [string, (row: TransferRow, of: Facts) => boolean][] = [
    ['sender={sender}', (row, of) => row.sender === of.sender],
    ['recipient={recipient}', (row, of) => row.recipient === of.recipient],
    ['address={sender}', (row, of) => row.sender === of.sender || row.recipient === of.sender],
    ['token={token}', (row, of) => row.sourceToken.address === of.token],
    [
      'sender={sender}&recipient={recipient}',
      (row, of) => row.sender === of.sender && row.recipient === of.recipient,
    ],
    [
      'token={token}&sender={sender}',
      (row, of) => row.sourceToken.address === of.token && row.sender === of.sender,
    ],
    [
      'token={token}&recipient={recipient}',
      (row, of) => row.sourceToken.address === of.token && row.recipient === of.recipient,
    ],
    [
      'token={token}&address={recipient}',
      (row, of) =>
        row.sourceToken.address === of.token &&
        (row.sender === of.recipient || row.recipient === of.recipient),
    ],
    ['blockNumber.from=30', (row) => row.blockNumber >= 30],
    ['blockNumber.to=90', (row) => row.blockNumber <= 90],
    [
      'blockNumber.from=30&blockNumber.to=90&token={token}',
      (row, of) => row.blockNumber >= 30 && row.blockNumber <= 90 && row.sourceToken.address === of.token,
    ],
    ['timestamp.from={middle}', (row, of) => row.timestamp >= of.middle],
    ['timestamp.to={middle}', (row, of) => row.timestamp <= of.middle],
    [
      'timestamp.from={middle}&address={sender}',
      (row, of) => row.timestamp >= of.middle && (row.sender === of.sender || row.recipient === of.sender),
    ],
  ]
  interface Facts {
    readonly sender: string
    readonly recipient: string
    readonly token: string
    readonly middle: string
  }

  test.each(share(cases, 5))(
    'filtered by "%s" are those that match, and no other',
    async (query, matches) => {
      const paid = rows.filter(({ recipient }) => recipient !== feeManager)
      const sender = commonest(paid.map((row) => row.sender))
      const facts = {
        sender,
        recipient: commonest(paid.map((row) => (row.sender === sender ? row.recipient : null))),
        token: commonest(paid.map((row) => row.sourceToken.address)),
        middle: rows[Math.floor(rows.length / 2)]?.timestamp ?? '',
      }
      const text = query.replaceAll(/\{(\w+)\}/g, (_, key: keyof Facts) => facts[key])
      const expected = rows.filter((row) => matches(row, facts))
      expect(expected.length).toBeGreaterThan(0)
      expect(expected.length).toBeLessThan(rows.length)
      for (const include of ['memo,token', 'memo,token,crossToken']) {
        const path = `/v1/transfers?limit=50&include=${include}&${text}`
        expect(await walk(api, path)).toEqual(expected.toReversed())
        expect(await walk(api, `${path}&order=asc`)).toEqual(expected)
        const { body } = await api.get(`/v1/transfers?include=${include},totalCount&${text}`)
        expect(body.meta).toEqual({ totalCount: expected.length, totalCountCapped: false })
      }
    },
  )

  test('a transfer of another standard is not listed on Tempo', async () => {
    const tokens = readRecording(recording).flatMap(({ receipts }) =>
      parseEventLogs({
        abi: Abis.tip20,
        eventName: 'Transfer',
        logs: (receipts as RpcObject[]).flatMap(({ logs }) => logs),
      }).map(({ address }) => address),
    )
    const other = tokens.find((address) => !address.startsWith('0x20c0'))
    expect((await api.get(`/v1/transfers?token=${other}`)).body.data).toEqual([])
  })
})

describe('memos', () => {
  const memoOf = (text: string) => `0x${Buffer.from(text).toString('hex').padStart(64, '0')}`
  test.each([
    ['padded on the left', memoOf('INV-7'), { memo: 'INV-7' }],
    ['padded on the right', `0x${Buffer.from('INV-7').toString('hex').padEnd(64, '0')}`, { memo: 'INV-7' }],
    ['with zero bytes inside', memoOf('IN\0V\0'), { memo: 'INV' }],
    ['in any script', memoOf('Zażółć 7₿'), { memo: 'Zażółć 7₿' }],
    ['of zeros', `0x${'0'.repeat(64)}`, {}],
    ['that is no text', `0x${'ff'.repeat(32)}`, {}],
    ['of a service', `0xef1ed71201${'ab'.repeat(27)}`, { attribution: 'MPP Service' }],
    ['none', null, {}],
  ])('%s', (_, memo, expected) => {
    expect(readMemo(memo, new Map())).toEqual(expected)
  })
})

const [alice, bob, maker] = ['a', 'b', 'c'].map((digit) => `0x${digit.repeat(40)}`) as [Hex, Hex, Hex]
const [euro, dollar] = ['1', '2'].map((digit) => `0x20c000000000000000000000${digit.repeat(16)}`) as [
  Hex,
  Hex,
]

function moved(token: Hex, from: Hex, to: Hex, amount: bigint): WrittenLog {
  const topics = encodeEventTopics({ abi: Abis.tip20, eventName: 'Transfer', args: { from, to } }) as Hex[]
  return { address: token, topics, data: encodeAbiParameters([{ type: 'uint256' }], [amount]) }
}

function memoOf({ address, topics: [, from, to], data }: WrittenLog, memo: Hex): WrittenLog {
  const [topic] = encodeEventTopics({ abi: Abis.tip20, eventName: 'TransferWithMemo' }) as Hex[]
  return { address, topics: [topic, from, to, memo] as Hex[], data }
}

const filled: WrittenLog = {
  address: exchange,
  topics: encodeEventTopics({
    abi: Abis.stablecoinDex,
    eventName: 'OrderFilled',
    args: { orderId: 1n, maker, taker: alice },
  }) as Hex[],
  data: encodeAbiParameters([{ type: 'uint128' }, { type: 'bool' }], [90n, false]),
}
const memo: Hex = `0x${Buffer.from('rent').toString('hex').padStart(64, '0')}`
const fee = moved(dollar, alice, feeManager, 3n)
const passedOn = moved(dollar, alice, bob, 90n)
const swapped = [moved(euro, alice, exchange, 100n), filled, moved(dollar, exchange, alice, 90n)]

/**
 * Logs of a transaction, and positions of those that are rows, with the sides that a folded row
 * shows.
 */
const kinds: readonly { logs: WrittenLog[]; plain: number[]; folded: (number | 'payment')[] }[] = [
  { logs: [...swapped, passedOn, memoOf(passedOn, memo), fee], plain: [0, 2, 3, 5], folded: ['payment', 5] },
  { logs: [...swapped, fee], plain: [0, 2, 3], folded: [0, 2, 3] },
  { logs: [...swapped, moved(dollar, alice, bob, 80n), fee], plain: [0, 2, 3, 4], folded: [0, 2, 3, 4] },
  { logs: [moved(euro, alice, bob, 7n), fee], plain: [0, 1], folded: [0, 1] },
  { logs: [passedOn, ...swapped, fee], plain: [0, 1, 3, 4], folded: [0, 1, 3, 4] },
]

describe('payments in another token', () => {
  let api: ChainApi
  let plain: TransferRow[]
  let folded: TransferRow[]
  beforeAll(async () => {
    const transactions: WrittenTransaction[] = kinds.map(({ logs }) => ({ from: alice, logs }))
    const blocks = writtenChain(recording, Array(6).fill(transactions))
    api = await openChainApi()
    await api.append(batchesOf(blocks))
    const receipts = blocks.slice(1).flatMap(({ block, receipts: all }) =>
      (all as RpcObject[]).map((receipt, kind) => ({
        receipt,
        kind,
        seconds: Number((block as RpcObject)['timestamp']),
      })),
    )
    const select = (
      rows: readonly TransferRow[],
      receipt: RpcObject,
      position: number | 'payment',
    ): TransferRow => {
      const log = receipt['logs'][position === 'payment' ? 3 : position]
      const row = rows.find(({ logIndex }) => logIndex === Number(log['logIndex']))
      if (!row) throw new Error(`no row for log ${position}`)
      if (position !== 'payment') return row
      return { ...row, sourceToken: { address: euro, amount: '100' }, destinationToken: row.sourceToken }
    }
    plain = receipts.flatMap(({ receipt, kind, seconds }) =>
      (kinds[kind]?.plain ?? []).map((position) => select(transferRows(receipt, seconds), receipt, position)),
    )
    folded = receipts.flatMap(({ receipt, kind, seconds }) =>
      (kinds[kind]?.folded ?? []).map((position) =>
        select(transferRows(receipt, seconds), receipt, position),
      ),
    )
  })
  afterAll(() => api.close())

  test('are one row where asked for, three otherwise', async () => {
    const path = '/v1/transfers?limit=200&include=memo'
    expect(await walk(api, path)).toEqual(plain.toReversed())
    expect(await walk(api, `${path},crossToken`)).toEqual(folded.toReversed())
    expect(
      folded.filter(({ destinationToken, memo: text }) => destinationToken && text === 'rent').length,
    ).toBe(6)
    const { body } = await api.get(`${path},crossToken,totalCount`)
    expect(body.meta).toEqual({ totalCount: folded.length, totalCountCapped: false })
  })

  test.each(share([5, 7, 13], 1))('pages of %i are full, in both directions', async (limit) => {
    const path = `/v1/transfers?limit=${limit}&include=memo,crossToken`
    const lengths: number[] = []
    const rows = await walk(api, path, async (page) => {
      lengths.push(page.body.data.length)
    })
    expect(rows).toEqual(folded.toReversed())
    expect(lengths.slice(0, -1).every((length) => length === limit)).toBe(true)
    expect(await walk(api, `${path}&order=asc`)).toEqual(folded)
    const third = await api.get(`${path}&page=3`)
    expect(third.body.data).toEqual(folded.toReversed().slice(2 * limit, 3 * limit))
  })

  test.each<[string, (row: TransferRow) => boolean]>([
    [`recipient=${bob}`, ({ recipient }) => recipient === bob],
    [`sender=${exchange}`, ({ sender }) => sender === exchange],
    [`recipient=${exchange}`, ({ recipient }) => recipient === exchange],
    [
      `token=${dollar}`,
      (row) =>
        ((row['destinationToken'] ?? row.sourceToken) as TransferRow['sourceToken']).address === dollar,
    ],
    [`token=${euro}`, (row) => !row['destinationToken'] && row.sourceToken.address === euro],
  ])('filtered by "%s" they are found by what was passed on', async (query, matches) => {
    const expected = folded.filter(matches)
    expect(expected.length).toBeGreaterThan(0)
    expect(expected.length).toBeLessThan(folded.length)
    const path = `/v1/transfers?limit=5&include=memo,crossToken,totalCount&${query}`
    expect(await walk(api, path)).toEqual(expected.toReversed())
    expect((await api.get(path)).body.meta.totalCount).toBe(expected.length)
  })
})
