/** The lists as they must be, computed from the recorded answers by rules written anew here. */
import { type RecordedBlock, readRecording } from '../../chain/recordings.ts'

export interface OracleTransaction {
  readonly hash: string
  readonly blockNumber: number
  readonly index: number
  readonly timestampSeconds: number
  readonly sender: string
  readonly recipient: string | null
  readonly feePayer: string | null
  readonly feeToken: string | null
  readonly status: 'succeeded' | 'reverted'
  readonly rpc: RpcObject
  readonly receipt: RpcObject
}

export interface OracleTransfer {
  readonly id: string
  readonly blockNumber: number
  readonly timestampSeconds: number
  readonly logIndex: number
  readonly token: string
  readonly sender: string
  readonly recipient: string
  readonly amount: string
  /** The memo's 32 bytes, or null. */
  readonly memo: string | null
}

export interface Oracle {
  readonly blocks: readonly RpcObject[]
  readonly transactions: readonly OracleTransaction[]
  readonly transfers: readonly OracleTransfer[]
}

// biome-ignore lint/suspicious/noExplicitAny: a node's JSON
export type RpcObject = Readonly<Record<string, any>>

const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const transferWithMemoTopic = '0x57bc7354aa85aed339e000bccffabbc529466af35f0772c8f8ee1145927de7f0'
const feeManager = '0xfeec000000000000000000000000000000000000'

/** The recorded chain's first `count` blocks, ascending. */
export function readOracle(recording: string, count = Number.POSITIVE_INFINITY): Oracle {
  const recorded = readRecording(recording).slice(0, count)
  return {
    blocks: recorded.map(({ block }) => block as RpcObject),
    transactions: recorded.flatMap(transactionsOf),
    transfers: recorded.flatMap(transfersOf),
  }
}

function transactionsOf({ block, receipts }: RecordedBlock): OracleTransaction[] {
  const { number, timestamp, transactions } = block as RpcObject
  return (transactions as RpcObject[]).map((rpc, index) => {
    const receipt = (receipts as RpcObject[])[index] ?? {}
    const fee = feeTransferOf(receipt)
    return {
      hash: rpc['hash'],
      blockNumber: Number(number),
      index,
      timestampSeconds: Number(timestamp),
      sender: rpc['from'],
      recipient: rpc['to'] ?? receipt['to'] ?? null,
      feePayer: fee ? addressOf(fee['topics'][1]) : rpc['from'],
      feeToken: fee ? fee['address'] : null,
      status: receipt['status'] === '0x0' ? 'reverted' : 'succeeded',
      rpc,
      receipt,
    }
  })
}

/** The closing transfer to the fee manager. */
function feeTransferOf(receipt: RpcObject): RpcObject | null {
  const last = (receipt['logs'] as RpcObject[]).at(-1)
  if (!last || last['topics'][0] !== transferTopic || last['topics'].length !== 3) return null
  return addressOf(last['topics'][2]) === feeManager ? last : null
}

/** TIP-20 transfers. */
function transfersOf({ block, receipts }: RecordedBlock): OracleTransfer[] {
  const { timestamp } = block as RpcObject
  return (receipts as RpcObject[]).flatMap(({ logs }) =>
    (logs as RpcObject[]).filter(isTransfer).map((log) => ({
      id: `${log['transactionHash']}-${Number(log['logIndex'])}`,
      blockNumber: Number(log['blockNumber']),
      timestampSeconds: Number(timestamp),
      logIndex: Number(log['logIndex']),
      token: log['address'],
      sender: addressOf(log['topics'][1]),
      recipient: addressOf(log['topics'][2]),
      amount: `${BigInt(log['data'])}`,
      memo: memoOf(log, logs as RpcObject[]),
    })),
  )
}

const isTransfer = (log: RpcObject): boolean =>
  log['address'].startsWith('0x20c000000000000000000000') &&
  log['topics'][0] === transferTopic &&
  log['topics'].length === 3 &&
  log['data'].length === 66

/** The log after a transfer repeats it with the memo. */
function memoOf(transfer: RpcObject, logs: readonly RpcObject[]): string | null {
  const next = logs[logs.indexOf(transfer) + 1]
  const isMemo =
    next?.['address'] === transfer['address'] &&
    next?.['topics'][0] === transferWithMemoTopic &&
    next?.['topics'][1] === transfer['topics'][1] &&
    next?.['topics'][2] === transfer['topics'][2] &&
    next?.['data'] === transfer['data']
  return isMemo ? next?.['topics'][3] : null
}

const addressOf = (topic: string): string => `0x${topic.slice(26)}`

/** The most frequent value, so that a filter has work to do. */
export function commonest(values: readonly (string | null)[]): string {
  const counts = Map.groupBy(
    values.filter((value) => value !== null),
    (value) => value,
  )
  const [first] = [...counts].sort(([, a], [, b]) => b.length - a.length)
  return first?.[0] ?? ''
}
