/**
 * Random keys of this installation, made on first use and the same for every process on the
 * database. A secret has versions: the newest seals and signs, older ones still open what they
 * sealed until they are removed. Stored wrapped by SECRET_KEY where there is one, so that a copy of
 * the database alone opens nothing.
 */
import { randomBytes } from 'node:crypto'
import { failure } from '#errors.ts'
import { type AppDatabase, databaseNow, fromNow } from './database.ts'
import { KEY_BYTES, keyIdOf, type Sealer, sealerOf } from './sealing.ts'

/**
 * What secrets are wrapped by: values of SECRET_KEY, the newest first; none leaves them in clear.
 */
export type WrappingKeys = readonly Uint8Array[]

/**
 * Days for which a superseded version still opens; a purpose that is not named keeps its old
 * versions for ever.
 */
const overlapDays = {
  /** Pages of a walk that a client began before the rotation. */
  cursor: 7,
} as const satisfies Readonly<Record<string, number>>

/**
 * Secrets that `millrace secrets rotate` exchanges: not logins of engines, which running programs
 * use, nor what digests keys.
 */
const rotatedSecrets = ['cursor', 'sealing'] as const

const DAY_MS = 24 * 60 * 60 * 1_000

export interface Secrets {
  /** Keys of a purpose, 32 bytes each, the newest first; made when there is none. */
  keys(name: string): Promise<readonly [Uint8Array, ...Uint8Array[]]>
  /** Seals values that rows of the service keep. */
  sealer(): Promise<Sealer>
  /** Makes a newer version of each rotated secret, and removes versions whose overlap is over. */
  rotate(): Promise<void>
}

/** @throws SecretKeyError when a secret is wrapped by a key that is not given */
export async function openSecrets(app: AppDatabase, wrapping: WrappingKeys): Promise<Secrets> {
  await wrapAll(app, wrapping)
  const keys = (name: string) => readKeys(app, wrapping, name)
  return {
    keys,
    sealer: async () => sealerOf(await keys('sealing')),
    rotate: async () => {
      for (const name of rotatedSecrets) await rotate(app, wrapping, name)
      await removeExpired(app)
    },
  }
}

async function readKeys(
  app: AppDatabase,
  wrapping: WrappingKeys,
  name: string,
): Promise<[Uint8Array, ...Uint8Array[]]> {
  const select = app
    .selectFrom('app.secrets')
    .select(['name', 'version', 'value', 'wrapped_by'])
    .where('name', '=', name)
    .orderBy('version', 'desc')
  const held = await select.execute()
  if (held.length === 0) await insert(app, wrapping, name, 1)
  const rows = held.length > 0 ? held : await select.execute()
  const [first, ...others] = rows.map((row) => unwrapped(row, wrapping))
  if (!first) throw new Error(`the secret ${name} was just written`)
  return [first, ...others]
}

/** Two processes may make the same version at once: the first one's stays. */
async function insert(
  app: AppDatabase,
  wrapping: WrappingKeys,
  name: string,
  version: number,
): Promise<void> {
  const row = wrapped({ name, version, value: randomBytes(KEY_BYTES) }, wrapping)
  await app
    .insertInto('app.secrets')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

async function rotate(app: AppDatabase, wrapping: WrappingKeys, name: string): Promise<void> {
  await readKeys(app, wrapping, name)
  await app.transaction().execute(async (transaction) => {
    const superseded = await transaction
      .updateTable('app.secrets')
      .set({ superseded_at: databaseNow })
      .where('name', '=', name)
      .where('superseded_at', 'is', null)
      .returning('version')
      .executeTakeFirstOrThrow()
    await insert(transaction, wrapping, name, superseded.version + 1)
  })
}

async function removeExpired(app: AppDatabase): Promise<void> {
  for (const [name, days] of Object.entries(overlapDays))
    await app
      .deleteFrom('app.secrets')
      .where('name', '=', name)
      .where('superseded_at', '<', fromNow(-days * DAY_MS))
      .execute()
}

/**
 * Brings every row under the newest wrapping key: what was in clear, and what an older one wrapped.
 */
async function wrapAll(app: AppDatabase, wrapping: WrappingKeys): Promise<void> {
  const [newest] = wrapping
  const id = newest ? keyIdOf(newest) : null
  const rows = await app.selectFrom('app.secrets').selectAll().execute()
  for (const row of rows) {
    if (row.wrapped_by === id) continue
    const { name, version } = row
    const { value, wrapped_by } = wrapped({ name, version, value: unwrapped(row, wrapping) }, wrapping)
    await app
      .updateTable('app.secrets')
      .set({ value, wrapped_by })
      .where('name', '=', name)
      .where('version', '=', version)
      .execute()
  }
}

interface PlainSecret {
  readonly name: string
  readonly version: number
  readonly value: Uint8Array
}

interface StoredSecret extends PlainSecret {
  readonly wrapped_by: string | null
}

const contextOf = ({ name, version }: PlainSecret): string => `secret:${name}:${version}`

function wrapped(plain: PlainSecret, [newest]: WrappingKeys): StoredSecret {
  if (!newest) return { ...plain, wrapped_by: null }
  return {
    ...plain,
    value: sealerOf([newest]).seal(plain.value, contextOf(plain)),
    wrapped_by: keyIdOf(newest),
  }
}

function unwrapped(stored: StoredSecret, wrapping: WrappingKeys): Uint8Array {
  if (stored.wrapped_by === null) return stored.value
  const key = wrapping.find((candidate) => keyIdOf(candidate) === stored.wrapped_by)
  if (!key) throw new SecretKeyError(stored.name, wrapping.length > 0)
  return sealerOf([key]).open(stored.value, contextOf(stored))
}

/** A secret is wrapped by a key that the program was not given. */
export class SecretKeyError extends failure('SecretKeyError', 'secret_key_wrong', 'stop') {
  constructor(name: string, given: boolean) {
    const problem = given ? 'is not the key' : 'is not set, but a key'
    super(`SECRET_KEY: ${problem} that wraps the secret ${name} of this database`)
  }
}
