/** Flags of the commands of this folder. */
import { type ParseArgsConfig, parseArgs } from 'node:util'
import { messageOf } from '#errors.ts'

type Flag = string | number | boolean

/** The types of flags are those of their defaults, however narrow. */
type Widened<Defaults> = {
  [Name in keyof Defaults]: Defaults[Name] extends string
    ? string
    : Defaults[Name] extends number
      ? number
      : boolean
}

/**
 * Reads `--name value`, `--name=value` and, for booleans, bare `--name` from the command line over
 * `defaults`. `--help` prints the usage and ends the process; so does what is no flag, with code 2.
 */
export function readFlags<Defaults extends Record<string, Flag>>(
  defaults: Defaults,
  usage: string,
): Widened<Defaults> {
  const type = (value: Flag) => ({ type: typeof value === 'boolean' ? 'boolean' : 'string' }) as const
  const options = Object.entries(defaults).map(([name, value]) => [name, type(value)] as const)
  try {
    const values = readValues({ ...Object.fromEntries(options), help: { type: 'boolean' } })
    if (values['help']) endWith(usage, 0)
    const read = Object.entries(defaults).map(([name, value]) => [name, flagOf(name, values[name], value)])
    return Object.fromEntries(read)
  } catch (error) {
    return endWith(`${messageOf(error)}\n${usage}`, 2)
  }
}

function readValues(
  options: NonNullable<ParseArgsConfig['options']>,
): Readonly<Record<string, string | boolean | undefined>> {
  return Object(parseArgs({ options }).values)
}

/** Ends a command that lacks what it needs. */
export function endWith(text: string, code: number): never {
  process.stderr.write(`${text}\n`)
  process.exit(code)
}

function flagOf(name: string, given: string | boolean | undefined, otherwise: Flag): Flag {
  if (given === undefined) return otherwise
  if (typeof otherwise !== 'number') return given
  const value = Number(given)
  if (Number.isNaN(value)) throw new TypeError(`--${name} needs a number`)
  return value
}
