/** A type of event that can be subscribed to, as a value: its filters, and what an event of it says. */

import type { PieceTables, Stream } from '#store/read/pieces.ts'
import type { TransactionDetail } from '#store/read/transactions.ts'
import { stringifyExact } from '#transform/decode/exactJson.ts'
import type { EventFilter, FilterForms } from '../filters/eventFilter.ts'
import { FilterIndex } from '../filters/FilterIndex.ts'
import { FiltersError } from '../filters/operators.ts'

/** A type as the matcher sees it: what an event of it is made of stays inside. */
export interface EventType {
  readonly type: string
  /** One sentence. */
  readonly description: string
  readonly stream: Stream
  /** Rows that it is found in. */
  readonly table: keyof PieceTables
  /** Everything would be too much to send. */
  readonly needsFilters: boolean
  /** By the name of each filter. */
  readonly filterForms: FilterForms
  /** False for what this service tells of itself. */
  readonly isOnChain: boolean
  /** True for what the contract does not have. */
  readonly isExtension: boolean
  /** @throws FiltersError */
  readonly validate: (filters: Filters) => void
  readonly watch: <Subscriber>(
    subscribers: readonly { readonly subscriber: Subscriber; readonly filters: Filters }[],
  ) => Watch<Subscriber>
}

type Filters = Readonly<Record<string, unknown>>

/** The subscriptions to one type, looking at pieces of a chain. */
export interface Watch<Subscriber> {
  /** In the order of the chain. */
  readonly find: (rows: PieceTables, chain: PieceChain) => readonly ReceivedEvent<Subscriber>[]
}

/** An event, and those it is for. */
export interface ReceivedEvent<Subscriber> extends EventPlace {
  readonly needs: Needs
  readonly receivers: readonly Receivers<Subscriber>[]
}

/** Those that get the same of an event. */
export interface Receivers<Subscriber> {
  readonly subscribers: readonly Subscriber[]
  /** `data` as JSON. */
  readonly data: (facts: Facts) => string
}

/** The declaration of a type. */
export interface Declaration<Event>
  extends Pick<EventType, 'type' | 'description' | 'stream' | 'table' | 'needsFilters' | 'filterForms'> {
  /** Default: true. */
  readonly isOnChain?: boolean
  /** Default: false. */
  readonly isExtension?: boolean
  /** @throws FiltersError */
  readonly read: (filters: Filters) => Reading<Event>
  /** The events among the rows of a piece. */
  readonly eventsOf: (rows: PieceTables, chain: PieceChain) => readonly Event[]
  readonly placeOf: (event: Event) => EventPlace
}

export interface PieceChain {
  readonly chainId: number
  readonly kind: 'tempo' | 'evm'
}

export interface EventPlace {
  readonly blockNumber: number
  /** Index of the log, of the transaction, or 0. */
  readonly index: number
  /** Part of the id, where another kind of event of this type may have the same index. */
  readonly kind?: string
}

/** The filters of a subscription, understood. */
export interface Reading<Event> {
  readonly filter: EventFilter<Event>
  /** Names the form of `data`: readings of one name write the same. */
  readonly form: string
  /** Facts that have to be read beside the rows. */
  readonly needs: (event: Event) => Needs
  readonly data: (event: Event, facts: Facts) => object
}

export interface Needs {
  readonly token?: string
  readonly transaction?: { readonly blockNumber: number; readonly index: number }
}

/** Facts that were read beside the rows. */
export interface Facts {
  readonly chain: PieceChain
  readonly tokens: ReadonlyMap<string, { readonly symbol: string; readonly decimals: number | null }>
  /** By block and index, as `transactionKey` writes it. */
  readonly transactions: ReadonlyMap<string, TransactionDetail>
}

export const transactionKey = (blockNumber: number, index: number): string => `${blockNumber}/${index}`

export const nothingNeeded = (): Needs => ({})

export function defineEventType<Event>(declaration: Declaration<Event>): EventType {
  const { read, eventsOf, placeOf, isOnChain = true, isExtension = false, ...described } = declaration
  return {
    ...described,
    isOnChain,
    isExtension,
    validate: read,
    watch: (subscribers) => {
      const index = new FilterIndex<Event, Reader<Event, (typeof subscribers)[number]['subscriber']>>()
      for (const { subscriber, filters } of subscribers) {
        const reading = readStored(() => read(filters))
        if (reading) index.add({ subscriber, reading }, reading.filter)
      }
      const foundOf = (event: Event) => {
        const readers = Map.groupBy(index.match(event), ({ reading }) => reading.form)
        const forms = [...readers.values()].flatMap((alike) => (alike[0] ? [{ ...alike[0], alike }] : []))
        return {
          ...placeOf(event),
          needs: mergedNeeds(forms.map(({ reading }) => reading.needs(event))),
          receivers: forms.map(({ reading, alike }) => ({
            subscribers: alike.map(({ subscriber }) => subscriber),
            data: once((facts: Facts) => stringifyExact(reading.data(event, facts))),
          })),
        }
      }
      return {
        find: (rows, chain) =>
          eventsOf(rows, chain)
            .map(foundOf)
            .filter(({ receivers }) => receivers.length > 0),
      }
    },
  }
}

/** A text that is made when it is asked for, and then kept. */
function once(make: (facts: Facts) => string): (facts: Facts) => string {
  let text: string | null = null
  return (facts) => {
    text ??= make(facts)
    return text
  }
}

/** Stored filters that are not understood select nothing: never more than was asked for. */
function readStored<Event>(read: () => Reading<Event>): Reading<Event> | null {
  try {
    return read()
  } catch (error) {
    if (error instanceof FiltersError) return null
    throw error
  }
}

interface Reader<Event, Subscriber> {
  readonly subscriber: Subscriber
  readonly reading: Reading<Event>
}

const mergedNeeds = (needs: readonly Needs[]): Needs => Object.assign({}, ...needs)
