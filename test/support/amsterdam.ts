/** Headers and blocks of Ethereum's Amsterdam fork: sources are in `test/data/README.md`. */
import { readFileSync } from 'node:fs'
import type { RecordedBlock } from '../chain/recordings.ts'
import { inBlock, type JsonObject } from './builtBlock.ts'

const read = (file: string) =>
  JSON.parse(readFileSync(new URL(`../data/amsterdam/${file}`, import.meta.url), 'utf8'))

type HeaderName = 'sepolia11856337' | 'devnet191prague' | 'devnet192amsterdam' | 'synthetic'

/** A header as a node answers it, of a block whose transactions are not held. */
export const amsterdamHeader = (name: HeaderName): JsonObject => ({
  ...read('headers.json').headers[name],
  transactions: [],
})

/** Blocks of one payment each, as a node would answer them. */
export const amsterdamBlocks = (): readonly RecordedBlock[] =>
  Object.values(read('blocks.json').blocks).map(toRpc)

interface SpecifiedBlock {
  readonly blockHeader: Readonly<Record<string, string>>
  readonly transactions: readonly Readonly<Record<string, string>>[]
  readonly receipts: readonly {
    readonly transactionHash: string
    readonly cumulativeGasUsed: string
    readonly bloom: string
    readonly logs: readonly JsonObject[]
  }[]
}

/** Under the names of JSON-RPC, with numbers as nodes write them. */
function toRpc(value: unknown): RecordedBlock {
  const { blockHeader, transactions, receipts } = withPlainNumbers(value) as SpecifiedBlock
  const { uncleHash, coinbase, transactionsTrie, receiptTrie, bloom, ...header } = blockHeader
  const place = { blockHash: `${header['hash']}`, blockNumber: `${header['number']}` }
  const block = {
    ...header,
    ...{ sha3Uncles: uncleHash, miner: coinbase, logsBloom: bloom },
    ...{ transactionsRoot: transactionsTrie, receiptsRoot: receiptTrie },
    ...{ uncles: [], withdrawals: [] },
    transactions: transactions.map(({ gasLimit, data, sender, ...tx }, index) => ({
      ...{ ...tx, ...place, transactionIndex: `0x${index}`, hash: `${receipts[index]?.transactionHash}` },
      ...{ gas: gasLimit, input: data, from: sender },
    })),
  }
  return { block, receipts: receipts.map((receipt, index) => receiptOf(receipt, index, block, place)) }
}

/** The specification's tests write numbers as whole bytes. */
function withPlainNumbers(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (name, inner) =>
    numbers.has(name) && typeof inner === 'string' ? `0x${BigInt(inner).toString(16)}` : inner,
  )
}

const numbers = new Set([
  ...['difficulty', 'number', 'gasLimit', 'gasUsed', 'timestamp', 'baseFeePerGas', 'blobGasUsed'],
  ...[
    'excessBlobGas',
    'slotNumber',
    'type',
    'chainId',
    'nonce',
    'gasPrice',
    'value',
    'v',
    'cumulativeGasUsed',
  ],
])

function receiptOf(
  { transactionHash, cumulativeGasUsed, bloom, logs }: SpecifiedBlock['receipts'][number],
  index: number,
  { transactions }: { readonly transactions: readonly { readonly from: unknown; readonly to?: unknown }[] },
  place: JsonObject,
): JsonObject {
  if (index > 0) throw new Error('gas of one transaction is taken from what its block used')
  const inTx = { transactionHash, transactionIndex: '0x0' }
  const receipt = {
    ...{ ...inTx, type: '0x0', status: '0x1', cumulativeGasUsed, gasUsed: cumulativeGasUsed },
    ...{ logsBloom: bloom, contractAddress: null, effectiveGasPrice: '0xa' },
    ...{ from: `${transactions[0]?.from}`, to: `${transactions[0]?.to}` },
    logs: logs.map((log, at) => ({ ...log, ...inTx, logIndex: `0x${at}`, removed: false })),
  }
  return inBlock(receipt, place)
}
