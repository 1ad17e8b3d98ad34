import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { withRowsFile } from './rowsFile.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'millrace-rows-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
})

test('the file holds all buffers in order while it is used, and is gone afterwards', async () => {
  // More of them than the system takes in one call.
  const buffers = Array.from({ length: 3_000 }, (_, index) => Uint8Array.of(index >> 8, index & 255))
  let held: Buffer | undefined
  await withRowsFile(folder, buffers, async (path) => {
    held = readFileSync(path)
  })
  expect(held).toEqual(Buffer.concat(buffers))
  expect(readdirSync(folder)).toEqual([])
})

test('a refused insert leaves no file behind', async () => {
  let used: string | undefined
  const refused = withRowsFile(folder, [Uint8Array.of(1)], async (path) => {
    used = path
    throw new Error('refused')
  })
  await expect(refused).rejects.toThrow('refused')
  expect(used && existsSync(used)).toBe(false)
})

test('without the folder nothing is inserted', async () => {
  rmSync(folder, { recursive: true })
  let used = false
  const written = withRowsFile(folder, [Uint8Array.of(1)], async () => {
    used = true
  })
  await expect(written).rejects.toThrow('ENOENT')
  expect(used).toBe(false)
})
