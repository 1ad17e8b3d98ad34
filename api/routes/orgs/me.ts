/** /v1/me, and the scopes that keys can have. */

import { endpoint } from '#http/endpoint.ts'
import { ApiError } from '#http/errors.ts'
import { management, openToAll } from '#http/request/access.ts'
import * as s from '#http/schema.ts'
import { findUser, type User } from '#rows/access/users.ts'
import { scopes } from '../../access/scopes.ts'
import { type AccountServices, personOf } from './accounts.ts'
import { iso } from './shapes.ts'

export const readMeEndpoint = endpoint({
  path: '/v1/me',
  summary: 'The person who asks.',
  chain: 'none',
  access: management,
  errors: ['user_not_found', 'rate_limit_exceeded'],
  response: s.named('Person', {
    id: s.text(),
    address: s.optional(s.address),
    email: s.optional(s.text()),
    createdAt: s.timestamp,
    updatedAt: s.timestamp,
  }),
  read: async ({ caller }, { accounts }: AccountServices) => {
    const user = await findUser(accounts.app, personOf(caller))
    if (!user) throw new ApiError('user_not_found')
    return user
  },
  present: ({ id, address, email, createdAt, updatedAt }: User) => ({
    id,
    ...(address !== null && { address }),
    ...(email !== null && { email }),
    createdAt: iso(createdAt),
    updatedAt: iso(updatedAt),
  }),
  cache: 'none',
})

export const listScopesEndpoint = endpoint({
  path: '/v1/scopes',
  summary: 'Scopes of API keys.',
  chain: 'none',
  access: openToAll,
  response: s.object({
    data: s.array(
      s.object({
        scope: s.text(),
        description: s.text(),
        selfServe: s.boolean({ description: 'People give it to their keys themselves.' }),
      }),
    ),
  }),
  read: (_call, { accounts }: AccountServices) =>
    scopes.map((one) => ({ ...one, selfServe: accounts.issuableScopes.includes(one.scope) })),
  present: (data) => ({ data }),
  cache: 'none',
})
