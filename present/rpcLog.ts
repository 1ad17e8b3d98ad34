/** A log in the form of JSON-RPC: a node's own texts, in exactly the fields of the contract. */

import * as s from '#http/schema.ts'
import * as primitives from '#primitives.ts'
import type { LogContent } from '#transform/rows/transferLog.ts'
import { needed, type RpcFields, readHex } from './rpc.ts'

export const rpcLogSchema = s.named('Log', {
  address: s.address,
  topics: s.array(s.hash),
  data: s.hex,
  blockHash: s.nullable(s.hash),
  blockNumber: s.nullable(s.quantity),
  blockTimestamp: s.optional(s.nullable(s.quantity)),
  transactionHash: s.nullable(s.hash),
  transactionIndex: s.nullable(s.quantity),
  logIndex: s.nullable(s.quantity),
  removed: s.boolean(),
})

/** @throws NodeAnswerError for what is no log */
export function presentLog(log: RpcFields): s.Static<typeof rpcLogSchema> {
  return {
    ...readLogContent(log),
    blockHash: readHex(log, 'blockHash'),
    blockNumber: readHex(log, 'blockNumber'),
    ...('blockTimestamp' in log && { blockTimestamp: readHex(log, 'blockTimestamp') }),
    transactionHash: readHex(log, 'transactionHash'),
    transactionIndex: readHex(log, 'transactionIndex'),
    logIndex: readHex(log, 'logIndex'),
    removed: log['removed'] === true,
  }
}

/** The content of a log, and its emitter. @throws NodeAnswerError */
export function readLogContent(log: RpcFields): LogContent & { topics: primitives.Hash[] } {
  const topics = Array.isArray(log['topics']) ? log['topics'] : []
  const data = needed(readHex(log, 'data'), 'data')
  return {
    address: primitives.address(needed(readHex(log, 'address'), 'address')),
    topics: topics.map((topic) => primitives.hash(String(topic))),
    data: `0x${data.slice(2)}`,
  }
}
