// Goal: with the embedded Postgres secrets are wrapped by a file of the data directory, also once
// SECRET_KEY is set.
import { randomBytes } from 'node:crypto'
import { mkdtempSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openInstallationSecrets } from '#program/parts/access/secrets.ts'
import { openAppStore } from '../../support/appStore.ts'

const { postgres, databaseUrl: external } = await openAppStore()
const dataDir = mkdtempSync(join(tmpdir(), 'millrace-secrets-'))

const open = (databaseUrl: string | null, secretKeys: readonly Uint8Array[]) =>
  openInstallationSecrets({ dataDir, databaseUrl, secretKeys }, { postgres })

test('the key moves from clear text to the file to SECRET_KEY, and a start without it fails', async () => {
  const clear = await open(external, [])
  const [key] = await clear.secrets.keys('cursor')
  expect(clear.notes.join()).toContain('SECRET_KEY')

  const byFile = await open(null, [])
  expect(await byFile.secrets.keys('cursor')).toEqual([key])
  expect(byFile.notes).toEqual([])
  expect(statSync(join(dataDir, 'secret.key')).mode & 0o777).toBe(0o600)
  await expect(open(external, [])).rejects.toMatchObject({ code: 'secret_key_wrong' })

  const set = randomBytes(32)
  expect(await (await open(null, [set])).secrets.keys('cursor')).toEqual([key])
  expect(await (await open(external, [set])).secrets.keys('cursor')).toEqual([key])
  await expect(open(external, [randomBytes(32)])).rejects.toMatchObject({
    code: 'secret_key_wrong',
  })
})
