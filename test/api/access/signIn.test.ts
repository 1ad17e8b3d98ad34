// Goal: signing in by a wallet (API-03): every way to sign opens a session, and nothing else does.
// Method: wallets are viem's accounts, the node is a table of answers.
import { KeyAuthorization } from 'ox/tempo'
import { createPublicClient, custom, type Hex, hashMessage } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { verifySiweMessage } from 'viem/siwe'
import { Account } from 'viem/tempo'
import { describe, expect, test } from 'vitest'
import { address } from '#primitives.ts'
import { findInvitation, insertInvitation } from '#rows/access/invitations.ts'
import { listMembers } from '#rows/access/organizations.ts'
import {
  app,
  ask,
  challenge,
  defaults,
  known,
  me,
  node,
  origin,
  plain,
  postgres,
  serve,
  signIn,
  type Wallet,
  wrongClock,
} from '../support/signInServer.ts'
import { exchange } from '../support/toolkitServer.ts'

describe('ways to sign', () => {
  test.each<[string, () => Wallet]>([
    ['secp256k1', () => privateKeyToAccount(generatePrivateKey())],
    ['P-256', () => Account.fromP256(generatePrivateKey())],
    ['WebAuthn', () => Account.fromHeadlessWebAuthn(generatePrivateKey(), { rpId: 'example.com', origin })],
  ])('%s needs no node', async (_name, make) => {
    const before = node.calls
    const { status, token } = await signIn(await known(make()))
    expect(status).toBe(200)
    expect(await me(token ?? '')).toBe(200)
    expect(node.calls).toBe(before)
  })

  test('an access key signs in while the account’s keychain says so', async () => {
    const key = Account.fromP256(generatePrivateKey(), { access: plain.address })
    const message = await challenge()
    const signature = await key.signMessage({ message })
    const proof = { address: plain.address, message, signature, returnToken: true }
    const held = {
      keyId: key.accessKeyAddress,
      expiry: BigInt(Math.floor(Date.now() / 1000) + 60),
      isRevoked: false,
    }
    for (const refused of [
      null,
      { ...held, expiry: 0n },
      { ...held, isRevoked: true },
      { ...held, keyId: plain.address },
    ]) {
      node.answer = refused
      expect(await ask('/v1/auth/siwe', proof)).toMatchObject({ status: 401 })
    }
    node.answer = held
    expect(await ask('/v1/auth/siwe', { ...proof, address: defaultsAddress })).toMatchObject({ status: 401 })
    expect(await ask('/v1/auth/siwe', proof)).toMatchObject({ status: 200 })
  })

  test('a contract signs as it says itself, and one that does not exist never', async () => {
    const contract = await known({
      address: `0x${'c0'.repeat(20)}`,
      signMessage: async () => `0x${'12'.repeat(200)}` as const,
    })
    node.answer = null
    expect(await signIn(contract)).toMatchObject({ status: 401 })
    node.answer = '0xffffffff'
    expect(await signIn(contract)).toMatchObject({ status: 401 })
    node.answer = '0x1626ba7e'
    expect(await signIn(contract)).toMatchObject({ status: 200 })
  })

  test('a contract at the same address of another chain signs nobody in, and is not asked', async () => {
    const contract = await known({
      address: `0x${'c1'.repeat(20)}`,
      signMessage: async () => `0x${'12'.repeat(200)}` as const,
    })
    node.answer = '0x1626ba7e'
    const by = async (chainId: number) => {
      const message = await challenge({ chainId })
      const signature = await contract.signMessage()
      return ask('/v1/auth/siwe', { address: contract.address, message, signature })
    }
    const before = node.calls
    expect(await by(42431)).toMatchObject({ status: 401 })
    expect(node.calls).toBe(before)
    expect(await by(4217)).toMatchObject({ status: 200 })
  })

  test('a node that says nothing is waited for two seconds', async () => {
    const other = { ...plain, signMessage: async () => `0x${'12'.repeat(65)}` as const }
    node.answer = undefined
    expect(await signIn(other)).toMatchObject({ status: 502, code: 'upstream_error' })
    node.answer = null
  })

  test('one signature makes an access key and signs in, where its witness is the message', async () => {
    const account = Account.fromSecp256k1(generatePrivateKey())
    await known(account)
    const message = await challenge()
    const authorize = async (witness: Hex) => {
      const authorization = KeyAuthorization.from({
        address: plain.address,
        chainId: 4217n,
        expiry: 1_900_000_000,
        type: 'secp256k1',
        witness,
      })
      const signature = await account.sign({ hash: KeyAuthorization.getSignPayload(authorization) })
      const keyAuthorization = KeyAuthorization.serialize(authorization)
      return ask('/v1/auth/siwe', {
        address: account.address,
        message,
        signature,
        keyAuthorization,
        returnToken: true,
      })
    }
    expect(await authorize(hashMessage('another message'))).toMatchObject({ status: 401 })
    expect(await authorize(hashMessage(message))).toMatchObject({ status: 200 })
  })

  test('wallets that verify whole messages can, where the challenge names their account', async () => {
    const message = await challenge({
      address: plain.address,
      chainId: 4217,
      resources: ['https://example.com/terms'],
    })
    const signature = await plain.signMessage({ message })
    const client = createPublicClient({ transport: custom({ request: async () => '0x' }) })
    const asked = { message, signature, address: plain.address, domain: 'data.example.com' }
    expect(await verifySiweMessage(client, asked)).toBe(true)
    const another = { address: defaultsAddress, message, signature }
    expect(await ask('/v1/auth/siwe', another)).toMatchObject({ status: 400, code: 'body_invalid' })
    expect(await ask('/v1/auth/siwe', { ...asked, returnToken: undefined, domain: undefined })).toMatchObject(
      { status: 200 },
    )
  })
})

