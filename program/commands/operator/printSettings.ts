/** `millrace config`: every setting, its default and its meaning. */
import { settings } from '../../settings/table.ts'

export function printSettings(): void {
  const width = Math.max(...Object.keys(settings).map((name) => name.length))
  for (const [name, { fallback, meaning }] of Object.entries(settings))
    process.stdout.write(
      `${name.padEnd(width)}  ${withoutMarks(meaning)}${fallback ? ` Default: ${fallback}.` : ''}\n`,
    )
}

const withoutMarks = (markdown: string): string =>
  markdown.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1').replaceAll('`', '')
