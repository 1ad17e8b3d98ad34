/** Logs and calls whose decoding is known, for queries over tables by signature. */
import {
  type AbiEvent,
  encodeAbiParameters,
  encodeFunctionData,
  pad,
  parseAbiItem,
  toEventSelector,
  toHex,
} from 'viem'
import type { ExampleRow } from '../support/exampleRows.ts'

export const account = (value: number): `0x${string}` => pad(toHex(value), { size: 20 })
const word = (value: number): `0x${string}` => pad(toHex(value), { size: 32 })
export const [token, otherToken] = [account(0x20c1), account(0x20c2)]

const transfer = parseAbiItem('event Transfer(address indexed from, address indexed to, uint256 amount)')
const nftTransfer = parseAbiItem(
  'event Transfer(address indexed from, address indexed to, uint256 indexed id)',
)
const order = parseAbiItem(
  'event OrderSeen(uint128 indexed orderId, int24 indexed tick, address maker, bool isBid)',
)
const note = parseAbiItem('event Noted(string indexed data, bytes address_, string text)')
const ping = parseAbiItem('event Ping(uint256 number)')
const mark = parseAbiItem('event Marked(address indexed who, uint8 indexed kind)')
const mixed = parseAbiItem('event Mixed(address who, uint256 indexed kind)')

const logOf = (
  event: AbiEvent,
  topics: readonly (number | `0x${string}`)[],
  data: readonly unknown[],
  address = token,
) => ({
  address,
  topics: [
    toEventSelector(event),
    ...topics.map((topic) => (typeof topic === 'number' ? word(topic) : topic)),
  ],
  data: encodeAbiParameters(
    event.inputs.filter(({ indexed }) => !indexed),
    [...data],
  ),
})

const minusFive = `0x${(2n ** 256n - 5n).toString(16)}` as const

const logs = [
  logOf(transfer, [1, 2], [10n]),
  logOf(transfer, [2, 3], [2n ** 256n - 1n]),
  logOf(transfer, [1, 3], [5n], otherToken),
  logOf(transfer, [3, 1], [0n], otherToken),
  logOf(nftTransfer, [1, 2, 99], []),
  { ...logOf(transfer, [1, 2], [1n]), data: '0x0001' },
  { ...logOf(transfer, [`0x${'11'.repeat(32)}`, 2], [1n]) },
  logOf(order, [7, minusFive], [account(1), true]),
  logOf(order, [8, 12], [account(2), false]),
  logOf(note, [77], ['0xbeef', 'häh\0?']),
  logOf(ping, [], [42n]),
  logOf(mark, [1, 200], []),
  logOf(mixed, [3], [account(4)]),
]

/** Two logs a block, from block 1 on. */
export const logRows: ExampleRow[] = logs.map(({ address, topics, data }, index) => ({
  block_num: 1 + Math.floor(index / 2),
  log_idx: index % 2,
  block_timestamp: 1_795_262_398 + index,
  tx_idx: 0,
  tx_hash: word(1_000 + index),
  address,
  topic0: topics[0] ?? null,
  topic1: topics[1] ?? null,
  topic2: topics[2] ?? null,
  topic3: topics[3] ?? null,
  data,
  is_virtual_forward: false,
}))

const abi = [
  parseAbiItem('function transfer(address to, uint256 amount) returns (bool)'),
  parseAbiItem('function exec((address target, bytes data)[] steps, string reason)'),
]
const transferInput = (to: number, amount: bigint) =>
  encodeFunctionData({ abi, functionName: 'transfer', args: [account(to), amount] })
const execInput = encodeFunctionData({
  abi,
  functionName: 'exec',
  args: [[{ target: account(5), data: '0x0102' }], 'why'],
})

const call = (input: string, to: string | null = token) => ({ to, value: '0x0', input })

const txs: readonly Partial<ExampleRow>[] = [
  { type: 2, to: token, input: transferInput(2, 10n), value: 3n },
  { type: 2, to: null, input: transferInput(2, 10n) },
  { type: 2, to: token, input: execInput },
  {
    type: 118,
    to: token,
    calls: JSON.stringify([
      call(execInput),
      call(transferInput(3, 7n), otherToken),
      call(transferInput(4, 8n)),
    ]),
    call_count: 3,
  },
  {
    type: 118,
    to: token,
    calls: JSON.stringify([call(transferInput(9, 1n).slice(0, 20)), call('0x')]),
    call_count: 2,
  },
]

export const txRows: ExampleRow[] = txs.map((tx, index) => ({
  block_num: 1 + index,
  idx: 0,
  block_timestamp: 1_795_262_398 + index,
  hash: word(2_000 + index),
  from: account(16),
  input: '0x',
  gas_limit: 100_000,
  nonce: index,
  calls: null,
  call_count: 1,
  status: 1,
  gas_used: 21_000,
  cumulative_gas_used: 21_000,
  log_count: 0,
  value: 0n,
  ...tx,
}))
