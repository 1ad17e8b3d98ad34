/**
 * A small Ethereum block that is true to its header, made with viem only: one signed transaction of
 * each envelope, each with a receipt and logs. It lets verification be tested without recordings.
 */

import {
  getContractAddress,
  type Hex,
  keccak256,
  numberToHex,
  parseTransaction,
  type TransactionSerializable,
  type TransactionSerialized,
  toRlp,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { plainBloom, plainTrieRoot } from './plainTrie.ts'

export type Json = string | number | boolean | null | undefined | readonly Json[] | JsonObject
export interface JsonObject {
  readonly [field: string]: Json
}

export interface BuiltBlock {
  readonly block: JsonObject & { readonly hash: Hex; readonly transactions: readonly JsonObject[] }
  readonly receipts: readonly JsonObject[]
  /** As `debug_getRawBlock` and `debug_getRawReceipts` tell it; of the block's items the header alone. */
  readonly encoded: { readonly block: Hex; readonly receipts: readonly Hex[] }
}

/** The changes of a fork that nobody knows yet. */
export interface Fork {
  /** Behind all others in the header. */
  readonly fields?: Readonly<Record<string, Hex>>
  /** The last transaction is of an envelope 0x50, whose receipts end with one more value. */
  readonly hasEnvelope?: boolean
}

/** The block. It is the same at every call. */
export async function builtBlock({ fields = {}, hasEnvelope = false }: Fork = {}): Promise<BuiltBlock> {
  const account = privateKeyToAccount(`0x${'a1'.repeat(32)}`)
  const authorization = await account.signAuthorization({ chainId: 1, address: contract, nonce: 7 })
  const signed = await Promise.all(envelopes(authorization).map((tx) => account.signTransaction(tx)))
  const bare = signed.map((bytes, index) => ({
    ...transactionJson(bytes, index, account.address.toLowerCase()),
    ...(hasEnvelope && index === signed.length - 1 && { type: '0x50' }),
  }))
  const receipts = bare.map((tx, index) => receiptJson(tx, index))
  return trueBlock(signed, bare, receipts, fields)
}

/**
 * A block that is true to its header, of transactions and receipts without their place in it.
 * @param signed the bytes of the transactions
 * @param fields of the header, in place of its own or behind all others
 */
export function trueBlock(
  signed: readonly Hex[],
  bare: readonly JsonObject[],
  receipts: readonly JsonObject[],
  fields: Readonly<Record<string, Hex>> = {},
): BuiltBlock {
  const hashes = signed.map((bytes) => keccak256(bytes))
  const encodedReceipts = receipts.map(receiptBytes)
  const header = { ...headerJson(signed, receipts, encodedReceipts), ...fields }
  const headerItems = Object.values(header).map(scalar)
  const hash = keccak256(toRlp(headerItems))
  const place = { blockHash: hash, blockNumber: header.number }
  return {
    block: {
      ...header,
      hash,
      size: '0x1',
      uncles: [],
      transactions: bare.map((tx) => ({ ...tx, ...place })),
    },
    receipts: receipts.map((receipt, index) =>
      inBlock(receipt, { ...place, transactionHash: hashes[index] }),
    ),
    encoded: { block: toRlp([headerItems, [], []]), receipts: encodedReceipts },
  }
}

const contract: Hex = '0x00000000000000000000000000000000000c0de1'
const topic = keccak256('0x01')

function envelopes(authorization: unknown): readonly TransactionSerializable[] {
  const common = { chainId: 1, gas: 100_000n, to: contract, value: 0x8000n, data: '0x00ff' } as const
  const fees = { ...common, maxFeePerGas: 3_000_000_000n, maxPriorityFeePerGas: 0n } as const
  const accessList = [{ address: contract, storageKeys: [topic, keccak256('0x02')] }] as const
  return [
    { type: 'legacy', gas: 100_000n, gasPrice: 20n, nonce: 0, to: contract, value: 1n },
    { ...common, type: 'legacy', gasPrice: 20n, nonce: 1 },
    { ...common, type: 'eip2930', gasPrice: 20n, nonce: 2, accessList },
    { ...fees, type: 'eip1559', nonce: 3, to: undefined },
    {
      ...fees,
      type: 'eip4844',
      nonce: 4,
      maxFeePerBlobGas: 9n,
      blobVersionedHashes: [`0x01${'be'.repeat(31)}`],
    },
    { ...fees, type: 'eip7702', nonce: 0x1234, authorizationList: [authorization as never] },
  ]
}

export function transactionJson(bytes: Hex, index: number, from: string): JsonObject {
  const tx: Record<string, unknown> = { ...parseTransaction(bytes as TransactionSerialized) }
  const { type, data, ...fields } = tx
  const numbers = Object.entries(fields).map(([field, value]) => [field, quantities(value)])
  return {
    value: '0x0',
    nonce: '0x0',
    maxPriorityFeePerGas: type === 'legacy' || type === 'eip2930' ? undefined : '0x0',
    ...Object.fromEntries(numbers),
    type: { legacy: '0x0', eip2930: '0x1', eip1559: '0x2', eip4844: '0x3', eip7702: '0x4' }[String(type)],
    input: data === undefined ? '0x' : String(data),
    hash: keccak256(bytes),
    transactionIndex: numberToHex(index),
    from,
  }
}

/** viem's numbers as quantities; `r` and `s` lose their leading zeros as in nodes' answers. */
function quantities(value: unknown): Json {
  if (typeof value === 'number' || typeof value === 'bigint') return numberToHex(value)
  if (Array.isArray(value)) return value.map(quantities)
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([field, inner]) => [field, quantities(inner)]))
  }
  return typeof value === 'string' ? value.toLowerCase() : undefined
}

