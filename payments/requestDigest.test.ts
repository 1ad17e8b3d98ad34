import { expect, test } from 'vitest'
import { type PaidRequest, requestDigest } from './requestDigest.ts'

const request: PaidRequest = { method: 'GET', url: '/v1/transfers?limit=5&chainId=1', body: undefined }
const digest = (more: Partial<PaidRequest> = {}, realm = 'a.example') =>
  requestDigest(realm, { ...request, ...more }).toString('hex')

test('everything that is asked is bound', () => {
  const others = [
    digest({ method: 'HEAD' }),
    digest({ url: '/v1/transfer?slimit=5&chainId=1' }),
    digest({ url: '/v1/transfers?limit=6&chainId=1' }),
    digest({ url: '/v1/transfers?chainId=1&limit=5' }),
    digest({ url: '/v1/transfers?limit=5&chainId=1&x=' }),
    digest({ body: {} }),
    digest({ body: { a: 1 } }),
    digest({ body: { a: 2 } }),
    digest({}, 'b.example'),
  ]
  expect(new Set([digest(), ...others]).size).toBe(others.length + 1)
})

test('an API key in the address is not', () => {
  expect(digest({ url: '/v1/transfers?limit=5&key=svc_1&chainId=1' })).toBe(digest())
})
