/**
 * A chain made for measuring: every address, topic, amount and hash is unique, so that nothing is
 * fast because it repeats, and every header is true, so that verification has its full work. Blocks
 * are JSON text, as a Tempo node would send them.
 */
import type { RpcBlock, RpcReceipt, RpcTransaction } from '#ingest/read/block.ts'
import { ByteBuffer } from '#ingest/read/json/ByteBuffer.ts'
import { receiptBytes } from '#ingest/read/receiptBytes.ts'
import { headerHash } from '#ingest/verify/parts/header.ts'
import { writeReceipt } from '#ingest/verify/parts/receipt.ts'
import { writeTransaction } from '#ingest/verify/parts/transaction.ts'
import { Bloom } from '#ingest/verify/tries/Bloom.ts'
import { RlpWriter } from '#ingest/verify/tries/rlp.ts'
import { orderedTrieRoot } from '#ingest/verify/tries/trie.ts'
import { address, hash } from '#primitives.ts'
import { type CannedKeys, cannedKeys, cannedTransaction, type Digits, quantity } from './cannedTransaction.ts'

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

/** The blocks of a shape, in order; the same at every call. */
export function* cannedChain(shape: ChainShape): Generator<CannedBlock, void, undefined> {
  const digits = digitSource(1)
  const keys = cannedKeys()
  let parentHash = `0x${'00'.repeat(32)}`
  for (let number = 0; number < shape.blocks; number++) {
    const block = cannedBlock(shape, number, parentHash, digits, keys)
    parentHash = block.hash
    yield block
  }
}

function cannedBlock(
  shape: ChainShape,
  number: number,
  parentHash: string,
  digits: Digits,
  keys: CannedKeys,
): CannedBlock {
  const transactions = Array.from({ length: shape.txsPerBlock }, (_, index) =>
    cannedTransaction(writer, number, index, digits, keys),
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
      orderedTrieRoot(
        writer,
        transactions.length,
        (index) => void writeTransaction(writer, at(transactions, index)),
      ),
    ),
    receiptsRoot: hash(
      orderedTrieRoot(writer, receipts.length, (index) => {
        writeReceipt(writer, bytes, at(scanned, index), at(transactions, index).type)
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
    mainBlockGeneralGasLimit: quantity(30_000_000),
    sharedGasLimit: '0x0',
    timestampMillisPart: quantity((number % 2) * 500),
    timestampMillis: quantity(1_767_225_600_000 + number * 500),
    consensusContext: { epoch: 1, view: number + 1, parentView: number, proposer: hash(`0x${digits(32)}`) },
    transactions: [],
  }
  const blockHash = hash(headerHash(bare, 'tempo'))
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

function receipt(shape: ChainShape, tx: RpcTransaction, index: number, digits: Digits): RpcReceipt {
  const logs = Array.from({ length: shape.logsPerTx }, (_, log) => ({
    address: tx.to ?? address(`0x20c0${digits(18)}`),
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
    type: tx.type,
    status: '0x1',
    transactionHash: tx.hash,
    transactionIndex: quantity(index),
    blockHash: tx.blockHash ?? tx.hash,
    blockNumber: tx.blockNumber ?? '0x0',
    from: tx.from,
    to: tx.to ?? tx.calls?.[0]?.to ?? null,
    contractAddress: null,
    feePayer: tx.from,
    feeToken: tx.feeToken ?? address(`0x20c0${digits(18)}`),
    gasUsed: quantity(50_000),
    cumulativeGasUsed: quantity(50_000 * (index + 1)),
    effectiveGasPrice: quantity(20_000_000_000),
    logsBloom: bloom.toHex() as `0x${string}`,
    logs,
  }
}

function bloomOf(receipts: readonly RpcReceipt[]): string {
  const bloom = new Bloom()
  for (const { logs } of receipts) bloom.addLogs(logs)
  return bloom.toHex()
}

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
