/**
 * Blocks written by hand: transactions of one envelope with any logs, for what recordings do not
 * hold. Links, counts and indexes are those of a chain; roots and hashes are not, so they are
 * decoded without recomputing them.
 */
import { type Hex, keccak256, numberToHex, toBytes } from 'viem'
import type { EncodedBatch } from '#transform/batch.ts'
import { type RecordedBlock, readRecording } from '../../chain/recordings.ts'
import { decode } from '../../store/support/chainStore.ts'
import { rangeOf } from '../../transform/ranges.ts'
import type { RpcObject } from './oracle.ts'

export interface WrittenLog {
  readonly address: Hex
  readonly topics: readonly Hex[]
  readonly data: Hex
}

export interface WrittenTransaction {
  readonly from: Hex
  readonly logs: readonly WrittenLog[]
  /** Calls of the 0x76 transaction; those of the template unless said otherwise. */
  readonly calls?: readonly { readonly to: Hex; readonly input: Hex; readonly value: Hex }[]
}

/** The recorded chain's genesis and after it one block for each list of transactions. */
export function writtenChain(
  recording: string,
  blocks: readonly (readonly WrittenTransaction[])[],
  blockSeconds = 1,
): readonly RecordedBlock[] {
  const [genesis, ...others] = readRecording(recording)
  const template = others.find(({ block }) => typeOf(block as RpcObject) === '0x76')
  if (!genesis || !template) throw new Error(`${recording} has no block to write others after`)
  const written = [genesis]
  for (const transactions of blocks)
    written.push(blockAfter(written.at(-1) ?? genesis, template, transactions, blockSeconds))
  return written
}

export const batchesOf = (blocks: readonly RecordedBlock[]): EncodedBatch[] =>
  blocks.map((block) => decode({ ...rangeOf([block]), endpoint: 'written' }, 'links'))

const typeOf = (block: RpcObject): unknown => block['transactions'][0]?.type

function blockAfter(
  parent: RecordedBlock,
  template: RecordedBlock,
  transactions: readonly WrittenTransaction[],
  blockSeconds: number,
): RecordedBlock {
  const before = parent.block as RpcObject
  const number = numberToHex(Number(before['number']) + 1)
  // Two chains that part have other blocks from there on.
  const hash = keccak256(toBytes(`block ${number} after ${before['hash']}: ${JSON.stringify(transactions)}`))
  const timestamp = numberToHex(Number(before['timestamp']) + blockSeconds)
  const place = { blockHash: hash, blockNumber: number, blockTimestamp: timestamp }
  let logIndex = 0
  const written = transactions.map(({ from, logs, calls }, index) => {
    const transactionHash = keccak256(toBytes(`transaction ${hash}/${index}`))
    const position = { ...place, transactionIndex: numberToHex(index) }
    const tx = (template.block as RpcObject)['transactions'][0]
    const receipt = (template.receipts as RpcObject[])[0]
    return {
      transaction: { ...tx, ...position, hash: transactionHash, from, ...(calls && { calls }) },
      receipt: {
        ...receipt,
        ...position,
        from,
        feePayer: from,
        transactionHash,
        cumulativeGasUsed: numberToHex(21_000 * (index + 1)),
        gasUsed: numberToHex(21_000),
        logs: logs.map((log) => ({
          ...log,
          ...position,
          transactionHash,
          logIndex: numberToHex(logIndex++),
          removed: false,
        })),
      },
    }
  })
  const header = { number, hash, timestamp, parentHash: before['hash'] }
  return {
    block: {
      ...(template.block as RpcObject),
      ...header,
      transactions: written.map(({ transaction }) => transaction),
    },
    receipts: written.map(({ receipt }) => receipt),
  }
}
