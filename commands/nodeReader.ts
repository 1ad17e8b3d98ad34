import type { NodeReader } from '#api/routes/services.ts'
import type { RpcSource } from '#ingest/rpc/rpcSource.ts'

/** What only a node knows, asked of the chain's own endpoints. */
export function nodeReader(source: RpcSource): NodeReader {
  return {
    transaction: async (hash, signal) => {
      const answer = await source.call('eth_getTransactionByHash', [hash], signal)
      return isFields(answer) ? answer : null
    },
  }
}

const isFields = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
