/** Answers of `/v1/blocks/{block}?include=finality`, as the program serves them. */
import { hexOf } from '#ingest/finality/certificate/certificate.ts'
import { readHeader } from '#ingest/read/block.ts'
import { headerBytes } from '#ingest/verify/parts/header.ts'
import type { Json } from '#primitives.ts'
import { finalityVectors } from './signedFinality.ts'

/** The bytes to hash of a header of Tempo. */
export const rlpOf = (rpc: Json): string => hexOf(headerBytes(readHeader(rpc), 'tempo'))

/** The answer for a block of Tempo, of which nothing is known but its header. */
export function finalityAnswer<Proof>(rpc: Json, proof: Proof) {
  const quantity = (name: string) => Number(rpc[name])
  return {
    ...{ id: rpc['hash'], hash: `${rpc['hash']}`, number: quantity('number') },
    timestamp: new Date(quantity('timestamp') * 1_000).toISOString().replace('.000', ''),
    ...{ transactionCount: 0, parentHash: rpc['parentHash'], miner: rpc['miner'], size: null },
    ...{ gasLimit: quantity('gasLimit'), gasUsed: quantity('gasUsed') },
    baseFeePerGas: `${quantity('baseFeePerGas')}`,
    finality: { rule: 'proved', reason: null, proof },
    meta: { rpc: { ...rpc, transactions: [] } },
  }
}

/** That of the last block of mainnet's epoch 1514, with the certificate that its validators signed. */
export function mainnetAnswer() {
  const { block, finalization } = finalityVectors('mainnet').boundary
  return finalityAnswer(block, {
    ...{ chainId: 4217, certificate: `0x${finalization}`, epoch: 1_514, view: 21_600 },
    ...{ blockNumber: Number(block['number']), blockHash: `${block['hash']}`, headers: [rlpOf(block)] },
  })
}
