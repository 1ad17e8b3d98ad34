import { parseAbi } from 'viem'
import type { NodeReader } from '#api/services.ts'
import { contractCalls } from '#ingest/rpc/contractCalls.ts'
import type { RpcSource } from '#ingest/rpc/rpcSource.ts'
import { type Hash, isRecord } from '#primitives.ts'
import type { Clock } from '#runtime.ts'
import { askContracts } from '#store/follow/askContracts.ts'
import { NodeLookUps } from './nodeLookUps.ts'

/** What only a node knows, asked of the chain's own endpoints. */
export function nodeReader(source: RpcSource, clock: Clock): NodeReader {
  /** Null too where the answer is about another hash: it is not what was asked for. */
  const read = async (method: string, name: string, hash: Hash, signal: AbortSignal) => {
    const answer = await source.call(method, [hash], signal)
    if (!isRecord(answer)) return null
    return String(answer[name]).toLowerCase() === hash.toLowerCase() ? answer : null
  }
  const lookUps = (method: string, name: string) =>
    new NodeLookUps({ clock, ask: (hash, signal) => read(method, name, hash, signal) })
  const transactions = lookUps('eth_getTransactionByHash', 'hash')
  const receipts = lookUps('eth_getTransactionReceipt', 'transactionHash')
  return {
    transaction: (hash, party, signal) => transactions.ask(hash, party, signal),
    receipt: (hash, party, signal) => receipts.ask(hash, party, signal),
    balances: async (holder, tokens, signal) => {
      const questions = tokens.map((to) => ({ to, ask: balanceOf, args: [holder] }))
      const answers = await askContracts(contractCalls(source), questions, 'latest', signal)
      return answers.map((answer) => (typeof answer === 'bigint' ? answer : null))
    },
    ask: (questions, signal) => askContracts(contractCalls(source), questions, 'latest', signal),
  }
}

const [balanceOf] = parseAbi(['function balanceOf(address) view returns (uint256)'])
