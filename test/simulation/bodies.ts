/**
 * The contents of simulated blocks: signed transactions and receipts whose roots and blooms are true,
 * computed with viem and plain tries. Bodies are few and repeat; only the header around one is new for each
 * block.
 */
import {
  encodeAbiParameters,
  fromRlp,
  type Hex,
  keccak256,
  numberToHex,
  pad,
  parseSignature,
  toRlp,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { inBlock, type JsonObject, receiptBytes, scalar, transactionJson } from '../support/builtBlock.ts'
import { plainBloom, plainTrieRoot } from '../support/plainTrie.ts'

/** Everything of a block that does not depend on where it stands. */
export interface Body {
  readonly transactions: readonly JsonObject[]
  readonly receipts: readonly JsonObject[]
  readonly transactionsRoot: Hex
  readonly receiptsRoot: Hex
  readonly logsBloom: Hex
  readonly gasUsed: Hex
  readonly logCount: number
  /** Numbers that today's forks allow and a signed column of 64 bits, or any, does not hold. */
  readonly isForked: boolean
  /** Bytes of its block, as nodes tell it. */
  readonly size: Hex
}

export interface Place {
  readonly number: number
  readonly parentHash: Hex
  readonly timestamp: number
  /** Tells blocks apart that are equal otherwise: siblings with the same body. */
  readonly salt: number
}

export interface PlacedBlock {
  readonly hash: Hex
  readonly block: JsonObject
  readonly receipts: readonly JsonObject[]
}

const TOKENS: readonly Hex[] = [
  '0x00000000000000000000000000000000000c0de1',
  '0x00000000000000000000000000000000000c0de2',
]
const transferTopic = keccak256('0x5472616e7366657228616464726573732c616464726573732c75696e7432353629')

/**
 * Bodies of zero to four transactions with zero to two transfers each; the same ones at every call.
 */
export async function makeBodies(count: number): Promise<readonly Body[]> {
  const account = privateKeyToAccount(`0x${'b2'.repeat(32)}`)
  const bodies: Body[] = []
  for (let n = 0; n < count; n++) {
    const size = n % 5
    const signed = await Promise.all(
      Array.from({ length: size }, (_, index) =>
        account.signTransaction({
          type: index % 2 === 0 ? 'eip1559' : 'legacy',
          chainId: 1,
          nonce: n * 5 + index,
          gas: 100_000n,
          to: TOKENS[index % 2],
          value: BigInt(index),
          data: '0xa9059cbb',
          ...(index % 2 === 0
            ? { maxFeePerGas: 3_000_000_000n, maxPriorityFeePerGas: 0n }
            : { gasPrice: 20n }),
        } as Parameters<typeof account.signTransaction>[0]),
      ),
    )
    const from = account.address.toLowerCase()
    const transactions = signed.map((bytes, index) => transactionJson(bytes, index, from))
    bodies.push(bodyOf(signed, transactions, n))
  }
  return bodies
}

/** Seven of eight blocks are empty, so that thousands of them take seconds. */
export const mostlyEmpty = ([empty, full]: readonly Body[]): readonly Body[] =>
  empty && full ? [...Array<Body>(7).fill(empty), full] : []

/** Nonces as anybody may choose them since Tempo's T12. */
const NONCES = [2n ** 63n - 1n, 2n ** 63n, 2n ** 63n + 1n, 2n ** 64n - 1n]

/**
 * Bodies of one to three transactions with nonces of 64 bits, in blocks of a size that no column
 * holds, which every node tells alike; the same ones at every call.
 */
export async function makeForkedBodies(count: number): Promise<readonly Body[]> {
  const bodies: Body[] = []
  for (let n = 0; n < count; n++) {
    const nonces = Array.from(
      { length: 1 + (n % 3) },
      (_, index) => NONCES[(n + index) % NONCES.length] ?? 0n,
    )
    const signed = await Promise.all(nonces.map((nonce, index) => withNonce(nonce, index)))
    const bytes = signed.map((one) => one.bytes)
    const transactions = signed.map(({ json }) => json)
    bodies.push({ ...bodyOf(bytes, transactions, n), isForked: true, size: '0xffffffffffffffff' })
  }
  return bodies
}

/** A transaction with a nonce that viem refuses to sign, and what nodes tell of it. */
async function withNonce(nonce: bigint, index: number): Promise<{ bytes: Hex; json: JsonObject }> {
  const account = privateKeyToAccount(`0x${'b2'.repeat(32)}`)
  const small = await account.signTransaction({
    ...{ type: 'eip1559', chainId: 1, nonce: 1, gas: 100_000n, to: TOKENS[index % 2], value: 1n },
    ...{ maxFeePerGas: 3_000_000_000n, maxPriorityFeePerGas: 0n, data: '0xa9059cbb' },
  })
  const fields = fromRlp(`0x${small.slice(4)}`).slice(0, -3) as Hex[]
  fields[1] = numberToHex(nonce)
  const typed = (items: readonly Hex[]): Hex => `0x02${toRlp(items).slice(2)}`
  const { r, s, yParity = 0 } = parseSignature(await account.sign({ hash: keccak256(typed(fields)) }))
  const bytes = typed([...fields, yParity === 0 ? '0x' : '0x01', trimmed(r), trimmed(s)])
  const told = { nonce: numberToHex(nonce), yParity: numberToHex(yParity), v: numberToHex(yParity) }
  const signature = { r: numberToHex(BigInt(r)), s: numberToHex(BigInt(s)) }
  const from = account.address.toLowerCase()
  return {
    bytes,
    json: { ...transactionJson(small, index, from), ...told, ...signature, hash: keccak256(bytes) },
  }
}

/** As RLP has numbers. */
const trimmed = (word: Hex): Hex => scalar(numberToHex(BigInt(word)))

function bodyOf(signed: readonly Hex[], transactions: readonly JsonObject[], seed: number): Body {
  let logIndex = 0
  const receipts = transactions.map((tx, index) => {
    const logs = Array.from({ length: (seed + index) % 3 }, () => ({
      ...transferLog(seed, index, logIndex++),
      transactionHash: tx['hash'],
    }))
    return {
      type: tx['type'],
      status: (seed + index) % 7 === 6 ? '0x0' : '0x1',
      cumulativeGasUsed: numberToHex(21_000 * (index + 1)),
      gasUsed: numberToHex(21_000),
      effectiveGasPrice: '0x14',
      logsBloom: plainBloom(logs.flatMap((log): Hex[] => [log.address, ...log.topics])),
      logs,
      transactionIndex: numberToHex(index),
      transactionHash: tx['hash'],
      from: tx['from'],
      to: tx['to'] ?? null,
      contractAddress: null,
    }
  })
  const blooms = receipts.map(({ logsBloom }) => BigInt(logsBloom))
  return {
    transactions,
    receipts,
    transactionsRoot: plainTrieRoot(signed),
    receiptsRoot: plainTrieRoot(receipts.map(receiptBytes)),
    logsBloom: numberToHex(
      blooms.reduce((joined, bloom) => joined | bloom, 0n),
      { size: 256 },
    ),
    gasUsed: numberToHex(21_000 * receipts.length),
    logCount: logIndex,
    isForked: false,
    size: '0x1',
  }
}

function transferLog(seed: number, index: number, logIndex: number) {
  const holder = (n: number): Hex => pad(numberToHex(0xaa00 + n), { size: 32 })
  return {
    address: TOKENS[(seed + logIndex) % 2] ?? '0x',
    topics: [transferTopic, holder((seed + logIndex) % 6), holder((seed * 3 + index) % 6)],
    data: encodeAbiParameters([{ type: 'uint256' }], [BigInt(seed * 1_000 + logIndex + 1)]),
    logIndex: numberToHex(logIndex),
    transactionIndex: numberToHex(index),
    removed: false,
  }
}

/** Puts a body into the chain. */
export function placeBlock(body: Body, { number, parentHash, timestamp, salt }: Place): PlacedBlock {
  const header = {
    parentHash,
    sha3Uncles: keccak256(toRlp([])),
    miner: TOKENS[0] ?? '0x',
    stateRoot: keccak256(numberToHex(salt)),
    transactionsRoot: body.transactionsRoot,
    receiptsRoot: body.receiptsRoot,
    logsBloom: body.logsBloom,
    difficulty: '0x0',
    number: numberToHex(number),
    gasLimit: '0x1c9c380',
    gasUsed: body.gasUsed,
    timestamp: numberToHex(timestamp),
    extraData: '0xc0de',
    mixHash: keccak256('0x05'),
    nonce: '0x0000000000000000',
    baseFeePerGas: '0x7',
  } as const
  const hash = keccak256(toRlp(Object.values(header).map(scalar)))
  const place = { blockHash: hash, blockNumber: header.number }
  return {
    hash,
    block: {
      ...header,
      hash,
      size: body.size,
      uncles: [],
      transactions: body.transactions.map((tx) => ({ ...tx, ...place })),
    },
    receipts: body.receipts.map((receipt) => inBlock(receipt, place)),
  }
}
