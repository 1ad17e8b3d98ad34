/** The shape of receipts and logs in a node's answer, and whose they say they are. */
import {
  type AnswerPlace,
  DIGITS8,
  DIGITS64,
  DIGITS256,
  expectAddress,
  expectBytes,
  expectFields,
  expectHash,
  expectHashes,
  expectHex,
  expectList,
  expectQuantity,
  expectSafeQuantity,
  type Fields,
  fillIn,
  isAbsent,
  isBytesOf,
  isQuantityOf,
  quantityOf,
  respell,
} from './shape.ts'

/** A checked transaction's words on itself, and those of its receipt and logs on it. */
interface Owner {
  readonly hash: string
  readonly type: string
  readonly from: string
  readonly blockHash: string
  readonly blockNumber: string
  readonly transactionIndex: string
}

/** @throws NodeAnswerError */
export function checkReceipt(receipt: Fields, tx: Owner, place: AnswerPlace): void {
  checkOwner(receipt, tx, place)
  if (!isAbsent(receipt['type']) && !isQuantityOf(receipt, 'type', tx.type))
    place.fail('transaction_mismatch', 'type')
  expectAddress(receipt, 'from', place)
  if (receipt['from'] !== tx.from) place.fail('transaction_mismatch', 'from')
  for (const field of receiptAddresses) if (!isAbsent(receipt[field])) expectAddress(receipt, field, place)
  expectSafeQuantity(receipt, 'gasUsed', place)
  expectSafeQuantity(receipt, 'cumulativeGasUsed', place)
  for (const field of receiptPrices) {
    // Nothing proves that none of it was paid.
    if (receipt[field] === '0x') respell(receipt, field, null)
    if (!isAbsent(receipt[field])) expectQuantity(receipt, field, DIGITS256, place)
  }
  if (!isAbsent(receipt['logsBloom'])) expectBytes(receipt, 'logsBloom', 256, place)
  if (isAbsent(receipt['status'])) expectHash(receipt, 'root', place)
  else expectQuantity(receipt, 'status', DIGITS8, place)
  if (!isAbsent(receipt['depositNonce'])) expectQuantity(receipt, 'depositNonce', DIGITS64, place)
  if (!isAbsent(receipt['depositReceiptVersion'])) {
    expectQuantity(receipt, 'depositReceiptVersion', DIGITS64, place)
  }
}

const receiptPrices = ['effectiveGasPrice', 'l1Fee', 'blobGasUsed', 'blobGasPrice']
const receiptAddresses = ['to', 'contractAddress', 'feePayer', 'feeToken']

/**
 * Checks the logs of a receipt and returns the index that the next log of the block must have.
 * @param firstIndex null where the chain numbers logs in a way of its own
 */
export function checkLogs(receipt: Fields, tx: Owner, firstIndex: number | null, place: AnswerPlace): number {
  // Null is how some write an empty list; what is not there at all may have been left out.
  if (receipt['logs'] === null || hasEmptyBloom(receipt)) fillIn(receipt, 'logs', [])
  const logs = expectList(receipt['logs'], 'logs', place)
  place.innerList = 'logs'
  for (let index = 0; index < logs.length; index++) {
    place.innerIndex = index
    const log = expectFields(logs[index], '', place)
    if (firstIndex === null) checkOwnNumbers(log, tx, place)
    else {
      checkOwner(log, tx, place)
      checkIndex(log, firstIndex + index, 'logIndex', place)
    }
    expectAddress(log, 'address', place)
    fillIn(log, 'topics', [])
    const topics = expectList(log['topics'], 'topics', place)
    if (topics.length > 4) place.fail('shape_invalid', 'topics')
    expectHashes(topics, 'topics', place)
    fillIn(log, 'data', '0x')
    expectHex(log, 'data', place)
    if (log['removed'] === true) place.fail('log_removed', 'removed')
  }
  place.leaveInner()
  return (firstIndex ?? 0) + logs.length
}

/** Whether the bloom, which may be left out, says that there are no logs. */
const hasEmptyBloom = ({ logsBloom }: Fields): boolean =>
  typeof logsBloom === 'string' && /^0x0+$/.test(logsBloom)

/** Chains that number logs in a way of their own count transactions that failed so too. */
function checkOwnNumbers(log: Fields, tx: Owner, place: AnswerPlace): void {
  checkBlockAndHash(log, tx, place)
  expectSafeQuantity(log, 'transactionIndex', place)
  expectSafeQuantity(log, 'logIndex', place)
}

/** A receipt or log names the transaction it belongs to, and that transaction's block. */
function checkOwner(item: Fields, tx: Owner, place: AnswerPlace): void {
  checkBlockAndHash(item, tx, place)
  checkIndex(item, Number(tx.transactionIndex), 'transactionIndex', place)
}

function checkBlockAndHash(item: Fields, tx: Owner, place: AnswerPlace): void {
  if (!isBytesOf(item, 'blockHash', tx.blockHash)) place.fail('block_mismatch', 'blockHash')
  if (!isQuantityOf(item, 'blockNumber', tx.blockNumber)) place.fail('block_mismatch', 'blockNumber')
  if (!isBytesOf(item, 'transactionHash', tx.hash)) place.fail('transaction_mismatch', 'transactionHash')
}

export function checkIndex(fields: Fields, expected: number, field: string, place: AnswerPlace): void {
  if (isQuantityOf(fields, field, quantityOf(expected))) return
  expectSafeQuantity(fields, field, place)
  place.fail('index_mismatch', field)
}
