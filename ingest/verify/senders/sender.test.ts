import { generateKeyPairSync, sign as signBytes } from 'node:crypto'
import { type Hex, hexToBytes, toHex } from 'viem'
import { Account, Transaction } from 'viem/tempo'
import { beforeAll, describe, expect, it } from 'vitest'
import { readRecording } from '#test/chain/recordings.ts'
import { type BuiltBlock, builtBlock } from '#test/support/builtBlock.ts'
import { withFlipped } from '#test/support/json.ts'
import { readFixtures } from '#test/transform/ranges.ts'
import { parseBlock, type RpcTransaction } from '../../read/block.ts'
import { isObject } from '../parts/looseFields.ts'
import { recoverSender, statedSender } from './sender.ts'

const { z_SignatureEnvelope: SignatureEnvelope, z_TxEnvelopeTempo: TxEnvelopeTempo } = Transaction

/** The envelope and, of Tempo's, the kind of signature and whether another account pays. */
function kindOf({ type, signature, feePayerSignature }: RpcTransaction): string {
  if (!isObject(signature)) return type
  const inner = signature['signature']
  const name = isObject(inner) ? `key ${signature['version']} ${inner['type']}` : String(signature['type'])
  return `${type} ${name}${feePayerSignature ? ' sponsored' : ''}`
}

/**
 * How many senders of each kind were recovered and are who the node says, or could not be; throws
 * at any other.
 */
function countRecovered(transactions: readonly RpcTransaction[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const tx of transactions) {
    const sender = recoverSender(tx)
    const stated = statedSender(tx)
    if (sender !== 'unprovable') expect([tx.hash, sender]).toEqual([tx.hash, tx.from])
    if (stated !== null) expect([tx.hash, stated]).toEqual([tx.hash, tx.from])
    const kind = sender === 'unprovable' ? `${kindOf(tx)} unprovable` : kindOf(tx)
    counts[kind] = (counts[kind] ?? 0) + 1
  }
  return counts
}

let built: BuiltBlock
beforeAll(async () => {
  built = await builtBlock()
})

describe('the sender of an Ethereum transaction', () => {
  it('is who signed it, for every envelope', () => {
    const counts = countRecovered(parseBlock(built.block).transactions)
    expect(counts).toEqual({ '0x0': 2, '0x1': 1, '0x2': 1, '0x3': 1, '0x4': 1 })
  })

  it.each(['value', 'gas', 'input', 'r', 's'])('is another when its %s is another', (field) => {
    for (const [index, tx] of parseBlock(built.block).transactions.entries()) {
      if (field === 'input' && tx.input === '0x') continue
      const sender = recoverSender(withFlipped(parseBlock(built.block).transactions[index] ?? tx, field))
      expect(sender).not.toBe(tx.from)
      expect(sender).not.toBe('unprovable')
    }
  })

  it('cannot be proved where nobody signed, or in a way we do not know', () => {
    const [legacy] = parseBlock(built.block).transactions
    const given = (changes: object) => recoverSender({ ...legacy, ...changes } as RpcTransaction)
    expect(given({ r: '0x0', s: '0x0' })).toBe('unprovable')
    expect(given({ r: '0x1', s: '0x1' })).toBe('unprovable')
    expect(given({ r: undefined, s: null })).toBe('unprovable')
    expect(given({ v: '0x0' })).toBe('unprovable')
    expect(given({ v: undefined })).toBe('unprovable')
    expect(given({ type: '0x7e' })).toBe('unprovable')
    expect(given({ type: '0x6a', yParity: '0x1' })).toBe('unprovable')
    expect(given({ type: '0x76', signature: '0x01' })).toBe('unprovable')
    expect(given({ type: '0x76' })).toBe('unprovable')
  })

  it('is the account without a key for which somebody chose the numbers (EIP-4788)', () => {
    const input =
      '0x60618060095f395ff33373fffffffffffffffffffffffffffffffffffffffe14604d57602036146024575f5ffd5b5f35801560495762001fff81069081541' +
      '4603c575f5ffd5b62001fff01545f5260205ff35b5f5ffd5b62001fff42064281555f359062001fff015500'
    const numbers = { nonce: '0x0', gasPrice: '0xe8d4a51000', gas: '0x3d090', value: '0x0' }
    const signature = { v: '0x1b', r: '0x539', s: '0x1b9b6eb1f0' }
    const tx = { type: '0x0', ...numbers, to: null, input, ...signature } as unknown as RpcTransaction
    expect(recoverSender(tx)).toBe('0x0b799c86a49deeb90402691f1041aa3af2d3c875')
  })

  it('is nobody where the numbers are no signature', () => {
    const [legacy] = parseBlock(built.block).transactions
    expect(recoverSender({ ...legacy, r: `0x${'f'.repeat(64)}` } as RpcTransaction)).toBe('nobody')
    expect(recoverSender({ ...legacy, s: '0x0' } as RpcTransaction)).toBe('nobody')
  })
})

