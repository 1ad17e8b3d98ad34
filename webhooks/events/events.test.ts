// Goal: every filter field includes and excludes, what is not understood is refused with its place.
// Method: an event of each type, and for each field values that fit it and values that do not.
import { describe, expect, it } from 'vitest'
import type { Subscribed } from '#rows/webhooks/subscriptions.ts'
import { finalIn } from '#store/ledger/lane.ts'
import type { PieceTables } from '#store/read/pieces.ts'
import { FiltersError } from '../filters/operators.ts'
import { messagesOf } from '../matching/messagesOf.ts'
import type { Facts } from './eventType.ts'
import { eventTypes, findEventType } from './index.ts'

const account = (digit: string) => `0x${digit.repeat(40)}`
const word = (digit: string) => `0x${digit.repeat(64)}`
const padded = (address: string) => `0x${address.slice(2).padStart(64, '0')}`
const token = '0x20c0000000000000000000000000000000000001'
const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

const place = { block_num: 7, block_timestamp: 1_700_000_000, tx_idx: 1, tx_hash: word('c') }
const rows = {
  blocks: [
    {
      num: 7,
      hash: word('a'),
      parent_hash: word('b'),
      miner: account('1'),
      gas_used: 21_000,
      gas_limit: 30_000,
      timestamp: 1_700_000_000,
      tx_count: 1,
    },
  ],
  token_transfers: [
    {
      ...place,
      log_idx: 3,
      token,
      from: account('1'),
      to: account('2'),
      amount: 5n,
      is_fee: true,
      memo: null,
      is_virtual_forward: false,
    },
  ],
  native_transfers: [
    {
      ...place,
      ...{ log_idx: 4, from: account('1'), to: account('2'), amount: 5n },
      ...{ is_logged: true, is_value: true },
    },
  ],
  logs: [
    {
      ...place,
      log_idx: 3,
      address: token,
      topic0: transferTopic,
      topic1: padded(account('1')),
      topic2: padded(account('2')),
      topic3: null,
      data: padded('0x05'),
      is_virtual_forward: false,
    },
  ],
  txs: [
    {
      ...{
        block_num: 7,
        idx: 1,
        block_timestamp: 1_700_000_000,
        hash: word('c'),
        type: 118,
        from: account('1'),
        to: account('2'),
      },
      ...{
        input: '0x',
        gas_limit: 30_000n,
        nonce: 4,
        nonce_key: word('0'),
        fee_token: null,
        paid_fee_token: token,
        call_count: 2,
      },
      calls: JSON.stringify([
        { to: account('2'), input: '0xa9059cbb01' },
        { to: account('3'), input: '0x' },
      ]),
      ...{
        valid_before: 9,
        valid_after: null,
        status: 1,
        gas_used: 21_000,
        fee_payer: account('4'),
        value: 6n,
      },
      ...{ max_fee_per_gas: 8n, max_priority_fee_per_gas: null },
    },
  ],
  exchange_fills: [
    {
      ...{ blockNumber: 7, logIndex: 3, timestampSeconds: 1_700_000_000, txHash: word('c'), txIndex: 1 },
      ...{ txLogIndex: 0, swapLogIndex: 3, orderId: 9n, maker: account('1'), taker: account('2') },
      pair: { key: word('e'), base: token, quote: account('5') },
      ...{ isBid: true, tick: 10, isPartial: false, amount: 100n, quoteAmount: 101n, takerQuoteAmount: 101n },
      ...{ reserve0: 0n, reserve1: 0n },
    },
  ],
} as unknown as PieceTables

function selects(type: string, filters: Readonly<Record<string, unknown>>): boolean {
  const watch = findEventType(type)?.watch([{ subscriber: 'one', filters }])
  const found = watch?.find(rows, { chainId: 1, kind: 'tempo' }) ?? []
  return found.length === 1 && found[0]?.receivers[0]?.subscribers.length === 1
}

const problem = (type: string, filters: Readonly<Record<string, unknown>>): string => {
  try {
    findEventType(type)?.validate(filters)
  } catch (error) {
    if (error instanceof FiltersError) return error.problem.path.join('.')
    throw error
  }
  return 'valid'
}

const signature = 'Transfer(address indexed from, address indexed to, uint256 amount)'
/** Field: values that fit, values that do not. */
const cases: Readonly<
  Record<string, Readonly<Record<string, readonly [fits: readonly unknown[], not: readonly unknown[]]>>>
