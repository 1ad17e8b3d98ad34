import { parseAbi } from 'viem'
import type { NodeReader } from '#api/services.ts'
import { ApiError } from '#http/errors.ts'
import type { Allowance } from '#http/request/access.ts'
import { contractCalls } from '#ingest/rpc/contractCalls.ts'
import type { RpcSource } from '#ingest/rpc/rpcSource.ts'
import { type Hash, hash, isRecord } from '#primitives.ts'
import type { Clock } from '#runtime/runtime.ts'
import { askContracts } from '#store/follow/askContracts.ts'
import { NodeCalls } from './NodeCalls.ts'
import { LOOK_UPS_PER_CALLER_MAX, NodeLookUps } from './NodeLookUps.ts'

/**
 * Calls of contracts in a second, of one chain, for all readers: two depths of the order book, or 20
 * whole pages of balances. Questions are asked of a node only while our own answers are not ready.
 */
export const CONTRACT_CALLS_MAX = 2_000
/** Half of them, so that another is served beside a greedy caller, and a depth fits. */
export const CONTRACT_CALLS_PER_CALLER_MAX = 1_000
/** One process's limit of a caller in a minute is the limit of several together. */
export const CONTRACT_CALLS_PER_MINUTE = 60 * CONTRACT_CALLS_PER_CALLER_MAX
/** The same of transactions and receipts together. */
export const LOOK_UPS_PER_MINUTE = 2 * 60 * LOOK_UPS_PER_CALLER_MAX

type NodeSource = Pick<RpcSource, 'call' | 'callAll'>

/** A caller's limits of questions to a node in a minute, over all processes. */
export interface NodeAllowances {
  readonly contractCalls: Allowance
  readonly lookUps: Allowance
}

/** Facts that only a node knows, asked of the chain's own endpoints. */
export function nodeReader(source: NodeSource, clock: Clock, allowances: NodeAllowances): NodeReader {
  /** Null too where the answer is about another hash: it is not what was asked for. */
  const read = async (method: string, name: string, of: Hash, signal: AbortSignal) => {
    const answer = await source.call(method, [of], signal)
    if (!isRecord(answer)) return null
    return String(answer[name]).toLowerCase() === of.toLowerCase() ? answer : null
  }
  const lookUps = (method: string, name: string) =>
    new NodeLookUps({
      clock,
      allowance: allowances.lookUps,
      ask: (of, signal) => read(method, name, of, signal),
    })
  const transactions = lookUps('eth_getTransactionByHash', 'hash')
  const receipts = lookUps('eth_getTransactionReceipt', 'transactionHash')
  const limits = {
    all: CONTRACT_CALLS_MAX,
    perCaller: CONTRACT_CALLS_PER_CALLER_MAX,
    allowance: allowances.contractCalls,
    what: 'things that only a node knows now',
  }
  const calls = new NodeCalls(limits, clock)
  const ask: NodeReader['ask'] = async (questions, party, signal, at) => {
    await calls.take(party, questions.length)
    return askContracts(contractCalls(source), questions, at ?? 'latest', signal)
  }
  return {
    transaction: (of, party, signal) => transactions.ask(of, party, signal),
    receipt: (of, party, signal) => receipts.ask(of, party, signal),
    balances: async (holder, tokens, party, signal) => {
      const questions = tokens.map((to) => ({ to, ask: balanceOf, args: [holder] }))
      const answers = await ask(questions, party, signal)
      return answers.map((answer) => (typeof answer === 'bigint' ? answer : null))
    },
    ask,
    newest: async (signal) => {
      const block = await source.call('eth_getBlockByNumber', ['latest', false], signal)
      if (!isRecord(block)) throw new ApiError('upstream_error', 'The node names no newest block.')
      return hash(String(block['hash']))
    },
  }
}

const [balanceOf] = parseAbi(['function balanceOf(address) view returns (uint256)'])
