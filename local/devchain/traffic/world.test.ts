import { keccak256, stringToHex } from 'viem'
import { TokenId, VirtualMaster } from 'viem/tempo'
import { expect, test } from 'vitest'
import { tokenAddress } from './calls.ts'
import { Dice } from './Dice.ts'
import { attribution, attributionTag } from './memo.ts'
import { createWorld } from './world.ts'

const world = createWorld('seed', 4217)

test('the issuer is a virtual master whose proof of work holds', () => {
  const { virtualMaster, issuer } = world
  const registration = { address: issuer.address, salt: virtualMaster.salt }
  expect(VirtualMaster.validateSalt(registration)).toBe(true)
  expect(VirtualMaster.getMasterId(registration)).toBe(virtualMaster.id)
})

test('addresses of tokens are those of the factory', () => {
  const salt = `0x${'07'.repeat(32)}` as const
  const id = TokenId.compute({ sender: world.issuer.address, salt })
  expect(tokenAddress(world.issuer.address, salt)).toBe(TokenId.toAddress(id).toLowerCase())
})

test('wallets sign in every way Tempo knows', () => {
  const kinds = world.wallets.map(({ root, accessKey }) =>
    accessKey ? (accessKey.hasLimits ? 'limited key' : 'key') : root.keyType,
  )
  expect(new Set(kinds)).toEqual(new Set(['secp256k1', 'p256', 'webAuthn', 'key', 'limited key']))
})

test('another seed is another world, with the same rich accounts', () => {
  const other = createWorld('other', 4217)
  const addresses = new Set(world.wallets.map(({ address }) => address))
  expect(other.wallets.some(({ address }) => addresses.has(address))).toBe(false)
  expect(other.launches.harbor.address).not.toBe(world.launches.harbor.address)
  expect(other.issuer.address).toBe(world.issuer.address)
})

test('the memo of a machine payment is tag, version, two fingerprints and a challenge', () => {
  expect(keccak256(stringToHex('mpp')).slice(0, 10)).toBe(attributionTag)
  expect(attribution(new Dice('memo'))).toMatch(/^0xef1ed71201[0-9a-f]{54}$/)
})