const defaultsAddress = `0x${'d0'.repeat(20)}`

describe('messages that open nothing (API-03)', () => {
  const changed: Readonly<Record<string, (message: string) => string>> = {
    'another domain': (message) => message.replace('data.example.com wants', 'evil.example wants'),
    'another uri': (message) => message.replace(`URI: ${origin}`, 'URI: https://evil.example'),
    'another chain': (message) => message.replace('Chain ID: 0', 'Chain ID: 1'),
    'a foreign nonce': (message) => message.replace(/Nonce: \w+/, `Nonce: ${'a'.repeat(56)}`),
    'a nonce of another message': (message) =>
      message.replace(/Nonce: (\w)/, (_, first) => `Nonce: ${first === 'a' ? 'b' : 'a'}`),
    'no nonce': (message) => message.replace(/Nonce: \w+\n/, ''),
    'another statement': (message) => message.replace('moves nothing', 'moves everything'),
    'another account': (message) => message.replace(/0x0{40}/, plain.address),
    'another time': (message) => message.replace(/Expiration Time: 2/, 'Expiration Time: 3'),
    'a beginning': (message) =>
      message.replace(/\n(Issued At: .*)\n/, '\n$1\nNot Before: 2100-01-01T00:00:00Z\n'),
    'a field twice': (message) => message.replace(/(Chain ID: 0\n)/, '$1$1'),
    'a line more': (message) => `${message}\n`,
    'a request id': (message) => `${message}\nRequest ID: 1`,
  }
  test.each(Object.keys(changed))('%s', async (name) => {
    const message = changed[name]?.(await challenge()) ?? ''
    const signature = await plain.signMessage({ message })
    expect(await ask('/v1/auth/siwe', { address: plain.address, message, signature })).toMatchObject({
      status: 400,
      code: 'body_invalid',
      cookie: null,
    })
  })

  test('one that is older than ten minutes, or made by a program whose clock is that wrong', async () => {
    wrongClock.ms = -10 * 60_000
    const message = await challenge()
    wrongClock.ms = 0
    const signature = await plain.signMessage({ message })
    const proof = { address: plain.address, message, signature }
    expect(await ask('/v1/auth/siwe', proof)).toMatchObject({ status: 400, code: 'body_invalid' })
  })

  test('one that another account signed, or nobody', async () => {
    const other = privateKeyToAccount(generatePrivateKey())
    const message = await challenge()
    for (const signature of [await other.signMessage({ message }), `0x${'00'.repeat(65)}`, '0x12'])
      expect(await ask('/v1/auth/siwe', { address: plain.address, message, signature })).toMatchObject({
        status: 401,
        code: 'unauthorized',
      })
  })

  test('one that was used: of a hundred at once exactly one opens a session', async () => {
    const message = await challenge()
    const proof = { address: plain.address, message, signature: await plain.signMessage({ message }) }
    const told = await Promise.all(Array.from({ length: 100 }, () => ask('/v1/auth/siwe', proof)))
    const statuses = Map.groupBy(told, ({ status, code }) => `${status} ${code}`)
    expect([...statuses].map(([name, { length }]) => [name, length]).sort()).toEqual([
      ['200 undefined', 1],
      ['409 nonce_used', 99],
    ])
  })

  test('one for another site of the same installation', async () => {
    const other = await serve({ publicUrl: new URL('https://other.example') })
    const message = await challenge({}, other)
    const proof = { address: plain.address, message, signature: await plain.signMessage({ message }) }
    expect(await ask('/v1/auth/siwe', proof)).toMatchObject({ status: 400 })
  })
})

