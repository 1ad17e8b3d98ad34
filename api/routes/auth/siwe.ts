/** /v1/auth/siwe: signing in by a wallet (EIP-4361), and out. */

import { command, type Endpoint } from '#http/endpoint.ts'
import { rawEndpoint } from '#http/rawEndpoint.ts'
import { openToAll, signingIn } from '#http/request/access.ts'
import * as s from '#http/schema.ts'
import type { SignIn } from '../../access/SignIn.ts'

export interface AuthServices {
  readonly signIn: SignIn
}

const account = s.text({ pattern: '^0x[0-9a-fA-F]{40}$' })
/** The longest signature of Tempo has some 2,100 bytes; contracts may want more. */
const signature = s.text({
  ...s.pattern('^0x([0-9a-fA-F]{2})+$', '0x and pairs of hex characters'),
  maxLength: 8_194,
})

const challengeEndpoint = command({
  path: '/v1/auth/siwe/challenge',
  method: 'POST',
  summary: 'A message to sign in with (EIP-4361), good once and for ten minutes.',
  access: signingIn,
  errors: ['forbidden', 'rate_limit_exceeded'],
  body: s.object({
    address: s.optional(
      s.text({ pattern: '^0x[0-9a-fA-F]{40}$', description: 'Default: zero, for any account.' }),
    ),
    chainId: s.optional(s.integer({ minimum: 0, description: 'Default: 0, for any chain.' })),
    resources: s.optional(
      s.array(s.text({ maxLength: 2_048, ...s.pattern('^[!-~]+$', 'a URI') }), {
        maxItems: 10,
        description: 'URIs that the message names.',
      }),
    ),
  }),
  response: s.object({ message: s.text() }),
  run: ({ body, headers }, { signIn }: AuthServices) => signIn.challenge(headers, body),
  present: (message) => ({ message }),
})

const signInEndpoint = command({
  path: '/v1/auth/siwe',
  method: 'POST',
  summary: 'Sign in with a signed message: a session for a day.',
  description:
    'Sets the cookie `accounts_auth`; with `returnToken` the session comes in the body instead, to be sent as a bearer token.',
  access: signingIn,
  errors: [
    'forbidden',
    'unauthorized',
    'nonce_used',
    'organization_not_found',
    'limit_exceeded',
    'rate_limit_exceeded',
    'upstream_error',
  ],
  body: s.object({
    address: account,
    message: s.text({ maxLength: 32_768, description: 'As it was given out.' }),
    signature,
    keyAuthorization: s.optional(
      s.text({
        pattern: '^0x([0-9a-fA-F]{2})+$',
        maxLength: 8_194,
        description:
          'An access key’s authorization whose witness is the message’s hash (EIP-191); `signature` is then of it.',
      }),
    ),
    idToken: s.optional(s.text({ maxLength: 16_384, description: 'Taken and not used.' })),
    invitationId: s.optional(
      s.text({ maxLength: 64, description: 'An account that is not known yet joins by it.' }),
    ),
    returnToken: s.optional(s.boolean()),
  }),
  response: s.object({ token: s.optional(s.text({ pattern: '^svc_session_[0-9A-Za-z]{46}$' })) }),
  run: async ({ body, headers }, { signIn }: AuthServices) => {
    const { token } = await signIn.begin(headers, body)
    return { token: body.returnToken ? token : null, cookie: body.returnToken ? null : signIn.cookie(token) }
  },
  headers: ({ cookie }): Readonly<Record<string, string>> =>
    cookie === null ? {} : { 'set-cookie': cookie },
  present: ({ token }) => (token === null ? {} : { token }),
})

const signOutEndpoint = rawEndpoint({
  path: '/v1/auth/siwe/logout',
  method: 'POST',
  summary: 'Sign out: the session opens nothing within a second.',
  access: openToAll,
  errors: ['forbidden', 'upstream_error'],
  produces: {},
  statuses: [204],
  answer: async ({ headers }, { signIn }: AuthServices) => {
    await signIn.end(headers)
    return { kind: 'empty', headers: { 'set-cookie': signIn.cookie(null) } }
  },
})

export const authEndpoints: readonly Endpoint<AuthServices>[] = [
  challengeEndpoint,
  signInEndpoint,
  signOutEndpoint,
]
