import type { RpcSource } from '#ingest/rpc/rpcSource.ts'
import type { Address, Hash, Hex } from '#primitives.ts'
import { spelledHex } from '../read/spelling.ts'
import { SourceError } from './client/errors.ts'

export interface ContractCall {
  readonly to: Address
  readonly data: Hex
  /** The most that the call may cost; the node decides if it is absent. */
  readonly gas?: Hex
}

/** The state to read: of the block with this hash, or the newest. */
export type CallsAt = Hash | 'latest'

/**
 * Many `eth_call`s in one request, answered in order; null where the contract refused, gave more
 * than any answer may have, or is none.
 * @throws a MillraceError with remedy `retry` when no node answers, or none has the block
 */
export type CallContracts = (
  calls: readonly ContractCall[],
  at: CallsAt,
  signal: AbortSignal,
) => Promise<readonly (Hex | null)[]>

/** Reads contracts through the chain's own endpoints. */
export function contractCalls(source: Pick<RpcSource, 'callAll'>): CallContracts {
  return async (calls, at, signal) => {
    // EIP-1898: a block named by hash cannot be another one by the time the call runs.
    const block = at === 'latest' ? at : { blockHash: at }
    const answers = await callInPieces(source, calls, block, signal)
    return answers.map(spelledHex)
  }
}

/**
 * Anybody's contract may answer a megabyte: pieces are halved until each is answered, or one call
 * alone is too large.
 */
async function callInPieces(
  source: Pick<RpcSource, 'callAll'>,
  calls: readonly ContractCall[],
  block: unknown,
  signal: AbortSignal,
): Promise<readonly unknown[]> {
  try {
    return await source.callAll(
      calls.map((call) => ({ method: 'eth_call', params: [call, block] })),
      signal,
    )
  } catch (error) {
    if (!(error instanceof SourceError) || error.failure !== 'too_large') throw error
    if (calls.length <= 1) return calls.map(() => null)
    const half = Math.ceil(calls.length / 2)
    const first = await callInPieces(source, calls.slice(0, half), block, signal)
    return [...first, ...(await callInPieces(source, calls.slice(half), block, signal))]
  }
}
