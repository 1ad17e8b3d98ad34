import { type BlockRef, type Hex, hash } from '#primitives.ts'
import { readHeader } from '../../read/block.ts'
import { NodeAnswerError } from '../../read/NodeAnswerError.ts'
import { headerHash } from '../../verify/parts/header.ts'

/** A header with the hash that its own fields give, whatever it was told to be. */
export interface RecomputedHeader extends BlockRef {
  readonly extraData: Hex
}

/** A node's answer under Tempo's rule; null where it is no header. */
export function recomputedHeader(told: unknown): RecomputedHeader | null {
  try {
    const block = readHeader(told)
    const { number, parentHash, extraData } = block
    return { number: Number(number), hash: hash(headerHash(block, 'tempo')), parentHash, extraData }
  } catch (error) {
    if (error instanceof NodeAnswerError) return null
    throw error
  }
}
