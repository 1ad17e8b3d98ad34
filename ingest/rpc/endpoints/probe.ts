import { failure } from '#errors.ts'
import type { Hash } from '#primitives.ts'
import { spelledQuantity } from '../../read/spelling.ts'
import type { CallAnswer, RpcCall, RpcClient } from '../client/client.ts'
import { RpcError, type RpcFailure, WrongChainError } from '../client/errors.ts'
import { parseBlockRef, parseQuantity } from '../client/parse.ts'

/** An endpoint's answers about itself when it is first met, and again whenever it comes back. */
export interface Probed {
  readonly chainId: number
  /** Null where a node has dropped even the first header. */
  readonly genesisHash: Hash | null
  /** False when every call has to be a request of its own. */
  readonly batches: boolean
  /** False when it does not know eth_getBlockReceipts. */
  readonly blockReceipts: boolean
  /** False when it does not know the `finalized` tag. */
  readonly finalizedTag: boolean
}

/**
 * Asks for identity and abilities: the chain id by a single call, which every node answers, the
 * rest as one batch, which not every one does. @throws RpcError when it cannot tell its chain id or
 * the line fails.
 */
export async function probeEndpoint(client: RpcClient, signal?: AbortSignal): Promise<Probed> {
  const chainId = readChainId(await client.call('eth_chainId', [], signal), client)
  const { batches, answers } = await askAbilities(client, signal)
  for (const answer of answers) if (!answer.ok && !ofTheNode.has(answer.error.failure)) throw answer.error
  const [genesis, receipts, finalized] = answers
  const first = isTold(genesis) ? genesis : await askAgain(client, genesisCall, signal)
  return {
    chainId,
    genesisHash: (first?.ok ? parseBlockRef(first.result, client)?.hash : null) ?? null,
    batches,
    blockReceipts: receipts?.ok === true || receipts?.error.failure !== 'method_missing',
    // A node without the tag answers an error about its parameters, or null for ever.
    finalizedTag: isTold(finalized) || isTold(await askAgain(client, finalizedCall, signal)),
  }
}

/** @throws RpcError, caused by ChainIdTooLargeError where that is what is wrong with it */
function readChainId(told: unknown, client: RpcClient): number {
  const id = spelledQuantity(told)
  const isWide = id !== null && id.length <= CHAIN_ID_CHARACTERS_MAX && !Number.isSafeInteger(Number(id))
  if (!isWide) return parseQuantity(told, client)
  const cause = new ChainIdTooLargeError(BigInt(id))
  throw client.error('malformed', cause.message, { cause })
}

/** A word of 256 bits: contracts know a chain by no more. */
const CHAIN_ID_CHARACTERS_MAX = 2 + 64

/** Ids are numbers in settings, paths and columns. */
export class ChainIdTooLargeError extends failure('ChainIdTooLargeError', 'chain_id_too_large', 'stop') {
  constructor(id: bigint) {
    super(`serves chain ${id}, and chain ids above ${Number.MAX_SAFE_INTEGER} (2^53 - 1) are not supported`)
  }
}

/**
 * A single lost answer is no sign of a missing tag or block: the depth in place of the tag may be
 * less than what is final, and chains are told apart by block 0.
 */
async function askAgain(client: RpcClient, call: RpcCall, signal?: AbortSignal) {
  const [again] = await client.callAll([call], false, signal)
  if (again?.ok === false && !ofTheNode.has(again.error.failure)) throw again.error
  return again
}

const genesisCall = { method: 'eth_getBlockByNumber', params: ['0x0', false] }
const finalizedCall = { method: 'eth_getBlockByNumber', params: ['finalized', false] }

const isTold = (answer: CallAnswer | undefined): boolean => answer?.ok === true && answer.result !== null

async function askAbilities(client: RpcClient, signal?: AbortSignal) {
  const calls = [genesisCall, { method: 'eth_getBlockReceipts', params: ['0x0'] }, finalizedCall]
  try {
    return { batches: true, answers: await client.callAll(calls, true, signal) }
  } catch (error) {
    if (!(error instanceof RpcError) || !ofBatches.has(error.failure)) throw error
    return { batches: false, answers: await client.callAll(calls, false, signal) }
  }
}

/** Servers whose batches have fewer calls may call ours too large (413). */
const ofBatches: ReadonlySet<RpcFailure> = new Set(['batch_refused', 'too_large'])

/**
 * A node's errors about a call it does not like. Everything else is of the line, and says nothing about the
 * node.
 */
const ofTheNode: ReadonlySet<RpcFailure> = new Set([
  'method_missing',
  'node_error',
  'pruned',
  'block_missing',
  'malformed',
  'too_large',
])

/** The chain this data belongs to, as far as it is known. */
export interface ChainIdentity {
  readonly chainId: number
  readonly genesisHash: Hash | null
}

/** @throws WrongChainError */
export function assertSameChain(endpoint: string, probed: Probed, pinned: ChainIdentity): void {
  if (probed.chainId !== pinned.chainId)
    throw new WrongChainError(endpoint, 'chain id', String(pinned.chainId), String(probed.chainId))
  if (pinned.genesisHash && probed.genesisHash && probed.genesisHash !== pinned.genesisHash)
    throw new WrongChainError(endpoint, 'genesis block', pinned.genesisHash, probed.genesisHash)
}
