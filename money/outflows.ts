/** What left accounts on a chain, and came in, as a node tells it. */
import { encodeEventTopics, parseAbi } from 'viem'
import { Addresses } from 'viem/tempo'
import { address, isRecord, lowercased } from '#primitives.ts'
import { type Ask, hashIn, numberIn, quantityIn } from './node.ts'

/** One transfer out of an account. */
export interface Outflow {
  readonly txHash: string
  /** Lowercase addresses. */
  readonly token: string
  readonly to: string
  /** In the token's smallest unit. */
  readonly amount: bigint
  readonly blockNumber: number
}

/** One transfer, of whichever side. */
export interface Transferred extends Outflow {
  readonly from: string
}

export interface SoughtTransfers {
  /** The side that the accounts are on. */
  readonly side: 'from' | 'to'
  readonly accounts: readonly `0x${string}`[]
  /** Those whose transfers are looked for. */
  readonly tokens: readonly string[]
  /** Blocks, both included. */
  readonly from: number
  readonly to: number
}

export interface SoughtOutflows {
  readonly account: `0x${string}`
  /** Those whose transfers are looked for. */
  readonly tokens: readonly string[]
  /** Blocks, both included. */
  readonly from: number
  readonly to: number
}

const abi = parseAbi(['event Transfer(address indexed from, address indexed to, uint256 value)'])
/** Blocks of one question; half of them where a node finds that too many. */
export const BLOCKS_MAX = 10_000
const BLOCKS_MIN = 100

/** Collects the fees of Tempo's chains, which are no payments; nobody is paid there elsewhere. */
export const feeManager = lowercased(Addresses.feeManager)

/** Without fees, in the order of the chain. @throws where the node does not answer */
export async function readOutflows(
  ask: Ask,
  { account, ...sought }: SoughtOutflows,
): Promise<readonly Outflow[]> {
  const left = await readTransfers(ask, { ...sought, side: 'from', accounts: [account] })
  return left.filter(({ to }) => to !== feeManager)
}

/** In the order of the chain. @throws where the node does not answer */
export async function readTransfers(
  ask: Ask,
  { side, accounts, tokens, from, to }: SoughtTransfers,
): Promise<readonly Transferred[]> {
  if (tokens.length === 0 || accounts.length === 0) return []
  const topics = encodeEventTopics({ abi, eventName: 'Transfer', args: { [side]: accounts } })
  const found: Transferred[] = []
  let size = BLOCKS_MAX
  for (let first = from; first <= to; ) {
    const last = Math.min(to, first + size - 1)
    const range = { fromBlock: `0x${first.toString(16)}`, toBlock: `0x${last.toString(16)}` }
    try {
      const logs = await ask('eth_getLogs', [{ address: tokens, topics, ...range }])
      if (!Array.isArray(logs)) throw new TypeError('the node told no list of logs')
      found.push(...logs.map(transferOf))
      first = last + 1
    } catch (error) {
      if (size <= BLOCKS_MIN) throw error
      size = Math.ceil(size / 2)
    }
  }
  return found
}

function transferOf(log: unknown): Transferred {
  if (!isRecord(log) || !Array.isArray(log['topics'])) throw new TypeError('the node told no log')
  const addressIn = (topic: unknown) => `0x${hashIn(topic).slice(26)}`
  return {
    txHash: hashIn(log['transactionHash']),
    token: address(String(log['address'])),
    from: addressIn(log['topics'][1]),
    to: addressIn(log['topics'][2]),
    amount: quantityIn(log['data']),
    blockNumber: numberIn(log['blockNumber']),
  }
}
