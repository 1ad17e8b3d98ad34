import { parseAbi } from 'viem'
import type { NodeReader } from '#api/services.ts'
import { contractCalls } from '#ingest/rpc/contractCalls.ts'
import type { RpcSource } from '#ingest/rpc/rpcSource.ts'
import { isRecord } from '#primitives.ts'
import { askContracts } from '#store/follow/askContracts.ts'

/** What only a node knows, asked of the chain's own endpoints. */
export function nodeReader(source: RpcSource): NodeReader {
  const read = async (method: string, hash: string, signal: AbortSignal) => {
    const answer = await source.call(method, [hash], signal)
    return isRecord(answer) ? answer : null
  }
  return {
    transaction: (hash, signal) => read('eth_getTransactionByHash', hash, signal),
    receipt: (hash, signal) => read('eth_getTransactionReceipt', hash, signal),
    balances: async (holder, tokens, signal) => {
      const questions = tokens.map((to) => ({ to, ask: balanceOf, args: [holder] }))
      const answers = await askContracts(contractCalls(source), questions, 'latest', signal)
      return answers.map((answer) => (typeof answer === 'bigint' ? answer : null))
    },
    ask: (questions, signal) => askContracts(contractCalls(source), questions, 'latest', signal),
  }
}

const [balanceOf] = parseAbi(['function balanceOf(address) view returns (uint256)'])
