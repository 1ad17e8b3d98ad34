import { parseAbi } from 'viem'
import type { NodeReader } from '#api/services.ts'
import { contractCalls } from '#ingest/rpc/contractCalls.ts'
import type { RpcSource } from '#ingest/rpc/rpcSource.ts'
import { isRecord } from '#primitives.ts'
import { askContracts } from '#store/follow/askContracts.ts'

/** What only a node knows, asked of the chain's own endpoints. */
export function nodeReader(source: RpcSource): NodeReader {
  /** Null too where the answer is about another hash: it is not what was asked for. */
  const read = async (method: string, name: string, hash: string, signal: AbortSignal) => {
    const answer = await source.call(method, [hash], signal)
    if (!isRecord(answer)) return null
    return String(answer[name]).toLowerCase() === hash.toLowerCase() ? answer : null
  }
  return {
    transaction: (hash, signal) => read('eth_getTransactionByHash', 'hash', hash, signal),
    receipt: (hash, signal) => read('eth_getTransactionReceipt', 'transactionHash', hash, signal),
    balances: async (holder, tokens, signal) => {
      const questions = tokens.map((to) => ({ to, ask: balanceOf, args: [holder] }))
      const answers = await askContracts(contractCalls(source), questions, 'latest', signal)
      return answers.map((answer) => (typeof answer === 'bigint' ? answer : null))
    },
    ask: (questions, signal) => askContracts(contractCalls(source), questions, 'latest', signal),
  }
}

const [balanceOf] = parseAbi(['function balanceOf(address) view returns (uint256)'])
