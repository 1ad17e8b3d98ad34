import { createHmac } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { describe, expect, it } from 'vitest'
import { newSecret, signatureHeaders, standardKey, verifySignature } from './signature.ts'

const signed = { id: 'evt_1', timestampSeconds: 1_800_000_000, body: '{"a":1}' }

describe('a signature', () => {
  it('is that of Standard Webhooks 1.0.0: base64 of HMAC-SHA256 over id, time and bytes', () => {
    const secret = newSecret()
    const headers = signatureHeaders(signed, [secret])
    const digest = createHmac('sha256', Buffer.from(secret.slice(6), 'base64'))
      .update('evt_1.1800000000.{"a":1}')
      .digest('base64')
    expect(headers).toMatchObject({
      'webhook-id': 'evt_1',
      'webhook-timestamp': '1800000000',
      'webhook-signature': `v1,${digest}`,
    })
    expect(standardKey(secret)).toHaveLength(32)
  })

  it('is accepted by the package that Standard Webhooks gives receivers, for these bytes alone', () => {
    const [newer, older] = [newSecret(), newSecret()]
    const now = { ...signed, timestampSeconds: Math.floor(Date.now() / 1_000) }
    const headers = signatureHeaders(now, [newer, older])
    for (const secret of [newer, older])
      expect(new Webhook(secret).verify(now.body, headers)).toEqual({ a: 1 })
    expect(() => new Webhook(newSecret()).verify(now.body, headers)).toThrow('No matching signature')
    expect(() => new Webhook(newer).verify('{"a":2}', headers)).toThrow('No matching signature')
  })

  it('is keyed with the whole text of the secret in svc-signature', () => {
    const secret = 'whsec_AAAA'
    const digest = createHmac('sha256', secret).update('1800000000.{"a":1}').digest('hex')
    expect(signatureHeaders(signed, [secret])['svc-signature']).toBe(`t=1800000000,v1=${digest}`)
  })

  it('is made by both secrets while one is exchanged, and either verifies', () => {
    const [newer, older, other] = [newSecret(), newSecret(), newSecret()]
    const header = signatureHeaders(signed, [newer, older])['svc-signature'] ?? ''
    const verified = [newer, older, other].map((secret) =>
      verifySignature(header, signed.body, secret, signed.timestampSeconds),
    )
    expect(verified).toEqual([true, true, false])
    expect(signatureHeaders(signed, [newer, older])['webhook-signature']?.split(' ')).toHaveLength(2)
  })

  it('holds for 300 seconds either way and for these bytes alone', () => {
    const secret = newSecret()
    const header = signatureHeaders(signed, [secret])['svc-signature'] ?? ''
    const at = (seconds: number, body = signed.body) =>
      verifySignature(header, body, secret, signed.timestampSeconds + seconds)
    expect([at(299), at(-299), at(301), at(-301)]).toEqual([true, true, false, false])
    expect(at(0, '{ "a": 1 }')).toBe(false)
    expect(verifySignature('nonsense', signed.body, secret, signed.timestampSeconds)).toBe(false)
  })
})
