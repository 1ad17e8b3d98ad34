/** JSON whose numbers keep their digits: an amount of 30 has more than a double holds. */
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
