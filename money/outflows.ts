/** Transfers that left accounts on a chain, and came in, as a node tells them. */
import { encodeEventTopics, pad, parseAbi } from 'viem'
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
  readonly logIndex: number
}

/** With what it says that it is for. */
export interface Marked {
  /** Memo of the transfer, or nonce of its authorization; null where it has neither. */
  readonly memo: `0x${string}` | null
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

const abi = parseAbi([
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'event TransferWithMemo(address indexed from, address indexed to, uint256 value, bytes32 indexed memo)',
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
])
/** Blocks of one question; half of them where a node finds that too many. */
export const QUESTION_BLOCKS_MAX = 10_000
const BLOCKS_MIN = 100

/** Collects the fees of Tempo's chains, which are no payments; nobody is paid there elsewhere. */
export const feeManager = lowercased(Addresses.feeManager)

/** Without fees, in the order of the chain. @throws where the node does not answer */
export async function readOutflows(
  ask: Ask,
  { account, ...sought }: SoughtOutflows,
): Promise<readonly (Transferred & Marked)[]> {
  const left = await readTransfers(ask, { ...sought, side: 'from', accounts: [account] })
  return withMemos(
    ask,
    left.filter(({ to }) => to !== feeManager),
    { ...sought, accounts: [account] },
  )
}

/**
 * @param transfers all of the accounts' in these blocks, without fees
 * @throws where the node does not answer
 */
export async function withMemos<One extends Transferred>(
  ask: Ask,
  transfers: readonly One[],
  { accounts, ...sought }: Pick<SoughtTransfers, 'accounts' | 'tokens' | 'from' | 'to'>,
): Promise<readonly (One & Marked)[]> {
  if (transfers.length === 0) return []
  const names = [topicOf('TransferWithMemo'), topicOf('AuthorizationUsed')]
  const told = await readLogs(ask, { ...sought, topics: [names, accounts.map((account) => pad(account))] })
  const memos = new Map<string, `0x${string}`[]>()
  for (const { key, memo } of told.map(memoIn)) memos.set(key, [...(memos.get(key) ?? []), memo])
  return transfers.map((transfer) => {
    const own = memos.get(transferKey(transfer)) ?? memos.get(authorizationKey(transfer))
    return { ...transfer, memo: own?.shift() ?? null }
  })
}

const topicOf = (eventName: 'TransferWithMemo' | 'AuthorizationUsed') =>
  encodeEventTopics({ abi, eventName })[0]

/** Equal transfers of a transaction have their memos in their order, and so have its authorizations. */
const transferKey = ({ from, to, amount, ...at }: Transferred) =>
  `${authorizationKey({ from, ...at })} ${to} ${amount}`
const authorizationKey = ({ txHash, token, from }: Pick<Transferred, 'txHash' | 'token' | 'from'>) =>
  `${txHash} ${token} ${from}`

function memoIn(log: unknown): { readonly key: string; readonly memo: `0x${string}` } {
  const { txHash, token, topics, data } = logOf(log)
  const at = { txHash, token, from: addressIn(topics[1]) }
  if (topics[0] === topicOf('AuthorizationUsed'))
    return { key: authorizationKey(at), memo: hashIn(topics[2]) }
  const moved = { ...at, to: addressIn(topics[2]), amount: quantityIn(data) }
  return { key: transferKey({ ...moved, blockNumber: 0, logIndex: 0 }), memo: hashIn(topics[3]) }
}

/** In the order of the chain. @throws where the node does not answer */
export async function readTransfers(
  ask: Ask,
  { side, accounts, tokens, from, to }: SoughtTransfers,
): Promise<readonly Transferred[]> {
  if (tokens.length === 0 || accounts.length === 0) return []
  const topics = encodeEventTopics({ abi, eventName: 'Transfer', args: { [side]: accounts } })
  return (await readLogs(ask, { tokens, topics, from, to })).map(transferOf)
}

interface SoughtLogs extends Pick<SoughtTransfers, 'tokens' | 'from' | 'to'> {
  readonly topics: readonly unknown[]
}

async function readLogs(ask: Ask, { tokens, topics, from, to }: SoughtLogs): Promise<readonly unknown[]> {
  const found: unknown[] = []
  let size = QUESTION_BLOCKS_MAX
  for (let first = from; first <= to; ) {
    const last = Math.min(to, first + size - 1)
    const range = { fromBlock: `0x${first.toString(16)}`, toBlock: `0x${last.toString(16)}` }
    try {
      const logs = await ask('eth_getLogs', [{ address: tokens, topics, ...range }])
      if (!Array.isArray(logs)) throw new TypeError('the node told no list of logs')
      for (const log of logs) found.push(log)
      first = last + 1
    } catch (error) {
      if (size <= BLOCKS_MIN) throw error
      size = Math.ceil(size / 2)
    }
  }
  return found
}

function transferOf(log: unknown): Transferred {
  const { txHash, token, topics, data, blockNumber, logIndex } = logOf(log)
  return {
    ...{ txHash, token, from: addressIn(topics[1]), to: addressIn(topics[2]), amount: quantityIn(data) },
    ...{ blockNumber: numberIn(blockNumber), logIndex: numberIn(logIndex) },
  }
}

/** @throws TypeError where it is none */
function logOf(log: unknown) {
  if (!isRecord(log) || !Array.isArray(log['topics'])) throw new TypeError('the node told no log')
  const topics: readonly unknown[] = log['topics']
  const { transactionHash, address: of, data, blockNumber, logIndex } = log
  return {
    ...{ txHash: hashIn(transactionHash), token: address(String(of)) },
    ...{ topics, data, blockNumber, logIndex },
  }
}

const addressIn = (topic: unknown) => `0x${hashIn(topic).slice(26)}`
