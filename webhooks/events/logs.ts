/** log:emitted: a log of any contract, decoded where the subscription names its signature. */
import { isoSeconds } from '#http/schema.ts'
import { hash as toHash } from '#primitives.ts'
import type { StoredRow } from '#store/read/lists/row.ts'
import type { EventLog } from '#transform/events/eventDecoder.ts'
import {
  conditionOn,
  type EventFields,
  type EventFilter,
  formsOf,
  type Key,
  readFields,
  without,
} from '../filters/eventFilter.ts'
import { address, FiltersError, hash, quantity, type Value } from '../filters/operators.ts'
import { comparable, jsonValue, type ReadSignature, readSignatureFilter } from '../filters/signatureFilter.ts'
import { defineEventType, nothingNeeded } from './eventType.ts'

type Log = StoredRow<'logs'>

const some = (value: Value | null): readonly Value[] => (value === null ? [] : [value])
const topics: readonly ((event: Log) => readonly Value[])[] = [
  ({ topic0 }) => some(topic0),
  ({ topic1 }) => some(topic1),
  ({ topic2 }) => some(topic2),
  ({ topic3 }) => some(topic3),
]
const topic = (index: number) => conditionOn(hash, topics[index] ?? (() => []), `topic${index}`)

const fields: EventFields<Log> = {
  topic1: topic(1),
  topic2: topic(2),
  topic3: topic(3),
  address: conditionOn(address, (log) => [log.address], 'address'),
  topic0: topic(0),
  blockNumber: conditionOn(quantity, ({ block_num: number }) => [BigInt(number)], 'blockNumber'),
}

export const logEmitted = defineEventType<Log>({
  type: 'log:emitted',
  description: 'A log of any contract; with `signature` its arguments too.',
  stream: 'blocks',
  table: 'logs',
  needsFilters: true,
  filterForms: { ...formsOf(fields), signature: { kind: 'signature' }, args: { kind: 'args' } },
  read: (filters) => {
    const signature = filters['signature'] === undefined ? null : readSignatureFilter(filters['signature'])
    if (signature && filters['topic0'] !== undefined)
      throw new FiltersError(['topic0'], 'is not given together with `signature`')
    if (!signature && filters['args'] !== undefined)
      throw new FiltersError(['args'], 'is given together with `signature` alone')
    const plain = readFields(fields, {
      ...without(filters, 'signature', 'args'),
      ...(signature && { topic0: signature.topic0 }),
    })
    return {
      filter:
        signature && filters['args'] !== undefined ? withArgs(plain, signature, filters['args']) : plain,
      form: signature ? `log ${String(filters['signature'])}` : 'log',
      needs: nothingNeeded,
      data: (row) => ({
        address: row.address,
        topics: topicsOf(row),
        data: row.data,
        blockNumber: Number(row.block_num),
        logIndex: row.log_idx,
        transactionIndex: row.tx_idx,
        transactionHash: row.tx_hash,
        timestamp: isoSeconds(row.block_timestamp),
        ...(signature && decodedOf(row, signature)),
      }),
    }
  },
  eventsOf: ({ logs }) => logs,
  placeOf: (row) => ({ blockNumber: Number(row.block_num), index: row.log_idx }),
})

const topicsOf = ({ topic0, topic1, topic2, topic3 }: Log): string[] =>
  [topic0, topic1, topic2, topic3].filter((text) => text !== null)

const emittedOf = (row: Log): EventLog => ({ topics: topicsOf(row).map(toHash), data: hexOf(row.data) })
const hexOf = (text: string): `0x${string}` => `0x${text.slice(2)}`

function decodedOf(row: Log, { name, signature, topic0, decode }: ReadSignature): object {
  const args = decode(emittedOf(row))
  return { event: { name, signature, topic0 }, ...(args && { args: jsonValue(args) }) }
}

/** Conditions on arguments; one that is a topic is found by it. */
function withArgs(plain: EventFilter<Log>, signature: ReadSignature, given: unknown): EventFilter<Log> {
  const wanted = signature.readArgs(given)
  const indexed = wanted.find((one) => one.topic !== null)?.topic
  const key: Key<Log> | null = indexed
    ? { name: `topic${indexed.index}`, of: topics[indexed.index] ?? (() => []), values: indexed.values }
    : plain.key
  return {
    key,
    matches: (log) => {
      if (!plain.matches(log)) return false
      const args = signature.decode(emittedOf(log))
      return args !== null && wanted.every(({ name, condition }) => condition.test(comparable(args[name])))
    },
  }
}