export function receiptJson(tx: JsonObject, index: number): JsonObject {
  const logs = Array.from({ length: index }, (_, log) => ({
    address: contract,
    topics: [topic, keccak256(numberToHex(index)), keccak256(numberToHex(log))].slice(0, log % 4),
    data: `0x${'5a'.repeat(log * 20)}`,
    logIndex: numberToHex((index * (index - 1)) / 2 + log),
    transactionIndex: numberToHex(index),
    removed: false,
  }))
  return {
    type: tx['type'],
    status: index === 2 ? '0x0' : '0x1',
    cumulativeGasUsed: numberToHex(21_000 * (index + 1)),
    gasUsed: numberToHex(21_000),
    effectiveGasPrice: '0x14',
    logsBloom: plainBloom(logs.flatMap((log): Hex[] => [log.address, ...log.topics])),
    logs,
    transactionIndex: numberToHex(index),
    from: tx['from'],
    to: tx['to'] ?? null,
    contractAddress: createdBy(tx),
  }
}

/** The contract that a transaction without a receiver creates. */
const createdBy = ({ from, to, nonce }: JsonObject): Hex | null =>
  typeof (to ?? null) === 'string'
    ? null
    : (getContractAddress({ from: String(from) as Hex, nonce: BigInt(String(nonce)) }).toLowerCase() as Hex)

export function inBlock(receipt: JsonObject, place: JsonObject): JsonObject {
  const logs = receipt['logs'] as readonly JsonObject[]
  return { ...receipt, ...place, logs: logs.map((log) => ({ ...log, ...place })) }
}

/** Header fields in the order they are hashed. */
function headerJson(transactions: readonly Hex[], receipts: readonly JsonObject[], encoded: readonly Hex[]) {
  const blooms = receipts.map((receipt) => BigInt(String(receipt['logsBloom'])))
  return {
    parentHash: keccak256('0x03'),
    sha3Uncles: keccak256(toRlp([])),
    miner: contract,
    stateRoot: keccak256('0x04'),
    transactionsRoot: plainTrieRoot(transactions),
    receiptsRoot: plainTrieRoot(encoded),
    logsBloom: numberToHex(
      blooms.reduce((joined, bloom) => joined | bloom, 0n),
      { size: 256 },
    ),
    difficulty: '0x0',
    number: '0x3e8',
    gasLimit: '0x1c9c380',
    gasUsed: numberToHex(21_000 * receipts.length),
    timestamp: '0x66000000',
    extraData: '0xc0de',
    mixHash: keccak256('0x05'),
    nonce: '0x0000000000000000',
    baseFeePerGas: '0x7',
    withdrawalsRoot: plainTrieRoot([]),
    blobGasUsed: '0x20000',
    excessBlobGas: '0x0',
    parentBeaconBlockRoot: keccak256('0x06'),
    requestsHash: keccak256('0x07'),
  } as const
}

export function receiptBytes(receipt: JsonObject): Hex {
  const logs = receipt['logs'] as readonly { address: Hex; topics: Hex[]; data: Hex }[]
  const fields = [receipt['status'], receipt['cumulativeGasUsed'], receipt['logsBloom']]
  const list = [...fields.map(scalar), logs.map((log) => [log.address, log.topics, log.data])]
  const type = String(receipt['type'])
  if (type === '0x0') return toRlp(list)
  return `${scalar(type)}${toRlp(type === '0x50' ? [...list, '0xcafe'] : list).slice(2)}` as Hex
}

/** A quantity as RLP bytes. */
export function scalar(value: Json): Hex {
  const text = String(value)
  if (text === '0x0') return '0x'
  return text.length % 2 === 0 ? (text as Hex) : `0x0${text.slice(2)}`
}
