import { mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { assertOwned, clearSpoolFolder } from './spoolFolder.ts'

test('the folder is there and ours alone, with nothing of the run before in it', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'millrace-spool-'))
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }))
  const dataPath = join(dataDir, 'clickhouse', 'data')
  const folder = clearSpoolFolder(dataPath)
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  expect(statSync(folder).mode & 0o777).toBe(0o700)
  writeFileSync(join(folder, 'left'), 'rows')
  expect(clearSpoolFolder(dataPath)).toBe(folder)
  expect(readdirSync(folder)).toEqual([])
})

test('a folder of another user, or a link to one of ours, is not taken for ours', () => {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-spool-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const { uid } = statSync(folder)
  assertOwned(folder, uid)
  expect(() => assertOwned(folder, uid + 1)).toThrow(/another user/)
  const link = join(folder, 'link')
  symlinkSync(folder, link)
  expect(() => assertOwned(link, uid)).toThrow(/another user/)
})
