import type { RpcSource } from '#ingest/rpc/rpcSource.ts'
import type { Address, Hash, Hex } from '#primitives.ts'

export interface ContractCall {
  readonly to: Address
  readonly data: Hex
}

/** The state to read: of the block with this hash, or the newest. */
export type CallsAt = Hash | 'latest'

/**
 * Many `eth_call`s in one request, answered in order; null where the contract refused or there is none.
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
    const answers = await source.callAll(
      calls.map((call) => ({ method: 'eth_call', params: [call, block] })),
      signal,
    )
    return answers.map((answer) => (isHex(answer) ? answer : null))
  }
}

const isHex = (value: unknown): value is Hex => typeof value === 'string' && /^0x[0-9a-f]*$/.test(value)
