/**
 * The sellers that come with the program, on loopback beside the dev chain: each asks for its money
 * by a challenge of its own, and works once it is paid. A call by x402 is paid on the dev chain too, in
 * a token of its own. They listen on a free port, so the source of the catalog that lists them may
 * move its services, as no other may.
 */
import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { Errors } from 'mppx'
import type { AuthorizationPayload } from 'mppx/evm'
import { evm, Mppx, tempo } from 'mppx/server'
import { type Account, createClient, type Transport } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { tempo as tempoMainnet } from 'viem/chains'
import { messageOf } from '#errors.ts'
import { managementIn } from '#payments/methods/session/management.ts'
import { isRecord, PATH_USD } from '#primitives.ts'
import type { DemoPrice, Seller, SellerAnswer, SellerEndpoint } from './seller.ts'
import { sellers } from './sellers/index.ts'

/** A token with EIP-3009 on the chain, which x402 pays in, and its EIP-712 domain. */
export interface AuthorizedToken {
  readonly address: `0x${string}`
  readonly name: string
  readonly version: string
  readonly decimals: number
  /** Awaits the block. @returns the transaction's hash @throws where the chain refuses it */
  settle(authorization: AuthorizationPayload): Promise<string>
}

export interface DemoSellersOptions {
  /** Chain they are paid on. */
  readonly chainId: number
  readonly transport: Transport
  readonly dollar: AuthorizedToken
  /** Pays the fees of channels. */
  readonly feePayer: Account
  /** Told of each piece of work that is done; what is asked for a price alone does none. */
  readonly onWork?: (sellerId: string, endpoint: SellerEndpoint) => void
}

export interface DemoSellers {
  readonly origin: string
  close(): Promise<void>
}

/** Larger inputs are no calls of a demo. */
const BODY_BYTES_MAX = 256 * 1_024

/** Listens on a free port of loopback. */
export async function startDemoSellers(options: DemoSellersOptions): Promise<DemoSellers> {
  const doors = new Map(sellers.map((seller) => [seller.id, doorOf(seller, options)]))
  const server = createServer((request, response) => {
    answer(request, doors, options.onWork).then(
      (answered) => write(answered, response),
      () => write(Response.json({ error: 'failed' }, { status: 500 }), response),
    )
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  return { origin: `http://127.0.0.1:${port}`, close: () => closed(server) }
}

const closed = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.closeAllConnections()
    server.close(() => resolve())
  })

interface Door {
  readonly seller: Seller
  readonly ask: ReturnType<typeof moneyOf>
}

const doorOf = (seller: Seller, options: DemoSellersOptions): Door => ({
  seller,
  ask: moneyOf(seller, options),
})

/** Asks for money, or takes it; every start has keys of its own, so older challenges are void. */
function moneyOf({ id }: Seller, { chainId, transport, dollar, feePayer }: DemoSellersOptions) {
  const account = { currency: PATH_USD, recipient: recipientOf(id), chainId, decimals: 6 } as const
  const client = createClient({ chain: { ...tempoMainnet, id: chainId }, transport })
  const chain = { getClient: () => client }
  // Closes channels for the recipient, whose key nobody has.
  const operator = privateKeyToAccount(generatePrivateKey())
  const mppx = Mppx.create({
    realm: `${id}.localhost`,
    secretKey: randomBytes(32).toString('hex'),
    methods: [
      tempo.charge({ ...account, ...chain }),
      tempo.session({
        ...{ ...account, ...chain, account: operator, operator: operator.address, feePayer },
        ...{ unitType: 'call', suggestedDeposit: '1' },
      }),
      evm.charge({
        ...{ currency: dollar.address, chainId, decimals: dollar.decimals, authorization: dollar },
        recipient: recipientOf(id),
        settle: ({ payload }) => settled(dollar, payload),
      }),
    ],
  })
  return ({ kind, amount }: DemoPrice) => {
    const charge = ['tempo/charge', { amount, chainId }] as const
    if (kind === 'x402') return mppx.compose(['evm/charge', { amount }], charge)
    if (kind === 'session')
      return mppx.compose(['tempo/session', { amount, unitType: 'call', chainId }], charge)
    return mppx.compose(charge)
  }
}

