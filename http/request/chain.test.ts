import { expect, test } from 'vitest'
import { chainParameter, selectChain } from './chain.ts'

const [mainnet, testnet, local] = [4217, 42431, 31337]
const person = { environment: 'production', chains: null } as const
const sandbox = { environment: 'sandbox', chains: null } as const

test.each([
  ['mainnet', 4217],
  ['testnet', 42431],
  ['31337', 31337],
])('%s is chain %i', (text, id) => {
  expect(chainParameter.parse(text)).toBe(id)
})

test.each(['', 'Mainnet', '0', '-1', '1.0', '0x1079', 'constructor', '99999999999999999'])(
  '%j is no chain',
  (text) => {
    expect(() => chainParameter.parse(text)).toThrow()
  },
)

test('left out, it is mainnet, testnet for a sandbox key', () => {
  expect(selectChain(undefined, [local, testnet, mainnet], person)).toBe(mainnet)
  expect(selectChain(undefined, [local, testnet, mainnet], sandbox)).toBe(testnet)
})

test('without mainnet it is the only chain served, else the request must say', () => {
  expect(selectChain(undefined, [local], person)).toBe(local)
  expect(selectChain(undefined, [local], sandbox)).toBe(local)
  expect(() => selectChain(undefined, [local, testnet], person)).toThrow(/Served: 31337, 42431/)
})

test('a chain that is not served is refused with the list of those that are', () => {
  expect(() => selectChain(local, [mainnet, testnet], person)).toThrow(
    /31337 is not served here. Served: 4217, 42431/,
  )
})

test('a sandbox key reaches mainnet neither by name nor by default', () => {
  expect(() => selectChain(mainnet, [mainnet, testnet], sandbox)).toThrow(/sandbox/)
  expect(() => selectChain(undefined, [mainnet], sandbox)).toThrow(/needed/)
})

test('a key that is limited to chains reaches no other, and makes none the default', () => {
  const limited = { environment: 'production', chains: new Set([31337]) } as const
  expect(() => selectChain(undefined, [mainnet, local], limited)).toThrow(/does not reach chain 4217/)
  expect(() => selectChain(undefined, [testnet, local], limited)).toThrow(/needed/)
  expect(selectChain(undefined, [local], limited)).toBe(local)
  expect(selectChain(local, [mainnet, local], limited)).toBe(local)
  expect(() => selectChain(mainnet, [mainnet, local], limited)).toThrow(/does not reach chain 4217/)
})
