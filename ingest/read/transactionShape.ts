/** The shape of one transaction in a block's answer, by the fields it has. */

import type { Loose } from './looseParts.ts'
import { NodeAnswerError } from './NodeAnswerError.ts'
import {
  type AnswerPlace,
  DIGITS8,
  DIGITS64,
  DIGITS256,
  expectAddress,
  expectFields,
  expectHash,
  expectHashes,
  expectHex,
  expectList,
  expectQuantity,
  expectWord,
  type Fields,
  fillIn,
  isAbsent,
} from './shape.ts'
import { spellWithin } from './spelling.ts'

/**
 * Checks a transaction's own fields; what ties it to its block is the caller's. An envelope we do
 * not know is held to the fields it has. Tempo's signature fields are left to their encoder, which
 * takes any shape.
 * @throws NodeAnswerError
 */
export function checkTransactionShape(tx: Fields, place: AnswerPlace, loose: Loose): void {
  expectHash(tx, 'hash', place)
  expectQuantity(tx, 'type', DIGITS8, place)
  expectAddress(tx, 'from', place)
  expectQuantity(tx, 'gas', DIGITS64, place)
  // The name that a client gives it in a request.
  fillIn(tx, 'input', tx['data'])
  checkRequired(tx, place)
  if (!isAbsent(tx['to'])) expectAddress(tx, 'to', place)
  if (!isAbsent(tx['input'])) expectHex(tx, 'input', place)
  checkNumbers(tx, place)
  checkSignature(tx, place)
  if (tx['type'] === '0x76') checkTempoParts(tx, place)
  if (!isAbsent(tx['feeCurrency'])) expectAddress(tx, 'feeCurrency', place)
  if (!isAbsent(tx['sourceHash'])) expectHash(tx, 'sourceHash', place)
  spellWithin(tx, partsOfTempo)
  for (const field of hashedLists) {
    if (loose.has('lists')) leaveUnread(tx, field, place)
    else checkList(tx, field, place)
  }
}

/** Parts that only their encoder knows. */
const partsOfTempo = ['feePayerSignature', 'keyAuthorization', 'aaAuthorizationList', 'signature']

/** Lists that nothing reads but the hash of the transaction. */
const hashedLists = ['accessList', 'authorizationList', 'blobVersionedHashes'] as const

/**
 * A list of another shape than Ethereum's stays in the archive alone. The field that is put in its
 * place tells that the transaction's hash cannot be recomputed.
 */
function leaveUnread(tx: Fields, field: (typeof hashedLists)[number], place: AnswerPlace): void {
  try {
    checkList(tx, field, place)
  } catch (error) {
    if (!(error instanceof NodeAnswerError)) throw error
    place.leaveInner()
    Object.assign(tx, { [field]: null, [`${field}Unread`]: true })
  }
}

/**
 * Other envelopes have parts of the same names and other shapes, such as lists of lists of calls
 * (EIP-8130).
 */
function checkTempoParts(tx: Fields, place: AnswerPlace): void {
  expectQuantity(tx, 'nonce', DIGITS64, place)
  eachOf(tx['calls'], 'calls', place, checkCall)
  if (!isAbsent(tx['feeToken'])) expectAddress(tx, 'feeToken', place)
  checkNumber(tx, 'nonceKey', DIGITS256, place)
  checkNumber(tx, 'validBefore', DIGITS64, place)
  checkNumber(tx, 'validAfter', DIGITS64, place)
}

/** Fields without which the envelopes of Ethereum cannot be read. */
function checkRequired(tx: Fields, place: AnswerPlace): void {
  const type = tx['type']
  if (typeof type !== 'string' || type.length !== 3 || type > '0x4') return
  fillIn(tx, 'input', '0x')
  if (isAbsent(tx['nonce'])) place.fail('shape_invalid', 'nonce')
  if (isAbsent(tx['value'])) place.fail('shape_invalid', 'value')
}

function checkNumbers(tx: Fields, place: AnswerPlace): void {
  checkNumber(tx, 'nonce', DIGITS64, place)
  checkNumber(tx, 'value', DIGITS256, place)
  checkNumber(tx, 'chainId', DIGITS64, place)
  checkNumber(tx, 'gasPrice', DIGITS256, place)
  checkNumber(tx, 'maxFeePerGas', DIGITS256, place)
  checkNumber(tx, 'maxPriorityFeePerGas', DIGITS256, place)
  checkNumber(tx, 'maxFeePerBlobGas', DIGITS256, place)
  checkNumber(tx, 'mint', DIGITS256, place)
}

function checkNumber(fields: Fields, field: string, digitsMax: number, place: AnswerPlace): void {
  if (!isAbsent(fields[field])) expectQuantity(fields, field, digitsMax, place)
}

function checkSignature(tx: Fields, place: AnswerPlace): void {
  if (!isAbsent(tx['r'])) expectWord(tx, 'r', place)
  if (!isAbsent(tx['s'])) expectWord(tx, 's', place)
  checkNumber(tx, 'v', DIGITS256, place)
  checkNumber(tx, 'yParity', DIGITS64, place)
}

function checkList(tx: Fields, field: (typeof hashedLists)[number], place: AnswerPlace): void {
  const list = tx[field]
  if (isAbsent(list)) return
  if (field === 'accessList') eachOf(list, field, place, checkAccess)
  else if (field === 'authorizationList') eachOf(list, field, place, checkAuthorization)
  else expectHashes(expectList(list, field, place), field, place)
}

function eachOf(
  value: unknown,
  field: string,
  place: AnswerPlace,
  check: (item: Fields, place: AnswerPlace) => void,
): void {
  const items = expectList(value, field, place)
  place.innerList = field
  for (let index = 0; index < items.length; index++) {
    place.innerIndex = index
    check(expectFields(items[index], '', place), place)
  }
  place.leaveInner()
}

function checkCall(call: Fields, place: AnswerPlace): void {
  if (!isAbsent(call['to'])) expectAddress(call, 'to', place)
  checkNumber(call, 'value', DIGITS256, place)
  if (!isAbsent(call['input'])) expectHex(call, 'input', place)
  if (!isAbsent(call['data'])) expectHex(call, 'data', place)
}

function checkAccess(entry: Fields, place: AnswerPlace): void {
  expectAddress(entry, 'address', place)
  fillIn(entry, 'storageKeys', [])
  expectHashes(expectList(entry['storageKeys'], 'storageKeys', place), 'storageKeys', place)
}

function checkAuthorization(authorization: Fields, place: AnswerPlace): void {
  expectAddress(authorization, 'address', place)
  expectQuantity(authorization, 'chainId', DIGITS256, place)
  expectQuantity(authorization, 'nonce', DIGITS64, place)
  expectWord(authorization, 'r', place)
  expectWord(authorization, 's', place)
  checkNumber(authorization, 'yParity', DIGITS64, place)
  checkNumber(authorization, 'v', DIGITS64, place)
}
