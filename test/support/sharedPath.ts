/** Where the shared folder is, for processes that are no test runner too. */
import { join, resolve } from 'node:path'

export const projectRoot = resolve(import.meta.dirname, '../..')
export const sharedRoot = resolve(projectRoot, '../shared')

/** A file of the shared folder, such as `sharedPath('fixtures', 'tempo-rpc')`. */
export function sharedPath(...parts: readonly string[]): string {
  return join(sharedRoot, ...parts)
}
