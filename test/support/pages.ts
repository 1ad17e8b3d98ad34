/** The project's pages as text, for the suites that compare them with the code. */
import { glob, read } from './projectFiles.ts'

export const files = glob('**/*')
export const manuals = ['README.md', ...glob('docs/**/*.md')]
export const pages = [...manuals, 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md']
/** The texts in backticks outside of blocks of code. */
export const quoted = (page: string) =>
  [...withoutBlocks(page).matchAll(/`([^`\n]+)`/g)].map(([, text = '']) => text)
export const withoutBlocks = (page: string) => page.replaceAll(/^```[\s\S]*?^```$/gm, '')
/** The first cells of a table's rows, or those of another column. */
export const cells = (page: string, column = 1) =>
  [...page.matchAll(/^\|.*\|$/gm)].map(([row]) => row.split(/(?<!\\)\|/)[column]?.trim() ?? '')

/** Everything that a check finds wrong, by page. */
export const wrongIn = (among: readonly string[], find: (page: string, file: string) => readonly string[]) =>
  among.flatMap((file) => find(read(file), file).map((found) => `${file}: ${found}`))
