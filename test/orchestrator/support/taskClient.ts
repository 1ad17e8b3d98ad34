/** The client that the tasks extension publishes, and messages of its revision as they go over HTTP. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { createTaskSessionFromClient } from '@modelcontextprotocol/ext-tasks/client'
import { Challenge, Credential } from 'mppx'
import { itemsOf, membersOf } from '#primitives.ts'
import { payer } from '../../payments/support/shop.ts'

type Members = Readonly<Record<string, unknown>>
type Headers = Readonly<Record<string, string>>

const VERSION = '2026-07-28'
const clientInfo = { name: 'test', version: '1' }
export const TASKS = 'io.modelcontextprotocol/tasks'
export const declaring = { extensions: { [TASKS]: {} } }

interface Answered {
  readonly status: number
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown }
}

/** One message; `_meta` of params stands beside what the revision wants there. */
export async function ask(
  address: string,
  method: string,
  params: Members,
  {
    capabilities = declaring,
    headers = {},
  }: { readonly capabilities?: object; readonly headers?: Headers } = {},
): Promise<Answered> {
  const name = params['name'] ?? params['taskId']
  const _meta = {
    ...membersOf(params['_meta']),
    'io.modelcontextprotocol/protocolVersion': VERSION,
    'io.modelcontextprotocol/clientCapabilities': capabilities,
  }
  const sent = new Headers({
    ...{ 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    ...{ 'mcp-protocol-version': VERSION, 'mcp-method': method },
    ...(typeof name === 'string' && { 'mcp-name': name }),
  })
  // The client writes their names as it likes.
  for (const [key, value] of Object.entries(headers)) sent.set(key, value)
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } })
  const response = await fetch(`${address}/mcp`, { method: 'POST', headers: sent, body })
  const { jsonrpc: _, id: __, ...told } = JSON.parse(await response.text())
  return { status: response.status, ...told }
}

/**
 * A session of the extension's own client.
 * @param endpointId by which it knows its tasks again
 */
export async function connectTasks(address: string, endpointId = 'here') {
  const client = new Client(clientInfo, { versionNegotiation: { mode: { pin: VERSION } } })
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', address)))
  const session = createTaskSessionFromClient(client, {
    endpointId,
    v2RequestFraming: { protocolVersion: VERSION, clientInfo, clientCapabilities: {} },
    rawDispatch: async (request, options) => {
      const { method, params } = membersOf(request)
      const { result, error } = await ask(address, `${method}`, membersOf(params), {
        headers: options?.context?.headers ?? {},
      })
      if (error) return { kind: 'error', error: jsonOf(error) }
      return { kind: 'result', result: jsonOf(membersOf(result)) }
    },
  })
  const close = async () => {
    await session.close()
    await client.close()
  }
  return { session, client, close }
}

/** An account's credential for the first of the challenges that an answer or an error has. */
export async function credentialFor(
  required: unknown,
  account: Parameters<typeof payer>[0],
  chain: Parameters<typeof payer>[1],
): Promise<string> {
  const [challenge] = itemsOf(membersOf(required)['challenges'])
  const offered: string = Reflect.apply(Challenge.serialize, undefined, [challenge])
  const asked = new Response(null, { status: 402, headers: { 'www-authenticate': offered } })
  return payer(account, chain).createCredential(asked)
}

/** As it stands in `_meta`. */
export const credentialMeta = (text: string) => ({
  'org.paymentauth/credential': jsonOf(Credential.deserialize(text)),
})

/** The same value, of which the compiler knows that it is JSON. */
export const jsonOf = (value: object) => JSON.parse(JSON.stringify(value))
