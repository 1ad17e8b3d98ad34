/** The protocol's own clients behind one face, one for each revision that the door speaks. */
import {
  Client as NewClient,
  StreamableHTTPClientTransport as NewTransport,
} from '@modelcontextprotocol/client'
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { tempo as payByTempo } from 'mppx/client'
import { McpClient } from 'mppx/mcp/client'
import { type Account, createClient, http } from 'viem'
import { tempo } from 'viem/chains'

export interface PayingChain {
  readonly rpcUrl: string
  readonly chainId: number
}

type Members = Readonly<Record<string, unknown>>

interface ListedTool {
  readonly name: string
  readonly description?: string | undefined
  readonly annotations?: object | undefined
  readonly inputSchema: { readonly required?: readonly string[] | undefined }
  readonly outputSchema?: Members | undefined
}

export interface Agent {
  /** A tool's answer, as the client read it. */
  readonly call: (name: string, given: Members, meta?: Members) => Promise<Members>
  /** From now on it pays what it is asked for, by the payment library's client. */
  readonly payAs: (account: Account, chain: PayingChain) => void
  readonly tools: () => Promise<readonly ListedTool[]>
  readonly instructions: () => string | undefined
  /** The revision that was agreed on. */
  readonly spoken: () => string | undefined
  readonly close: () => Promise<void>
}

function methodsOf(account: Account, { rpcUrl, chainId }: PayingChain) {
  const client = createClient({ account, chain: { ...tempo, id: chainId }, transport: http(rpcUrl) })
  return [payByTempo({ account, getClient: () => client })]
}

const identity = { name: 'test', version: '1' }

async function connectNew(address: string, send: typeof fetch = fetch): Promise<Agent> {
  const client = new NewClient(identity, { versionNegotiation: { mode: { pin: '2026-07-28' } } })
  await client.connect(new NewTransport(new URL('/mcp', address), { fetch: send }))
  return {
    call: (name, given, meta) => client.callTool({ name, arguments: given, ...(meta && { _meta: meta }) }),
    payAs: (account, chain) =>
      // Its types are those of SDK 1, whose clients and these are called alike.
      void Reflect.apply(McpClient.wrap, undefined, [client, { methods: methodsOf(account, chain) }]),
    tools: async () => (await client.listTools()).tools,
    instructions: () => client.getInstructions(),
    spoken: () => client.getNegotiatedProtocolVersion(),
    close: () => client.close(),
  }
}

async function connectOld(address: string, send: typeof fetch = fetch): Promise<Agent> {
  const client = new OldClient(identity)
  const transport = new OldTransport(new URL('/mcp', address), { fetch: send })
  await client.connect(transport)
  return {
    call: (name, given, meta) => client.callTool({ name, arguments: given, ...(meta && { _meta: meta }) }),
    payAs: (account, chain) => void McpClient.wrap(client, { methods: methodsOf(account, chain) }),
    tools: async () => (await client.listTools()).tools,
    instructions: () => client.getInstructions(),
    spoken: () => transport.protocolVersion,
    close: () => client.close(),
  }
}

export const agents = [
  { revision: '2026-07-28', connect: connectNew },
  { revision: '2025-11-25', connect: connectOld },
]
