/** A chain as long as a test wants, made of recorded blocks, and what an oracle finds in it. */
import { hash as digest } from 'node:crypto'
import { isRecord } from '#primitives.ts'
import type { RecordedBlock } from '../../chain/recordings.ts'
import { recorded } from './forks.ts'

const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

/** Genesis, and other blocks again and again, each with its own numbers and hashes. */
export function longChain(source: readonly RecordedBlock[], length: number): readonly RecordedBlock[] {
  const [genesis] = recorded(1)
  const chain: RecordedBlock[] = genesis ? [genesis] : []
  for (let number = 1; number < length; number++) {
    const from = source[(number - 1) % source.length]
    const parent = chain[number - 1]
    if (from && parent) chain.push(moved(from, number, hashOf(parent)))
  }
  return chain
}

function hashOf({ block }: RecordedBlock): string {
  return isRecord(block) ? String(block['hash']) : ''
}

/** The block at another height: heights, and hashes of block and transactions, are its own. */
function moved(from: RecordedBlock, number: number, parentHash: string): RecordedBlock {
  const own = (text: string) => `0x${digest('sha256', `${number} ${text}`, 'hex')}`
  const walk = (value: unknown, key: string): unknown => {
    if (Array.isArray(value)) return value.map((member) => walk(member, key))
    if (isRecord(value))
      return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, walk(member, name)]))
    if (key === 'number' || key === 'blockNumber') return `0x${number.toString(16)}`
    if (key === 'parentHash') return parentHash
    return key === 'hash' || key === 'blockHash' || key === 'transactionHash' ? own(String(value)) : value
  }
  return { block: walk(from.block, ''), receipts: walk(from.receipts, '') }
}

/** Blocks from the first on, and transfers of TIP-20 tokens in them, as the raw answers have them. */
export function eventsOf(chain: readonly RecordedBlock[], first: number) {
  const blocks: string[] = []
  const transfers: string[] = []
  for (const [number, recordedBlock] of chain.entries()) {
    if (number < first) continue
    blocks.push(`${number} ${hashOf(recordedBlock)}`)
    const receipts = Array.isArray(recordedBlock.receipts) ? recordedBlock.receipts : []
    for (const { address, topics, data, logIndex, transactionHash } of receipts.flatMap(({ logs }) => logs))
      if (
        topics[0] === transferTopic &&
        topics.length === 3 &&
        address.startsWith('0x20c000000000000000000000')
      )
        transfers.push([number, Number(logIndex), transactionHash, BigInt(data)].join(' '))
  }
  return { blocks, transfers }
}
