/**
 * Hashes of block headers. Chains differ in what they hash, so the rule is found out by recomputing
 * a chain's block.
 */

import type { RpcBlock } from '../../read/block.ts'
import { countForkFields, forkFieldNames } from '../../read/header/forkFields.ts'
import { keccak256Hex } from '../tries/keccak.ts'
import { type RlpItem, RlpWriter } from '../tries/rlp.ts'

/** `unknown`: no rule we have gives the block's hash, so headers of this chain cannot be proved. */
export type HeaderRule = 'ethereum' | 'tempo' | 'unknown'

/**
 * The rule that gives this block's hash. Ask with the first block seen of a chain and keep the
 * answer for the chain.
 */
export function detectHeaderRule(block: RpcBlock): HeaderRule {
  if (headerHash(block, 'ethereum') === block.hash) return 'ethereum'
  if (headerHash(block, 'tempo') === block.hash) return 'tempo'
  return 'unknown'
}

/** The hash a block's own fields give under a rule. */
export const headerHash = (block: RpcBlock, rule: 'ethereum' | 'tempo'): string =>
  keccak256Hex(headerBytes(block, rule))

/** The bytes to hash under a rule of a block's own fields; valid until the next call. */
export function headerBytes(block: RpcBlock, rule: 'ethereum' | 'tempo'): Uint8Array {
  writer.rewind(0)
  writer.writeList(rule === 'ethereum' ? ethereumHeader(block) : tempoHeader(block))
  return writer.since(0)
}

/**
 * Whether a header has fields we do not know. A fork may have added one to what is hashed, so a
 * hash that does not match is then no proof of a lie.
 */
export function hasUnknownHeaderFields(block: RpcBlock): boolean {
  return Object.keys(block).some((field) => !knownFields.has(field))
}

/**
 * Whether a header says of itself what only Tempo's rule hashes. The dev chain writes those fields
 * too, without any value.
 */
export const hasFieldsOfTempo = ({
  timestampMillisPart = null,
  consensusContext = null,
}: RpcBlock): boolean =>
  consensusContext !== null || (timestampMillisPart !== null && timestampMillisPart !== '0x0')

const writer = new RlpWriter()

/** Fields that every header has; those of `forkFields` come behind them. */
export const PLAIN_FIELDS = 15

function ethereumHeader(block: RpcBlock): readonly RlpItem[] {
  const header: RlpItem[] = [
    block.parentHash,
    block.sha3Uncles,
    block.miner,
    block.stateRoot,
    block.transactionsRoot,
    block.receiptsRoot,
    block.logsBloom,
    block.difficulty,
    block.number,
    block.gasLimit,
    block.gasUsed,
    block.timestamp,
    block.extraData,
    block.mixHash,
    block.nonce,
  ]
  const count = countForkFields(block)
  for (let index = 0; index < count; index++) {
    const name = forkFieldNames[index]
    if (name !== undefined) header.push(block[name])
  }
  return header
}

/** Tempo wraps Ethereum's header; the consensus context is there since T4. */
function tempoHeader(block: RpcBlock): readonly RlpItem[] {
  const header: RlpItem[] = [
    block.mainBlockGeneralGasLimit,
    block.sharedGasLimit,
    block.timestampMillisPart,
    ethereumHeader(block),
  ]
  const context = block.consensusContext
  if (context !== undefined && context !== null) {
    const numbers = [context.epoch, context.view, context.parentView]
    header.push([...numbers.map((number) => `0x${number.toString(16)}`), context.proposer])
  }
  return header
}

/** Everything hashed, and what nodes add that is not part of a header. */
const knownFields = new Set<string>([
  'parentHash',
  'sha3Uncles',
  'miner',
  'stateRoot',
  'transactionsRoot',
  'receiptsRoot',
  'logsBloom',
  'difficulty',
  'number',
  'gasLimit',
  'gasUsed',
  'timestamp',
  'extraData',
  'mixHash',
  'nonce',
  ...forkFieldNames,
  'mainBlockGeneralGasLimit',
  'sharedGasLimit',
  'timestampMillisPart',
  'timestampMillis',
  'consensusContext',
  'hash',
  'size',
  'totalDifficulty',
  'transactions',
  'uncles',
  'withdrawals',
])
