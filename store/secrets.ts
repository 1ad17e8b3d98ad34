/** Random keys of this installation, made on first use and the same for every process on the database. */
import { randomBytes } from 'node:crypto'
import type { Postgres } from './postgres.ts'

const KEY_BYTES = 32

/** The key of a purpose; 32 bytes. */
export async function readSecret(postgres: Postgres, name: string): Promise<Uint8Array> {
  await postgres.pool.query('INSERT INTO app.secrets (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING', [
    name,
    randomBytes(KEY_BYTES),
  ])
  const found = await postgres.pool.query<{ value: Buffer }>(
    'SELECT value FROM app.secrets WHERE name = $1',
    [name],
  )
  const row = found.rows[0]
  if (!row) throw new Error(`the secret ${name} was just written`)
  return row.value
}
