import { MultisigConfig } from 'ox/tempo'
import { concat, type Hex, hexToBytes, keccak256, toHex, toRlp } from 'viem'
import { Account, Transaction } from 'viem/tempo'
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '#test/support/builtBlock.ts'
import {
  accessKeys,
  accountOf,
  signZk,
  type ZkIdentity,
  zkTransaction,
  zkVector,
} from '#test/support/zkSignature.ts'
import type { RpcBlock, RpcTransaction } from '../../read/block.ts'
import { SenderRefutedError } from './SenderRefutedError.ts'
import { grantingAccount, recoverSender, statedSender } from './sender.ts'
import { everySender } from './senderSample.ts'
import { assertSenders } from './senders.ts'
import { signingHash } from './signingHash.ts'
import { accessKeyOf, zkAddress } from './zkSigner.ts'

const word = (byte: string): Hex => `0x00${byte.repeat(31)}`
const signIn: ZkIdentity = { scheme: 1, publisherId: word('11'), issuer: word('12'), addressSeed: word('13') }
const unknown: ZkIdentity = { ...signIn, scheme: 9 }
const passport: ZkIdentity = { ...signIn, scheme: 2 }
const bare = { ...zkTransaction(), keyAuthorization: null }
const { z_SignatureEnvelope: SignatureEnvelope } = Transaction
const root = Account.fromSecp256k1(`0x${'61'.repeat(32)}`)
const rootId = root.address.toLowerCase() as Hex
const signingHashOf = (tx: object): Hex => {
  const hash = signingHash(tx as RpcTransaction)
  if (hash === null) throw new Error('the envelope is known')
  return toHex(hash)
}
const senderOf = (signature: unknown, tx: object = bare) =>
  recoverSender({ ...tx, signature } as unknown as RpcTransaction)
const statedOf = (signature: unknown) => statedSender({ ...bare, signature } as unknown as RpcTransaction)

describe('the account of an identity', () => {
  it.each(zkVector.addresses.map((one) => [one.scheme, one] as const))(
    'of scheme %i is its hash',
    (_, one) => {
      const { signature } = zkVector.keyAuthorizationJson
      const { address, scheme, ...parts } = one
      expect(zkAddress({ ...signature, ...parts, scheme: toHex(scheme) })).toBe(address)
    },
  )

  it('is not told by a scheme that we do not know, nor by parts of another length', () => {
    const { signature } = zkVector.keyAuthorizationJson
    expect(zkAddress(signature)).toBe(zkVector.from)
    for (const scheme of ['0x0', '0x3', '0xff', 1, null, '0x'])
      expect([scheme, zkAddress({ ...signature, scheme })]).toEqual([scheme, null])
    expect(zkAddress({ ...signature, issuer: '0x01' })).toBeNull()
  })
})

describe('the sender that is an identity', () => {
  it('is its account, by an access key of each kind', async () => {
    for (const key of accessKeys()) {
      const { json } = await signZk(signIn, key, signingHashOf(bare))
      expect([senderOf(json), statedOf(json)]).toEqual([accountOf(signIn), accountOf(signIn)])
    }
  })

  it('is nobody where its access key signed something else, if the key can be told', async () => {
    const [secp256k1, ...others] = accessKeys()
    for (const key of others) {
      const { json } = await signZk(signIn, key, signingHashOf(bare))
      expect(senderOf(json, { ...bare, gas: '0x1' })).toBe('nobody')
      expect(senderOf({ ...json, proof: `0x${'cd'.repeat(256)}` })).toBe('nobody')
    }
    if (!secp256k1) throw new Error('every kind is there')
    const { json } = await signZk(signIn, secp256k1, signingHashOf(bare))
    const key = { ...Object(json['accessKeySignature']), r: `0x${'f'.repeat(64)}` }
    expect(senderOf({ ...json, accessKeySignature: key })).toBe('nobody')
  })

  it('cannot be proved with a scheme that we do not know, and stops nothing', async () => {
    for (const key of accessKeys()) {
      const { json } = await signZk(unknown, key, signingHashOf(bare))
      expect([senderOf(json), statedOf(json)]).toEqual(['unprovable', null])
    }
    for (const accessKeySignature of [null, 7, {}, { type: 'ed25519' }, { accessKeySignature: {} }])
      expect(['unprovable', 'nobody']).toContain(senderOf({ scheme: '0x1', accessKeySignature }))
  })

  it('is no access key', async () => {
    const [key] = accessKeys()
    const { json } = await signZk(signIn, key ?? root, signingHashOf(bare))
    expect(senderOf({ userAddress: accountOf(signIn), version: 'v2', signature: json })).toBe('unprovable')
  })
})

/** A grant of an access key to the account of an identity, as a node tells it. */
async function granted(identity: ZkIdentity, keyId: Hex): Promise<JsonObject> {
  const [key = root] = accessKeys()
  const { json } = await signZk(identity, key, keccak256(toRlp(['0x0539', '0x', keyId])))
  return { chainId: '0x539', keyType: 'secp256k1', keyId, isAdmin: false, signature: json }
}

