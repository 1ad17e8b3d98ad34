/** Transfers in logs of a chain. */
import { parseEventLogs } from 'viem'
import { Abis } from 'viem/tempo'
import { lowercased } from '#primitives.ts'
import type { Log } from './settled.ts'

export interface Transfer {
  readonly token: `0x${string}`
  readonly from: `0x${string}`
  readonly to: `0x${string}`
  /** In the token's smallest unit. */
  readonly amount: bigint
}

/** Those of standard tokens, in their order. */
export function transfersIn(logs: readonly Log[]): readonly Transfer[] {
  const parsed = parseEventLogs({
    abi: Abis.tip20,
    eventName: 'Transfer',
    logs: logs.map(({ address, topics: [topic, ...rest], data }) => ({
      ...{ address: lowercased(address), data: lowercased(data) },
      topics: topic === undefined ? [] : [lowercased(topic), ...rest.map(lowercased)],
      ...{ blockHash: null, blockNumber: null, logIndex: null, removed: false },
      ...{ transactionHash: null, transactionIndex: null },
    })),
  })
  return parsed.map(({ address, args }) => ({ token: address, ...args }))
}
