/**
 * From the bytes of a block's transactions to their values, without JSON.parse: checks in one pass
 * over the bytes, and texts that are slices of the block's. What it does not know in a transaction,
 * it leaves to JSON.parse for that transaction alone.
 */
import type { Address, Hash } from '#primitives.ts'
import { checkTransaction, type Quantity, type RpcBlock, type RpcTransaction } from '../block.ts'
import { ascii, declined, type JsonCursor, type Slice } from '../json/JsonCursor.ts'
import type { JsonTexts } from '../json/JsonTexts.ts'
import { ObjectKeys, withKey } from '../json/ObjectKeys.ts'
import { RepeatedText } from '../json/RepeatedText.ts'
import { AnswerPlace, DIGITS8, DIGITS64, DIGITS256, quantityOf } from '../shape.ts'
import { spelledHex, spelledQuantity, spellWithin } from '../spelling.ts'
import { ADDRESS_BYTES, HASH_BYTES } from './scannedReceipt.ts'
import { scanCalls, scanSignature } from './scanTempoParts.ts'

export interface TransactionScan {
  readonly transactions: readonly RpcTransaction[]
  /** The list in the answer, with its brackets. */
  readonly list: Slice
  /** One per transaction. */
  readonly slices: readonly Slice[]
}

type BlockName = Pick<RpcBlock, 'hash' | 'number'>

/**
 * Reads the list of transactions where the texts stand, if every check of `parseBlock` holds for
 * them; it takes JSON.parse to tell when it declines. `owner` is the block that all of them name.
 * @throws NodeAnswerError, SyntaxError, `declined`
 */
export function scanTransactions(texts: JsonTexts, owner: BlockName): TransactionScan {
  const { cursor } = texts
  const start = cursor.at
  const transactions: RpcTransaction[] = []
  const slices: Slice[] = []
  const blockHash = new RepeatedText(owner.hash, spelledHex)
  const blockNumber = new RepeatedText(owner.number, spelledQuantity)
  cursor.expect(ascii.openList)
  if (cursor.peek() === ascii.closeList) cursor.at++
  else
    do {
      const from = cursor.at
      const index = transactions.length
      transactions.push(scanOrParse({ cursor, texts, owner, blockHash, blockNumber, index }))
      slices.push({ from, to: cursor.at })
    } while (cursor.hasNext(ascii.closeList))
  return { transactions, list: { from: start, to: cursor.at }, slices }
}

type Mutable<Type> = { -readonly [Key in keyof Type]: Type[Key] }
type Transaction = Mutable<RpcTransaction>

/** The sources to read, and a transaction's place as it must say it. */
interface Surroundings {
  readonly cursor: JsonCursor
  readonly texts: JsonTexts
  readonly owner: BlockName
  readonly blockHash: RepeatedText
  readonly blockNumber: RepeatedText
  readonly index: number
}

function scanOrParse(from: Surroundings): RpcTransaction {
  const start = from.cursor.at
  try {
    return scanTransaction(from)
  } catch (error) {
    if (error !== declined) throw error
    from.cursor.at = start
    return parseTransaction(from)
  }
}

/** @throws NodeAnswerError */
function parseTransaction({ cursor, owner, index }: Surroundings): RpcTransaction {
  const place: AnswerPlace = new AnswerPlace(Number(owner.number))
  place.list = 'transactions'
  place.index = index
  return checkTransaction(parseValue(cursor), owner, place)
}

/** Passes a list or an object and parses it. */
function parseValue(cursor: JsonCursor): unknown {
  const from = cursor.at
  const isList = cursor.peek() === ascii.openList
  if (!isList && cursor.peek() !== ascii.openObject) throw declined
  cursor.skipList(isList ? ascii.closeList : ascii.closeObject)
  return JSON.parse(cursor.source.toString('utf8', from, cursor.at))
}

type ReadField = (from: Surroundings, tx: Transaction) => void

/** Fields that every transaction has come first. */
const required: Readonly<Record<string, ReadField>> = {
  hash: ({ texts }, tx) => {
    tx.hash = texts.readBytes(HASH_BYTES) as Hash
  },
  from: ({ texts }, tx) => {
    tx.from = texts.readBytes(ADDRESS_BYTES) as Address
  },
  gas: ({ texts }, tx) => {
    tx.gas = texts.readQuantity(DIGITS64)
  },
  blockHash: ({ cursor, owner, blockHash }, tx) => {
    blockHash.expect(cursor)
    tx.blockHash = owner.hash
  },
  blockNumber: ({ cursor, owner, blockNumber }, tx) => {
    blockNumber.expect(cursor)
    tx.blockNumber = owner.number
  },
  transactionIndex: ({ cursor, index }, tx) => {
    tx.transactionIndex = quantityOf(index) as Quantity
    cursor.expectQuantity(tx.transactionIndex)
  },
}

type QuantityField =
  | ('nonce' | 'value' | 'chainId' | 'gasPrice' | 'maxFeePerGas' | 'maxPriorityFeePerGas')
  | ('nonceKey' | 'validBefore' | 'validAfter' | 'v' | 'yParity')

