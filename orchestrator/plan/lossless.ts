/** JSON whose numbers keep their digits: an amount of 30 has more than a double holds. */
import { isKeptNumber } from '../catalog/jsonBytes.ts'
import { hasInexact, isExact } from './jsonSurvey.ts'

type Revive = (name: string, value: unknown, at: { readonly source?: string }) => unknown

interface SourceJson {
  parse(text: string, revive: Revive): unknown
  rawJSON(text: string): object
}
/** As Node has it; TypeScript does not know it yet. */
const json = JSON as unknown as SourceJson

/** A number that a double cannot hold is what `JSON.stringify` writes out as it stood. */
export const parseLossless = (text: string): unknown =>
  hasInexact(text) ? json.parse(text, kept) : JSON.parse(text)

const kept: Revive = (_name, value, { source }) =>
  typeof value === 'number' && source !== undefined && !isExact(source) ? json.rawJSON(source) : value

export interface InexactNumber {
  readonly path: readonly (string | number)[]
  readonly token: string
}

/**
 * The places of the numbers that a double cannot hold.
 * @param text no deeper than `assertDepth` allows
 * @throws SyntaxError
 */
export const inexactIn = (text: string): InexactNumber[] => [...keptIn(parseLossless(text), [])]

function* keptIn(value: unknown, path: InexactNumber['path']): Generator<InexactNumber> {
  if (isKeptNumber(value)) yield { path, token: value.rawJSON }
  else if (typeof value === 'object' && value !== null)
    for (const [name, member] of Object.entries(value))
      yield* keptIn(member, [...path, Array.isArray(value) ? Number(name) : name])
}