describe('who may sign up', () => {
  const invite = (account: Hex | null) =>
    insertInvitation(app, {
      orgId: defaults.orgId,
      email: 'a@example.com',
      role: 'member',
      invitedBy: defaults.userId,
      address: account && address(account),
    })

  test('a stranger may not, and leaves no trace', async () => {
    const stranger = privateKeyToAccount(generatePrivateKey())
    expect(await signIn(stranger)).toMatchObject({ status: 403, code: 'forbidden' })
    expect(await signIn(stranger, { invitationId: 'inv_none' })).toMatchObject({ status: 403 })
    const { rows } = await postgres.pool.query('SELECT FROM app.users WHERE address = $1', [
      Buffer.from(stranger.address.slice(2), 'hex'),
    ])
    expect(rows).toEqual([])
  })

  test('who holds an invitation joins by it; it lets one person in', async () => {
    const { id } = await invite(null)
    const [first, second] = [0, 1].map(() => privateKeyToAccount(generatePrivateKey()))
    if (!first || !second) throw new Error('two wallets')
    const told = await Promise.all([first, second].map((wallet) => signIn(wallet, { invitationId: id })))
    expect(told.map(({ status }) => status).sort()).toEqual([200, 403])
    const members = (await listMembers(app, defaults.orgId)).map((member) => member.address)
    const joined = [first, second].filter(({ address: of }) => members.includes(address(of)))
    expect(joined).toHaveLength(1)
  })

  test('an invitation for another account lets nobody in; one’s own does, and waits to be accepted', async () => {
    const wallet = privateKeyToAccount(generatePrivateKey())
    const { id: others } = await invite(plain.address)
    expect(await signIn(wallet, { invitationId: others })).toMatchObject({ status: 403 })
    const { id: own } = await invite(wallet.address)
    expect(await signIn(wallet)).toMatchObject({ status: 200 })
    expect(await findInvitation(app, own)).not.toBeNull()
  })

  test('everybody may where ACCESS_FILE says so', async () => {
    const open = await serve({ signUp: 'open' })
    const wallet = privateKeyToAccount(generatePrivateKey())
    const message = await challenge({}, open)
    const signature = await wallet.signMessage({ message })
    const proof = { address: wallet.address, message, signature }
    expect((await ask('/v1/auth/siwe', proof, {}, open)).status).toBe(200)
  })
})

test('without PUBLIC_URL people sign in at the machine itself, and nowhere else', async () => {
  const local = await serve({ publicUrl: null })
  const message = await challenge({}, local)
  expect(message).toMatch(new RegExp(`^127.0.0.1:${local.port} wants you to sign in`))
  const signature = await plain.signMessage({ message })
  const proof = { address: plain.address, message, signature }
  const { status, cookie } = await ask('/v1/auth/siwe', proof, { origin: local.origin }, local)
  expect(status).toBe(200)
  expect(cookie).not.toContain('Secure')
  const elsewhere = await exchange(
    local.port,
    'POST /v1/auth/siwe/challenge HTTP/1.1\r\nHost: data.example.com\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}',
  )
  expect(elsewhere.status).toBe(403)
  expect(elsewhere.body).toContain('PUBLIC_URL')
})
