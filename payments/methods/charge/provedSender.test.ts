import { Account, P256, Transaction, WebCryptoP256 } from 'viem/tempo'
import { expect, test } from 'vitest'
import { isSenderProved } from './provedSender.ts'

const KEY = `0x${'11'.repeat(32)}` as const
const OTHER = `0x${'22'.repeat(20)}` as const
const owner = Account.fromSecp256k1(KEY)
const accounts = {
  secp256k1: owner,
  p256: Account.fromP256(P256.randomPrivateKey()),
  webAuthn: Account.fromHeadlessWebAuthn(P256.randomPrivateKey(), {
    origin: 'https://shop.example',
    rpId: 'shop.example',
  }),
  webCrypto: Account.fromWebCryptoP256(await WebCryptoP256.createKeyPair()),
}
const transaction = {
  type: 'tempo',
  chainId: 4217,
  calls: [{ to: OTHER, data: '0x' }],
  gas: 100_000n,
  nonce: 0,
  maxFeePerGas: 1n,
  maxPriorityFeePerGas: 0n,
  validBefore: 2_000_000_000,
  nonceKey: 7n,
} as const

/** As a payer sends it: alone, or with a fee payer who is to sign, too. */
const signed = async (account: Account.Account, feePayer?: true) =>
  (await account.signTransaction(
    { ...transaction, ...(feePayer && { feePayer }) },
    { serializer: Transaction.serialize },
  )) as `0x76${string}` | `0x78${string}`

test.each(Object.entries(accounts))('a signature of the account itself proves it: %s', async (_, account) => {
  expect(isSenderProved(await signed(account), account.address)).toBe(true)
  expect(isSenderProved(await signed(account, true), account.address)).toBe(true)
  expect(isSenderProved(await signed(account), OTHER)).toBe(false)
})

test.each(Object.entries(accounts))('a signature of other bytes proves nothing: %s', async (_, account) => {
  const { signature } = Transaction.deserialize(await signed(account))
  if (!signature) throw new TypeError('not signed')
  const { nonceKey: __, ...rest } = transaction
  const forged = await Transaction.serialize({ ...rest, from: account.address }, signature)
  expect(isSenderProved(forged as `0x76${string}`, account.address)).toBe(false)
})

test.each(Object.entries(accounts))(
  'a sender that is stated for the fee payer is proved by its own key alone: %s',
  async (_, account) => {
    const serialized = await signed(account, true)
    const stated = serialized.replace(account.address.slice(2).toLowerCase(), OTHER.slice(2))
    expect(stated).not.toBe(serialized)
    expect(isSenderProved(stated as `0x78${string}`, OTHER)).toBe(false)
  },
)

test('an access key proves nothing: whether the account gave it is known to the chain', async () => {
  const access = Account.fromP256(P256.randomPrivateKey(), { access: owner })
  expect(isSenderProved(await signed(access), owner.address)).toBe(false)
})

test('bytes that are no transaction prove nothing', () => {
  expect(isSenderProved('0x76', owner.address)).toBe(false)
  expect(isSenderProved('0x76c0', owner.address)).toBe(false)
})
