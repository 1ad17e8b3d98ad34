/** The settings as they hold: what was set, what is the default, and what the program decides. */
import { type Config, replacedByFile } from '../../config.ts'
import type { Environment } from '../../settings/readSettings.ts'
import { type Setting, settings } from '../../settings/table.ts'

export interface SettingInForce {
  readonly name: string
  /** Text without secrets; null where nothing holds. */
  readonly value: string | null
  /** `decided` by the program from other settings or the machine, `CONFIG` by the file of that name. */
  readonly from: 'set' | 'default' | 'decided' | 'CONFIG' | 'not set'
  /** Markdown of one line. */
  readonly meaning: string
}

/** Settings that are not set, and whose effect depends on the rest. */
const decided: Readonly<Record<string, (config: Config) => string>> = {
  ACCESS: ({ access }) =>
    access.isOpenToAll || access.mode === 'guarded' ? access.mode : 'open to this machine',
  WEBHOOKS: ({ webhooks }) => webhooks,
  WORKER_THREADS: ({ workerThreads }) => String(workerThreads),
}

/** Every setting in the order of the table; `config` is what was read of `env`. */
export function settingsInForce(env: Environment, config: Config): readonly SettingInForce[] {
  const hasFile = Boolean(env['CONFIG']?.trim())
  return Object.entries<Setting>(settings).map(([name, setting]) => {
    const { meaning } = setting
    if (hasFile && name in replacedByFile) return { name, value: null, from: 'CONFIG', meaning }
    return { name, ...heldOf(name, setting, env[name]?.trim() ?? '', config), meaning }
  })
}

function heldOf(
  name: string,
  { kind, fallback }: Setting,
  given: string,
  config: Config,
): Pick<SettingInForce, 'value' | 'from'> {
  const shown = kind.shown ?? String
  if (given !== '') return { value: shown(given), from: 'set' }
  if (fallback !== '') return { value: shown(fallback), from: 'default' }
  const decide = decided[name]
  return decide ? { value: decide(config), from: 'decided' } : { value: null, from: 'not set' }
}
