/**
 * The bytes to hash of a header as it was before the table of fork fields (the commit before f77e1e4c), for
 * headers up to Prague.
 */
import type { RpcBlock } from '#ingest/read/block.ts'
import { keccak256Hex } from '#ingest/verify/tries/keccak.ts'
import { type RlpItem, RlpWriter } from '#ingest/verify/tries/rlp.ts'

export const earlierHeaderHash = (block: RpcBlock, rule: 'ethereum' | 'tempo'): string =>
  keccak256Hex(headerBytes(block, rule))

function headerBytes(block: RpcBlock, rule: 'ethereum' | 'tempo'): Uint8Array {
  writer.rewind(0)
  writer.writeList(rule === 'ethereum' ? ethereumHeader(block) : tempoHeader(block))
  return writer.since(0)
}

const writer = new RlpWriter()

const forkFields = [
  'baseFeePerGas',
  'withdrawalsRoot',
  'blobGasUsed',
  'excessBlobGas',
  'parentBeaconBlockRoot',
  'requestsHash',
] as const

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
  const present = forkFields.findLastIndex((field) => block[field] !== undefined && block[field] !== null)
  for (const field of forkFields.slice(0, present + 1)) header.push(block[field])
  return header
}

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
