/** A block as the API shows it, in a list and alone. */

import * as s from '#http/schema.ts'
import { type BlockFinality, unprovedReasons } from '#store/finality/blockFinality.ts'
import { CERTIFIED_HEADERS_MAX, type CertifiedBlock } from '#store/proofs/certifiedBlock.ts'
import type { BlockDetail } from '#store/read/blocks.ts'
import type { StoredRow } from '#store/read/lists/row.ts'
import { rpcBlock } from './rpc.ts'

const summaryFields = {
  id: s.hash,
  hash: s.hash,
  number: s.count,
  timestamp: s.timestamp,
  transactionCount: s.count,
  blockAccessListHash: s.optional(s.hash),
  slotNumber: s.optional(
    s.chainNumberWith({
      description:
        'As `blockAccessListHash` since Amsterdam; absent before, and where the node does not say.',
    }),
  ),
} as const

export const blockSummarySchema = s.named('BlockSummary', summaryFields)

export const headerGasUsed = s.chainNumberWith({
  description:
    'As in the header: since EIP-7778 no sum of the `gasUsed` of receipts, which may be more or less; on Tempo without the gas of state growth since T14 (draft).',
})

const certifiedSchema = s.named('CertifiedBlock', {
  chainId: s.count,
  certificate: s.hex,
  epoch: s.count,
  view: s.count,
  blockNumber: s.count,
  blockHash: s.hash,
  headers: s.array(s.hex, {
    maxItems: CERTIFIED_HEADERS_MAX,
    description:
      'RLP of each header from this block up to `blockNumber`, ascending. Keccak-256 of one is its block’s hash, which the next one holds as its parent’s; the last one’s is `blockHash`, and the certificate signs that.',
  }),
})

export const finalitySchema = s.named('BlockFinality', {
  rule: s.nullable(
    s.oneOf(['proved', 'agreed'], {
      description:
        '`proved`: by a certificate of the chain, which `proof` has; `agreed`: by the word of endpoints, or without a proof; null while the block is not final.',
    }),
  ),
  reason: s.nullable(
    s.oneOf(unprovedReasons, {
      description:
        'Why there is no `proof`: the block is not final yet; no certificate of it or of a block above is held; more headers lie between than one answer has; or the headers that are held do not lead to the certificate’s block.',
    }),
  ),
  proof: s.nullable(certifiedSchema),
})

export const blockSchema = s.named('Block', {
  ...summaryFields,
  parentHash: s.hash,
  miner: s.address,
  size: s.nullable(s.chainNumber),
  gasLimit: s.chainNumber,
  gasUsed: headerGasUsed,
  baseFeePerGas: s.nullable(s.amount),
  finality: s.optional(finalitySchema),
  meta: s.object({ rpc: rpcBlock }),
})

export function presentBlockSummary(row: StoredRow<'blocks'>): s.Static<typeof blockSummarySchema> {
  return {
    id: row.hash,
    hash: row.hash,
    number: Number(row.num),
    timestamp: s.isoSeconds(row.timestamp),
    transactionCount: row.tx_count,
    ...(row.block_access_list_hash !== null && { blockAccessListHash: row.block_access_list_hash }),
    ...(row.slot_number !== null && { slotNumber: row.slot_number }),
  }
}

export function presentBlock({ row, rpc, finality }: BlockDetail): s.Static<typeof blockSchema> {
  return {
    ...presentBlockSummary(row),
    parentHash: row.parent_hash,
    miner: row.miner,
    size: row.size,
    gasLimit: row.gas_limit,
    gasUsed: row.gas_used,
    baseFeePerGas: row.base_fee_per_gas === null ? null : `${row.base_fee_per_gas}`,
    ...(finality && { finality: presentFinality(finality) }),
    meta: { rpc },
  }
}

const presentFinality = ({ rule, reason, proof }: BlockFinality): s.Static<typeof finalitySchema> => ({
  ...{ rule, reason },
  proof: proof && presentCertified(proof),
})

const presentCertified = (proof: CertifiedBlock): s.Static<typeof certifiedSchema> => ({
  ...proof,
  headers: [...proof.headers],
})
