/**
 * The caller's action after an expected failure:
 * - `retry`: the same call may succeed later;
 * - `revert`: our data is no longer on the node's chain, drop it down to the fork point;
 * - `stop`: a person has to act; trying again cannot help.
 */
export type Remedy = 'retry' | 'revert' | 'stop'

/**
 * An expected failure. Sub-classes live beside the code that throws them, carry their facts as
 * fields and a stable snake_case `code`. No code decides by the message: texts of nodes and engines
 * are read in the files that the tidy test names. Messages never hold secrets (URLs are redacted
 * first).
 */
export abstract class MillraceError extends Error {
  abstract readonly code: string
  abstract readonly remedy: Remedy
}

/** The base of an expected failure's class, with what all of its instances say alike. */
export function failure<const Code extends string, const Does extends Remedy>(
  name: string,
  code: Code,
  remedy: Does,
) {
  return class extends MillraceError {
    override readonly name = name
    readonly code = code
    readonly remedy = remedy
  }
}

/** A setting has a value the program cannot work with; `setting` names it. */
export class SettingError extends failure('SettingError', 'setting_invalid', 'stop') {
  readonly setting: string

  constructor(setting: string, problem: string, options?: ErrorOptions) {
    super(`${setting}: ${problem}`, options)
    this.setting = setting
  }
}

/** The text of any thrown value, for logs. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  // The library of chains writes a node's URL, which may hold a key, into all but its short message.
  return 'shortMessage' in error ? String(error.shortMessage) : error.message
}

/** The system's code of a failed call (`ENOENT`), undefined for anything else. */
export function errnoOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}
