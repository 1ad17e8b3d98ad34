/**
 * From the bytes of a block's receipts to their values, without JSON.parse: checks and hex decoding
 * in one pass.
 */
import type { RpcBlock, RpcTransaction } from '../block.ts'
import { feeTermNames } from '../feeTerms.ts'
import type { ByteBuffer, BytesAt } from '../json/ByteBuffer.ts'
import { ascii, declined, JsonCursor, type Slice, words } from '../json/JsonCursor.ts'
import { ObjectKeys, withKey } from '../json/ObjectKeys.ts'
import { RepeatedText } from '../json/RepeatedText.ts'
import { DIGITS8, DIGITS64, DIGITS256, quantityOf } from '../shape.ts'
import { spelledHex, spelledQuantity } from '../spelling.ts'
import { ADDRESS_BYTES, BLOOM_BYTES, HASH_BYTES, ScannedLog, type ScannedReceipt } from './scannedReceipt.ts'

export interface ReceiptScan {
  readonly receipts: readonly ScannedReceipt[]
  /** One per receipt. */
  readonly slices: readonly Slice[]
}

/**
 * Reads the receipts into `bytes`, if every check of `parseReceipts` holds for them; null if one
 * does not, or if it takes JSON.parse to tell.
 */
export function scanReceipts(source: Buffer, block: RpcBlock, bytes: ByteBuffer): ReceiptScan | null {
  try {
    return new ReceiptScanner(new JsonCursor(source), block, bytes).scan()
  } catch (error) {
    if (error === declined) return null
    throw error
  }
}

type Mutable<Type> = { -readonly [Key in keyof Type]: Type[Key] }

/** The data that fields of a receipt are compared with, and the buffer for their bytes. */
interface Surroundings {
  readonly cursor: JsonCursor
  readonly bytes: ByteBuffer
  readonly tx: RpcTransaction
  readonly owner: Owner
}

/** The words of receipts and logs on the transaction they belong to. */
interface Owner {
  readonly hash: RepeatedText
  readonly index: RepeatedText
  readonly blockHash: RepeatedText
  readonly blockNumber: RepeatedText
}

type ReadField = (from: Surroundings, receipt: Mutable<ScannedReceipt>) => void

/** Fields that every receipt has come first. */
const required: Readonly<Record<string, ReadField>> = {
  transactionHash: ({ cursor, bytes, owner }, receipt) => {
    const start = cursor.at
    owner.hash.expect(cursor)
    cursor.at = start
    receipt.transactionHash = cursor.readBytes(HASH_BYTES, bytes)
  },
  transactionIndex: ({ cursor, owner }) => owner.index.expect(cursor),
  blockHash: ({ cursor, owner }) => owner.blockHash.expect(cursor),
  blockNumber: ({ cursor, owner }) => owner.blockNumber.expect(cursor),
  from: ({ cursor, bytes, tx }, receipt) => {
    const start = cursor.at
    cursor.expectHex(tx.from)
    cursor.at = start
    receipt.from = cursor.readBytes(ADDRESS_BYTES, bytes)
  },
  gasUsed: ({ cursor }, receipt) => {
    receipt.gasUsed = cursor.readNumber()
  },
  cumulativeGasUsed: ({ cursor }, receipt) => {
    receipt.cumulativeGasUsed = cursor.readNumber()
  },
}

/** One that is no quantity is left to JSON.parse. */
function feeTerm(name: (typeof feeTermNames)[number]): ReadField {
  return ({ cursor }, receipt) => {
    const value = cursor.readQuantityOrNull(DIGITS256)
    if (value !== null) receipt.feeTerms = { ...receipt.feeTerms, [name]: value }
  }
}

