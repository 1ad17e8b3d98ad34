/** Scopes of API keys: what each allows, and which a person may give to their own keys. */

export interface Scope {
  readonly scope: string
  readonly description: string
  /** People give it to keys themselves, unless the operator says otherwise. */
  readonly selfServe: boolean
}

export const scopes = [
  { scope: 'data:read', description: 'Read chain data.', selfServe: true },
  { scope: 'indexer:query', description: 'Run SQL and live queries.', selfServe: true },
  { scope: 'rpc-relay:read', description: 'Ask the node by JSON-RPC.', selfServe: true },
  {
    scope: 'rpc-relay:sponsor',
    description: 'Have transactions paid for. Nothing uses it here.',
    selfServe: false,
  },
  { scope: 'webhooks:read', description: 'Read webhook subscriptions and deliveries.', selfServe: true },
  {
    scope: 'webhooks:write',
    description: 'Create, change and remove webhook subscriptions.',
    selfServe: true,
  },
] as const satisfies readonly Scope[]

/** All rights, also those of the operator; given on the command line only. */
export const everyScope = '*'

export const scopeNames = scopes.map(({ scope }) => scope)

export const selfServeScopes: readonly string[] = scopes
  .filter(({ selfServe }) => selfServe)
  .map(({ scope }) => scope)
