/** `millrace config`: every setting, what holds of it and from where, and its meaning. */
import type { Config } from '../../config.ts'
import { assertKeyIsPoint } from '../../settings/finalityField.ts'
import type { Environment } from '../../settings/readSettings.ts'
import { settingsInForce } from './settingsInForce.ts'

/** @throws SettingError for what only a start would find wrong in the file of CONFIG */
export async function printSettings(env: Environment, config: Config, json: boolean): Promise<void> {
  for (const { finality } of config.chains) await assertKeyIsPoint(finality)
  const all = settingsInForce(env, config)
  if (json) {
    process.stdout.write(`${JSON.stringify(all)}\n`)
    return
  }
  for (const { name, value, from, meaning } of all) {
    const held = value === null ? from : `${value}  (${from})`
    process.stdout.write(`${name}  ${held}\n    ${withoutMarks(meaning)}\n`)
  }
}

const withoutMarks = (markdown: string): string =>
  markdown.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1').replaceAll('`', '')