describe('the sender of a Tempo transaction', () => {
  const keyOf = (digit: string): Hex => `0x${digit.repeat(64)}`
  const root = Account.fromSecp256k1(keyOf('1'))
  const passkey = { rpId: 'wallet.test', origin: 'https://wallet.test' }
  const payer = { r: 5n, s: 7n, yParity: 1 } as const
  const envelope = {
    type: 'tempo',
    chainId: 4217,
    calls: [{ to: `0x${'20c0'.repeat(10)}`, value: 0n, data: '0x1234' }],
    maxFeePerGas: 9n,
    gas: 21_000n,
    nonceKey: 3n,
    nonce: 4n,
    feeToken: `0x${'20c0'.repeat(10)}`,
  } as const
  const answer = {
    type: '0x76',
    chainId: '0x1079',
    calls: [{ to: envelope.calls[0].to, value: '0x0', input: '0x1234', data: null }],
    maxPriorityFeePerGas: '0x0',
    maxFeePerGas: '0x9',
    gas: '0x5208',
    accessList: [],
    nonceKey: '0x3',
    nonce: '0x4',
    feeToken: envelope.feeToken,
  }

  interface Signer {
    readonly sign: (given: { hash: Hex }) => Promise<Hex>
    readonly accessKeyAddress?: Hex
  }

  async function signed(account: Signer, isSponsored: boolean) {
    const payload = TxEnvelopeTempo.getSignPayload(
      TxEnvelopeTempo.from({ ...envelope, ...(isSponsored && { feePayerSignature: payer }) }),
    )
    const envelopeOf = SignatureEnvelope.deserialize(await account.sign({ hash: payload }))
    const { accessKeyAddress: keyId } = account
    const signature = { ...Object(SignatureEnvelope.toRpc(envelopeOf)), ...(keyId && { keyId }) }
    const feePayerSignature = isSponsored ? { r: '0x5', s: '0x7', yParity: '0x1' } : null
    return { ...answer, signature, feePayerSignature } as unknown as RpcTransaction
  }

  const keys = (options: object) => [
    Account.fromSecp256k1(keyOf('2'), options),
    Account.fromP256(keyOf('3'), options),
    Account.fromHeadlessWebAuthn(keyOf('4'), { ...passkey, ...options }),
  ]

  it.each([
    ['its own key', () => keys({})],
    ['an access key', () => keys({ access: root })],
    ['an access key of before version 2', () => keys({ access: root, internal_version: 'v1' })],
  ])('is whose signature it is, by %s of each kind, sponsored or not', async (_name, accounts) => {
    for (const account of accounts())
      for (const isSponsored of [false, true]) {
        const tx = await signed(account, isSponsored)
        expect(recoverSender(tx)).toBe(account.address.toLowerCase())
        expect(recoverSender({ ...tx, nonce: '0x5' })).not.toBe(account.address.toLowerCase())
        expect(recoverSender({ ...tx, feePayerSignature: isSponsored ? null : { r: '0x1' } })).not.toBe(
          account.address.toLowerCase(),
        )
      }
  })

  it('is the owner of a P-256 key that signs hashes only', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
    const payload = hexToBytes(TxEnvelopeTempo.getSignPayload(TxEnvelopeTempo.from(envelope)))
    const rs = signBytes('sha256', payload, { key: privateKey, dsaEncoding: 'ieee-p1363' })
    const signature = {
      type: 'p256',
      preHash: true,
      r: toHex(rs.subarray(0, 32)),
      s: toHex(rs.subarray(32)),
      pubKeyX: toHex(Buffer.from(x, 'base64url')),
      pubKeyY: toHex(Buffer.from(y, 'base64url')),
    }
    const tx = { ...answer, signature } as unknown as RpcTransaction
    expect(recoverSender(tx)).toBe(statedSender(tx))
    expect(recoverSender({ ...tx, gas: '0x1' })).toBe('nobody')
  })

  it('is nobody when the passkey was asked to sign something else, or the access key is another', async () => {
    const [, , webAuthn] = keys({})
    const [access] = keys({ access: root })
    if (!webAuthn || !access) throw new Error('every kind is there')
    expect(recoverSender({ ...(await signed(webAuthn, false)), gas: '0x1' })).toBe('nobody')
    const tx = await signed(access, false)
    const signature = { ...(tx.signature as object), keyId: `0x${'12'.repeat(20)}` }
    expect(recoverSender({ ...tx, signature } as RpcTransaction)).toBe('nobody')
  })

  it('cannot be proved of a passkey whose data the protocol admits none of, or names the challenge elsewhere', async () => {
    const [, , webAuthn] = keys({})
    if (!webAuthn) throw new Error('every kind is there')
    const tx = await signed(webAuthn, false)
    const given = Object(tx.signature)
    const data = hexToBytes(given.webauthnData)
    const [device, client] = [data.subarray(0, 37), Buffer.from(data.subarray(37)).toString()]
    const told = (...parts: (string | Uint8Array)[]) => {
      const webauthnData = toHex(Buffer.concat(parts.map((part) => Buffer.from(part))))
      return recoverSender({ ...tx, signature: { ...given, webauthnData } } as unknown as RpcTransaction)
    }
    expect(told(device, client)).toBe(webAuthn.address.toLowerCase())
    expect(told(device, client.replace('"challenge"', '"other"'))).toBe('unprovable')
    expect(told(device, client.replace('}', ',"challenge":"another"}'))).toBe('unprovable')
    expect(told(device, client.slice(0, -1))).toBe('unprovable')
    expect(told(device, '{'.repeat(20_000))).toBe('unprovable')
    expect(told(device, 'extension', client)).toBe('unprovable')
    expect(told(device, client, ' '.repeat(1_920 - data.length))).toBe('nobody')
    expect(told(device, client, ' '.repeat(1_921 - data.length))).toBe('unprovable')
  })

  it.each([
    null,
    7,
    'zz',
    {},
    [],
    { type: 'p256', r: 'zz' },
    { signature: {}, userAddress: 1 },
    { signature: [] },
  ])('is no account with the odd signature %j, and nothing throws', (signature) => {
    const sender = recoverSender({ ...answer, signature } as unknown as RpcTransaction)
    expect(['unprovable', 'nobody']).toContain(sender)
  })
})

describe('recorded transactions', () => {
  it('of real chains are of who their nodes say', () => {
    const all = readFixtures().flatMap(({ recorded }) => parseBlock(recorded.block).transactions)
    expect(countRecovered(all)).toEqual({
      '0x0': 26,
      '0x0 unprovable': 3,
      '0x2': 204,
      '0x7e unprovable': 1,
      '0x76 secp256k1': 7,
      '0x76 key v2 p256': 1,
    })
  })

  it('of a dev chain are of who its node says, for every envelope and signature', () => {
    const all = readRecording('tempo-dev-2k').flatMap(({ block }) => parseBlock(block).transactions)
    expect(countRecovered(all)).toEqual({
      '0x0': 27,
      '0x1': 24,
      '0x2': 545,
      '0x4': 3,
      '0x76 secp256k1': 826,
      '0x76 secp256k1 sponsored': 179,
      '0x76 p256': 115,
      '0x76 p256 sponsored': 26,
      '0x76 webAuthn': 102,
      '0x76 webAuthn sponsored': 24,
      '0x76 key v2 secp256k1': 96,
      '0x76 key v2 secp256k1 sponsored': 33,
    })
  })
})
