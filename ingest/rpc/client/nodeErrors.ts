import type { RpcFailure } from './errors.ts'

/** The `error` member of a JSON-RPC answer, as far as it can be relied on. */
export interface NodeError {
  readonly code: number
  readonly message: string
}

/**
 * Classifies what a node or its gateway reports. All that is read out of their texts stands in this
 * file: JSON-RPC leaves -32000..-32099 to the server, every vendor numbered them differently, and -32000,
 * -32005, -32602 and -32603 stand for a dozen conditions each. Codes that mean one thing everywhere
 * come first, then texts, then what a code usually means. A contract that reverts says what it
 * likes, and is heard by none of them.
 */
export function classifyNodeError({ code, message }: NodeError): RpcFailure {
  const certain = certainCodes.get(code)
  if (certain) return certain
  if (revertPattern.test(message)) return 'node_error'
  for (const [failure, pattern] of messagePatterns) if (pattern.test(message)) return failure
  return usualCodes.get(code) ?? 'node_error'
}

const certainCodes: ReadonlyMap<number, RpcFailure> = new Map([
  [-32601, 'method_missing'], // JSON-RPC 2.0
  [3, 'node_error'], // geth, reth, anvil: execution reverted; its message is the contract's own words
  [-32004, 'method_missing'], // EIP-1474 "method not supported"
  [4444, 'pruned'], // execution-apis, EIP-4444: pruned history unavailable
  [429, 'rate_limited'], // gateways that repeat the HTTP status
  [-32029, 'rate_limited'], // Infura, Chainstack
  [-32016, 'rate_limited'], // OP Stack proxyd: over rate limit
  [-32003, 'too_large'], // geth: response too large (reads never reach EIP-1474's "transaction rejected")
  [-32008, 'too_large'], // reth (jsonrpsee): response is too big
  [-32020, 'too_large'], // OP Stack proxyd: backend response too large
  [-32047, 'too_large'], // Cloudflare: range too large
  [-32614, 'too_large'], // QuickNode: limited to a block range
  [-32701, 'too_large'], // PublicNode: exceed maximum block range
  [-32010, 'batch_refused'], // jsonrpsee: the batch request was too large
  [-32011, 'too_large'], // jsonrpsee: the batch response was too large
  [-32009, 'overloaded'], // jsonrpsee: server is busy
  [-32002, 'timed_out'], // geth: request timed out
])

/** How nodes that do not use code 3 begin what a contract says. */
const revertPattern = /execution reverted|vm exception while processing|vm execution error|revert reason/i

/** First match wins: sizes before rates, because both say "limit" and "exceeded". */
const messagePatterns: readonly (readonly [RpcFailure, RegExp])[] = [
  [
    'batch_refused',
    /batch(ed)? (requests? |calls? )?(are |is )?(not supported|not allowed|disabled|too large)|batch (size |limit |request )?.*(exceed|too (large|many)|limit)|too many (requests|calls|queries) in (a |the )?batch|max(imum)? batch/i,
  ],
  [
    'pruned',
    /pruned|pruning|historical (state|data|block)|missing trie node|archive (node|mode|data|request)/i,
  ],
  [
    'too_large',
    /(response|result|body|content|request|payload|query)( size| length)?( is| are)? (too (large|big)|larger than|exceed(s|ed)?\b)|(response|log)s? size exceeded|exceeds? (max|the max|defined limit|maximum)|exceeds? .*\b(block|results?|range)|more than \d+ (results|logs)|(block )?range (is )?(too (large|wide|big)|limit|exceed)|too many (blocks|logs|results)|max(imum)?( allowed)?( number of)? (requested )?(block|range|results)|limited to (a |0 - )?[\d,]+|(ranges?|more) (over|than) [\d,]+ blocks|try with this block range|retry with the range/i,
  ],
  [
    'rate_limited',
    /rate.?limit|too many requests|(request|call|daily|credit|usage|compute|capacity|quota)s?\b.*(limit|exceeded|exhausted|reached)|(exceeded|exhausted).*(capacity|quota|credits|throughput)|limit exceeded|slow down|throttl/i,
  ],
  [
    'unauthorized',
    /unauthori[sz]ed|must be authenticated|(invalid|missing|unknown|no) (api|access|project)?.?(key|token|id)\b|forbidden|\b(billing|invoice|payment required|overdue)\b|(upgrade|current|your|free) plan\b|(project|account|app|key|subscription) (is |has been |was )?(suspended|disabled|inactive|expired)/i,
  ],
  [
    'method_missing',
    /method .*(not (found|supported|available|exist|allowed|enabled|whitelisted)|does not exist|is not)|unsupported method|unknown method/i,
  ],
  [
    'block_missing',
    /(header|block)( .*)? (not|could not be) found|(unknown|missing|no such) (block|header)|(cannot|could not|can't|unable to) (find|get|load) (the )?(block|header)|block ?out ?of ?range|beyond (current|the) head|after last (accepted|known)|not yet available|future block/i,
  ],
  ['timed_out', /time(d)?.?out|deadline exceeded|took too long|execution aborted/i],
  [
    'overloaded',
    /busy|overloaded|temporarily unavailable|service unavailable|no (available|healthy) (upstream|backend|server)s?|try again/i,
  ],
]

/** The words of a transaction that may be in the pool or in a block already. */
export const mayBeSent = ({ message }: NodeError): boolean =>
  /already|nonce too low|known transaction/i.test(message)

/** An answer that calls itself a revert. */
export const saysReverted = ({ message }: NodeError): boolean => /\breverted\b|^VM Exception/i.test(message)

const usualCodes: ReadonlyMap<number, RpcFailure> = new Map([
  [-32005, 'rate_limited'], // EIP-1474 "limit exceeded"
  [-32007, 'rate_limited'], // QuickNode requests per second
  [-32001, 'block_missing'], // EIP-1474 "resource not found"
  [-32700, 'malformed'],
  [-32600, 'malformed'],
])

/** Reads an `error` member of unknown shape. */
export function readNodeError(value: unknown): NodeError {
  const fields: Record<string, unknown> = typeof value === 'object' && value !== null ? { ...value } : {}
  const { code, message } = fields
  return {
    code: typeof code === 'number' ? code : 0,
    message: typeof message === 'string' ? message : JSON.stringify(value ?? null),
  }
}
