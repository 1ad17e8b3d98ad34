import type { NodeReader } from '#api/routes/services.ts'
import type { RpcSource } from '#ingest/rpc/rpcSource.ts'

/** What only a node knows, asked of the chain's own endpoints. */
export function nodeReader(source: RpcSource): NodeReader {
  const read = async (method: string, hash: string, signal: AbortSignal) => {
    const answer = await source.call(method, [hash], signal)
    return isFields(answer) ? answer : null
  }
  return {
    transaction: (hash, signal) => read('eth_getTransactionByHash', hash, signal),
    receipt: (hash, signal) => read('eth_getTransactionReceipt', hash, signal),
  }
}

const isFields = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
