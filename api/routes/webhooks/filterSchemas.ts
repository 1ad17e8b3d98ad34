/** Filters of each event type, as the document says them. They are read, and refused, by their event type. */

import * as s from '#http/schema.ts'
import { eventTypes } from '#webhooks/events/index.ts'
import type { FilterForm, FilterForms } from '#webhooks/filters/eventFilter.ts'
import { ENTRIES_MAX, type Text } from '#webhooks/filters/operators.ts'

const textOf = (text: Text): s.TSchema =>
  'values' in text ? s.oneOf(text.values) : s.text({ pattern: text.pattern })

function conditionOf(text: Text, isNumber: boolean): s.TSchema {
  const value = textOf(text)
  const operators = [
    s.object({ in: s.array(value, { minItems: 1, maxItems: ENTRIES_MAX }) }),
    s.object({ not: value }),
  ]
  if (!isNumber) return s.union([value, s.object({ eq: value }), ...operators])
  const bound = s.optional(value)
  const range = { eq: bound, gt: bound, gte: bound, lt: bound, lte: bound }
  return s.union([
    value,
    s.object(range, { minProperties: 1, description: 'All of them hold.' }),
    ...operators,
  ])
}

const selector = s.text({ pattern: '^0x[0-9a-fA-F]{8}$', description: 'The first 4 bytes.' })

function schemaOf(form: FilterForm): s.TSchema {
  switch (form.kind) {
    case 'plain':
      return textOf(form.text)
    case 'condition':
      return conditionOf(form.text, form.isNumber)
    case 'callData': {
      const bytes = textOf(form.text)
      return s.union([s.object({ selector }), s.object({ startsWith: bytes }), s.object({ eq: bytes })])
    }
    case 'target':
      return s.object({ to: schemaOf(form.of) })
    case 'option':
      return s.boolean()
    case 'signature':
      return s.text({
        description: 'Declaration of an event; not together with `topic0`.',
        examples: ['Transfer(address indexed from, address indexed to, uint256 amount)'],
      })
    case 'args':
      return s.foreign(
        'Conditions on arguments by their names. `signature` has to say which parameters are indexed. Integers are decimal texts, JSON integers or hex quantities.',
      )
  }
}

/** `TokenTransferFilters` of `token:transfer`. */
const nameOf = (type: string): string =>
  `${type
    .split(':')
    .map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`)
    .join('')}Filters`

const filtersOf = (type: string, forms: FilterForms): s.TSchema =>
  s.named(
    nameOf(type),
    Object.fromEntries(Object.entries(forms).map(([name, form]) => [name, s.optional(schemaOf(form))])),
  )

/** By event type. */
export const filterSchemas: ReadonlyMap<string, s.TSchema> = new Map(
  eventTypes.map(({ type, filterForms }) => [type, filtersOf(type, filterForms)]),
)

/** Filters of any event type. */
export const anyFilters: s.TSchema = s.union([...filterSchemas.values()], {
  description: 'Filters of its event type.',
})

/** The body of a new subscription: one schema for each event type. */
export const newSubscription = (members: s.TProperties): s.TSchema =>
  s.union(
    eventTypes.map(({ type, needsFilters }) => {
      const filters = filterSchemas.get(type) ?? anyFilters
      return s.object({
        eventType: s.oneOf([type]),
        filters: needsFilters ? filters : s.optional(filters),
        ...members,
      })
    }),
  )