const optional: Readonly<Record<string, ReadField>> = {
  type: ({ cursor, tx }) => {
    if (!cursor.skipNull()) cursor.expectQuantity(tx.type)
  },
  to: ({ cursor, bytes }, receipt) => {
    receipt.to = cursor.readBytesOrNull(ADDRESS_BYTES, bytes)
  },
  contractAddress: ({ cursor, bytes }, receipt) => {
    receipt.contractAddress = cursor.readBytesOrNull(ADDRESS_BYTES, bytes)
  },
  effectiveGasPrice: ({ cursor }, receipt) => {
    receipt.effectiveGasPrice = cursor.readQuantityOrNull(DIGITS256)
  },
  status: ({ cursor }, receipt) => {
    receipt.status = cursor.readQuantityOrNull(DIGITS8)
  },
  root: ({ cursor, bytes }, receipt) => {
    receipt.root = cursor.readBytesOrNull(HASH_BYTES, bytes)
  },
  logsBloom: ({ cursor, bytes }, receipt) => {
    receipt.logsBloom = cursor.readBytesOrNull(BLOOM_BYTES, bytes)
  },
  depositNonce: ({ cursor }, receipt) => {
    receipt.depositNonce = cursor.readQuantityOrNull(DIGITS64)
  },
  depositReceiptVersion: ({ cursor }, receipt) => {
    receipt.depositReceiptVersion = cursor.readQuantityOrNull(DIGITS64)
  },
  l1Fee: ({ cursor }, receipt) => {
    receipt.l1Fee = cursor.readQuantityOrNull(DIGITS256)
  },
  blobGasUsed: ({ cursor }, receipt) => {
    receipt.blobGasUsed = cursor.readQuantityOrNull(DIGITS256)
  },
  blobGasPrice: ({ cursor }, receipt) => {
    receipt.blobGasPrice = cursor.readQuantityOrNull(DIGITS256)
  },
  feePayer: ({ cursor, bytes }, receipt) => {
    receipt.feePayer = cursor.readBytesOrNull(ADDRESS_BYTES, bytes)
  },
  feeToken: ({ cursor, bytes }, receipt) => {
    receipt.feeToken = cursor.readBytesOrNull(ADDRESS_BYTES, bytes)
  },
  blockTimestamp: ({ cursor }) => cursor.skipValidValue(),
  ...Object.fromEntries(feeTermNames.map((name) => [name, feeTerm(name)])),
}

const fields = { ...required, ...optional }
const readers = Object.values(fields)
/** The logs are read by the scanner itself, which counts them over the whole block. */
const receiptKeys = new ObjectKeys([...Object.keys(fields), 'logs'])
const logsKey = readers.length
const receiptRequired = ((1 << Object.keys(required).length) - 1) | (1 << logsKey)

const logKeys = new ObjectKeys([
  'address',
  'topics',
  'data',
  'blockHash',
  'blockNumber',
  'transactionHash',
  'transactionIndex',
  'logIndex',
  'removed',
  'blockTimestamp',
])
const LOG_REQUIRED = (1 << 8) - 1
const TOPICS_MAX = 4

class ReceiptScanner {
  readonly #cursor: JsonCursor
  readonly #block: RpcBlock
  readonly #bytes: ByteBuffer
  readonly #blockHash: RepeatedText
  readonly #blockNumber: RepeatedText
  #logIndex = 0

  constructor(cursor: JsonCursor, block: RpcBlock, bytes: ByteBuffer) {
    this.#cursor = cursor
    this.#block = block
    this.#bytes = bytes
    this.#blockHash = new RepeatedText(block.hash, spelledHex)
    this.#blockNumber = new RepeatedText(block.number, spelledQuantity)
  }

  scan(): ReceiptScan {
    const cursor = this.#cursor
    const { transactions } = this.#block
    const receipts: ScannedReceipt[] = []
    const slices: Slice[] = []
    cursor.expect(ascii.openList)
    if (transactions.length === 0) cursor.expect(ascii.closeList)
    for (const [index, tx] of transactions.entries()) {
      const from = cursor.at
      receipts.push(this.#receipt(tx, this.#ownerOf(tx, index)))
      slices.push({ from, to: cursor.at })
      if (cursor.hasNext(ascii.closeList) !== index + 1 < transactions.length) throw declined
    }
    if (cursor.at !== cursor.source.length) throw declined
    return { receipts, slices }
  }

  /** Transactions have been compared with their block. */
  #ownerOf(tx: RpcTransaction, index: number): Owner {
    return {
      hash: new RepeatedText(tx.hash, spelledHex),
      index: new RepeatedText(quantityOf(index), spelledQuantity),
      blockHash: this.#blockHash,
      blockNumber: this.#blockNumber,
    }
  }

