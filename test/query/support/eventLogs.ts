/** Logs of any event as rows of the example chain, and what a table of the event shows of them. */
import type { AbiEvent } from 'viem'
import type { SqlValue } from '#query/result.ts'
import { sqlValue } from '../../support/arbitraryEvent.ts'
import { type ArbitraryLog, decodeWithViem } from '../../support/arbitraryLog.ts'
import type { ExampleRow } from './exampleRows.ts'

export function logRow({ topics, data }: ArbitraryLog, block: number, index: number): ExampleRow {
  const [topic0 = null, topic1 = null, topic2 = null, topic3 = null] = topics
  const place = { block_num: block, log_idx: index, block_timestamp: 1_795_262_398, tx_idx: 0 }
  const tx_hash = `0x${'ab'.repeat(32)}`
  const address = `0x${'cd'.repeat(20)}`
  return { ...place, tx_hash, address, topic0, topic1, topic2, topic3, data, is_virtual_forward: false }
}

export const expectedRow = (event: AbiEvent, log: ArbitraryLog): SqlValue[] => {
  const args = new Map(Object.entries(decodeWithViem(event, log) ?? {}))
  return event.inputs.map((input) => sqlValue(input, args.get(input.name ?? '')))
}
