/**
 * From the bytes a node answered to a batch that both stores can take: parsed, verified, decoded,
 * encoded.
 */

import { MillraceError } from '#errors.ts'
import type { BlockRange } from '#ingest/range.ts'
import type { RpcBlock } from '#ingest/read/block.ts'
import type { ByteBuffer } from '#ingest/read/json/ByteBuffer.ts'
import type { Loose } from '#ingest/read/looseParts.ts'
import type { RawRange } from '#ingest/source.ts'
import { knownForksOf } from '#ingest/verify/knownChains.ts'
import { assertSenders } from '#ingest/verify/senders/senders.ts'
import {
  assertNotRefuted,
  type BlockProof,
  type VerifyOptions,
  verifyBlock,
} from '#ingest/verify/verifyBlock.ts'
import type { BlockRef } from '#primitives.ts'
import { type EncodedBatch, type ProofSummary, rootParts } from '../batch.ts'
import { BatchEncoder } from '../encode/BatchEncoder.ts'
import { archiveProfile, type ChainProfile, headerRuleAt, looseOf } from '../profile.ts'
import { projections } from '../projections/index.ts'
import { leavesOut } from '../rows/blockRow.ts'
import { proofRow } from '../rows/proofRow.ts'
import { toNumber } from '../rows/quantity.ts'
import { type DecodeRules, decodeBlock } from './decodeBlock.ts'
import { parseRange } from './parseRange.ts'
import { type ArchivedAnswer, type ReadAnswer, readArchived, readParsed, readSliced } from './readAnswer.ts'
import { sliceRange } from './sliceRange.ts'

/** A batch and the buffers behind it, which a worker transfers. */
export interface DecodedRange {
  readonly batch: EncodedBatch
  readonly transfer: readonly ArrayBuffer[]
}

/**
 * Decodes the whole range or nothing. `encoder` may be handed in to keep its memory from range to
 * range; it is left empty, whatever happens. `bytes` are in the form of RawRange.
 * @throws NodeAnswerError when the answer cannot be what was asked for.
 * @throws RefutedError when a block does not hash into its header, or not into its neighbour.
 * @throws SenderRefutedError when a transaction is of another account than the node says.
 * @throws EncodeError when a value fits no column.
 */
export function decodeRange(
  profile: ChainProfile,
  bytes: Uint8Array,
  range: BlockRange,
  encoder: BatchEncoder = new BatchEncoder(),
  encoded?: RawRange['encoded'],
): DecodedRange {
  try {
    return (
      decodeScanned(profile, bytes, range, encoder, encoded) ??
      decodeParsed(profile, bytes, range, encoder, encoded)
    )
  } finally {
    encoder.clear()
  }
}

/**
 * A worker's work on a range: it decodes a node's answer, or what our archive holds of one.
 * @throws as `decodeRange`; Error when a part of the archive is damaged
 */
export function decodeRaw(
  profile: ChainProfile,
  { bytes, range, partLengths, encoded }: Pick<RawRange, 'bytes' | 'range' | 'partLengths' | 'encoded'>,
  encoder: BatchEncoder = new BatchEncoder(),
): DecodedRange {
  if (partLengths === undefined) return decodeRange(profile, bytes, range, encoder, encoded)
  try {
    const answers = archivedAnswers(bytes, partLengths, range)
    return decodeAnswers(archiveProfile(profile), range, answers, readArchived, encoder)
  } finally {
    encoder.clear()
  }
}

function archivedAnswers(
  bytes: Uint8Array,
  partLengths: readonly (readonly number[])[],
  { from }: BlockRange,
): readonly ArchivedAnswer[] {
  let at = 0
  const part = (length: number) => {
    at += length
    return bytes.subarray(at - length, at)
  }
  return partLengths.map((lengths, index) => ({ number: from + index, parts: lengths.map(part) }))
}

/**
 * The fast way: bytes are scanned. Null for what it cannot read, and for what is wrong, which
 * parsing finds words for.
 */
export function decodeScanned(
  profile: ChainProfile,
  bytes: Uint8Array,
  range: BlockRange,
  encoder: BatchEncoder,
  encoded?: RawRange['encoded'],
): DecodedRange | null {
  const answers = sliceRange(bytes, range)
  if (answers === null) return null
  try {
    return decodeAnswers(profile, range, answers, readSliced, encoder, encoded)
  } catch (error) {
    if (error instanceof MillraceError || error instanceof SyntaxError) return null
    throw error
  }
}

