/** `npm run settings`: writes the table of docs/settings.md from the table of settings. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { settings } from './table.ts'

export const settingsPage = join(import.meta.dirname, '../../docs/settings.md')

/** The page with its table as the settings are. */
export const withSettings = (page: string): string =>
  page.replace(/(\| --- \| --- \| --- \|\n)(\|.*\n)*/, `$1${rows()}`)

const rows = (): string =>
  Object.entries(settings)
    .map(([name, { fallback, meaning }]) => `| \`${name}\` | ${shown(fallback)}| ${meaning} |\n`)
    .join('')
    .replaceAll('$', '$$$$')

const shown = (fallback: string): string => (fallback === '' ? '' : `\`${fallback}\` `)

if (import.meta.main) writeFileSync(settingsPage, withSettings(readFileSync(settingsPage, 'utf8')))
