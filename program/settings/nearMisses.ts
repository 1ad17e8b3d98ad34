/**
 * Variables of the environment that were meant as settings and are none. A program that passes over
 * `RPC_URLS` starts, and shows a dev chain.
 */
import { SettingError } from '#errors.ts'
import { isSlipOf } from '#text/nearest.ts'
import type { Environment } from './readSettings.ts'
import { settings } from './table.ts'

const names = Object.keys(settings)
const known = new Set([...names, 'FAILPOINT'])

/** Shorter names, `HOST` and `PORT`, are one letter from too many variables of others. */
const LETTERS_MIN = 6

/** The product's name before a setting: none is read so. */
const prefix = 'MILLRACE_'

/** @throws SettingError naming the variable and the setting that was meant */
export function refuseNearMisses(env: Environment): void {
  for (const [name, value] of Object.entries(env)) {
    const meant = value?.trim() ? settingMeant(name, value) : undefined
    if (meant === undefined) continue
    throw new SettingError(
      name,
      `is no setting; \`${meant}\` is. Unset it where it belongs to another program`,
    )
  }
}

function settingMeant(name: string, value: string): string | undefined {
  if (known.has(name)) return undefined
  // Kubernetes writes MILLRACE_PORT=tcp://… into every pod beside a service of the name `millrace`.
  if (name.startsWith(prefix))
    return value.startsWith('tcp://') ? undefined : names.find((one) => name === prefix + one)
  if (!/^[A-Z][A-Z0-9_]*$/.test(name)) return undefined
  return names.find((one) => one.length >= LETTERS_MIN && isSlipOf(name, one))
}
