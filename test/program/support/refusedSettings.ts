/** Files that settings name, and how settings are refused. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SettingError } from '#errors.ts'
import { readConfig } from '#program/config.ts'

/** A folder until the end, and the path of its `config.json` with a content: text as it is, else as JSON. */
export function settingsFolder(atEnd: (end: () => void) => void) {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-test-'))
  atEnd(() => rmSync(folder, { recursive: true, force: true }))
  const configFile = (content: unknown): string => {
    const path = join(folder, 'config.json')
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
    return path
  }
  return { folder, configFile }
}

/** The setting and the text of the refusal. @throws where the settings are accepted */
export function refusalOf(env: Record<string, string>): { setting: string; message: string } {
  try {
    readConfig(env)
  } catch (error) {
    if (error instanceof SettingError) return { setting: error.setting, message: error.message }
    throw error
  }
  throw new Error('the settings were accepted')
}