  #receipt(tx: RpcTransaction, owner: Owner): ScannedReceipt {
    const cursor = this.#cursor
    const from: Surroundings = { cursor, bytes: this.#bytes, tx, owner }
    const receipt = emptyReceipt()
    let seen = 0
    let key = receiptKeys.none
    cursor.expect(ascii.openObject)
    do {
      key = receiptKeys.read(cursor, key)
      if (key === receiptKeys.unknown) {
        cursor.skipValidValue()
        continue
      }
      seen = withKey(seen, key)
      if (key === logsKey) receipt.logs = this.#logs(owner)
      else readers[key]?.(from, receipt)
    } while (cursor.hasNext(ascii.closeObject))
    if ((seen & receiptRequired) !== receiptRequired) throw declined
    if (receipt.status === null && receipt.root === null) throw declined
    return receipt
  }

  #logs(owner: Owner): readonly ScannedLog[] {
    const cursor = this.#cursor
    const logs: ScannedLog[] = []
    if (isNoList(cursor)) return logs
    if (cursor.peek() === ascii.closeList) {
      cursor.at++
      return logs
    }
    do logs.push(this.#log(owner))
    while (cursor.hasNext(ascii.closeList))
    return logs
  }

  #log(owner: Owner): ScannedLog {
    const cursor = this.#cursor
    const bytes = this.#bytes
    const logIndex = this.#logIndex++
    let address = bytes.end
    let topicsAt = bytes.end
    let topicCount = 0
    let data = bytes.end
    let seen = 0
    let key = logKeys.none
    cursor.expect(ascii.openObject)
    do {
      key = logKeys.read(cursor, key)
      if (key === logKeys.unknown) {
        cursor.skipValidValue()
        continue
      }
      seen = withKey(seen, key)
      if (key === 0) address = cursor.readBytes(ADDRESS_BYTES, bytes)
      else if (key === 1) {
        topicsAt = bytes.end
        topicCount = this.#topics()
      } else if (key === 2) data = cursor.readSizedBytes(bytes)
      else this.#logPlace(key, owner, logIndex)
    } while (cursor.hasNext(ascii.closeObject))
    if ((seen & LOG_REQUIRED) !== LOG_REQUIRED) throw declined
    return new ScannedLog(bytes, address, topicCount, topicsAt, data, logIndex)
  }

  /** Numbers are those of `logKeys`, behind the log's content. */
  #logPlace(key: number, owner: Owner, logIndex: number): void {
    const cursor = this.#cursor
    if (key === 3) owner.blockHash.expect(cursor)
    else if (key === 4) owner.blockNumber.expect(cursor)
    else if (key === 5) owner.hash.expect(cursor)
    else if (key === 6) owner.index.expect(cursor)
    else if (key === 7) cursor.expectQuantity(quantityOf(logIndex))
    else if (key === 8) {
      if (!cursor.skipNull()) cursor.expectWord(words.false)
    } else cursor.skipValidValue()
  }

  /** Topics in a row. @returns how many. */
  #topics(): number {
    const cursor = this.#cursor
    if (isNoList(cursor)) return 0
    if (cursor.peek() === ascii.closeList) {
      cursor.at++
      return 0
    }
    let count = 0
    do {
      cursor.readBytes(HASH_BYTES, this.#bytes)
      count++
    } while (cursor.hasNext(ascii.closeList))
    if (count > TOPICS_MAX) throw declined
    return count
  }
}

/** Passes the beginning of a list, or null in place of an empty one. */
function isNoList(cursor: JsonCursor): boolean {
  if (cursor.peek() !== ascii.openList) {
    cursor.expectWord(words.null)
    return true
  }
  cursor.at++
  return false
}

const nowhere = 0 as BytesAt

function emptyReceipt(): Mutable<ScannedReceipt> {
  return {
    transactionHash: nowhere,
    from: nowhere,
    to: null,
    contractAddress: null,
    feePayer: null,
    feeToken: null,
    gasUsed: 0,
    cumulativeGasUsed: 0,
    effectiveGasPrice: null,
    status: null,
    root: null,
    logsBloom: null,
    depositNonce: null,
    depositReceiptVersion: null,
    l1Fee: null,
    blobGasUsed: null,
    blobGasPrice: null,
    feeTerms: null,
    logs: [],
  }
}
