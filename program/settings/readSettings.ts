/** Settings as the environment has them, each in its form. */
import type * as s from '#http/schema.ts'
import { settingCheck } from '#http/settingCheck.ts'
import { type Setting, settings } from './table.ts'

type Table = typeof settings
type Name = keyof Table
type ValueOf<Of extends Setting> = s.Static<Of['kind']['schema']> | ('' extends Of['fallback'] ? null : never)

/** A setting without a default is null where it is not set. */
export type Settings = { readonly [Each in Name]: ValueOf<Table[Each]> }

export type Environment = Readonly<Record<string, string | undefined>>

const entries = Object.entries(settings).map(([name, { kind, fallback }]) => {
  const check = settingCheck(kind.schema)
  return { name, fallback, read: (text: string) => check(name, kind.fromText(text)) }
})

/** @throws SettingError naming the setting */
export function readSettings(env: Environment): Settings {
  const values = entries.map(({ name, fallback, read }) => {
    const text = env[name]?.trim() || fallback
    return [name, text === '' ? null : read(text)]
  })
  // The table gives each name its form; the compiler cannot see it through the list of entries.
  return Object.fromEntries(values) as Settings
}
