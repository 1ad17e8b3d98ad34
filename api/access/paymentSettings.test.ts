import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { readAccessFile } from './settings.ts'

const folder = mkdtempSync(join(tmpdir(), 'millrace-settings-'))
afterAll(() => rmSync(folder, { recursive: true }))
const payee = `0x${'Ab'.repeat(20)}`
const x402 = { chainId: 8453, rpcUrl: 'https://node.example', asset: `0x${'Cd'.repeat(20)}` }
function read(given: object) {
  const path = join(folder, 'access.json')
  const payments = { chainId: 4217, recipient: payee, currencies: [payee], x402: given }
  writeFileSync(path, JSON.stringify({ payments }))
  return readAccessFile('ACCESS_FILE', path).payments?.x402
}

test('x402 goes to the payee of all payments, with fees of a day at most', () => {
  expect(read({ ...x402, keyFile: '/fees.key' })).toEqual({
    ...{ chainId: 8453, rpcUrl: 'https://node.example', asset: x402.asset.toLowerCase() },
    recipient: payee.toLowerCase(),
    facilitator: { keyFile: '/fees.key', feesPerDay: '0.01' },
  })
  expect(read({ ...x402, facilitatorUrl: 'https://facilitator.example' })?.facilitator).toEqual({
    url: 'https://facilitator.example',
  })
})

test.each([
  ['neither', {}],
  ['both', { keyFile: '/fees.key', facilitatorUrl: 'https://facilitator.example' }],
])('%s of a key and a facilitator is refused by its field', (_, more) => {
  expect(() => read({ ...x402, ...more })).toThrow('payments.x402: names one of facilitatorUrl and keyFile')
})
