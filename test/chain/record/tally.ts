/** Counts of blocks for a recording's manifest, taken as they come. */
import type { RecordedBlock } from '../recordings.ts'

interface CountedBlock {
  readonly number: string
  readonly hash: string
  readonly parentHash: string
  readonly transactions: readonly { readonly type: string }[]
}

interface CountedReceipt {
  readonly blockHash: string
  readonly status: string
  readonly logs: readonly { readonly address: string; readonly topics: readonly string[] }[]
}

const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

export class Tally {
  firstHash: string | undefined
  lastHash: string | undefined
  transactions = 0
  reverted = 0
  logs = 0
  readonly transactionTypes: Record<string, number> = {}
  /** Every contract that emitted something that looks like a Transfer. */
  readonly tokens = new Set<string>()

  /** @throws Error for a block that does not fit its receipts or its parent. */
  add(recorded: RecordedBlock): void {
    const { block, receipts }: { block: CountedBlock; receipts: readonly CountedReceipt[] } = Object(recorded)
    this.#check(block, receipts)
    this.firstHash ??= block.hash
    this.lastHash = block.hash
    this.transactions += block.transactions.length
    for (const { type } of block.transactions)
      this.transactionTypes[type] = (this.transactionTypes[type] ?? 0) + 1
    for (const receipt of receipts) this.#count(receipt)
  }

  #check(block: CountedBlock, receipts: readonly CountedReceipt[]): void {
    const where = `block ${Number(block.number)}`
    if (this.lastHash !== undefined && block.parentHash !== this.lastHash)
      throw new Error(`${where} does not follow its parent`)
    if (receipts.length !== block.transactions.length)
      throw new Error(`${where} has ${receipts.length} receipts`)
    if (receipts.some(({ blockHash }) => blockHash !== block.hash))
      throw new Error(`${where} has receipts of another block`)
  }

  #count({ status, logs }: CountedReceipt): void {
    if (status === '0x0') this.reverted++
    this.logs += logs.length
    for (const { address, topics } of logs) if (topics[0] === transferTopic) this.tokens.add(address)
  }
}
