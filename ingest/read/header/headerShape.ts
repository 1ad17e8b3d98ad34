/** The shape of a block's header in a node's answer. */

import {
  type AnswerPlace,
  DIGITS64,
  DIGITS256,
  expectAddress,
  expectBytes,
  expectFields,
  expectHash,
  expectHex,
  expectQuantity,
  expectSafeQuantity,
  type Fields,
  fillIn,
  isAbsent,
  respell,
} from '../shape.ts'
import { spelledQuantity } from '../spelling.ts'
import { forkFields } from './forkFields.ts'

/** @throws NodeAnswerError */
export function checkHeader(block: Fields, place: AnswerPlace): void {
  // The name that nodes of the first years have for it.
  fillIn(block, 'miner', block['author'])
  expectHash(block, 'hash', place)
  expectHash(block, 'parentHash', place)
  expectSafeQuantity(block, 'timestamp', place)
  expectAddress(block, 'miner', place)
  for (const field of headerHashes) expectHash(block, field, place)
  expectBytes(block, 'logsBloom', 256, place)
  expectQuantity(block, 'gasLimit', DIGITS64, place)
  expectSafeQuantity(block, 'gasUsed', place)
  expectHex(block, 'extraData', place)
  for (const { json, kind } of forkFields) {
    if (isAbsent(block[json])) continue
    if (kind === 'hash') expectHash(block, json, place)
    else expectQuantity(block, json, kind === 'uint64' ? DIGITS64 : DIGITS256, place)
  }
  if (!isAbsent(block['mixHash'])) expectHash(block, 'mixHash', place)
  for (const field of looseNumbers) {
    if (!isAbsent(block[field])) expectQuantity(block, field, DIGITS256, place)
  }
  if (!isAbsent(block['nonce'])) checkNonce(block, place)
  if (!isAbsent(block['consensusContext'])) checkConsensusContext(block, place)
}

const headerHashes = ['stateRoot', 'transactionsRoot', 'receiptsRoot', 'sha3Uncles']
/** Numbers that some chains do without. */
const looseNumbers = [
  'difficulty',
  'size',
  'mainBlockGeneralGasLimit',
  'sharedGasLimit',
  'timestampMillisPart',
  'timestampMillis',
]

/** Eight bytes; some nodes write them as a quantity. */
function checkNonce(block: Fields, place: AnswerPlace): void {
  const text = spelledQuantity(block['nonce'])
  if (text !== null) respell(block, 'nonce', `0x${text.slice(2).padStart(2 * NONCE_BYTES, '0')}`)
  expectBytes(block, 'nonce', NONCE_BYTES, place)
}

const NONCE_BYTES = 8

function checkConsensusContext(block: Fields, place: AnswerPlace): void {
  const context = expectFields(block['consensusContext'], 'consensusContext', place)
  for (const field of ['epoch', 'view', 'parentView']) {
    const number = context[field]
    if (!Number.isSafeInteger(number) || Number(number) < 0) {
      place.fail('quantity_invalid', `consensusContext.${field}`)
    }
  }
  place.innerList = 'consensusContext'
  expectHash(context, 'proposer', place)
  place.leaveInner()
}