const quantity =
  (field: QuantityField, digitsMax: number): ReadField =>
  ({ texts }, tx) => {
    tx[field] = texts.readQuantityOrNull(digitsMax)
  }

const addressOf =
  (field: 'to' | 'feeToken'): ReadField =>
  ({ texts }, tx) => {
    tx[field] = texts.readBytesOrNull(ADDRESS_BYTES) as Address | null
  }

/** 256 bits, with or without leading zeros. */
const word =
  (field: 'r' | 's'): ReadField =>
  ({ cursor, texts }, tx) => {
    tx[field] = cursor.skipNull() ? null : texts.readDigits()
    const length = tx[field]?.length ?? 3
    if (length < 3 || length > 2 + DIGITS256) throw declined
  }

/** Parts of Tempo's envelope that only their encoder knows. */
const unchecked =
  (field: 'feePayerSignature' | 'keyAuthorization' | 'aaAuthorizationList'): ReadField =>
  ({ cursor }, tx) => {
    tx[field] = cursor.skipNull() ? null : spellWithin(parseValue(cursor))
  }

const optional: Readonly<Record<string, ReadField>> = {
  type: ({ texts }, tx) => {
    tx.type = texts.readQuantityOrNull(DIGITS8) ?? '0x0'
  },
  nonce: quantity('nonce', DIGITS64),
  to: addressOf('to'),
  value: quantity('value', DIGITS256),
  input: ({ texts }, tx) => {
    tx.input = texts.readHexOrNull()
  },
  chainId: quantity('chainId', DIGITS64),
  gasPrice: quantity('gasPrice', DIGITS256),
  maxFeePerGas: quantity('maxFeePerGas', DIGITS256),
  maxPriorityFeePerGas: quantity('maxPriorityFeePerGas', DIGITS256),
  // One that has entries is left to JSON.parse, with its checks.
  accessList: ({ cursor }, tx) => {
    if (cursor.skipNull()) return
    cursor.expect(ascii.openList)
    cursor.expect(ascii.closeList)
    tx.accessList = []
  },
  r: word('r'),
  s: word('s'),
  v: quantity('v', DIGITS256),
  yParity: quantity('yParity', DIGITS64),
  calls: ({ cursor, texts }, tx) => {
    tx.calls = cursor.skipNull() ? null : scanCalls(texts)
  },
  feeToken: addressOf('feeToken'),
  nonceKey: quantity('nonceKey', DIGITS256),
  validBefore: quantity('validBefore', DIGITS64),
  validAfter: quantity('validAfter', DIGITS64),
  feePayerSignature: unchecked('feePayerSignature'),
  keyAuthorization: unchecked('keyAuthorization'),
  aaAuthorizationList: unchecked('aaAuthorizationList'),
  signature: ({ cursor, texts }, tx) => {
    tx.signature = cursor.skipNull() ? null : (scanSignature(texts) ?? spellWithin(parseValue(cursor)))
  },
  blockTimestamp: ({ cursor }) => cursor.skipValidValue(),
}

const fields = { ...required, ...optional }
const readers = Object.values(fields)
const keys = new ObjectKeys(Object.keys(fields))
const requiredKeys = (1 << Object.keys(required).length) - 1

function scanTransaction(from: Surroundings): RpcTransaction {
  const { cursor } = from
  const tx = emptyTransaction(from.owner)
  let seen = 0
  let key = keys.none
  cursor.expect(ascii.openObject)
  do {
    key = keys.read(cursor, key)
    const read = readers[key]
    if (read === undefined) throw declined
    seen = withKey(seen, key)
    read(from, tx)
  } while (cursor.hasNext(ascii.closeObject))
  if ((seen & requiredKeys) !== requiredKeys || !isWhole(tx)) throw declined
  return tx
}

/** Whether the fields are there that an envelope cannot be read without. */
function isWhole({ type, nonce, calls, value, input }: Transaction): boolean {
  if (type === '0x76') return calls !== null && nonce !== null
  return type.length !== 3 || type > '0x4' || (nonce !== null && value !== null && input !== null)
}

/**
 * With all fields there may be, so that all transactions have one shape; null for those that are
 * not in the answer.
 */
function emptyTransaction({ hash, number }: BlockName): Transaction {
  return {
    hash,
    type: '0x0',
    blockHash: hash,
    blockNumber: number,
    transactionIndex: '0x0',
    from: noAddress,
    gas: '0x0',
    nonce: null,
    to: null,
    value: null,
    input: null,
    chainId: null,
    gasPrice: null,
    maxFeePerGas: null,
    maxPriorityFeePerGas: null,
    accessList: null,
    r: null,
    s: null,
    v: null,
    yParity: null,
    calls: null,
    feeToken: null,
    nonceKey: null,
    validBefore: null,
    validAfter: null,
    feePayerSignature: null,
    keyAuthorization: null,
    aaAuthorizationList: null,
    signature: null,
  }
}

const noAddress = `0x${'0'.repeat(2 * ADDRESS_BYTES)}` as Address
