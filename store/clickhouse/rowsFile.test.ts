import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { ROWS_BYTES_MAX, withRowsFile } from './rowsFile.ts'

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
  await expect(written).rejects.toMatchObject({
    code: 'rows_file_unwritable',
    remedy: 'retry',
    folder,
    cause: { code: 'ENOENT' },
  })
  expect(used).toBe(false)
})

test.each([
  ['within the rows', 4_096],
  ['before the first of them', 0],
])('rows that do not fit are not inserted: room ends %s', (_, kilobytes) => {
  const program = `
    const { withRowsFile } = await import(process.argv[1])
    let used = false
    const rows = new Uint8Array(5 * 1024 * 1024)
    const outcome = await withRowsFile(process.argv[2], [rows, rows], async () => { used = true }).catch((error) => error)
    process.stdout.write(JSON.stringify({ code: outcome?.code, remedy: outcome?.remedy, folder: outcome?.folder, used }))`
  const node = [process.execPath, '--input-type=module', '--eval', program]
  // A file may not grow beyond the limit, which the system tells as it tells a full disk. Units are
  // 512 bytes in some shells and 1024 in others: the limit is inside the first buffer either way.
  const limited = ['-c', `ulimit -f ${kilobytes} && exec "$@"`, 'sh', ...node]
  const { stdout, stderr } = spawnSync(
    '/bin/sh',
    [...limited, new URL('./rowsFile.ts', import.meta.url).href, folder],
    { encoding: 'utf8', env: {} },
  )
  expect(stderr).toBe('')
  expect(JSON.parse(stdout)).toEqual({ code: 'rows_file_full', remedy: 'retry', folder, used: false })
  expect(readdirSync(folder)).toEqual([])
})

test('more rows than the engine takes in one piece are not written', async () => {
  const piece = new Uint8Array(1024 * 1024)
  const pieces = Array.from({ length: ROWS_BYTES_MAX / piece.length + 1 }, () => piece)
  const written = withRowsFile(folder, pieces, async () => {})
  await expect(written).rejects.toMatchObject({ code: 'rows_file_too_large', remedy: 'stop', folder })
  expect(readdirSync(folder)).toEqual([])
})