/** The way over JSON.parse, for any JSON a node may write. */
export function decodeParsed(
  profile: ChainProfile,
  bytes: Uint8Array,
  range: BlockRange,
  encoder: BatchEncoder,
  encoded?: RawRange['encoded'],
): DecodedRange {
  return decodeAnswers(profile, range, parseRange(bytes, range), readParsed, encoder, encoded)
}

function decodeAnswers<Answer extends { readonly number: number }>(
  profile: ChainProfile,
  range: BlockRange,
  answers: readonly Answer[],
  read: (answer: Answer, bytes: ByteBuffer, loose: Loose) => ReadAnswer,
  encoder: BatchEncoder,
  encoded: RawRange['encoded'] = [],
): DecodedRange {
  encoder.clear()
  const rules: DecodeRules = { profile, projections }
  const loose = looseOf(profile)
  const heads: BlockHead[] = []
  let foreignReceipts = 0
  for (const [index, answer] of answers.entries()) {
    const content = read(answer, encoder.bytes, loose)
    const known = { parent: heads.at(-1)?.ref, encoded: encoded[index] }
    foreignReceipts += content.foreign
    heads.push(decodeAnswer({ rules, loose }, answer.number, content, known, encoder))
  }
  const { tables, buffers, byteLength } = encoder.finish()
  return {
    batch: {
      range,
      refs: heads.map((head) => head.ref),
      firstTimestampSeconds: heads[0]?.timestampSeconds ?? 0,
      lastTimestampSeconds: heads.at(-1)?.timestampSeconds ?? 0,
      tables,
      proofs: summarize(heads.map((head) => head.proof)),
      foreignReceipts,
      byteLength,
    },
    transfer: buffers,
  }
}

interface BlockHead {
  readonly ref: BlockRef
  readonly timestampSeconds: number
  readonly proof: BlockProof
}

function decodeAnswer(
  { rules, loose }: { readonly rules: DecodeRules; readonly loose: Loose },
  number: number,
  { block, receipts, parts }: ReadAnswer,
  beside: Pick<VerifyOptions, 'parent' | 'encoded'>,
  encoder: BatchEncoder,
): BlockHead {
  const { chainId, checks, senders } = rules.profile
  const { headerRule, isOpen } = headerRuleAt(rules.profile, toNumber(block.timestamp))
  const known = knownForksOf(chainId)
  const options = { ...beside, headerRule, checks, known, loose: isOpen ? withHeader(loose) : loose }
  const verified = verifyBlock(block, receipts, options)
  assertNotRefuted(verified, number)
  const told = leavesOut(block) ? { ...verified, header: doubted(verified.header) } : verified
  if (senders && checks === 'roots') assertSenders(block, told, senders)
  const { rows } = encoder
  const hasFees = decodeBlock(rules, block, receipts.list, rows)
  const proof = hasFees ? told : { ...told, receiptsRoot: doubted(told.receiptsRoot) }
  parts.forEach((payload, part) => {
    rows.raw.append({ block_num: number, part, payload })
  })
  rows.block_proofs.append(proofRow(number, proof))
  encoder.endBlock()
  return { ref: refOf(block), timestampSeconds: toNumber(block.timestamp), proof }
}

/**
 * A value that no column holds is left out of the row. No root covers such a number, so that another
 * endpoint's word is needed for it, as for all that cannot be proved.
 */
const doubted = <Part extends BlockProof['header'] | BlockProof['receiptsRoot']>(part: Part) =>
  part === 'proved' ? 'unprovable' : part

const withHeader = (loose: Loose): Loose => (loose.has('header') ? loose : new Set([...loose, 'header']))

const refOf = (block: RpcBlock): BlockRef => ({
  number: toNumber(block.number),
  hash: block.hash,
  parentHash: block.parentHash,
})

/**
 * A block counts as proved where all its roots were recomputed; `parent` is checked between batches
 * too.
 */
function summarize(proofs: readonly BlockProof[]): ProofSummary {
  return {
    provedBlocks: proofs.filter((proof) => rootParts.every((part) => proof[part] === 'proved')).length,
    unprovableBlocks: proofs.filter((proof) => rootParts.some((part) => proof[part] === 'unprovable')).length,
    unprovableTxs: proofs.reduce((sum, proof) => sum + proof.unprovableTxs, 0),
    unprovableParts: rootParts.filter((part) => proofs.some((proof) => proof[part] === 'unprovable')),
  }
}
