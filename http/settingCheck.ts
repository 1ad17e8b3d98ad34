/**
 * An operator's settings and files, checked against a schema. A wrong value is refused with its place and
 * what is expected there (the schema's `description`), and is never repeated: it may hold a password or a
 * key.
 */
import { readFileSync } from 'node:fs'
import { Compile } from 'typebox/compile'
import { messageOf, SettingError } from '#errors.ts'
import { isRecord, shorten } from '#primitives.ts'
import { jsonPlace } from '#text/jsonPlace.ts'
import { nearestOf } from '#text/nearest.ts'
import type { Static, TSchema } from './schema.ts'

/** Makes the check of one schema. It @throws SettingError naming the setting and the place. */
export function settingCheck<Schema extends TSchema>(
  schema: Schema,
): (setting: string, value: unknown, where?: string) => Static<Schema> {
  const validator = Compile(schema)
  return (setting, value, where = '') => {
    if (validator.Check(value)) return value
    const finding = deepest(validator.Errors(value))
    const place = finding ? placeIn(finding.instancePath) : ''
    throw new SettingError(setting, `${where}${place}${place ? ' ' : ''}${problemOf(schema, finding)}`)
  }
}

/** Makes the reader of a JSON file with a schema. It @throws SettingError */
export function settingFile<Schema extends TSchema>(
  schema: Schema,
): (setting: string, path: string | URL) => Static<Schema> {
  const check = settingCheck(schema)
  return (setting, path) => {
    const name = path instanceof URL ? path.pathname : path
    return check(setting, parse(setting, path, name), `${name}: `)
  }
}

function parse(setting: string, path: string | URL, name: string): unknown {
  const text = readText(setting, path, name)
  try {
    return JSON.parse(text)
  } catch {
    // A parser's message quotes the text, which may hold an endpoint's key.
    throw new SettingError(setting, `${name} is not JSON: ${jsonPlace(text)}`)
  }
}

function readText(setting: string, path: string | URL, name: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw new SettingError(setting, `${name} cannot be read (${messageOf(cause)})`, { cause })
  }
}

type Finding = ReturnType<ReturnType<typeof Compile>['Errors']>[number]

/** Findings that say more than the others of their place, the best first. */
const telling = ['additionalProperties', 'required', 'anyOf']
const rankOf = ({ keyword }: Finding): number =>
  telling.includes(keyword) ? telling.indexOf(keyword) : telling.length
const depthOf = ({ instancePath }: Finding): number => segmentsOf(instancePath).length

/** The most telling finding: a union reports the branches that were not meant too. */
function deepest(findings: readonly Finding[]): Finding | undefined {
  // `boolean` is what `additionalProperties: false` says of the member itself.
  const told = findings.filter(({ keyword }) => keyword !== 'boolean')
  return told.toSorted((a, b) => depthOf(b) - depthOf(a) || rankOf(a) - rankOf(b))[0]
}

/** `chains[0].rpcUrls` */
const placeIn = (pointer: string): string =>
  segmentsOf(pointer)
    .map((segment) => (/^\d+$/.test(segment) ? `[${segment}]` : `.${shorten(segment)}`))
    .join('')
    .replace(/^\./, '')

function problemOf(schema: TSchema, finding: Finding | undefined): string {
  if (finding?.keyword === 'additionalProperties')
    return unknownField(String(finding.params.additionalProperties[0]), schemaOwning(schema, finding))
  if (finding?.keyword === 'required') return `has no field \`${finding.params.requiredProperties[0]}\``
  const { description } = finding ? schemaAt(schema, finding.schemaPath) : {}
  return typeof description === 'string' ? `is not ${description}` : (finding?.message ?? 'is not valid')
}

function unknownField(name: string, { properties }: Readonly<Record<string, unknown>>): string {
  const known = isRecord(properties) ? Object.keys(properties) : []
  const meant = nearestOf(name, known)
  return `has an unknown field \`${shorten(name)}\`${meant === undefined ? '' : `; \`${meant}\` is known`}`
}

/** The schema of the object that the finding is about: its path ends with the keyword itself. */
const schemaOwning = (schema: TSchema, { schemaPath }: Finding): Readonly<Record<string, unknown>> =>
  schemaAt(schema, schemaPath.replace(/\/additionalProperties$/, ''))

function schemaAt(schema: TSchema, path: string): Readonly<Record<string, unknown>> {
  let at: unknown = schema
  for (const segment of segmentsOf(path)) at = Object(at)[segment]
  return isRecord(at) ? at : {}
}

const segmentsOf = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'))
