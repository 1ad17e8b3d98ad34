/** Bodies that a schema excludes: a good one with one place changed, at every depth of the schema. */
import { Compile } from 'typebox/compile'
import type { Json, Schema } from './apiDocument.ts'
import { accepts } from './parameterTexts.ts'

export type Place = readonly (string | number)[]

export interface BadBody {
  /** Path of the member that is wrong. */
  readonly place: Place
  readonly body: Json
}

/** Stands in a body where a JSON text is put in by `withText`. */
export const HOLE = '@hole@'

/** A value that the schema takes, with every member that it knows. The schema holds no references. */
export function goodValue(schema: Json): Json {
  const { examples, enum: words, anyOf, properties, items, minimum = 1, minItems = 1 } = schema
  if (schema.default !== undefined) return schema.default
  if (examples) return examples[0]
  if (schema.const !== undefined) return schema.const
  if (words) return words[0]
  if (anyOf) return goodValue(anyOf[0])
  switch (schema.type) {
    case 'object':
      return Object.fromEntries(
        Object.entries<Json>(properties ?? {}).map(([name, of]) => [name, goodValue(of)]),
      )
    case 'array':
      return Array.from({ length: Math.max(1, minItems) }, () => goodValue(items))
    case 'integer':
    case 'number':
      return minimum
    case 'boolean':
      return false
    case 'string':
      return goodText(schema)
    default:
      return {}
  }
}

const texts = [
  ...[
    'x',
    'nonsense',
    '/x',
    '0.25',
    'https://example.com/x',
    'https://example.com',
    '203.0.113.7',
    'a@example.com',
  ],
  ...['11111111-1111-4111-8111-111111111111', '2026-01-31T12:00:00Z'],
  ...[20, 32, 65].map((bytes) => `0x${'12'.repeat(bytes)}`),
]

function goodText(schema: Schema): string {
  const found = texts.find((text) => accepts(schema, text))
  if (found === undefined) throw new TypeError(`no text is known for ${JSON.stringify(schema)}`)
  return found
}

/**
 * Every change of a good body that the schema does not take.
 * @param mayBeNull null stands for absence, where a member may be absent
 */
export function badBodies(schema: Json, good: Json, { mayBeNull }: { mayBeNull: boolean }): BadBody[] {
  const check = Compile(schema)
  const bad: BadBody[] = []
  // No body at all is one without members.
  for (const { place, schema: of, isNeeded } of placesOf(schema, good, [], !check.Check({}))) {
    const changed = wrongValues(of)
      .filter((value) => !(value === null && mayBeNull && !isNeeded))
      .map((value) => replaced(good, place, value))
    const isMember = typeof place.at(-1) === 'string'
    for (const body of isNeeded && isMember ? [...changed, without(good, place)] : changed)
      if (!check.Check(body)) bad.push({ place, body })
    if (of.type !== 'object' || of.additionalProperties !== false) continue
    for (const name of ['nonsense', 'constructor', '', 'x'.repeat(300)])
      bad.push({ place: [...place, name], body: replaced(good, [...place, name], 1) })
  }
  return bad
}

/** JSON texts of the body in which one place after the other holds what no JSON value is. */
export function oddTexts(schema: Json, good: Json): { place: Place; text: string; kind: string }[] {
  return placesOf(schema, good).flatMap(({ place }) =>
    Object.entries(oddities).map(([kind, odd]) => ({ place, kind, text: withText(good, place, odd) })),
  )
}

const oddities: Readonly<Record<string, string>> = {
  NUL: String.raw`"a\u0000"`,
  'half a character': String.raw`"\ud800"`,
  'a number without end': '1e400',
  'nested deeply': `${'['.repeat(100)}${']'.repeat(100)}`,
}

/** The JSON text with another in the place. */
const withText = (good: Json, place: Place, text: string): string =>
  JSON.stringify(replaced(good, place, HOLE)).replace(`"${HOLE}"`, () => text)

interface KnownPlace {
  readonly place: Place
  readonly schema: Json
  /** A member that may not be absent, and whatever is no member. */
  readonly isNeeded: boolean
}

function placesOf(schema: Json, good: Json, place: Place = [], isNeeded = true): KnownPlace[] {
  const own = { place, schema, isNeeded }
  if (schema.anyOf) {
    const meant = schema.anyOf.find((branch: Json) => Compile(branch).Check(good)) ?? schema.anyOf[0]
    return [own, ...placesOf(meant, good, place, isNeeded).slice(1)]
  }
  if (schema.type === 'array' && good.length > 0)
    return [own, ...placesOf(schema.items, good[0], [...place, 0])]
  if (schema.type !== 'object') return [own]
  const needed: readonly string[] = schema.required ?? []
  return [
    own,
    ...Object.entries<Json>(schema.properties ?? {}).flatMap(([name, of]) =>
      name in good ? placesOf(of, good[name], [...place, name], needed.includes(name)) : [],
    ),
  ]
}

/** Values that people and machines put there instead. */
function wrongValues({ minimum, maximum, maxLength, maxItems, minLength, items, enum: words }: Json): Json[] {
  const deep = Array.from({ length: 20 }).reduce<Json>((inner) => [inner], [])
  return [
    ...[null, true, 0, -1, 1.5, 2 ** 53, -1e308, '', ' ', 'x', '\u0007', '0', '1e400', 'null', "'; --"],
    ...[[], {}, [[]], { x: 1 }, deep, [null], Array(2_000).fill(1), 'x'.repeat(5_000)],
    ...(minimum === undefined ? [] : [minimum - 1]),
    ...(maximum === undefined ? [] : [maximum + 1]),
    ...(minLength > 0 ? ['x'.repeat(minLength - 1)] : []),
    ...(maxLength === undefined ? [] : ['x'.repeat(maxLength + 1)]),
    ...(maxItems === undefined ? [] : [Array(maxItems + 1).fill(goodValue(items))]),
    ...(words ?? []).flatMap((word: unknown) => [`${word}x`, ` ${word}`]).slice(0, 4),
  ]
}

function replaced(body: Json, [step, ...others]: Place, value: Json): Json {
  if (step === undefined) return value
  const copy = Array.isArray(body) ? [...body] : { ...body }
  copy[step] = replaced(copy[step], others, value)
  return copy
}

function without(body: Json, place: Place): Json {
  const last = place.at(-1) ?? ''
  const holder = place.slice(0, -1).reduce<Json>((at, step) => at[step], body)
  const { [last]: _left, ...others } = holder
  return replaced(body, place.slice(0, -1), others)
}

/** Whether a problem is told at the place, or at what is wrong in the value that stands there. */
export const isAt = (told: Place, place: Place): boolean =>
  place.every((step, index) => told[index] === step || isShortened(told[index], step))

const isShortened = (told: unknown, step: unknown): boolean =>
  typeof told === 'string' &&
  typeof step === 'string' &&
  step.length > 80 &&
  told.startsWith(step.slice(0, 80))
