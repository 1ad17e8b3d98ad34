/**
 * Random keys of this installation, made on first use and the same for every process on the
 * database. A secret has versions: the newest seals and signs once every process knows it, older
 * ones still open what they sealed until they are removed. Stored wrapped by SECRET_KEY where there
 * is one, so that a copy of the database alone opens nothing.
 */
import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { failure, messageOf } from '#errors.ts'
import { repeat } from '#runtime/repeat.ts'
import type { Clock } from '#runtime/runtime.ts'
import type { Logger } from '#telemetry.ts'
import { type AppDatabase, databaseNow, fromNow } from './database.ts'
import { KEY_BYTES, keyIdOf, type Sealer, sealerOf } from './sealing.ts'

/** Keys that wrap secrets: values of SECRET_KEY, the newest first; none leaves them in clear. */
export type WrappingKeys = readonly Uint8Array[]

const DAY_MS = 24 * 60 * 60 * 1_000
/** Running programs look this often for versions that others made. */
const LOOK_MS = 30_000
/** A version seals after this long: every running program has looked for it twice by then. */
const SEALS_AFTER_MS = 90_000

/**
 * How long a version opens that no program seals with; a purpose that is not named keeps its old
 * versions for ever.
 */
const overlapMs: Readonly<Record<string, number>> = {
  /** Pages of a walk that a client began before the rotation. */
  cursor: 7 * DAY_MS,
  /** Challenges that a payer asked for before the rotation, which are good for five minutes. */
  payments: 15 * 60 * 1_000,
}

/**
 * Secrets that `millrace secrets rotate` exchanges: not logins of engines, which running programs
 * use, nor what digests keys.
 */
const rotatedSecrets = ['cursor', 'sealing', 'payments', 'receipts'] as const

/** Keys of 32 bytes; the first seals, all of them open. */
export type Keys = readonly [Uint8Array, ...Uint8Array[]]

export interface Secrets {
  /** Keys of a purpose; made when there is none. */
  keys(name: string): Promise<Keys>
  /** The same; `use` gets others whenever `run` finds them. */
  follow(name: string, use: (keys: Keys) => void): Promise<Keys>
  /** Seals values that rows of the service keep; follows the rotation of their keys. */
  sealer(): Promise<Sealer>
  /** Makes a newer version of each rotated secret, and removes versions whose overlap is over. */
  rotate(): Promise<void>
  /** Looks for other keys of what is followed until aborted: a rotation needs no restart. */
  run(clock: Clock, log: Logger, signal: AbortSignal): Promise<void>
}

/** @throws SecretKeyError when a secret is wrapped by a key that is not given */
export async function openSecrets(app: AppDatabase, wrapping: WrappingKeys): Promise<Secrets> {
  await wrapAll(app, wrapping)
  const keys = (name: string) => readKeys(app, wrapping, name)
  const followed: Followed[] = []
  const follow = async (name: string, use: (keys: Keys) => void) => {
    const told = await keys(name)
    followed.push({ name, use, told })
    return told
  }
  return {
    keys,
    follow,
    sealer: async () => {
      let current: Sealer
      const told = await follow('sealing', (others) => {
        current = sealerOf(others)
      })
      current = sealerOf(told)
      return {
        seal: (plain, context) => current.seal(plain, context),
        open: (sealed, context) => current.open(sealed, context),
      }
    },
    rotate: async () => {
      for (const name of rotatedSecrets) await rotate(app, wrapping, name)
      await removeExpired(app)
    },
    run: async (clock, log, signal) => {
      await repeat({ clock, signal, firstMs: LOOK_MS }, async () => {
        for (const one of followed)
          await lookAgain(one, keys).catch((error: unknown) =>
            log.warn({ secret: one.name, error: messageOf(error) }, 'keys could not be read again'),
          )
        return LOOK_MS
      })
    },
  }
}

interface Followed {
  readonly name: string
  readonly use: (keys: Keys) => void
  told: Keys
}

async function lookAgain(followed: Followed, keys: Secrets['keys']): Promise<void> {
  const found = await keys(followed.name)
  const isSame =
    found.length === followed.told.length &&
    found.every((key, index) => Buffer.from(key).equals(followed.told[index] ?? Buffer.of()))
  if (isSame) return
  followed.told = found
  followed.use(found)
}

async function readKeys(app: AppDatabase, wrapping: WrappingKeys, name: string): Promise<Keys> {
  const held = await readVersions(app, name)
  if (held.length === 0) await insert(app, wrapping, name, 1)
  const rows = held.length > 0 ? held : await readVersions(app, name)
  // The newest that took over from another long enough ago; the first one took over from none.
  const sealing = rows.find((_, index) => (rows[index + 1]?.superseded_ms ?? Infinity) > SEALS_AFTER_MS)
  if (!sealing) throw new Error(`the secret ${name} was just written`)
  const openMs = SEALS_AFTER_MS + (overlapMs[name] ?? Infinity)
  const others = rows.filter((row) => row !== sealing && (row.superseded_ms ?? 0) < openMs)
  return [unwrapped(sealing, wrapping), ...others.map((row) => unwrapped(row, wrapping))]
}

/** The newest first; how long ago another took over from each. */
const readVersions = (app: AppDatabase, name: string) =>
  app
    .selectFrom('app.secrets')
    .select(['name', 'version', 'value', 'wrapped_by'])
    .select(
      sql<number | null>`(extract(epoch FROM clock_timestamp() - superseded_at) * 1000)::float8`.as(
        'superseded_ms',
      ),
    )
    .where('name', '=', name)
    .orderBy('version', 'desc')
    .execute()

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
  for (const [name, ms] of Object.entries(overlapMs))
    await app
      .deleteFrom('app.secrets')
      .where('name', '=', name)
      .where('superseded_at', '<', fromNow(-SEALS_AFTER_MS - ms))
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