/** @throws VerificationFailedError, which asks for money again, where the chain refuses it */
async function settled(dollar: AuthorizedToken, payload: AuthorizationPayload) {
  const reference = await dollar.settle(payload).catch((cause: unknown) => {
    throw new Errors.VerificationFailedError({ reason: messageOf(cause) })
  })
  return { reference }
}

/** An address of each seller's own, of its id. */
const recipientOf = (id: string): `0x${string}` =>
  `0x${Buffer.from(id.padEnd(20, '-')).subarray(0, 20).toString('hex')}`

async function answer(
  message: IncomingMessage,
  doors: ReadonlyMap<string, Door>,
  onWork: DemoSellersOptions['onWork'],
): Promise<Response> {
  const body = await readBody(message)
  if (body === null) return Response.json({ error: 'the body is too large' }, { status: 413 })
  const url = new URL(message.url ?? '/', 'http://127.0.0.1')
  const [, id = '', ...rest] = url.pathname.split('/')
  const door = doors.get(id)
  const found = door && findEndpoint(door.seller, message.method ?? '', rest.map(decodeURIComponent))
  if (!door || !found) return Response.json({ error: 'there is nothing here' }, { status: 404 })
  const input = inputOf(message, url, body)
  const { endpoint, parameters } = found
  const problem = input === null ? 'the body is no JSON object' : (endpoint.problemOf?.(input) ?? null)
  const manages = isManagement(message, body)
  if (input === null || (problem !== null && !manages))
    return Response.json({ error: problem }, { status: 400 })
  const work = () => {
    if (manages) return new Response(null, { status: 204 })
    onWork?.(id, endpoint)
    return responseOf(endpoint.answer(input, parameters))
  }
  if (endpoint.price === null) return work()
  const price = typeof endpoint.price === 'function' ? endpoint.price(input) : endpoint.price
  const taken = await door.ask(price)(requestOf(message, url, body))
  return taken.status === 402 ? taken.challenge : taken.withReceipt(work())
}

/** A payer's request to its channel: it has no input, and no work is done for it. */
const isManagement = ({ headers, method = 'GET', url = '/' }: IncomingMessage, { length }: Buffer): boolean =>
  managementIn({ headers, method, url, hasBody: length > 0 }) !== null

function findEndpoint({ endpoints }: Seller, method: string, segments: readonly string[]) {
  for (const endpoint of endpoints) {
    const parameters = endpoint.method === method ? parametersIn(endpoint, segments) : null
    if (parameters) return { endpoint, parameters }
  }
  return undefined
}

function parametersIn(
  { path }: SellerEndpoint,
  segments: readonly string[],
): Readonly<Record<string, string>> | null {
  const parts = path.slice(1).split('/')
  if (parts.length !== segments.length) return null
  const fits = parts.every((part, index) => part.startsWith(':') || part === segments[index])
  if (!fits) return null
  return Object.fromEntries(
    parts.flatMap((part, index) => (part.startsWith(':') ? [[part.slice(1), segments[index] ?? '']] : [])),
  )
}

function inputOf(message: IncomingMessage, url: URL, body: Buffer): Readonly<Record<string, unknown>> | null {
  if (message.method === 'GET') return Object.fromEntries(url.searchParams)
  try {
    const input: unknown = JSON.parse(`${body}` || '{}')
    return isRecord(input) ? input : null
  } catch {
    return null
  }
}

async function readBody(message: IncomingMessage): Promise<Buffer | null> {
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of message) {
    bytes += piece.length
    if (bytes > BODY_BYTES_MAX) return null
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}

function requestOf({ method = 'GET', headers, url: path }: IncomingMessage, url: URL, body: Buffer): Request {
  const given = new Headers()
  for (const [name, value] of Object.entries(headers))
    for (const one of [value ?? []].flat()) given.append(name, one)
  const address = new URL(path ?? '/', `http://${headers.host ?? url.host}`)
  return new Request(address, {
    method,
    headers: given,
    ...(method !== 'GET' && { body: new Uint8Array(body) }),
  })
}

const responseOf = ({ status, body }: SellerAnswer): Response => Response.json(body, { status })

async function write(answered: Response, response: ServerResponse): Promise<void> {
  const body = Buffer.from(await answered.arrayBuffer())
  response.writeHead(answered.status, Object.fromEntries(answered.headers)).end(body)
}
