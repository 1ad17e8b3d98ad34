/**
 * From the bytes of a block to its header and transactions, without JSON.parse. To pass over the
 * header, parse it and check its fields took 24 us more, a tenth of what a block of two
 * transactions takes to decode.
 */
import type { Address, Hash, Hex } from '#primitives.ts'
import type { ConsensusContext, RpcBlock } from '../block.ts'
import { type ForkFieldName, forkFields } from '../header/forkFields.ts'
import { ascii, declined, EXACT_DIGITS, JsonCursor, type Slice } from '../json/JsonCursor.ts'
import { JsonTexts } from '../json/JsonTexts.ts'
import { KEYS_MAX, ObjectKeys, withKey } from '../json/ObjectKeys.ts'
import { DIGITS64, DIGITS256 } from '../shape.ts'
import { ADDRESS_BYTES, BLOOM_BYTES, HASH_BYTES } from './scannedReceipt.ts'
import { scanTransactions, type TransactionScan } from './scanTransactions.ts'

export interface BlockScan {
  /** Only hash, number and transactions count where the header is not whole. */
  readonly block: RpcBlock
  /**
   * False when the header has a field that is not known here: it takes JSON.parse, and the checks
   * of `parseBlock`.
   */
  readonly isWhole: boolean
  /** The list of transactions in the answer, with its brackets. */
  readonly list: Slice
  /** One per transaction. */
  readonly slices: readonly Slice[]
}

/**
 * Reads the block, if every check of `parseBlock` holds for it, but that it is the one that was
 * asked for; null if it takes JSON.parse to tell.
 * @throws NodeAnswerError, SyntaxError
 */
export function scanBlock(source: Buffer): BlockScan | null {
  try {
    return scanFields(new JsonTexts(new JsonCursor(source)))
  } catch (error) {
    if (error === declined) return null
    throw error
  }
}

/** The block's own name has to stand before the transactions; every node writes it there. */
function scanFields(texts: JsonTexts): BlockScan {
  const { cursor } = texts
  const header = emptyHeader()
  let isWhole = true
  let scan: TransactionScan | null = null
  let seen = 0
  let seenBehind = 0
  let key = keys.none
  cursor.expect(ascii.openObject)
  do {
    key = keys.read(cursor, key)
    if (key === keys.unknown) {
      cursor.skipValue()
      isWhole = false
      continue
    }
    if (key < KEYS_MAX) seen = withKey(seen, key)
    else seenBehind = withKey(seenBehind, key - KEYS_MAX)
    if (key === transactionsKey) {
      if ((seen & NAME_KEYS) !== NAME_KEYS) throw declined
      scan = scanTransactions(texts, header)
    } else if (key === contextKey) isWhole = readContext(texts, header) && isWhole
    else readers[key]?.(texts, header)
  } while (cursor.hasNext(ascii.closeObject))
  if (scan === null || (isWhole && (seen & requiredKeys) !== requiredKeys)) throw declined
  header.transactions = scan.transactions
  return { block: header, isWhole, list: scan.list, slices: scan.slices }
}

type Mutable<Type> = { -readonly [Key in keyof Type]: Type[Key] }
type Header = Mutable<RpcBlock>
type ReadField = (texts: JsonTexts, header: Header) => void

const hashOf =
  (field: 'parentHash' | 'stateRoot' | 'transactionsRoot' | 'receiptsRoot' | 'sha3Uncles'): ReadField =>
  (texts, header) => {
    header[field] = texts.readBytes(HASH_BYTES) as Hash
  }

/** That a JavaScript number holds exactly. */
const smallNumber =
  (field: 'timestamp' | 'gasUsed'): ReadField =>
  (texts, header) => {
    header[field] = texts.readQuantity(EXACT_DIGITS)
  }

/** Fields that every block has come first, and first of all its name. */
const required: Readonly<Record<string, ReadField>> = {
  hash: (texts, header) => {
    header.hash = texts.readBytes(HASH_BYTES) as Hash
  },
  number: (texts, header) => {
    header.number = texts.readQuantity(EXACT_DIGITS)
  },
  parentHash: hashOf('parentHash'),
  timestamp: smallNumber('timestamp'),
  miner: (texts, header) => {
    header.miner = texts.readBytes(ADDRESS_BYTES) as Address
  },
  stateRoot: hashOf('stateRoot'),
  transactionsRoot: hashOf('transactionsRoot'),
  receiptsRoot: hashOf('receiptsRoot'),
  sha3Uncles: hashOf('sha3Uncles'),
  logsBloom: (texts, header) => {
    header.logsBloom = texts.readBytes(BLOOM_BYTES)
  },
  gasLimit: (texts, header) => {
    header.gasLimit = texts.readQuantity(DIGITS64)
  },
  gasUsed: smallNumber('gasUsed'),
  extraData: (texts, header) => {
    const data = texts.readHexOrNull()
    if (data === null) throw declined
    header.extraData = data
  },
}

const hashOrNull =
  (field: 'mixHash' | ForkFieldName<'hash'>): ReadField =>
  (texts, header) => {
    header[field] = texts.readBytesOrNull(HASH_BYTES) as Hash | null
  }

