/**
 * One recorded block as JSON, cut at the places that differ when it is shown at another height:
 * numbers, times, hashes, ids of orders, and addresses of contracts made meanwhile, wherever they
 * are a value of their own. Blooms, roots, nonces, signatures and calldata keep their recorded
 * values.
 */
import type { NodeAnswers } from './answers.ts'
import type { RoundNames } from './roundNames.ts'

/** A block with its transactions, a block with their hashes, or its receipts. */
export type Part = 'full' | 'thin' | 'receipts'

/** The place and time of a recorded block. */
export interface Placement {
  readonly height: number
  /** Unix seconds. */
  readonly timestamp: number
  readonly hash: string
  readonly parentHash: string
  readonly names: RoundNames
}

/** The parts of the whole recording that are shown under other names in later rounds. */
export interface Renamed {
  hasTransaction(hash: string): boolean
  hasMade(address: string): boolean
  /** The lowest id of an order of the repeated part. */
  readonly firstOrder: bigint
}

/** Text as it was recorded, or what stands there at a placement. */
type Piece = string | ((placement: Placement) => string)

export const topics = {
  tokenCreated: '0x44f7b8011db3e3647a530b4ff635726de5fafc8fa8ad10f0f31c0eb9dd52fc65',
  orderPlaced: '0xc200d837816d02c5ee9bf081cba1a32ab1482de7a738b41c0b357186b0b998cd',
  orderFilled: '0x16c08f8f2c17b3c8879b3e3cf5efdbdcdfdbd0fcb3890f9d3086f470cd601ddd',
  orderCancelled: '0x06ff08ed6b6987bb7df963009d8b54dc03988f4e465c009924929bb010fe03e7',
}

/**
 * The parts that may differ: ids of orders behind their event, numbers and times by their key, hashes and
 * addresses by their length.
 */
const references = new RegExp(
  `"topics":\\["(?:${topics.orderPlaced}|${topics.orderFilled}|${topics.orderCancelled})","(?<order>0x[0-9a-f]{64})"` +
    '|"(?<key>number|blockNumber|timestamp|blockTimestamp|timestampMillis)":(?<value>"0x[0-9a-f]+"|\\d+)' +
    '|"(?<id>0x(?:[0-9a-f]{64}|[0-9a-f]{40}))"',
  'g',
)

export class BlockTemplate {
  readonly hash: string
  readonly parentHash: string
  /** Unix seconds. */
  readonly timestamp: number
  /** Addresses and first topics of its logs. */
  readonly marks: ReadonlySet<string>
  /** The recorded texts. */
  readonly json: Readonly<Record<Part, Buffer>>
  readonly #pieces: Partial<Record<Part, readonly Piece[]>> = {}

  constructor({ block, receipts }: NodeAnswers) {
    this.hash = block.hash
    this.parentHash = block.parentHash
    this.timestamp = Number(block.timestamp)
    this.marks = marksOf(receipts)
    const thin = { ...block, transactions: block.transactions.map(({ hash }) => hash) }
    this.json = { full: jsonOf(block), thin: jsonOf(thin), receipts: jsonOf(receipts) }
  }

  /** A part as it is at a placement. */
  jsonAt(part: Part, placement: Placement, renamed: Renamed): Buffer {
    this.#pieces[part] ??= this.#cut(part, renamed)
    const texts = this.#pieces[part].map((piece) => (typeof piece === 'string' ? piece : piece(placement)))
    // Latin-1 takes the bytes of UTF-8 one by one, and is several times as fast.
    return Buffer.from(texts.join(''), 'latin1')
  }

  #cut(part: Part, renamed: Renamed): readonly Piece[] {
    const text = this.json[part].toString('latin1')
    const pieces: Piece[] = []
    let end = 0
    for (const match of text.matchAll(references)) {
      const { order, key, value, id } = match.groups ?? {}
      const old = order ?? value ?? id ?? ''
      const piece = this.#pieceOf({ order, key, value, id }, renamed)
      if (!piece) continue
      const start = match.index + match[0].lastIndexOf(old)
      pieces.push(text.slice(end, start), piece)
      end = start + old.length
    }
    pieces.push(text.slice(end))
    return pieces
  }

  /** The text in the place of a reference; undefined if it stays as it was recorded. */
  #pieceOf({ order, key, value = '', id = '' }: Reference, renamed: Renamed): Piece | undefined {
    if (order !== undefined) return orderPiece(BigInt(order), renamed)
    if (key !== undefined) return numberPiece(key, value)
    if (id === this.hash) return ({ hash }) => hash
    if (id === this.parentHash) return ({ parentHash }) => parentHash
    if (renamed.hasTransaction(id)) return ({ names }) => names.transaction(id)
    return addressPiece(id, renamed)
  }
}

interface Reference {
  readonly order: string | undefined
  readonly key: string | undefined
  readonly value: string | undefined
  readonly id: string | undefined
}

function orderPiece(id: bigint, { firstOrder }: Renamed): Piece | undefined {
  if (id < firstOrder) return undefined
  return ({ names }) => `0x${names.order(id).toString(16).padStart(64, '0')}`
}

/** A number or time, written as it was: a quantity, or plain digits. */
function numberPiece(key: string, value: string): Piece {
  const write = value.startsWith('"') ? (n: number) => `"0x${n.toString(16)}"` : String
  if (key === 'number' || key === 'blockNumber') return ({ height }) => write(height)
  if (key !== 'timestampMillis') return ({ timestamp }) => write(timestamp)
  const millis = Number(JSON.parse(value)) % 1000
  return ({ timestamp }) => write(timestamp * 1000 + millis)
}

/** An address, or one that zeros lengthen to a topic. */
function addressPiece(id: string, renamed: Renamed): Piece | undefined {
  const address = `0x${id.slice(-40)}`
  const padding = id.slice(2, -40)
  if (!renamed.hasMade(address) || !/^0*$/.test(padding)) return undefined
  return ({ names }) => `0x${padding}${names.address(address).slice(2)}`
}

function marksOf(receipts: NodeAnswers['receipts']): ReadonlySet<string> {
  const logs = receipts.flatMap((receipt) => receipt.logs)
  return new Set(logs.flatMap(({ address, topics: [topic] }) => (topic ? [address, topic] : [address])))
}

const jsonOf = (value: unknown) => Buffer.from(JSON.stringify(value))
