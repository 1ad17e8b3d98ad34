import { expect, test } from 'vitest'
import { anonymous, partyOf } from '#http/request/access.ts'
import { KeyCaller, operator, person, stranger } from './callers.ts'

test('what is scarce goes round network addresses, keys and people; the operator has no share to keep to', () => {
  const keyOf = (id: string) =>
    new KeyCaller({
      id,
      orgId: 'org_1',
      projectId: 'prj_1',
      name: null,
      environment: 'production',
      scopes: [],
      tokenLast4: '',
      createdBy: null,
      createdAt: new Date(0),
      expiresAt: null,
      allowedIps: null,
      chains: null,
      origins: null,
      quota: null,
      addressQuota: null,
    })
  const callers = [
    stranger('203.0.113.1', false),
    stranger('203.0.113.2', true),
    stranger('2001:db8::1', false),
    keyOf('key_1'),
    keyOf('key_2'),
    person('usr_1'),
  ]
  expect(new Set(callers.map(partyOf)).size).toBe(callers.length)
  expect(partyOf(stranger('2001:db8:0:1::7', false))).toBe(partyOf(stranger('2001:db8:0:2::9', false)))
  const everybody = partyOf(anonymous)
  expect(partyOf(operator({ orgId: 'org_1', projectId: 'prj_1', userId: 'usr_1' }))).toBe(everybody)
  expect(callers.map(partyOf)).not.toContain(everybody)
})
