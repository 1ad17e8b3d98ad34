/** A random secret kept in a file only its owner can read. */

import { randomBytes } from 'node:crypto'
import { readFileSync, renameSync, writeFileSync } from 'node:fs'

import { errnoOf } from '#errors.ts'

// 192 random bits; base64url needs no quoting in URLs, XML or SQL.
const SECRET_BYTES = 24

/** The secret in the file; a new one is written when there is no file yet. */
export function readOrCreateSecret(path: string): string {
  try {
    const secret = readFileSync(path, 'utf8').trim()
    if (secret.length > 0) return secret
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error
  }
  const secret = randomBytes(SECRET_BYTES).toString('base64url')
  writeFileSync(`${path}.new`, secret, { mode: 0o600 })
  renameSync(`${path}.new`, path)
  return secret
}
