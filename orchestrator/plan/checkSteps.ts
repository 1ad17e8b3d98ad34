/**
 * The cost of the check of an input against a stranger's schema, counted before it runs: both are chosen by
 * others, and their product holds up everybody.
 */
import { isRecord } from '#primitives.ts'
import { type LinearPattern, linearPattern } from '../catalog/linearPattern.ts'

/** Steps that the checks of one plan may take: 50 ms on a slow machine, at some 1.5 µs each. */
const STEPS_MAX = 30_000
/** The cost of a pattern's compilation, in steps. */
const COMPILE_STEPS = 1_000
/** Steps of a compiled pattern that take as long as one of ours. */
const PATTERN_STEPS = 4
/** Values of a schema whose copies take as long as one step. */
const COPIES_PER_STEP = 8
/** Characters whose count takes as long as one step. */
const CHARACTERS_PER_STEP = 256

/** Steps left, and the patterns that were compiled with them. */
export class CheckBudget {
  #left: number
  readonly #patterns = new Map<string, LinearPattern | null>()
  readonly #prepared = new Map<object, Readonly<Record<string, unknown>>>()

  constructor(steps: number = STEPS_MAX) {
    this.#left = steps
  }

  /** The schema as `prepare` makes it, once for all nodes; null where that takes more than is left. */
  prepared(
    schema: object,
    prepare: () => Readonly<Record<string, unknown>>,
  ): Readonly<Record<string, unknown>> | null {
    const known = this.#prepared.get(schema)
    if (known) return known
    this.#left -= Math.ceil(sizeOf(schema, Math.max(this.#left, 0) * COPIES_PER_STEP) / COPIES_PER_STEP)
    if (this.#left < 0) return null
    const made = prepare()
    this.#prepared.set(schema, made)
    return made
  }

  /** False where the check takes more than is left: it must not run. Uses up what it takes. */
  covers(schema: unknown, value: unknown): boolean {
    this.#take(schema, value)
    return this.#left >= 0
  }

  /** The compiled pattern of a text that `covers` has seen. */
  patternOf(text: string): LinearPattern | null {
    return this.#patterns.get(text) ?? null
  }

  /** One step for each schema that meets a value, and more where it looks at more. */
  #take(schema: unknown, value: unknown): void {
    this.#left -= 1
    if (this.#left < 0 || !isRecord(schema)) return
    this.#left -= sizeOf(schema['enum'], this.#left) + sizeOf(schema['const'], this.#left)
    for (const keyword of ['anyOf', 'oneOf', 'allOf'])
      for (const each of listOf(schema[keyword])) if (this.#left >= 0) this.#take(each, value)
    if (schema['not'] !== undefined) this.#take(schema['not'], value)
    if (typeof value === 'string') this.#takeText(schema, value)
    else if (Array.isArray(value)) this.#takeItems(schema, value)
    else if (isRecord(value)) this.#takeMembers(schema, value)
  }

  #takeText({ pattern }: Readonly<Record<string, unknown>>, text: string): void {
    this.#left -= Math.ceil(text.length / CHARACTERS_PER_STEP)
    if (typeof pattern !== 'string' || this.#left < 0) return
    const known = this.#patterns.get(pattern)
    const compiled = known === undefined ? linearPattern(pattern) : known
    if (known === undefined) this.#left -= COMPILE_STEPS
    this.#patterns.set(pattern, compiled)
    this.#left -= Math.ceil(((compiled?.stepsPerCharacter ?? 0) * text.length) / PATTERN_STEPS)
  }

  #takeItems(schema: Readonly<Record<string, unknown>>, items: readonly unknown[]): void {
    const first = listOf(schema['prefixItems'])
    for (const [index, each] of first.entries()) if (this.#left >= 0) this.#take(each, items[index])
    for (const keyword of ['items', 'contains'])
      if (schema[keyword] !== undefined)
        for (const item of items) {
          if (this.#left < 0) return
          this.#take(schema[keyword], item)
        }
  }

  #takeMembers(schema: Readonly<Record<string, unknown>>, members: Readonly<Record<string, unknown>>): void {
    const { properties, propertyNames, additionalProperties, required } = schema
    const named = isRecord(properties) ? Object.keys(properties) : []
    const names = Object.keys(members)
    this.#left -= named.length + listOf(required).length
    for (const name of named)
      if (this.#left >= 0 && Object.hasOwn(members, name) && isRecord(properties))
        this.#take(properties[name], members[name])
    if (propertyNames !== undefined)
      for (const name of names) if (this.#left >= 0) this.#take(propertyNames, name)
    if (additionalProperties === undefined) return
    for (const name of names) {
      if (this.#left < 0) return
      // Each name is looked for among all that are named.
      this.#left -= named.length
      this.#take(additionalProperties, members[name])
    }
  }
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** Values in a value, counted up to `most` and a little above. */
function sizeOf(value: unknown, most: number): number {
  if (value === undefined) return 0
  let size = 1
  if (typeof value === 'object' && value !== null)
    for (const each of Object.values(value)) {
      if (size > most) break
      size += sizeOf(each, most - size)
    }
  return size
}
