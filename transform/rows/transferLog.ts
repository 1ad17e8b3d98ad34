import type { Address, Hash, Hex } from '#primitives.ts'

/** keccak256 of `Transfer(address,address,uint256)`. */
export const transferTopic: string = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

export interface LogContent {
  readonly address: Address
  readonly topics: readonly Hash[]
  readonly data: Hex
}

/** A log whose three topics and one word of data are there: what `isTransfer` makes sure of. */
export interface TransferLog extends LogContent {
  readonly topics: readonly [Hash, Hash, Hash]
}

const zeroUpper = `0x${'0'.repeat(24)}`
const WORD_LENGTH = 66

/**
 * True for a well-formed ERC-20 Transfer. The topic alone says little: NFTs index the amount,
 * others emit anything.
 */
export function isTransfer(log: LogContent): log is TransferLog {
  const [topic0, from, to] = log.topics
  return (
    topic0 === transferTopic &&
    log.topics.length === 3 &&
    log.data.length === WORD_LENGTH &&
    from?.startsWith(zeroUpper) === true &&
    to?.startsWith(zeroUpper) === true
  )
}

/** The address in a topic whose upper bytes are zero. */
export const topicAddress = (topic: Hash): Address => `0x${topic.slice(26)}` as Address