/** A transaction with a grant that `root` signs as the access key of an account. */
async function signedWith(keyAuthorization: JsonObject, account: Hex): Promise<RpcTransaction> {
  const tx = { ...bare, keyAuthorization }
  const hash = keccak256(concat(['0x04', signingHashOf(tx), account]))
  const signature = SignatureEnvelope.toRpc(SignatureEnvelope.deserialize(await root.sign({ hash })))
  const given = { userAddress: account, version: 'v2', keyId: rootId, signature }
  return { ...tx, signature: given } as unknown as RpcTransaction
}

describe('a grant that an identity signed', () => {
  it('is of its account, and so is the transaction of the key that was granted', async () => {
    const tx = zkTransaction()
    expect(grantingAccount(Object(tx.keyAuthorization))).toBe(zkVector.from)
    expect([recoverSender(tx), statedSender(tx)]).toEqual([zkVector.from, zkVector.from])
    const { signature, chainId, keyId } = zkVector.keyAuthorizationJson
    const signed = hexToBytes(keccak256(toRlp([`0x0${String(chainId).slice(2)}`, '0x', keyId as Hex])))
    expect(accessKeyOf(signature, signed)).toBe(zkVector.accessKey)
    const account = accountOf(signIn)
    expect(recoverSender(await signedWith(await granted(signIn, rootId), account))).toBe(account)
  })

  it('refutes another account that its key acts for', async () => {
    expect(recoverSender(await signedWith(await granted(signIn, rootId), accountOf(passport)))).toBe('nobody')
    const [, p256 = root] = accessKeys()
    const { json } = await signZk(signIn, p256, word('01'))
    const forged = { ...(await granted(signIn, rootId)), signature: json }
    expect(recoverSender(await signedWith(forged, accountOf(signIn)))).toBe('nobody')
  })

  it('says nothing of an account with a scheme that we do not know, or for a key that does not sign', async () => {
    const account = accountOf(passport)
    expect(recoverSender(await signedWith(await granted(unknown, rootId), account))).toBe(account)
    expect(recoverSender(await signedWith(await granted(signIn, account), account))).toBe(account)
  })
})

describe('owners of a configurable account', () => {
  const account: Hex = `0x${'a1'.repeat(20)}`
  const keys = accessKeys()

  /** The approval of owners with these weights, of the identities by their access keys. */
  async function approved(given: {
    readonly identities: readonly ZkIdentity[]
    readonly threshold?: number
    readonly ownerless?: boolean
    readonly payload?: Hex
  }): Promise<string> {
    const { identities, threshold = identities.length + 1, ownerless = false } = given
    const digest = MultisigConfig.getSignPayload({
      ...{ account, payload: given.payload ?? signingHashOf(bare) },
      config: { version: 3n },
    })
    const approvals: Hex[] = [await root.sign({ hash: digest })]
    for (const [at, identity] of identities.entries())
      approvals.push((await signZk(identity, keys[at % keys.length] ?? root, digest)).bytes)
    const owners = [rootId, ...(ownerless ? [] : identities.map(accountOf))]
    const config = [word('04'), '0x03', toHex(threshold), owners.map((owner): Hex[] => [owner, '0x01'])]
    return toRlp([account, config as never, approvals])
  }

  it('are identities too, passports among them, and what they approve is of the account', async () => {
    expect(senderOf(await approved({ identities: [] }))).toBe(account)
    expect(senderOf(await approved({ identities: [signIn] }))).toBe(account)
    expect(senderOf(await approved({ identities: [passport, signIn] }))).toBe(account)
    expect(senderOf(await approved({ identities: [signIn], threshold: 1 }))).toBe(account)
  })

  it.each([
    ['of an unknown scheme', { identities: [unknown] }],
    ['of no owner', { identities: [signIn], ownerless: true }],
    ['of too few', { identities: [signIn], threshold: 3 }],
    ['of one twice', { identities: [signIn, signIn], threshold: 2 }],
    ['of something else', { identities: [signIn], payload: word('77') }],
    ['of more than eight', { identities: Array.from({ length: 8 }, () => signIn), threshold: 1 }],
    ['with a threshold of none', { identities: [], threshold: 0 }],
  ])('prove nothing by an approval %s', async (_, given) => {
    expect(senderOf(await approved(given))).toBe('unprovable')
  })

  it.each(['0x', '0xzz', '0x01', '0xc0', '0xc101', `0x${'ff'.repeat(99)}`, '', 'zz'])(
    'prove nothing by %j, and nothing throws',
    (signature) => {
      expect([senderOf(signature), statedOf(signature)]).toEqual(['unprovable', null])
    },
  )

  it('grant a key, too', async () => {
    const payload = keccak256(toRlp(['0x0539', '0x', rootId]))
    const signature = await approved({ identities: [signIn], payload })
    expect(grantingAccount({ ...(await granted(signIn, rootId)), signature })).toBe(account)
  })
})

describe('a block with identities', () => {
  const blockOf = (tx: object): RpcBlock => ({ number: '0x1', transactions: [tx] }) as unknown as RpcBlock

  it('is refuted where another sender is told, and is taken with an unknown scheme', () => {
    const tx = zkTransaction()
    assertSenders(blockOf(tx), { unprovableTxs: 0 }, everySender)
    const lie = () =>
      assertSenders(blockOf({ ...tx, from: `0x${'5'.repeat(40)}` }), { unprovableTxs: 0 }, everySender)
    expect(lie).toThrow(SenderRefutedError)
  })
})
