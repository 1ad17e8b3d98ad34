// Goal: secrets have versions, every process reads the same ones, and SECRET_KEY alone opens those
// it wrapped.
import { randomBytes } from 'node:crypto'
import { beforeEach, expect, test } from 'vitest'
import { openSecrets, SecretKeyError } from '#store/app/secrets.ts'
import { openAppStore } from '../../support/appStore.ts'

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

test('a rotated secret keeps its older version, for cursors a week', async () => {
  const secrets = await openSecrets(app, [randomBytes(32)])
  const [old] = await secrets.keys('cursor')
  const sealed = (await secrets.sealer()).seal(Buffer.from('kept'), 'row:1')
  await secrets.rotate()
  const [newest, ...older] = await secrets.keys('cursor')
  expect(newest).not.toEqual(old)
  expect(older).toEqual([old])
  await app
    .updateTable('app.secrets')
    .set({ superseded_at: new Date(0) })
    .where('version', '=', 1)
    .execute()
  await secrets.rotate()
  expect(await secrets.keys('cursor')).toHaveLength(2)
  expect(Buffer.from((await secrets.sealer()).open(sealed, 'row:1')).toString()).toBe('kept')
})
