/**
 * The proofs of a block's own bytes that its JSON lacks: a field or an envelope that we do not know stands
 * in them as it was hashed.
 */

import type { RpcBlock } from '../../read/block.ts'
import { forkFieldNames } from '../../read/header/forkFields.ts'
import type { ScannedReceipts } from '../../read/scan/scannedReceipt.ts'
import { isAbsent } from '../../read/shape.ts'
import { keccak256Hex } from '../tries/keccak.ts'
import { RlpWriter } from '../tries/rlp.ts'
import { beginsAs, firstItem, isList, itemsIn } from '../tries/rlpItems.ts'
import { orderedTrieRoot } from '../tries/trie.ts'
import { headerBytes, PLAIN_FIELDS } from './header.ts'
import { writeReceipt } from './receipt.ts'

/**
 * A block as `debug_getRawBlock` and `debug_getRawReceipts` answer it, in hex texts. Unchecked: what
 * does not hash to what the header names tells nothing.
 */
export interface EncodedBlock {
  readonly block: string
  readonly receipts: readonly string[]
}

/** `open`: the bytes are not the block's, or of a layout we do not know. */
type EncodedVerdict = 'proved' | 'refuted' | 'open'

/**
 * Whether the header's fields are those of the bytes that hash to the block. Fields we do not know
 * come behind all we know; they are in no row. One that we know and that is not told would be.
 */
export function encodedHeaderVerdict(block: RpcBlock, { block: text }: EncodedBlock): EncodedVerdict {
  const bytes = bytesOf(text)
  const header = bytes && firstItem(bytes)
  if (!header || !isList(header) || keccak256Hex(header) !== block.hash) return 'open'
  const rules = ['ethereum', 'tempo'] as const
  if (rules.some((rule) => keccak256Hex(headerBytes(block, rule)) === block.hash)) return 'proved'
  if (leavesOutKnown(block, header)) return 'open'
  return rules.some((rule) => beginsAs(header, headerBytes(block, rule))) ? 'proved' : 'refuted'
}

/** Whether the bytes have an item for a known field that was not told. */
function leavesOutKnown(block: RpcBlock, header: Uint8Array): boolean {
  const items = itemsIn(header)
  const inner = items[TEMPO_INNER]
  const count = (inner && isList(inner) ? itemsIn(inner) : items).length - PLAIN_FIELDS
  return forkFieldNames.slice(0, Math.max(0, count)).some((name) => isAbsent(block[name]))
}

/** The place of Ethereum's header in Tempo's, whose own item there is no list. */
const TEMPO_INNER = 3

/**
 * Whether receipts say what the bytes under the header's root say; envelopes we do not know begin
 * as all others.
 */
export function encodedReceiptsVerdict(
  block: RpcBlock,
  { bytes, list }: ScannedReceipts,
  { receipts: texts }: EncodedBlock,
): EncodedVerdict {
  const encoded = texts.map(bytesOf)
  if (encoded.length !== list.length || encoded.includes(null)) return 'open'
  const root = orderedTrieRoot(writer, encoded.length, (index) => {
    const item = encoded[index]
    if (item) writer.writeBytes(item)
  })
  if (root !== block.receiptsRoot) return 'open'
  const isTold = list.every((receipt, index) => {
    const type = block.transactions[index]?.type
    const item = encoded[index]
    if (type === undefined || !item) return false
    const mark = writer.written
    writeReceipt(writer, bytes, receipt, type)
    const own = writer.since(mark)
    const isSame = beginsAsReceipt(item, own, type)
    writer.rewind(mark)
    return isSame
  })
  return isTold ? 'proved' : 'refuted'
}

const writer = new RlpWriter()

function beginsAsReceipt(item: Uint8Array, own: Uint8Array, type: string): boolean {
  if (type === '0x0') return beginsAs(item, own)
  return item[0] === own[0] && beginsAs(item.subarray(1), own.subarray(1))
}

/** Null for what is no hex. */
function bytesOf(text: string): Uint8Array | null {
  const bytes = Buffer.from(text.slice(2), 'hex')
  return text.startsWith('0x') && bytes.length === text.length / 2 - 1 ? bytes : null
}
