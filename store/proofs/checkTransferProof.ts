/**
 * Checks the proof of a transfer offline. It shares no code with what makes proofs but the hash: RLP
 * is read by viem.
 */
import { keccak256Hex } from '#ingest/verify/tries/keccak.ts'
import {
  asHex,
  byteStringOf,
  type DecodedItem,
  decoded,
  headerItems,
  listOf,
  NUMBER,
  RECEIPTS_ROOT,
  TRANSACTIONS_ROOT,
} from './rlpItems.ts'
import { type ProvedTransfer, type TransferProof, topicsOf } from './transferProof.ts'
import { keyNibbles } from './triePath.ts'

/** A typed receipt begins with its type, which is below every prefix of a list. */
const LIST_PREFIX = 0xc0

/** The problem in words; null if the block's hash follows from all of it. */
export function transferProblem(proof: TransferProof, transfer: ProvedTransfer): string | null {
  try {
    return problemIn(proof, transfer)
  } catch {
    return 'its bytes are no RLP'
  }
}

function problemIn(proof: TransferProof, transfer: ProvedTransfer): string | null {
  if (hashOf(proof.header) !== proof.blockHash) return 'the header does not hash to the block'
  const header = headerItems(proof.header)
  if (Number(byteStringOf(header[NUMBER])) !== proof.blockNumber) return 'the header is of another height'
  const { transactionIndex: index } = proof
  const transaction = valueUnder(byteStringOf(header[TRANSACTIONS_ROOT]), index, proof.transactionPath)
  if (transaction === null) return 'the path of the transaction does not lead to the header'
  if (hashOf(transaction) !== transfer.transactionHash) return 'the transaction is another one'
  const receipt = valueUnder(byteStringOf(header[RECEIPTS_ROOT]), index, proof.receiptPath)
  if (receipt === null) return 'the path of the receipt does not lead to the header'
  return receiptProblem(receipt, proof.logIndex, transfer)
}

function receiptProblem(receipt: string, logIndex: number, transfer: ProvedTransfer): string | null {
  const isTyped = Number(receipt.slice(0, 4)) < LIST_PREFIX
  const [status, , , logs] = listOf(decoded(isTyped ? `0x${receipt.slice(4)}` : receipt))
  if (status !== '0x01') return 'the transaction did not succeed'
  const [emitter, topics, data] = listOf(listOf(logs)[logIndex])
  const isSame =
    emitter === transfer.token &&
    listOf(topics).join() === topicsOf(transfer) &&
    BigInt(byteStringOf(data)) === transfer.amount
  return isSame ? null : 'the log is not this transfer'
}

/** The item of an index that a path leads to; null where it leads elsewhere. */
function valueUnder(root: string, index: number, path: readonly string[]): string | null {
  let expected = root
  let nibbles = keyNibbles(index)
  for (const [depth, text] of path.entries()) {
    if (hashOf(text) !== expected) return null
    const step = stepsWithin(listOf(decoded(text)), nibbles)
    if (step.kind === 'value') return depth === path.length - 1 ? step.value : null
    if (step.kind === 'lost') return null
    expected = step.hash
    nibbles = step.nibbles
  }
  return null
}

type Step =
  | { readonly kind: 'value'; readonly value: string }
  | { readonly kind: 'hash'; readonly hash: string; readonly nibbles: readonly number[] }
  | { readonly kind: 'lost' }

const lost: Step = { kind: 'lost' }

/** Down from a node, through those that stand in it. */
function stepsWithin(node: readonly DecodedItem[], nibbles: readonly number[]): Step {
  const [first = -1, ...rest] = nibbles
  if (node.length === 17) return stepTo(node[first], rest)
  if (node.length !== 2) return lost
  const [flag = -1, ...packed] = [...byteStringOf(node[0]).slice(2)].map((digit) =>
    Number.parseInt(digit, 16),
  )
  const own = flag % 2 === 1 ? packed : packed.slice(1)
  if (own.some((nibble, at) => nibbles[at] !== nibble)) return lost
  const left = nibbles.slice(own.length)
  if (flag < 2) return stepTo(node[1], left)
  return left.length === 0 ? { kind: 'value', value: byteStringOf(node[1]) } : lost
}

function stepTo(child: DecodedItem | undefined, nibbles: readonly number[]): Step {
  if (child === undefined || child === '0x') return lost
  return typeof child === 'string' ? { kind: 'hash', hash: child, nibbles } : stepsWithin(child, nibbles)
}

const hashOf = (text: string): string => keccak256Hex(Buffer.from(asHex(text).slice(2), 'hex'))
