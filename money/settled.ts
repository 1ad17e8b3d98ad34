/**
 * The fate of a transaction that may have been sent. A node that lags or lies must not have it paid again:
 * it is final if every node that answers says so, and can be mined no more if all of them say so.
 */
import { isRecord } from '#primitives.ts'
import { type Ask, numberIn, quantityIn } from './node.ts'

export interface Log {
  /** Lowercase address. */
  readonly address: string
  readonly topics: readonly string[]
  readonly data: string
}

export interface Mined {
  readonly kind: 'mined'
  readonly txHash: string
  readonly succeeded: boolean
  readonly isFinal: boolean
  readonly blockNumber: number
  readonly blockHash: string
  readonly logs: readonly Log[]
}

export type TxFate =
  | Mined
  /** No block has it, and none can. */
  | { readonly kind: 'absent' }
  | { readonly kind: 'unknown' }

export interface Sought {
  readonly txHash: string
  /** Unix seconds; it cannot be mined from then on. */
  readonly validBeforeSeconds: number
}

/** A node that tells a final block may know its receipts a little later. */
const GRACE_SECONDS = 30

/** Asks all nodes. */
export async function lookForTx(nodes: readonly Ask[], sought: Sought): Promise<TxFate> {
  const told = await Promise.all(nodes.map((ask) => lookAt(ask, sought).catch(() => null)))
  if (told.length > 0 && told.every((found) => found?.kind === 'absent')) return { kind: 'absent' }
  const answered = told.filter((found) => found !== null)
  const [mined] = answered.filter((found) => found.kind === 'mined')
  if (!mined) return { kind: 'unknown' }
  const isSure = answered.every((found) => found.kind === 'mined' && agree(found, mined))
  return { ...mined, isFinal: isSure }
}

const agree = (one: Mined, other: Mined): boolean =>
  one.isFinal && one.blockHash === other.blockHash && one.succeeded === other.succeeded

/** Whether nothing that is valid until then can be mined any more: every node says so. */
export async function isOver(nodes: readonly Ask[], validBeforeSeconds: number): Promise<boolean> {
  const told = await Promise.all(
    nodes.map((ask) =>
      finalBlockOf(ask).then(
        (final) => isPast(final, validBeforeSeconds),
        () => false,
      ),
    ),
  )
  return told.length > 0 && told.every(Boolean)
}

/** Whether every node says that it has the transaction neither in a block nor waiting for one. */
export async function isNowhere(nodes: readonly Ask[], txHash: string): Promise<boolean> {
  const told = await Promise.all(
    nodes.map((ask) =>
      ask('eth_getTransactionByHash', [txHash]).then(
        (found) => found === null,
        () => false,
      ),
    ),
  )
  return told.length > 0 && told.every(Boolean)
}

async function lookAt(ask: Ask, { txHash, validBeforeSeconds }: Sought): Promise<TxFate> {
  // Before the receipt: what a block has that is final by now has its receipt by then.
  const final = await finalBlockOf(ask)
  const receipt = await ask('eth_getTransactionReceipt', [txHash])
  if (receipt === null) return { kind: isPast(final, validBeforeSeconds) ? 'absent' : 'unknown' }
  if (!isRecord(receipt)) throw new TypeError('the node told no receipt')
  const blockNumber = numberIn(receipt['blockNumber'])
  const { logs, blockHash } = receipt
  if (typeof blockHash !== 'string') throw new TypeError('the node told no hash of a block')
  return {
    ...{ kind: 'mined', txHash },
    succeeded: quantityIn(receipt['status']) === 1n,
    isFinal: blockNumber <= final.number,
    blockNumber,
    blockHash: blockHash.toLowerCase(),
    logs: logsIn(logs),
  }
}

export interface BlockTime {
  readonly number: number
  readonly seconds: number
}

export type FinalBlock = BlockTime

/** The newest that a node holds to be final. Whatever it holds is seen by a look that comes after. */
export const finalBlockOf = (ask: Ask): Promise<FinalBlock> => blockOf(ask, 'finalized')

export const newestBlockOf = (ask: Ask): Promise<BlockTime> => blockOf(ask, 'latest')

async function blockOf(ask: Ask, tag: 'finalized' | 'latest'): Promise<BlockTime> {
  const block = await ask('eth_getBlockByNumber', [tag, false])
  if (!isRecord(block)) throw new TypeError('the node told no block')
  return { number: numberIn(block['number']), seconds: numberIn(block['timestamp']) }
}

/** Whether what the node does not have by this final block can be mined no more. */
export const isPast = ({ seconds }: Pick<FinalBlock, 'seconds'>, validBeforeSeconds: number): boolean =>
  seconds > validBeforeSeconds + GRACE_SECONDS

/** Those of a receipt. @throws TypeError where one is no log */
export const logsIn = (logs: unknown): readonly Log[] => (Array.isArray(logs) ? logs.map(logOf) : [])

function logOf(log: unknown): Log {
  if (!isRecord(log)) throw new TypeError('the node told no log')
  const topics: unknown = log['topics']
  return {
    address: String(log['address']).toLowerCase(),
    topics: Array.isArray(topics) ? topics.map((topic) => String(topic).toLowerCase()) : [],
    data: String(log['data']).toLowerCase(),
  }
}
