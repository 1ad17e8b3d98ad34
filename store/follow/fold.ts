/**
 * A fold: state that depends on the order of events, as a pure reducer. Each event touches one
 * entity; its state after the event is one row of `<name>_history` (but see `apart`), its newest
 * state one row of `<name>_current`. Taking blocks back is deleting the tail of the history.
 */

import type { Address, Hash } from '#primitives.ts'
import type { ContractEvent, EmittedLog } from '#transform/events/event.ts'

/** A column of the state: how its values look in TypeScript and how Postgres holds them. */
export interface FoldColumnTypes {
  address: Address
  hash: Hash
  text: string
  bool: boolean
  number: number
  /** Unix seconds; timestamptz. */
  seconds: number
  uint256: bigint
}

export type FoldColumn = keyof FoldColumnTypes | `${keyof FoldColumnTypes}?`

export type FoldColumns = Readonly<Record<string, FoldColumn>>

/** State of one entity: its columns by name. */
export type FoldState<Columns extends FoldColumns> = {
  readonly [Name in keyof Columns]: ValueOf<Columns[Name]>
}

type ValueOf<Column> = Column extends keyof FoldColumnTypes
  ? FoldColumnTypes[Column]
  : Column extends `${infer Type extends keyof FoldColumnTypes}?`
    ? FoldColumnTypes[Type] | null
    : never

/** The place of an event. */
export interface EventPlace {
  readonly blockNumber: number
  readonly logIndex: number
  readonly timestampSeconds: number
  readonly txHash: Hash
  readonly txIndex: number
  readonly emitter: Address
}

/** The change of one event to one entity. */
export interface Reducer<State> {
  readonly event: ContractEvent
  /** Arguments are those of `event`. */
  /** Null where the event is about none. */
  entityOf(args: never, place: EventPlace): string | null
  /** Pure. `state` is null for an entity not seen before. */
  reduce(state: State | null, args: never, place: EventPlace): State
}

/** How the states of one kind of entity are stored: their newest, and their history. */
export interface FoldTable<Columns extends FoldColumns = FoldColumns> {
  /** Prefix of the two tables. */
  readonly name: string
  /** Column that names the entity: bytes. */
  readonly entity: string
  readonly columns: Columns
  /**
   * The part of each entity that the history keeps: its state after every event, or after the last one of
   * each block.
   */
  readonly keeps?: 'lastOfBlock'
  /** Rows have a column `life`: the blocks after which the state was this one. */
  readonly hasLife?: boolean
  /**
   * Columns with a history of their own, by the name of its table (`<name>_history`): each of these
   * has a row where one of its columns changed, and the history itself where another one did. Long
   * values are so not repeated by every event.
   */
  readonly apart?: Readonly<Record<string, readonly (keyof Columns & string)[]>>
}

/** A fold of one kind of entity; its name is also that of its coverage. */
export interface Fold<Columns extends FoldColumns = FoldColumns> extends FoldTable<Columns> {
  readonly version: number
  readonly reducers: readonly Reducer<FoldState<Columns>>[]
  /** Folds of the same events with entities of their own: what one entity has any number of. */
  readonly beside?: readonly Fold[]
}

/** Ties an event to what it does; the types of `args` follow from its signature. */
export function on<State, Name extends string, Args>(
  event: ContractEvent<Name, Args>,
  entityOf: (args: Args, place: EventPlace) => string | null,
  reduce: (state: State | null, args: Args, place: EventPlace) => State,
): Reducer<State> {
  return { event: event as ContractEvent, entityOf, reduce }
}

/** A log as stored, with its place. */
export interface PlacedLog {
  readonly log: EmittedLog
  readonly place: EventPlace
}

/** One entity's state after one event. */
export interface FoldChange<Columns extends FoldColumns> {
  readonly entity: string
  readonly blockNumber: number
  readonly logIndex: number
  readonly state: FoldState<Columns>
}

/** An entity's new state, by its key. */
export interface Touched<State> {
  readonly key: string
  readonly place: Pick<EventPlace, 'blockNumber' | 'logIndex'>
  readonly state: State
}

/** An event of the fold, decoded. */
export interface FoldEvent<State> {
  readonly entity: string
  readonly place: EventPlace
  apply(state: State | null): State
}

/**
 * The fold's events among the logs, in their order; look-alikes of other contracts are none of
 * them.
 */
export function decodeEvents<Columns extends FoldColumns>(
  fold: Fold<Columns>,
  logs: readonly PlacedLog[],
): FoldEvent<FoldState<Columns>>[] {
  return logs.flatMap(({ log, place }) => {
    for (const { event, entityOf, reduce } of fold.reducers) {
      const args = event.topic0 === log.topics[0] ? (event.decode(log) as never) : null
      if (args === null) continue
      const entity = entityOf(args, place)
      if (entity === null) return []
      const apply = (state: FoldState<Columns> | null) => reduce(state, args, place)
      return [{ entity, place, apply }]
    }
    return []
  })
}

/**
 * Reduces events over the states they start from. An event that leaves its entity as it was gives
 * no change.
 */
export function reduceEvents<Columns extends FoldColumns>(
  events: readonly FoldEvent<FoldState<Columns>>[],
  states: ReadonlyMap<string, FoldState<Columns>>,
): FoldChange<Columns>[] {
  const now = new Map(states)
  return events.flatMap(({ entity, place, apply }) => {
    const before = now.get(entity) ?? null
    const state = apply(before)
    if (before !== null && isSame(before, state)) return []
    now.set(entity, state)
    return [{ entity, blockNumber: place.blockNumber, logIndex: place.logIndex, state }]
  })
}

const isSame = <Columns extends FoldColumns>(one: FoldState<Columns>, other: FoldState<Columns>): boolean =>
  Object.keys(one).every((column) => one[column] === other[column])