> = {
  'token:transfer': {
    token: [[token, token.toUpperCase().replace('0X', '0x')], [account('2')]],
    sender: [[account('1')], [account('2')]],
    recipient: [[account('2')], [account('1')]],
    address: [[account('1'), account('2')], [account('3')]],
    fees: [[true], [false]],
  },
  'block:created': {
    number: [
      ['0x7', { gte: '0x7', lt: '0x8' }],
      ['0x8', { gt: '0x7' }, { gt: '0x1', lt: '0x7' }],
    ],
    miner: [
      [account('1'), { in: [account('3'), account('1')] }, { not: account('3') }],
      [account('2'), { not: account('1') }],
    ],
    proposer: [[], [account('1'), { not: account('9') }]],
    gasUsed: [[{ eq: '0x5208' }], [{ lt: '0x5208' }]],
    gasLimit: [[{ lte: '0x7530' }], ['0x1']],
    timestamp: [[{ gte: '0x1' }], [{ lt: '0x1' }]],
  },
  'log:emitted': {
    address: [
      [token, { not: account('1') }],
      [account('1'), { not: token }],
    ],
    topic0: [[transferTopic], [word('1')]],
    topic1: [[padded(account('1'))], [padded(account('2'))]],
    topic2: [[{ in: [padded(account('2'))] }], [{ in: [word('1')] }]],
    topic3: [[], [word('1'), { not: word('1') }]],
    signature: [[signature, 'Transfer(address,address,uint256)'], ['Approval(address,address,uint256)']],
    blockNumber: [['0x7'], ['0x8']],
  },
  'native:transfer': {
    address: [[account('1'), account('2')], [account('3')]],
    sender: [[account('1')], [account('2')]],
    recipient: [[account('2')], [account('1')]],
  },
  'exchange:filled': {
    orderId: [
      ['0x9', { in: ['0x1', '0x9'] }],
      ['0x1', { not: '0x9' }],
    ],
    pair: [[word('e')], [word('f')]],
    maker: [[account('1'), { not: account('2') }], [account('2')]],
    taker: [[account('2')], [account('1')]],
    participant: [[account('1'), account('2')], [account('3')]],
    base: [[token], [account('5')]],
    quote: [[account('5')], [token]],
    token: [[token, account('5')], [account('1')]],
    side: [['bid'], ['ask', { not: 'bid' }]],
    amount: [['0x64', { gte: '0x64' }], [{ gt: '0x64' }]],
    quoteAmount: [['0x65'], [{ lt: '0x65' }]],
    blockNumber: [['0x7'], ['0x8']],
  },
  'transaction:included': {
    hash: [[word('c')], [word('d')]],
    from: [[account('1')], [account('2')]],
    to: [[account('2'), account('3')], [account('1')]],
    address: [[account('1'), account('3')], [account('9')]],
    calls: [[{ to: account('3') }], [{ to: account('1') }]],
    input: [
      [{ selector: '0xa9059cbb' }, { startsWith: '0xa9059cbb01' }, { eq: '0xa9059cbb01' }],
      [{ selector: '0xa9059cbc' }, { eq: '0xa9059cbb' }],
    ],
    value: [['0x6'], [{ gt: '0x6' }]],
    callCount: [['0x2'], ['0x1']],
    txType: [['0x76'], ['0x2']],
    feeToken: [[token], [account('1')]],
    feePayer: [[account('4')], [account('1'), { not: account('4') }]],
    gasLimit: [['0x7530'], ['0x7531']],
    gasUsed: [[{ eq: '0x5208' }], [{ gt: '0x5208' }]],
    maxFeePerGas: [['0x8'], ['0x9']],
    maxPriorityFeePerGas: [[], ['0x0', { gte: '0x0' }]],
    nonce: [['0x4'], ['0x5']],
    nonceKey: [['0x00'], ['0x01']],
    validBefore: [['0x9'], ['0x8']],
    validAfter: [[], ['0x0']],
    blockNumber: [['0x7'], ['0x6']],
    timestamp: [[{ gt: '0x1' }], [{ lt: '0x1' }]],
    status: [['success'], ['reverted']],
  },
}

