/** Filters of one event type, read strictly and made into one test and the keys an index finds it by. */
import { isRecord } from '#primitives.ts'
import {
  bytes,
  type Condition,
  FiltersError,
  readCallData,
  readCondition,
  type Text,
  type TextKind,
  type Value,
} from './operators.ts'

/** The forms of a filter, for readers of the document. */
export type FilterForm =
  | { readonly kind: 'plain'; readonly text: Text }
  | { readonly kind: 'condition'; readonly text: Text; readonly isNumber: boolean }
  | { readonly kind: 'callData'; readonly text: Text }
  | { readonly kind: 'target'; readonly of: FilterForm }
  | { readonly kind: 'option' | 'signature' | 'args' }

export type FilterForms = Readonly<Record<string, FilterForm>>

/** A field that events of a type can be filtered by. */
export interface Field<Event> {
  readonly read: (given: unknown, path: readonly string[]) => Condition
  readonly form: FilterForm
  /** Its values in an event: several where any of them may match. */
  readonly values: (event: Event) => readonly Value[]
  /** Name of the index by its values, where few events share one. */
  readonly key?: string
}

export type EventFields<Event> = Readonly<Record<string, Field<Event>>>

/** A field that takes a value or one of the operators of its kind. */
export const conditionOn = <Event>(
  kind: TextKind,
  values: (event: Event) => readonly Value[],
  key?: string,
): Field<Event> => ({
  values,
  form: { kind: 'condition', text: kind.text, isNumber: kind.isNumber },
  read: (given, path) => readCondition(kind, given, path),
  ...(key !== undefined && { key }),
})

/** A field that takes a value, and no operator. */
export const exactly = <Event>(
  kind: TextKind,
  values: (event: Event) => readonly Value[],
  key: string,
): Field<Event> => ({
  key,
  values,
  form: { kind: 'plain', text: kind.text },
  read: (given, path) => {
    const wanted = kind.read(given, path)
    return { test: (found) => found.includes(wanted), keys: [wanted] }
  },
})

/** A field that takes how the data of a call begins. */
export const callDataOf = <Event>(values: (event: Event) => readonly Value[]): Field<Event> => ({
  values,
  form: { kind: 'callData', text: bytes.text },
  read: readCallData,
})

export const formsOf = <Event>(fields: EventFields<Event>): FilterForms =>
  Object.fromEntries(Object.entries(fields).map(([name, { form }]) => [name, form]))

/** Filters of one subscription. */
export interface EventFilter<Event> {
  readonly matches: (event: Event) => boolean
  /** Values of one field, of which a matching event has one; null where every event must be looked at. */
  readonly key: Key<Event> | null
}

export interface Key<Event> {
  readonly name: string
  readonly of: (event: Event) => readonly Value[]
  readonly values: readonly Value[]
}

/**
 * The names in `fields` stand in the order in which they are looked up: rare values first.
 * @throws FiltersError for what is unknown or not valid
 */
export function readFields<Event>(
  fields: EventFields<Event>,
  filters: Readonly<Record<string, unknown>>,
): EventFilter<Event> {
  const unknown = Object.keys(filters).find((name) => !Object.hasOwn(fields, name))
  if (unknown !== undefined) throw new FiltersError([unknown.slice(0, 64)], 'is no filter of this event type')
  const tests: ((event: Event) => boolean)[] = []
  let key: EventFilter<Event>['key'] = null
  for (const [name, field] of Object.entries(fields)) {
    if (filters[name] === undefined) continue
    const { test, keys } = field.read(filters[name], [name])
    if (keys && field.key !== undefined) key ??= { name: field.key, of: field.values, values: keys }
    tests.push((event) => test(field.values(event)))
  }
  return { matches: (event) => tests.every((test) => test(event)), key }
}

/** @throws FiltersError */
export function readOption(
  filters: Readonly<Record<string, unknown>>,
  name: string,
  fallback: boolean,
): boolean {
  const value = filters[name] === undefined ? fallback : filters[name]
  if (typeof value !== 'boolean') throw new FiltersError([name], 'is neither true nor false')
  return value
}

/** The filters without the options that select nothing. */
export const without = (
  filters: Readonly<Record<string, unknown>>,
  ...names: readonly string[]
): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(filters).filter(([name]) => !names.includes(name)))

/** @throws FiltersError */
export function assertFilters(given: unknown): Readonly<Record<string, unknown>> {
  if (!isRecord(given)) throw new FiltersError([], 'is not an object')
  return given
}