type NumberField =
  | ('difficulty' | 'size' | ForkFieldName<'uint64' | 'uint256'>)
  | ('mainBlockGeneralGasLimit' | 'sharedGasLimit' | 'timestampMillisPart' | 'timestampMillis')

const numberOrNull =
  (field: NumberField, digits = DIGITS256): ReadField =>
  (texts, header) => {
    header[field] = texts.readQuantityOrNull(digits)
  }

const ofFork = (field: (typeof forkFields)[number]): ReadField =>
  field.kind === 'hash'
    ? hashOrNull(field.json)
    : numberOrNull(field.json, field.kind === 'uint64' ? DIGITS64 : DIGITS256)

/** Nearly always empty; an entry takes JSON.parse. */
const listOf =
  (field: 'uncles' | 'withdrawals'): ReadField =>
  ({ cursor }, header) => {
    if (cursor.skipNull()) return
    if (cursor.peek() !== ascii.openList) throw declined
    const from = cursor.at
    cursor.skipValidValue()
    const isEmpty = cursor.at - from === EMPTY_LIST_CHARACTERS
    header[field] = isEmpty ? none : JSON.parse(cursor.source.toString('utf8', from, cursor.at))
  }

const none: readonly unknown[] = []
const EMPTY_LIST_CHARACTERS = 2

const optional: Readonly<Record<string, ReadField>> = {
  mixHash: hashOrNull('mixHash'),
  difficulty: numberOrNull('difficulty'),
  ...Object.fromEntries(forkFields.map((field) => [field.json, ofFork(field)])),
  size: numberOrNull('size'),
  mainBlockGeneralGasLimit: numberOrNull('mainBlockGeneralGasLimit'),
  sharedGasLimit: numberOrNull('sharedGasLimit'),
  timestampMillisPart: numberOrNull('timestampMillisPart'),
  timestampMillis: numberOrNull('timestampMillis'),
  nonce: (texts, header) => {
    header.nonce = texts.readBytesOrNull(NONCE_BYTES)
  },
  uncles: listOf('uncles'),
  withdrawals: listOf('withdrawals'),
}

const NONCE_BYTES = 8

const fields: Readonly<Partial<Record<string, ReadField>>> = { ...required, ...optional }
/** Transactions and context are read by the loop itself. */
const names = [...Object.keys(required), 'transactions', 'consensusContext', ...Object.keys(optional)]
const readers = names.map((name) => fields[name])
const keys = new ObjectKeys(names)
const transactionsKey = names.indexOf('transactions')
const contextKey = names.indexOf('consensusContext')
const NAME_KEYS = 0b11
const requiredKeys = ((1 << Object.keys(required).length) - 1) | (1 << transactionsKey)

const contextKeys = new ObjectKeys(['epoch', 'view', 'parentView', 'proposer'])
const CONTEXT_REQUIRED = 0b1111

/** @returns false when it has a key that is not known here; it is passed over then. */
function readContext(texts: JsonTexts, header: Header): boolean {
  const { cursor } = texts
  if (cursor.skipNull()) return true
  const start = cursor.at
  const context: Mutable<ConsensusContext> = { epoch: 0, view: 0, parentView: 0, proposer: noHash }
  let seen = 0
  let key = contextKeys.none
  cursor.expect(ascii.openObject)
  do {
    key = contextKeys.read(cursor, key)
    if (key === contextKeys.unknown) {
      cursor.at = start
      cursor.skipValue()
      return false
    }
    seen = withKey(seen, key)
    if (key === 0) context.epoch = cursor.readInteger()
    else if (key === 1) context.view = cursor.readInteger()
    else if (key === 2) context.parentView = cursor.readInteger()
    else context.proposer = texts.readBytes(HASH_BYTES) as Hash
  } while (cursor.hasNext(ascii.closeObject))
  if (seen !== CONTEXT_REQUIRED) throw declined
  header.consensusContext = context
  return true
}

const noHash = `0x${'0'.repeat(2 * HASH_BYTES)}` as Hash
const noAddress = `0x${'0'.repeat(2 * ADDRESS_BYTES)}` as Address
const noBytes: Hex = '0x'

/**
 * With all fields there may be, so that all headers have one shape; null for those that are not in
 * the answer.
 */
function emptyHeader(): Header {
  return {
    number: '0x0',
    hash: noHash,
    parentHash: noHash,
    timestamp: '0x0',
    miner: noAddress,
    stateRoot: noHash,
    transactionsRoot: noHash,
    receiptsRoot: noHash,
    logsBloom: noBytes,
    sha3Uncles: noHash,
    gasLimit: '0x0',
    gasUsed: '0x0',
    extraData: noBytes,
    difficulty: null,
    mixHash: null,
    nonce: null,
    baseFeePerGas: null,
    withdrawalsRoot: null,
    blobGasUsed: null,
    excessBlobGas: null,
    parentBeaconBlockRoot: null,
    requestsHash: null,
    blockAccessListHash: null,
    slotNumber: null,
    size: null,
    withdrawals: null,
    uncles: null,
    transactions: [],
    mainBlockGeneralGasLimit: null,
    sharedGasLimit: null,
    timestampMillisPart: null,
    timestampMillis: null,
    consensusContext: null,
  }
}
