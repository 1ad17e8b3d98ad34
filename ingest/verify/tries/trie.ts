/**
 * Roots of the Merkle Patricia tries of a block (Yellow Paper, appendix D): the key of an item is
 * the RLP of its index. All keys are known at once, so the leaves are hashed first and together,
 * which halves that cost, and what is above them is written depth first: a node is written into the
 * buffer, and when it has 32 bytes or more its hash takes its place.
 */

import type { BytesAt } from '../../read/json/ByteBuffer.ts'
import { HASH_BYTES } from '../../read/scan/scannedReceipt.ts'
import { DigestBatch } from './DigestBatch.ts'
import { keccak256Hex, keccak256Latin1 } from './keccak.ts'
import type { RlpWriter } from './rlp.ts'

/**
 * Writes the bytes of one item in front of what is written, without a prefix. Called once for each.
 */
export type WriteValue = (index: number) => void

/**
 * Root of the trie rlp(index) -> value for the indexes 0 to count - 1, as headers have it: `0x` and
 * lowercase digits.
 */
export function orderedTrieRoot(writer: RlpWriter, count: number, writeValue: WriteValue): `0x${string}` {
  const mark = writer.written
  if (count === 0) writer.writeItem(null)
  else if (count === 1) writeLeaf(writer, writeValue, 0, 0)
  else writeFork({ writer, count, leaves: hashLeaves(writer, count, writeValue) }, 0, count, 0)
  const root = keccak256Hex(writer.since(mark))
  writer.rewind(mark)
  leafDigests.clear()
  return root
}

interface Trie {
  readonly writer: RlpWriter
  readonly count: number
  /** In key order: what stands in a parent for each. */
  readonly leaves: readonly LeafReference[]
}

/** The place of a leaf's digest, or, when it is shorter than one, the leaf. */
type LeafReference = BytesAt | Uint8Array

/** Kept between tries, which are made one at a time. */
const leafDigests = new DigestBatch()

/** Flags of a node's path (hex prefix encoding, Yellow Paper appendix C). */
const EXTENSION_FLAG = 0x00
const LEAF_FLAG = 0x20

const EMPTY_STRING = 0x80

function hashLeaves(writer: RlpWriter, count: number, writeValue: WriteValue): readonly LeafReference[] {
  const mark = writer.written
  const leaves: LeafReference[] = []
  for (let position = 0; position < count; position++) {
    writeLeaf(writer, writeValue, indexAt(count, position), leafDepth(count, position))
    const leaf = writer.since(mark)
    leaves.push(leaf.length < HASH_BYTES ? Uint8Array.from(leaf) : leafDigests.add(leaf))
    writer.rewind(mark)
  }
  leafDigests.finish()
  return leaves
}

function writeLeaf(writer: RlpWriter, writeValue: WriteValue, index: number, depth: number): void {
  const mark = writer.written
  writeValue(index)
  writer.closeString(mark)
  writePath(writer, index, depth, keyNibbles(index), LEAF_FLAG)
  writer.closeList(mark)
}

/**
 * The nibbles of a leaf's key that stand above it: those up to the one in which it differs from
 * both its neighbours.
 */
function leafDepth(count: number, position: number): number {
  const index = indexAt(count, position)
  const before = position === 0 ? 0 : forkDepth(indexAt(count, position - 1), index, 0)
  const after = position === count - 1 ? 0 : forkDepth(index, indexAt(count, position + 1), 0)
  return Math.max(before, after) + 1
}

/**
 * Writes the node over two keys or more, `from` up to (not including) `to` of the key order, which
 * agree in `depth` nibbles.
 */
function writeFork(trie: Trie, from: number, to: number, depth: number): void {
  const mark = trie.writer.written
  const first = indexAt(trie.count, from)
  const fork = forkDepth(first, indexAt(trie.count, to - 1), depth)
  if (fork === depth) writeBranch(trie, from, to, depth)
  else {
    writeReference(trie, from, to, fork)
    writePath(trie.writer, first, depth, fork, EXTENSION_FLAG)
  }
  trie.writer.closeList(mark)
}

/**
 * The content of a branch, last slot first. A branch here never has a value: no key is the start of
 * another.
 */
function writeBranch(trie: Trie, from: number, to: number, depth: number): void {
  trie.writer.writeByte(EMPTY_STRING)
  let end = to
  for (let slot = 15; slot >= 0; slot--) {
    let start = end
    while (start > from && keyNibble(indexAt(trie.count, start - 1), depth) === slot) start--
    if (start === end) trie.writer.writeByte(EMPTY_STRING)
    else writeReference(trie, start, end, depth + 1)
    end = start
  }
}

/** Writes a node as its parent holds it: as it is when shorter than a hash, else its hash. */
function writeReference(trie: Trie, from: number, to: number, depth: number): void {
  const { writer } = trie
  if (to - from === 1) {
    writeLeafReference(trie, from)
    return
  }
  const mark = writer.written
  writeFork(trie, from, to, depth)
  if (writer.written - mark < HASH_BYTES) return
  const hash = keccak256Latin1(writer.since(mark))
  writer.rewind(mark)
  writer.writeLatin1(hash)
}

function writeLeafReference({ writer, leaves }: Trie, position: number): void {
  const leaf = leaves[position] ?? noLeaf
  if (typeof leaf === 'number') writer.writeSlice(leafDigests.digests, leaf, HASH_BYTES)
  else writer.writeBytes(leaf)
}

/** Every position has a leaf. */
const noLeaf = new Uint8Array()

/** The nibbles `from` to `to` of a key; an odd one stands beside the flag. */
function writePath(writer: RlpWriter, index: number, from: number, to: number, flag: number): void {
  const mark = writer.written
  let end = to
  for (; end - from >= 2; end -= 2) {
    writer.writeByte((keyNibble(index, end - 2) << 4) | keyNibble(index, end - 1))
  }
  writer.writeByte(end === from ? flag : flag | 0x10 | keyNibble(index, from))
  writer.closeString(mark)
}

/** First nibble at or after `depth` in which two keys differ. */
function forkDepth(first: number, last: number, depth: number): number {
  let fork = depth
  while (keyNibble(first, fork) === keyNibble(last, fork)) fork++
  return fork
}

/**
 * The index whose key is at a position of the key order: 1 to 127 are a byte of their own, 0 is
 * 0x80, then 0x81..
 */
function indexAt(count: number, position: number): number {
  const below = Math.min(count, 128) - 1
  if (position < below) return position + 1
  return position === below ? 0 : position
}

function keyNibbles(index: number): number {
  return index < 128 ? 2 : 2 + 2 * sizeOf(index)
}

function keyNibble(index: number, nibble: number): number {
  const byte = keyByte(index, nibble >> 1)
  return nibble % 2 === 0 ? byte >> 4 : byte & 0x0f
}

function keyByte(index: number, byte: number): number {
  if (index === 0) return EMPTY_STRING
  if (index < 128) return index
  const size = sizeOf(index)
  return byte === 0 ? EMPTY_STRING + size : (index >>> (8 * (size - byte))) & 0xff
}

function sizeOf(index: number): number {
  if (index < 1 << 8) return 1
  return index < 1 << 16 ? 2 : 3
}
