/**
 * Logs of a canned chain by block, for readers that ask for logs instead of receipts: cut out once,
 * before they begin.
 */
import type { CannedChain } from './cannedFile.ts'

/** The most logs that an endpoint of reth answers. */
const LOGS_MAX = 20_000

export interface CannedLogs {
  /** JSON of all logs within a range; undefined when they are more than one answer may hold. */
  within(from: number, to: number): Buffer | undefined
}

/** Filters are not looked at: every log of the canned chains is a Transfer. */
export function cannedLogs(chain: CannedChain): CannedLogs {
  const blocks = Array.from({ length: chain.blocks }, (_, number) => {
    const receipts: { logs: unknown[] }[] = JSON.parse(chain.receipts(number).toString('latin1'))
    const logs = receipts.flatMap((receipt) => receipt.logs)
    return { count: logs.length, json: Buffer.from(JSON.stringify(logs).slice(1, -1)) }
  })
  return {
    within: (from, to) => {
      const asked = blocks.slice(from, to + 1).filter(({ count }) => count > 0)
      if (asked.reduce((sum, { count }) => sum + count, 0) > LOGS_MAX) return undefined
      const pieces = asked.flatMap(({ json }, index) => (index > 0 ? [comma, json] : [json]))
      return Buffer.concat([open, ...pieces, close])
    },
  }
}

const [open, comma, close] = [Buffer.from('['), Buffer.from(','), Buffer.from(']')]
