/**
 * A chain made for measuring: every address, topic, amount and hash is unique, so that nothing is fast because it repeats,
 * and every header is true, so that verification has its full work. Blocks are JSON text, as a node would send them.
 */
import type { RpcBlock, RpcReceipt, RpcTransaction } from '#ingest/block.ts'
import { ByteBuffer } from '#ingest/scan/byteBuffer.ts'
import { receiptBytes } from '#ingest/scan/receiptBytes.ts'
import { Bloom } from '#ingest/verify/bloom.ts'
import { headerHash } from '#ingest/verify/header.ts'
import { keccak256Hex } from '#ingest/verify/keccak.ts'
import { writeReceipt } from '#ingest/verify/receipt.ts'
import { RlpWriter } from '#ingest/verify/rlp.ts'
import { writeTransaction } from '#ingest/verify/transaction.ts'
import { orderedTrieRoot } from '#ingest/verify/trie.ts'
import { address, hash } from '../primitives.ts'

export interface ChainShape {
  readonly name: string
  readonly blocks: number
  readonly txsPerBlock: number
  readonly logsPerTx: number
  /** Bytes of data of each log beyond the amount. */
  readonly extraDataBytes: number
}

/** One block as its two answers: JSON texts of the block and of its receipts. */
export interface CannedBlock {
  readonly block: string
  readonly receipts: string
  readonly hash: string
}

const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const emptyListHash = '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347'
const writer = new RlpWriter()

/** The whole chain of a shape; the same at every call. */
export function cannedChain(shape: ChainShape): CannedBlock[] {
  const digits = digitSource(1)
  const blocks: CannedBlock[] = []
  for (let number = 0; number < shape.blocks; number++)
    blocks.push(cannedBlock(shape, number, blocks.at(-1)?.hash ?? `0x${'00'.repeat(32)}`, digits))
  return blocks
}

type Digits = (bytes: number) => string

function cannedBlock(shape: ChainShape, number: number, parentHash: string, digits: Digits): CannedBlock {
  const transactions = Array.from({ length: shape.txsPerBlock }, (_, index) =>
    transaction(number, index, digits),
  )
  const receipts = transactions.map((tx, index) => receipt(shape, tx, index, digits))
  const bytes = new ByteBuffer(0)
  const scanned = receiptBytes(receipts, bytes)
  const bare: RpcBlock = {
    number: quantity(number),
    hash: hash(parentHash),
    parentHash: hash(parentHash),
    timestamp: quantity(1_767_225_600 + Math.floor(number / 2)),
    miner: address(`0x${digits(20)}`),
    stateRoot: hash(`0x${digits(32)}`),
    transactionsRoot: hash(
      root(transactions.length, (index) => void writeTransaction(writer, at(transactions, index))),
    ),
    receiptsRoot: hash(
      root(receipts.length, (index) => {
        writeReceipt(writer, bytes, at(scanned, index), '0x2')
      }),
    ),
    logsBloom: bloomOf(receipts) as `0x${string}`,
    sha3Uncles: hash(emptyListHash),
    gasLimit: quantity(500_000_000),
    gasUsed: quantity(50_000 * transactions.length),
    extraData: '0x',
    difficulty: '0x0',
    mixHash: hash(`0x${digits(32)}`),
    nonce: '0x0000000000000000',
    baseFeePerGas: quantity(20_000_000_000),
    size: quantity(1_000),
    transactions: [],
  }
  const blockHash = hash(headerHash(bare, 'ethereum'))
  const placed = { blockHash, blockNumber: bare.number }
  const logPlace = (one: RpcReceipt) =>
    one.logs.map((log) => ({ ...log, ...placed, transactionHash: one.transactionHash }))
  return {
    hash: blockHash,
    block: JSON.stringify({
      ...bare,
      hash: blockHash,
      transactions: transactions.map((tx) => ({ ...tx, ...placed })),
    }),
    receipts: JSON.stringify(receipts.map((one) => ({ ...one, ...placed, logs: logPlace(one) }))),
  }
}

function transaction(number: number, index: number, digits: Digits): RpcTransaction {
  const fields = {
    type: '0x2',
    chainId: '0x1079',
    nonce: quantity(number),
    maxPriorityFeePerGas: '0x0',
    maxFeePerGas: quantity(40_000_000_000),
    gasPrice: quantity(20_000_000_000),
    gas: quantity(100_000),
    to: address(`0x20c0${digits(18)}`),
    value: '0x0',
    input: `0xa9059cbb${digits(64)}`,
    accessList: [],
    v: '0x1',
    yParity: '0x1',
    r: `0x1${digits(31).slice(1)}${digits(1)}`,
    s: `0x1${digits(31).slice(1)}${digits(1)}`,
    from: address(`0x${digits(20)}`),
    transactionIndex: quantity(index),
    blockNumber: quantity(number),
    blockHash: hash(`0x${'00'.repeat(32)}`),
    hash: hash(`0x${'00'.repeat(32)}`),
  } as const satisfies Record<string, unknown>
  const bare = fields as unknown as RpcTransaction
  const mark = writer.written
  writeTransaction(writer, bare)
  const own = keccak256Hex(writer.since(mark))
  writer.rewind(mark)
  return { ...bare, hash: hash(own) }
}

function receipt(shape: ChainShape, tx: RpcTransaction, index: number, digits: Digits): RpcReceipt {
  const logs = Array.from({ length: shape.logsPerTx }, (_, log) => ({
    address: tx.to ?? address(`0x${digits(20)}`),
    topics: [transferTopic, `0x${'0'.repeat(24)}${digits(20)}`, `0x${'0'.repeat(24)}${digits(20)}`].map(hash),
    data: `0x${'0'.repeat(48)}${digits(8)}${digits(shape.extraDataBytes)}` as `0x${string}`,
    logIndex: quantity(index * shape.logsPerTx + log),
    transactionIndex: quantity(index),
    transactionHash: tx.hash,
    blockHash: tx.blockHash,
    blockNumber: tx.blockNumber,
    removed: false,
  }))
  const bloom = new Bloom()
  bloom.addLogs(logs)
  return {
    type: '0x2',
    status: '0x1',
    transactionHash: tx.hash,
    transactionIndex: quantity(index),
    blockHash: tx.blockHash ?? tx.hash,
    blockNumber: tx.blockNumber ?? '0x0',
    from: tx.from,
    to: tx.to ?? null,
    contractAddress: null,
    gasUsed: quantity(50_000),
    cumulativeGasUsed: quantity(50_000 * (index + 1)),
    effectiveGasPrice: quantity(20_000_000_000),
    logsBloom: bloom.toHex() as `0x${string}`,
    logs,
  }
}

function root(count: number, write: (index: number) => void): string {
  return `0x${Buffer.from(orderedTrieRoot(writer, count, write)).toString('hex')}`
}

function bloomOf(receipts: readonly RpcReceipt[]): string {
  const bloom = new Bloom()
  for (const { logs } of receipts) bloom.addLogs(logs)
  return bloom.toHex()
}

const quantity = (value: number): `0x${string}` => `0x${value.toString(16)}`

function at<T>(list: readonly T[], index: number): T {
  const value = list[index]
  if (value === undefined) throw new RangeError(`nothing at ${index}`)
  return value
}

/** Hex digits that do not repeat: xorshift, 32 bits a step. */
function digitSource(seed: number): Digits {
  let state = seed
  const next = () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0).toString(16).padStart(8, '0')
  }
  return (bytes) => {
    let text = ''
    while (text.length < bytes * 2) text += next()
    return text.slice(0, bytes * 2)
  }
}
