import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generatePrivateKey } from 'viem/accounts'
import { afterAll, describe, expect, test } from 'vitest'
import { readKeyFile } from './keyFile.ts'

const folder = mkdtempSync(join(tmpdir(), 'millrace-keys-'))
afterAll(() => rmSync(folder, { recursive: true }))
let files = 0
function fileWith(text: string, mode = 0o600): string {
  const path = join(folder, `${files++}.key`)
  writeFileSync(path, text, { mode })
  return path
}
const read = (path: string) => readKeyFile('ACCESS_FILE', 'payments.x402.keyFile', path)

describe('a key of ours', () => {
  test('is read with and without 0x', () => {
    const key = generatePrivateKey()
    expect(read(fileWith(`${key}\n`))).toBe(key)
    expect(read(fileWith(key.slice(2).toUpperCase()))).toBe(key)
  })

  test.each([
    ['others may read', generatePrivateKey(), 0o640, 'mode 600'],
    ['is short', '0x1234', 0o600, 'no private key'],
    ['was counted up', `0x${'1'.padStart(64, '0')}`, 0o600, 'guess'],
    ['is beyond the curve', `0x${'f'.repeat(64)}`, 0o600, 'no private key'],
    [
      'development nodes hand out',
      '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80',
      0o600,
      'everybody knows',
    ],
  ])('that %s refuses the start, and is not told', (_, key, mode, problem) => {
    const path = fileWith(key, mode)
    expect(() => read(path)).toThrow(problem)
    expect(() => read(path)).toThrow(/^ACCESS_FILE: payments\.x402\.keyFile: /)
    expect(() => read(path)).not.toThrow(key.slice(2))
  })

  test('is missed by its path', () => {
    expect(() => read(join(folder, 'none'))).toThrow('ENOENT')
  })
})
