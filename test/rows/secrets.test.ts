// Goal: secrets have versions, every process reads the same ones, and SECRET_KEY alone opens those
// it wrapped.
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { beforeEach, expect, test, vi } from 'vitest'
import { type Keys, openSecrets, SecretKeyError } from '#rows/secrets.ts'
import { type Clock, systemRuntime } from '#runtime/runtime.ts'
import { silentLogger } from '#telemetry.ts'
import { openAppStore } from '../support/appStore.ts'

const { app } = await openAppStore()
beforeEach(() => app.deleteFrom('app.secrets').execute())

test('processes that ask at once get the same keys', async () => {
  const secrets = await openSecrets(app, [])
  const all = await Promise.all(Array.from({ length: 8 }, () => secrets.keys('cursor')))
  expect(new Set(all.map(([key]) => Buffer.from(key).toString('hex'))).size).toBe(1)
})

test('SECRET_KEY wraps what was in clear, and what an older one wrapped', async () => {
  const [clear] = await (await openSecrets(app, [])).keys('cursor')
  const [first, second] = [randomBytes(32), randomBytes(32)]
  expect((await (await openSecrets(app, [first])).keys('cursor'))[0]).toEqual(clear)
  const stored = await app.selectFrom('app.secrets').select('value').executeTakeFirstOrThrow()
  expect(stored.value.includes(Buffer.from(clear))).toBe(false)
  await openSecrets(app, [second, first])
  expect((await (await openSecrets(app, [second])).keys('cursor'))[0]).toEqual(clear)
})

test('a start with another SECRET_KEY, or with none, fails and changes nothing', async () => {
  const key = randomBytes(32)
  const [held] = await (await openSecrets(app, [key])).keys('cursor')
  await expect(openSecrets(app, [randomBytes(32)])).rejects.toThrow(SecretKeyError)
  await expect(openSecrets(app, [])).rejects.toThrow(SecretKeyError)
  expect((await (await openSecrets(app, [key])).keys('cursor'))[0]).toEqual(held)
})

/** Moves what was superseded into the past. */
const age = (seconds: number) =>
  sql`UPDATE app.secrets SET superseded_at = superseded_at - ${seconds} * interval '1 second'`.execute(app)

test('a newer version seals once every program knows it; the older one opens, for cursors a week', async () => {
  const secrets = await openSecrets(app, [randomBytes(32)])
  const [old] = await secrets.keys('cursor')
  const sealed = (await secrets.sealer()).seal(Buffer.from('kept'), 'row:1')
  await secrets.rotate()
  const [sealing, newest, ...none] = await secrets.keys('cursor')
  expect([sealing, none]).toEqual([old, []])
  expect(newest).not.toEqual(old)
  await age(100)
  expect(await secrets.keys('cursor')).toEqual([newest, old])
  await age(7 * 86_400)
  expect(await secrets.keys('cursor')).toEqual([newest])
  await secrets.rotate()
  expect(await secrets.keys('cursor')).toHaveLength(2)
  expect(Buffer.from((await secrets.sealer()).open(sealed, 'row:1')).toString()).toBe('kept')
})

test('versions made one after the other wait each for its turn', async () => {
  const secrets = await openSecrets(app, [])
  const [first] = await secrets.keys('cursor')
  await secrets.rotate()
  await age(100)
  const [second] = await secrets.keys('cursor')
  await secrets.rotate()
  await secrets.rotate()
  const keys = await secrets.keys('cursor')
  expect([keys[0], keys.at(-1), keys.length]).toEqual([second, first, 4])
})

test('a running program takes up what another one rotated', async () => {
  const [here, there] = [await openSecrets(app, []), await openSecrets(app, [])]
  const told: Keys[] = []
  let looks = 0
  const clock: Clock = {
    ...systemRuntime().clock,
    // A look every few milliseconds.
    sleep: (_ms, signal) => sleep(5, undefined, { signal }).then(() => void looks++),
  }
  const [old] = await here.follow('cursor', (keys) => told.push(keys))
  const sealer = await here.sealer()
  const stop = new AbortController()
  const running = here.run(clock, silentLogger, stop.signal)
  await vi.waitFor(() => expect(looks).toBeGreaterThan(2))
  expect(told).toEqual([])
  await there.rotate()
  await vi.waitFor(() => expect(told.map((keys) => keys.length)).toEqual([2]))
  expect(told[0]?.[0]).toEqual(old)
  await age(100)
  await vi.waitFor(() => expect(told).toHaveLength(2))
  expect(told[1]?.[1]).toEqual(old)
  const elsewhere = (await there.sealer()).seal(Buffer.from('x'), 'row:2')
  await vi.waitFor(() => expect(Buffer.from(sealer.open(elsewhere, 'row:2')).toString()).toBe('x'))
  stop.abort()
  await running
})
