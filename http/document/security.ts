/** How callers say who they are, in the words of OpenAPI. */
import type { Endpoint } from '../endpoint.ts'

type Json = Readonly<Record<string, unknown>>

const securitySchemes: Json = {
  apiKey: { type: 'apiKey', in: 'header', name: 'svc-api-key', description: 'Recommended.' },
  bearer: { type: 'http', scheme: 'bearer', description: 'An API key or a session token.' },
  queryKey: { type: 'apiKey', in: 'query', name: 'key', description: 'Discouraged: URLs get logged.' },
  session: { type: 'apiKey', in: 'cookie', name: 'accounts_auth', description: 'Set by signing in.' },
}

/** The schemes that any of these operations takes, by name. */
export function schemesOf(endpoints: readonly Endpoint<never>[]): Json {
  const used = new Set(endpoints.flatMap((endpoint) => security(endpoint).flatMap(Object.keys)))
  return Object.fromEntries(Object.entries(securitySchemes).filter(([name]) => used.has(name)))
}

/** The credentials that an operation takes to know its caller: one of these, as OpenAPI writes them. */
export function security({ access }: Endpoint<never>): readonly Json[] {
  const keys = [{ apiKey: [] }, { bearer: [] }, { queryKey: [] }]
  const session = { session: [] }
  switch (access.who) {
    case 'session':
      return [session, { bearer: [] }]
    case 'operator':
      return keys
    case 'key':
      return [...keys, session]
    case 'anyone':
      return access.scope === null || access.ignoresCredentials ? [{}] : [{}, ...keys, session]
  }
}
