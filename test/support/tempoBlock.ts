/**
 * Blocks of Tempo that are true to their headers, as the network hashes them since T4: what a test
 * writes into receipts is proved by roots, as that of a node is.
 */
import { type Hex, keccak256, numberToHex, toRlp } from 'viem'
import type { RecordedBlock } from '../chain/recordings.ts'
import { inBlock, type JsonObject, receiptBytes, scalar } from './builtBlock.ts'
import { plainBloom, plainTrieRoot } from './plainTrie.ts'
import type { SignedTempo } from './tempoTransaction.ts'

export interface TempoTransaction extends SignedTempo {
  readonly from: Hex
  readonly to: Hex
  readonly logs: readonly { readonly address: Hex; readonly topics: readonly Hex[]; readonly data: Hex }[]
  readonly gasUsed: bigint
  readonly price: bigint
  readonly feeToken: Hex
  readonly feePayer: Hex
}

export interface TempoPlace {
  readonly number: number
  readonly parentHash: Hex
  readonly timestamp: number
  readonly miner: Hex
  /** Gas of growing state, which the header leaves out (draft, since T14). */
  readonly stateGas?: bigint
  /** In the last block of an epoch, the next one's outcome. */
  readonly extraData?: Hex
  /** Epoch of consensus in which it was made. */
  readonly epoch?: number
}

export type TempoBlock = RecordedBlock & {
  readonly block: JsonObject & { readonly hash: Hex; readonly transactions: readonly JsonObject[] }
  readonly receipts: readonly JsonObject[]
}

export function tempoBlock(place: TempoPlace, transactions: readonly TempoTransaction[]): TempoBlock {
  const bare = receiptsOf(transactions)
  const header = headerOf(place, transactions, bare)
  const hash = keccak256(toRlp(headerItems(header, place)))
  const at = {
    blockHash: hash,
    blockNumber: numberToHex(place.number),
    blockTimestamp: numberToHex(place.timestamp),
  }
  const hashes = transactions.map(({ bytes }) => keccak256(bytes))
  return {
    block: {
      ...header,
      mainBlockGeneralGasLimit: '0x1c9c380',
      sharedGasLimit: '0x2faf080',
      timestampMillisPart: numberToHex(millisPart),
      consensusContext: contextOf(place),
      hash,
      size: '0x400',
      uncles: [],
      withdrawals: [],
      transactions: transactions.map(({ json, from }, index) => ({
        ...json,
        ...at,
        ...{ hash: hashes[index], from, transactionIndex: numberToHex(index) },
      })),
    },
    receipts: bare.map((receipt, index) => inBlock(receipt, { ...at, transactionHash: hashes[index] })),
  }
}

const millisPart = 250n

/** Its numbers are JSON numbers. */
const contextOf = ({ number, miner, epoch = 2_042 }: TempoPlace) => ({
  ...{ epoch, view: number + 1, parentView: number },
  proposer: `0x${miner.slice(2).padStart(64, '7')}`,
})

function receiptsOf(transactions: readonly TempoTransaction[]): JsonObject[] {
  let [cumulative, logIndex] = [0n, 0]
  return transactions.map(({ from, to, logs, gasUsed, price, feeToken, feePayer }, index) => {
    cumulative += gasUsed
    return {
      type: '0x76',
      status: '0x1',
      cumulativeGasUsed: numberToHex(cumulative),
      gasUsed: numberToHex(gasUsed),
      effectiveGasPrice: numberToHex(price),
      logsBloom: plainBloom(logs.flatMap(({ address, topics }): Hex[] => [address, ...topics])),
      logs: logs.map((log) => ({
        ...log,
        logIndex: numberToHex(logIndex++),
        transactionIndex: numberToHex(index),
        removed: false,
      })),
      transactionIndex: numberToHex(index),
      ...{ from, to, contractAddress: null, feeToken, feePayer },
    }
  })
}

/** Fields of Ethereum's header, in the order it is hashed. */
function headerOf(
  { number, parentHash, timestamp, miner, stateGas = 0n, extraData = '0xc0de' }: TempoPlace,
  transactions: readonly TempoTransaction[],
  receipts: readonly JsonObject[],
) {
  const blooms = receipts.map(({ logsBloom }) => BigInt(String(logsBloom)))
  const gasUsed = transactions.reduce((sum, one) => sum + one.gasUsed, 0n) - stateGas
  return {
    parentHash,
    sha3Uncles: keccak256(toRlp([])),
    miner,
    stateRoot: keccak256(numberToHex(number)),
    transactionsRoot: plainTrieRoot(transactions.map(({ bytes }) => bytes)),
    receiptsRoot: plainTrieRoot(receipts.map(receiptBytes)),
    logsBloom: numberToHex(
      blooms.reduce((joined, bloom) => joined | bloom, 0n),
      { size: 256 },
    ),
    difficulty: '0x0',
    number: numberToHex(number),
    gasLimit: '0x1dcd6500',
    gasUsed: numberToHex(gasUsed),
    timestamp: numberToHex(timestamp),
    extraData,
    mixHash: keccak256('0x05'),
    nonce: '0x0000000000000000',
    baseFeePerGas: '0x2540be400',
    withdrawalsRoot: plainTrieRoot([]),
    blobGasUsed: '0x0',
    excessBlobGas: '0x0',
    parentBeaconBlockRoot: keccak256('0x06'),
    requestsHash: keccak256('0x07'),
  } as const
}

function headerItems(header: ReturnType<typeof headerOf>, place: TempoPlace) {
  const { epoch, view, parentView, proposer } = contextOf(place)
  const outer = ['0x1c9c380', '0x2faf080', numberToHex(millisPart)].map(scalar)
  const inner = Object.values(header).map(scalar)
  const numbers = [epoch, view, parentView].map((value) => scalar(numberToHex(value)))
  return [...outer, inner, [...numbers, proposer as Hex]]
}
