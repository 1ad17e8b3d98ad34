import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { keccak256, toBytes } from 'viem'
import { afterAll, expect, test } from 'vitest'
import { attributionNames, readMemo } from '#present/memo.ts'
import { readAttributions } from './attributions.ts'

const folder = mkdtempSync(join(tmpdir(), 'attributions-'))
afterAll(() => rmSync(folder, { recursive: true }))

function fileOf(content: unknown): string {
  const path = join(folder, 'services.json')
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

const fingerprintOf = (realm: string) => keccak256(toBytes(realm)).slice(2, 22)
const memoOf = (realm: string) => `0xef1ed71201${fingerprintOf(realm)}${'0'.repeat(34)}`

test('services are told by their realm or by its fingerprint, all others by what they are', () => {
  const path = fileOf({
    services: [
      { name: 'Example', realm: 'api.example.com' },
      { name: 'Quiet', fingerprint: `0x${fingerprintOf('quiet.example.com').toUpperCase()}` },
    ],
  })
  const names = attributionNames(readAttributions('ATTRIBUTIONS', path))
  const attribution = (realm: string) => readMemo(memoOf(realm), names)
  expect(attribution('api.example.com')).toEqual({ attribution: 'Example' })
  expect(attribution('quiet.example.com')).toEqual({ attribution: 'Quiet' })
  expect(attribution('other.example.com')).toEqual({ attribution: 'MPP Service' })
})

test.each([
  ['not JSON', 'is not JSON'],
  [[], 'is not an object'],
  [{ services: {} }, 'services is not a list'],
  [{ services: ['Example'] }, 'services[0] is not an object'],
  [{ services: [{ name: 'A', realm: 'a', fee: 1 }] }, 'services[0] has an unknown field `fee`'],
  [{ services: [{ name: ' ', realm: 'a' }] }, 'services[0].name is not a text'],
  [{ services: [{ name: 'A' }] }, 'has not one of `realm` and `fingerprint`'],
  [{ services: [{ name: 'A', realm: 'a', fingerprint: `0x${'1'.repeat(20)}` }] }, 'has not one of'],
  [{ services: [{ name: 'A', realm: 7 }] }, 'services[0].realm is not a text'],
  [{ services: [{ name: 'A', fingerprint: '0x12' }] }, 'is not 0x and 20 hex characters'],
])('%j is refused: %s', (content, problem) => {
  const path = fileOf(content)
  expect(() => readAttributions('ATTRIBUTIONS', path)).toThrow(
    expect.objectContaining({ message: expect.stringContaining(problem) }),
  )
  expect(() => readAttributions('ATTRIBUTIONS', path)).toThrow(/ATTRIBUTIONS/)
})
