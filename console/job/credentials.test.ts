// Goal: what a wallet is asked to sign or send, and the payment that is made of it, are as the
// protocols' own libraries make and read them.
// Method: viem decodes and recovers; mppx and x402 read the headers.
import { decodePaymentSignatureHeader } from '@x402/core/http'
import { Credential } from 'mppx'
import { decodeFunctionData, encodeEventTopics, keccak256, recoverTypedDataAddress, toHex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { Abis } from 'viem/tempo'
import { expect, test } from 'vitest'
import {
  authorizationOf,
  hashCredential,
  signedCredential,
  transferCall,
  transferLogs,
  typedDataOf,
} from './credentials.ts'
import type { AuthorizationOffer, TransferOffer } from './offers.ts'

const token = '0x20C0000000000000000000000000000000000000'
const recipient = '0x00000000000000000000000000000000000000AB'
const account = privateKeyToAccount(generatePrivateKey())
const asked = { token, recipient, units: '10500' }
const request = Buffer.from('{"amount":"10500"}').toString('base64url')
const challenge = { id: 'an-id', realm: 'here', method: 'tempo', intent: 'charge', request }
const pushed: TransferOffer = { kind: 'transfer', chainId: 1337, ...asked, challenge }
const signed: AuthorizationOffer = {
  ...{
    kind: 'authorization',
    chainId: 8453,
    ...asked,
    accepted: { scheme: 'exact' },
    resource: { url: 'x' },
  },
  ...{ name: 'USD Coin', version: '2', validSeconds: 300 },
}
/** As the specification lays the bytes out. */
const memo = [
  keccak256(toHex('mpp')).slice(0, 10),
  '01',
  keccak256(toHex('here')).slice(2, 22),
  '0'.repeat(20),
  keccak256(toHex('an-id')).slice(2, 16),
].join('')

test('a transfer moves what is asked, with the memo of its challenge, and is found by it', () => {
  const { to, data } = transferCall(pushed)
  expect(to).toBe(token)
  expect(decodeFunctionData({ abi: Abis.tip20, data: data as `0x${string}` })).toEqual({
    functionName: 'transferWithMemo',
    args: [recipient, 10_500n, memo],
  })
  const args = { from: account.address, to: recipient, memo: memo as `0x${string}` } as const
  expect(transferLogs(pushed, account.address)).toEqual({
    address: token,
    topics: encodeEventTopics({ abi: Abis.tip20, eventName: 'TransferWithMemo', args }),
  })
})

test('the hash of a transfer is presented with its challenge as it came', () => {
  const [header, value] = hashCredential(pushed, account.address, '0x12')
  expect(header).toBe('authorization')
  expect(Credential.deserialize(value)).toEqual({
    challenge: { ...challenge, request: { amount: '10500' } },
    payload: { type: 'hash', hash: '0x12' },
    source: `did:pkh:eip155:1337:${account.address}`,
  })
})

test('a signature is over the transfer that is asked, valid for as long as is asked', async () => {
  const nonce = `0x${'12'.repeat(32)}`
  const message = authorizationOf(signed, { from: account.address, nonce, nowSeconds: 1_000 })
  expect(message).toEqual({
    ...{ from: account.address, to: recipient, value: '10500', nonce },
    ...{ validAfter: '400', validBefore: '1300' },
  })
  const typedData = JSON.parse(JSON.stringify(typedDataOf(signed, message)))
  const signature = await account.signTypedData(typedData)
  expect(await recoverTypedDataAddress({ ...typedData, signature })).toBe(account.address)
  const [header, value] = signedCredential(signed, message, signature)
  expect(header).toBe('payment-signature')
  expect(decodePaymentSignatureHeader(value)).toEqual({
    ...{ x402Version: 2, resource: { url: 'x' }, accepted: { scheme: 'exact' } },
    payload: { signature, authorization: message },
  })
})
