/**
 * Answers of a node in other spellings of the same values: capitals among hex digits, leading zeros
 * or a JSON number where a quantity stands, null for absent, null for an empty list, other names.
 */

import { seededRandom } from '../ingest/support/random.ts'

/** Draws a number below `below`. */
export type Draw = (below: number) => number

export function drawFrom(seed: number): Draw {
  const random = seededRandom(seed)
  return (below) => Math.floor(random() * below)
}

type Fields = Record<string, unknown>

/** A copy of a block with its transactions. */
export function respelledBlock(block: unknown, draw: Draw): Fields {
  const told = respelled(block, draw)
  const transactions = Array.isArray(told['transactions']) ? told['transactions'] : []
  if (draw(2) === 0) rename(told, 'miner', 'author')
  if (transactions.length === 0 && draw(2) === 0) told['transactions'] = null
  for (const tx of transactions) if (draw(4) === 0 && !('calls' in tx)) rename(tx, 'input', 'data')
  return told
}

/** A copy of receipts. */
export function respelledReceipts(receipts: unknown, draw: Draw): readonly unknown[] {
  const told: unknown = respell(receipts, '', draw)
  if (!Array.isArray(told)) throw new TypeError('no receipts')
  return told
}

/** The fields that hold numbers; all other texts of hex digits are bytes. */
const quantities: ReadonlySet<string> = new Set([
  ...['number', 'timestamp', 'gasLimit', 'gasUsed', 'difficulty', 'baseFeePerGas', 'blobGasUsed', 'size'],
  ...[
    'excessBlobGas',
    'mainBlockGeneralGasLimit',
    'sharedGasLimit',
    'timestampMillisPart',
    'timestampMillis',
  ],
  ...['type', 'gas', 'nonce', 'value', 'chainId', 'gasPrice', 'maxFeePerGas', 'maxPriorityFeePerGas', 'v'],
  ...['maxFeePerBlobGas', 'nonceKey', 'validBefore', 'validAfter', 'mint', 'yParity', 'blockNumber'],
  ...['transactionIndex', 'logIndex', 'cumulativeGasUsed', 'effectiveGasPrice', 'status', 'depositNonce'],
  ...[
    'depositReceiptVersion',
    'l1Fee',
    'blobGasPrice',
    'index',
    'validatorIndex',
    'amount',
    'expiry',
    'limit',
  ],
])
/** Numbers that hashes cover, of which some nodes write the zero as bytes. */
const asBytes: ReadonlySet<string> = new Set(['value', 'difficulty', 'nonce', 'excessBlobGas', 'yParity'])
/** Lists that nodes write as null where they are empty. */
const lists: ReadonlySet<string> = new Set([
  ...['topics', 'logs', 'storageKeys', 'accessList', 'uncles', 'withdrawals', 'aaAuthorizationList'],
])
/** Numbers within parts that only their encoder reads. */
const inner: ReadonlySet<string> = new Set(['signature', 'feePayerSignature', 'keyAuthorization'])

function respell(value: unknown, name: string, draw: Draw): unknown {
  if (typeof value === 'string') return respelledText(value, name, draw)
  if (Array.isArray(value)) {
    if (value.length === 0 && lists.has(name) && draw(2) === 0) return draw(2) === 0 ? null : undefined
    return value.map((item) => respell(item, name, draw))
  }
  return typeof value === 'object' && value !== null ? respelled(value, draw, inner.has(name)) : value
}

function respelled(value: unknown, draw: Draw, isInner = false): Fields {
  const told: Fields = {}
  for (const [name, part] of Object.entries(Object(value))) {
    if (part === null && draw(2) === 0) continue
    const kind = isInner && inner.has(name) ? name : isInner && part === Object(part) ? 'signature' : name
    told[name] = isInner && typeof part === 'string' ? innerText(part, name, draw) : respell(part, kind, draw)
  }
  return told
}

function respelledText(text: string, name: string, draw: Draw): unknown {
  if (!/^0x[0-9a-f]*$/.test(text)) return text
  const isQuantity = quantities.has(name) && text.length < 67
  // The nonce of a header is bytes.
  if (!isQuantity || (name === 'nonce' && text.length === 18)) return capitals(text, draw)
  const zeros = draw(2) === 0 ? '0'.repeat(draw(5)) : ''
  if (draw(12) === 0 && Number.isSafeInteger(Number(text))) return Number(text)
  if (zeros === '' && text === '0x0' && asBytes.has(name) && draw(6) === 0) return '0x'
  return capitals(`0x${zeros}${text.slice(2)}`, draw)
}

/** Words of signatures may have their leading zeros, parities too. */
function innerText(text: string, name: string, draw: Draw): string {
  if (!/^0x[0-9a-f]*$/.test(text)) return text
  const isNumber = quantities.has(name) && draw(2) === 0
  return capitals(isNumber ? `0x0${text.slice(2)}` : text, draw)
}

function capitals(text: string, draw: Draw): string {
  const kind = draw(4)
  const digits =
    kind === 0
      ? text.slice(2)
      : text
          .slice(2)
          .replaceAll(/[a-f]/g, (letter) => (kind === 1 || draw(2) === 0 ? letter.toUpperCase() : letter))
  return `${draw(20) === 0 ? '0X' : '0x'}${digits}`
}

function rename(fields: Fields, name: string, other: string): void {
  if (!(name in fields)) return
  fields[other] = fields[name]
  Reflect.deleteProperty(fields, name)
}
