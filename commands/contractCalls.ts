import type { RpcSource } from '#ingest/rpc/rpcSource.ts'
import type { CallContracts } from '#store/folds/contractCalls.ts'
import type { Hex } from '../primitives.ts'

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
