/** Random events over all ABI types, and what a value of one is in a SQL result. */
import fc from 'fast-check'
import type { AbiEvent, AbiParameter } from 'viem'
import type { SqlValue } from '#query/result.ts'

const widths = Array.from({ length: 32 }, (_, index) => index + 1)
const wordTypes = [
  'address',
  'bool',
  ...widths.flatMap((width) => [`uint${width * 8}`, `int${width * 8}`, `bytes${width}`]),
]
const elementary = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom(...wordTypes) },
  fc.constantFrom('bytes', 'string'),
)

/** A type and the components of its tuple, nested up to `depth` times. */
function arbitraryType(depth: number): fc.Arbitrary<Omit<AbiParameter, 'name'>> {
  const plain = elementary.map((type): Omit<AbiParameter, 'name'> => ({ type }))
  if (depth === 0) return plain
  const suffix = fc.constantFrom('[]', '[2]', '[3]')
  const inner = arbitraryType(depth - 1)
  const sequence = fc.tuple(inner, suffix).map(([of, end]) => ({ ...of, type: `${of.type}${end}` }))
  const tuple = fc
    .tuple(fc.array(inner, { minLength: 1, maxLength: 4 }), fc.boolean())
    .map(([components, isNamed]) => ({
      type: 'tuple',
      components: components.map((component, index) => ({ ...component, name: isNamed ? names[index] : '' })),
    }))
  return fc.oneof(
    { weight: 2, arbitrary: plain },
    { weight: 2, arbitrary: sequence },
    { weight: 2, arbitrary: tuple },
  )
}

/** Names of different lengths, so that the order of JSON keys is not theirs. */
const names = ['amount', 'to', 'key', 'extraData']

/** An event with up to six parameters, named `p0`, `p1` and so on, up to three of them indexed. */
export function arbitraryEvent(name: string): fc.Arbitrary<AbiEvent> {
  const parameter = fc.tuple(arbitraryType(2), fc.boolean())
  return fc.array(parameter, { minLength: 1, maxLength: 6 }).map((types): AbiEvent => {
    let room = 3
    const inputs = types.map(([type, wantsIndex], index) => {
      const indexed = wantsIndex && room-- > 0
      return { ...type, name: `p${index}`, indexed }
    })
    return { type: 'event', name, inputs }
  })
}

/** The event as Solidity declares it. */
export const signatureOf = (event: AbiEvent): string =>
  `event ${event.name}(${event.inputs.map((input) => `${typeText(input)}${input.indexed ? ' indexed' : ''} ${input.name}`).join(', ')})`

function typeText(parameter: AbiParameter): string {
  if (!('components' in parameter)) return parameter.type
  const components = parameter.components.map((component) =>
    `${typeText(component)} ${component.name ?? ''}`.trim(),
  )
  return parameter.type.replace('tuple', `(${components.join(', ')})`)
}

/** viem's value as both engines answer it; `isInJson` inside arrays and tuples. */
export function sqlValue(
  parameter: AbiParameter & { readonly indexed?: boolean | undefined },
  value: unknown,
): SqlValue {
  const array = /^(.*)\[\d*\]$/.exec(parameter.type)
  const isHash = parameter.indexed === true && !wordTypes.includes(parameter.type)
  if (isHash) return String(value)
  if (array && Array.isArray(value)) {
    const element = { ...parameter, type: array[1] ?? '' }
    return value.map((item) => sqlValue(element, item))
  }
  if (parameter.type === 'tuple' && 'components' in parameter) return tupleValue(parameter.components, value)
  if (typeof value === 'number' || typeof value === 'bigint') return integerValue(parameter.type, value)
  return typeof value === 'boolean' ? value : String(value)
}

function tupleValue(components: readonly AbiParameter[], value: unknown): SqlValue {
  if (Array.isArray(value)) return components.map((component, index) => sqlValue(component, value[index]))
  const fields = new Map(Object.entries(value ?? {}))
  return Object.fromEntries(
    components.map((component) => [
      component.name ?? '',
      sqlValue(component, fields.get(component.name ?? '')),
    ]),
  )
}

/** Up to 32 bits with a sign are numbers, as Postgres' integers. */
function integerValue(type: string, value: number | bigint): SqlValue {
  const bits = Number(/\d+/.exec(type)?.[0])
  return (type.startsWith('u') ? bits + 1 : bits) <= 32 ? Number(value) : String(value)
}
