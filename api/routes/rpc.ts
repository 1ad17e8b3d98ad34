/** POST /rpc/{chain} and /rpc: the chain's own JSON-RPC, over the pool of nodes and our stores. */

import { ApiError } from '#http/errors.ts'
import { rawEndpoint } from '#http/rawEndpoint.ts'
import type { AccessRule, Caller } from '#http/request/access.ts'
import * as s from '#http/schema.ts'
import { BATCH_CALLS_MAX, BODY_BYTES_MAX, isCall, type RpcMessage, readMessage } from '../rpc/message.ts'
import type { RpcDoor } from '../rpc/RpcDoor.ts'

export interface RpcServices {
  readonly rpc: ReadonlyMap<number, RpcDoor>
}

/** A quota of its own; whoever may read chain data may ask the node for it. */
const relayRead: AccessRule = {
  who: 'anyone',
  scope: 'rpc-relay:read',
  alsoScopes: ['data:read'],
  payable: false,
}

const id = s.union([s.text(), s.number(), s.nullable(s.text())])

const call = s.named('RpcRequest', {
  jsonrpc: s.literal('2.0'),
  id: s.optional(id),
  method: s.text({ examples: ['eth_blockNumber'] }),
  params: s.optional(s.array(s.json('A parameter of the method.'))),
})

const response = s.named('RpcResponse', {
  jsonrpc: s.literal('2.0'),
  id: s.optional(id),
  result: s.optional(s.json('Whatever the method answers.')),
  error: s.optional(
    s.object({
      code: s.integer(),
      message: s.text(),
      data: s.optional(s.json('What a contract reverted with, or more about the error.')),
    }),
  ),
})

const description =
  'Not part of the stable contract: best effort, it may change at short notice. Errors of a call are JSON-RPC errors under 200; what concerns the request is the error envelope with its status. Without a key `eth_*` only.'

function doorOf(rpc: RpcServices['rpc'], chainId: number): RpcDoor {
  const door = rpc.get(chainId)
  if (!door) throw new Error(`chain ${chainId} is served but has no JSON-RPC`)
  return door
}

const shared = {
  method: 'POST',
  tag: 'JSON-RPC',
  description,
  access: relayRead,
  body: s.union([call, s.array(call, { maxItems: BATCH_CALLS_MAX })]),
  bodyBytesMax: BODY_BYTES_MAX,
  readBody: readMessage,
  units: (
    { chainId, body }: { readonly chainId: number; readonly body: RpcMessage },
    { rpc }: RpcServices,
  ): number => doorOf(rpc, chainId).unitsOf(body),
  permit: (caller: Caller, { entries }: RpcMessage): void => {
    if (caller.kind !== 'anonymous') return
    if (entries.some((entry) => isCall(entry) && !entry.method.startsWith('eth_')))
      throw new ApiError('api_key_missing', 'Without an API key, `eth_*` methods only.')
  },
  produces: { 'application/json': s.union([response, s.array(response)]) },
  statuses: [200],
  errors: ['upstream_error', 'overloaded'],
} as const

async function answer(
  {
    chainId,
    caller,
    signal,
    body,
  }: { chainId: number; caller: Caller; signal: AbortSignal; body: RpcMessage },
  { rpc }: RpcServices,
) {
  const answered = await doorOf(rpc, chainId).answer(body, caller, signal)
  return {
    kind: 'bytes' as const,
    // Notifications alone: nothing is answered (JSON-RPC 2.0, section 4.1).
    status: answered ? 200 : 204,
    contentType: 'application/json; charset=utf-8',
    body: answered?.text ?? '',
    headers: answered ? { 'svc-source': answered.source } : {},
  }
}

export const postChainRpcEndpoint = rawEndpoint({
  ...shared,
  path: '/rpc/{chain}',
  summary: "The chain's JSON-RPC.",
  chain: 'path',
  answer,
})

export const postRpcEndpoint = rawEndpoint({
  ...shared,
  path: '/rpc',
  summary: 'JSON-RPC of the default chain.',
  chain: 'query',
  answer,
})
