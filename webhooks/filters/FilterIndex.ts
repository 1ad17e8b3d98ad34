/**
 * Finds the subscriptions an event may be for by the event's own values: it costs the event what
 * matches it, and not what is subscribed to.
 */
import type { EventFilter, Key } from './eventFilter.ts'
import type { Value } from './operators.ts'

export class FilterIndex<Event, Subscriber> {
  readonly #byKey = new Map<string, Keyed<Event, Subscriber>>()
  /** Those that no value leads to. */
  readonly #others: Entry<Event, Subscriber>[] = []

  add(subscriber: Subscriber, filter: EventFilter<Event>): void {
    const entry = { subscriber, filter }
    if (!filter.key) return void this.#others.push(entry)
    const { name, of, values } = filter.key
    const { byValue } = this.#byKey.get(name) ?? this.#keyed(name, of)
    for (const value of new Set(values)) {
      const entries = byValue.get(value)
      if (entries) entries.push(entry)
      else byValue.set(value, [entry])
    }
  }

  /** Each once, whatever number of its values the event has. */
  match(event: Event): Subscriber[] {
    const found = new Set<Subscriber>()
    const look = (entries: readonly Entry<Event, Subscriber>[]) => {
      for (const { subscriber, filter } of entries)
        if (!found.has(subscriber) && filter.matches(event)) found.add(subscriber)
    }
    for (const { of, byValue } of this.#byKey.values())
      for (const value of of(event)) look(byValue.get(value) ?? [])
    look(this.#others)
    return [...found]
  }

  #keyed(name: string, of: Key<Event>['of']): Keyed<Event, Subscriber> {
    const keyed = { of, byValue: new Map<Value, Entry<Event, Subscriber>[]>() }
    this.#byKey.set(name, keyed)
    return keyed
  }
}

interface Keyed<Event, Subscriber> {
  readonly of: Key<Event>['of']
  readonly byValue: Map<Value, Entry<Event, Subscriber>[]>
}

interface Entry<Event, Subscriber> {
  readonly subscriber: Subscriber
  readonly filter: EventFilter<Event>
}