describe('every filter field includes and excludes', () => {
  for (const [type, fields] of Object.entries(cases))
    for (const [field, [fits, not]] of Object.entries(fields))
      it(`${type}: ${field}`, () => {
        for (const value of fits) expect(selects(type, { [field]: value }), JSON.stringify(value)).toBe(true)
        for (const value of not) expect(selects(type, { [field]: value }), JSON.stringify(value)).toBe(false)
        const bad = field === 'fees' ? 'yes' : { near: '0x1' }
        expect(problem(type, { [field]: bad })).toMatch(new RegExp(`^${field}`))
      })
})

describe('filters', () => {
  it('on arguments compare what the signature says', () => {
    const args = (wanted: object) => selects('log:emitted', { signature, args: wanted })
    expect(args({ to: account('2') })).toBe(true)
    expect(args({ to: account('1') })).toBe(false)
    expect(args({ amount: { gt: '4', lte: '0x5' }, from: { not: account('9') } })).toBe(true)
    expect(args({ amount: { gt: '5' } })).toBe(false)
    expect(problem('log:emitted', { signature, args: { value: '1' } })).toBe('args.value')
    expect(problem('log:emitted', { signature: 'Transfer(address,address,uint256)', args: {} })).toBe(
      'signature',
    )
    expect(problem('log:emitted', { args: {} })).toBe('args')
    expect(problem('log:emitted', { signature, topic0: transferTopic })).toBe('topic0')
    expect(problem('log:emitted', { signature: 'Transfer(' })).toBe('signature')
  })

  it('match inner calls unless they say otherwise', () => {
    expect(selects('transaction:included', { to: account('3'), includeCalls: false })).toBe(false)
    expect(selects('transaction:included', { to: account('2'), includeCalls: false })).toBe(true)
  })

  it('that are unknown or stored in an old form select nothing', () => {
    for (const { type } of eventTypes) expect(problem(type, { unknown: 1 })).toBe('unknown')
    expect(selects('block:created', { number: 'old' })).toBe(false)
  })

  it('with an index find the same subscriptions as without', () => {
    const accounts = Array.from({ length: 500 }, (_, n) => `0x${n.toString(16).padStart(40, '0')}`)
    const subscribers = [...accounts, account('2')].map((recipient) => ({
      subscriber: recipient,
      filters: { recipient },
    }))
    const found = findEventType('token:transfer')
      ?.watch(subscribers)
      .find(rows, { chainId: 1, kind: 'tempo' })
    expect(found?.flatMap(({ receivers }) => receivers.flatMap(({ subscribers }) => subscribers))).toEqual([
      account('2'),
    ])
  })
})

it('a gas limit of 64 bits leaves with all its digits', () => {
  const wide = { ...rows, blocks: rows.blocks.map((row) => ({ ...row, gas_limit: 2n ** 63n - 1n })) }
  const watch = findEventType('block:created')?.watch([{ subscriber: 'one', filters: {} }])
  const [found] = watch?.find(wide, { chainId: 1, kind: 'tempo' }) ?? []
  expect(found?.receivers[0]?.data({} as Facts)).toContain('"gasLimit":9223372036854775807,')
})

it('a movement of the coin by a log and one by value alone have two ids, also at one index', async () => {
  const logged = rows.native_transfers.map((row) => ({ ...row, log_idx: 4, tx_idx: 1 }))
  const byValue = logged.map((row) => ({ ...row, log_idx: 5, tx_idx: 4, is_logged: false }))
  const chain = { chainId: 1, kind: 'evm' } as const
  const type = 'native:transfer'
  const subscriber = { id: 'one', finality: 'latest' } as unknown as Subscribed
  const watch = findEventType(type)?.watch([{ subscriber, filters: {} }])
  const found = watch?.find({ ...rows, native_transfers: [...logged, ...byValue] }, chain) ?? []
  const events = found.map((event) => ({ ...event, type, blockHash: word('a') }))
  const piece = { blocks: [{ number: 7, hash: word('a') }], events, transactions: new Map() }
  const { messages } = await messagesOf(
    piece,
    chain,
    finalIn(null),
    async () => new Map(),
    AbortSignal.timeout(60_000),
  )
  const told = [...messages]
  expect(told.map(({ index }) => index)).toEqual([4, 4])
  expect(new Set(told.map(({ eventId }) => eventId)).size).toBe(2)
})
