/**
 * The folder beside the project with data of others, which may not be in it: `../shared`. Only the
 * suites of this folder read it.
 */
import { existsSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { failure } from '#errors.ts'

const projectRoot = resolve(import.meta.dirname, '../..')
const sharedRoot = resolve(projectRoot, '../shared')

/**
 * The path of a file of the shared folder, such as `sharedFile('data', 'catalog', 'README.md')`.
 * @throws SharedFileMissingError when it is not there
 */
export function sharedFile(...parts: readonly string[]): string {
  const path = join(sharedRoot, ...parts)
  if (!existsSync(path)) throw new SharedFileMissingError(path)
  return path
}

/** An extra suite needs a file that this machine lacks. */
class SharedFileMissingError extends failure('SharedFileMissingError', 'shared_file_missing', 'stop') {
  constructor(path: string) {
    const missing = existsSync(sharedRoot) ? path : sharedRoot
    super(
      `${relative(projectRoot, missing)} is missing: expected at ${missing}. The suites of test/extra read data that is not part of the project; npm test needs none of it`,
    )
  }
}
