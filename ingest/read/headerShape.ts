/** The shape of a block's header in a node's answer. */
import {
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
  isAbsent,
  type Place,
} from './shape.ts'

/** @throws NodeAnswerError */
export function checkHeader(block: Fields, place: Place): void {
  expectHash(block['hash'], 'hash', place)
  expectHash(block['parentHash'], 'parentHash', place)
  expectSafeQuantity(block['timestamp'], 'timestamp', place)
  expectAddress(block['miner'], 'miner', place)
  for (const field of headerHashes) expectHash(block[field], field, place)
  expectBytes(block['logsBloom'], 256, 'logsBloom', place)
  expectQuantity(block['gasLimit'], DIGITS64, 'gasLimit', place)
  expectSafeQuantity(block['gasUsed'], 'gasUsed', place)
  expectHex(block['extraData'], 'extraData', place)
  for (const field of laterHashes) if (!isAbsent(block[field])) expectHash(block[field], field, place)
  for (const field of laterNumbers) {
    if (!isAbsent(block[field])) expectQuantity(block[field], DIGITS256, field, place)
  }
  if (!isAbsent(block['nonce'])) expectBytes(block['nonce'], 8, 'nonce', place)
  if (!isAbsent(block['consensusContext'])) checkConsensusContext(block, place)
}

const headerHashes = ['stateRoot', 'transactionsRoot', 'receiptsRoot', 'sha3Uncles']
/** Header fields that came with a fork, or that some chains do without. */
const laterHashes = ['mixHash', 'withdrawalsRoot', 'parentBeaconBlockRoot', 'requestsHash']
const laterNumbers = [
  'difficulty',
  'baseFeePerGas',
  'blobGasUsed',
  'excessBlobGas',
  'size',
  'mainBlockGeneralGasLimit',
  'sharedGasLimit',
  'timestampMillisPart',
  'timestampMillis',
]

function checkConsensusContext(block: Fields, place: Place): void {
  const context = expectFields(block['consensusContext'], 'consensusContext', place)
  for (const field of ['epoch', 'view', 'parentView']) {
    const number = context[field]
    if (!Number.isSafeInteger(number) || Number(number) < 0) {
      place.fail('quantity_invalid', `consensusContext.${field}`)
    }
  }
  expectHash(context['proposer'], 'consensusContext.proposer', place)
}
