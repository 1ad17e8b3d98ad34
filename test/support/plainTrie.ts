/**
 * Block roots and blooms computed the slow way, with viem's RLP and hashes and a trie made of
 * lists: an oracle that shares no code with ingest/verify.
 */

import { type Hex, hexToBytes, keccak256, numberToHex, toRlp } from 'viem'

/** Root of the trie rlp(index) -> value. */
export function plainTrieRoot(values: readonly Hex[]): Hex {
  const leaves = values.map((value, index) => ({ path: nibblesOf(index), value }))
  return keccak256(leaves.length === 0 ? toRlp('0x') : toRlp(nodeOf(leaves)))
}

/** Bloom over addresses and topics. */
export function plainBloom(values: readonly Hex[]): Hex {
  let bloom = 0n
  for (const value of values) {
    const hash = keccak256(value)
    for (const offset of [2, 6, 10]) bloom |= 1n << (BigInt(`0x${hash.slice(offset, offset + 4)}`) & 0x7ffn)
  }
  return numberToHex(bloom, { size: 256 })
}

interface Leaf {
  readonly path: readonly number[]
  readonly value: Hex
}
type Node = readonly (Hex | Node)[]

function nibblesOf(index: number): readonly number[] {
  const key = hexToBytes(toRlp(index === 0 ? '0x' : numberToHex(index)))
  return [...key].flatMap((byte) => [byte >> 4, byte & 15])
}

function nodeOf(leaves: readonly Leaf[]): Node {
  const [first] = leaves
  if (first === undefined) throw new Error('a node needs a leaf')
  if (leaves.length === 1) return [pathOf(first.path, 2), first.value]
  const shared = first.path.findIndex((nibble, depth) => leaves.some(({ path }) => path[depth] !== nibble))
  if (shared > 0) return [pathOf(first.path.slice(0, shared), 0), referenceTo(below(leaves, shared))]
  const branches = Array.from({ length: 16 }, (_, nibble): Hex | Node => {
    const inside = leaves.filter(({ path }) => path[0] === nibble)
    return inside.length === 0 ? '0x' : referenceTo(below(inside, 1))
  })
  return [...branches, '0x']
}

function below(leaves: readonly Leaf[], depth: number): readonly Leaf[] {
  return leaves.map(({ path, value }) => ({ path: path.slice(depth), value }))
}

function referenceTo(leaves: readonly Leaf[]): Hex | Node {
  const node = nodeOf(leaves)
  const encoded = toRlp(node)
  return encoded.length < 2 + 64 ? node : keccak256(encoded)
}

function pathOf(nibbles: readonly number[], flag: number): Hex {
  const padded = nibbles.length % 2 === 0 ? [flag, 0, ...nibbles] : [flag + 1, ...nibbles]
  return `0x${padded.map((nibble) => nibble.toString(16)).join('')}`
}
