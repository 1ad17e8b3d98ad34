/** A server that sells one read on a dev chain, and payers that are the library's own clients. */
import { randomBytes } from 'node:crypto'
import { Mppx, tempo as payByTempo } from 'mppx/client'
import { type Account, createClient, http, type Transport, toHex } from 'viem'
import { mnemonicToAccount } from 'viem/accounts'
import { readContract } from 'viem/actions'
import { tempo } from 'viem/chains'
import { Abis } from 'viem/tempo'
import { command, endpoint } from '#http/endpoint.ts'
import { ApiError } from '#http/errors.ts'
import { rawEndpoint } from '#http/rawEndpoint.ts'
import { type Access, anonymous, dataRead } from '#http/request/access.ts'
import * as s from '#http/schema.ts'
import type { EventStream } from '#http/stream/sse.ts'
import { askOf } from '#money/node.ts'
import {
  type ChargeOptions,
  type Sponsoring,
  TempoChargeMethod,
} from '#payments/methods/charge/TempoChargeMethod.ts'
import type { PaymentMethod } from '#payments/methods/PaymentMethod.ts'
import { Payments } from '#payments/Payments.ts'

import type { AppDatabase } from '#rows/database.ts'
import { type Clock, systemRuntime } from '#runtime/runtime.ts'
import { type Logger, silentLogger } from '#telemetry.ts'
import { startServer } from '../../api/support/toolkitServer.ts'
import { openToCallers, refusedPayments } from './refused.ts'

export const REALM = 'shop.example'
export const PATH_USD = '0x20c0000000000000000000000000000000000000'
export const ALPHA_USD = '0x20c0000000000000000000000000000000000001'
/** The price of a read, in either currency. */
export const PRICE = 500n

export interface ShopOptions {
  readonly app: AppDatabase
  readonly rpcUrl: string
  readonly chainId: number
  readonly recipient: `0x${string}`
  readonly key?: Uint8Array
  /** Default: payers pay their own fees. */
  readonly sponsoring?: Sponsoring
  readonly log?: Logger
  /** By which payments are held and streams end. Default: the system's. */
  readonly clock?: Clock
  /** In the place of charges alone. */
  readonly methods?: (charges: TempoChargeMethod) => readonly PaymentMethod[]
}

export interface Shop {
  readonly origin: string
  readonly payments: Payments
  /** Reads that were made, failed ones too. */
  readonly reads: {
    count: number
    fails: boolean
    waitsFor: Promise<void> | null
    /** Told of each stream; one ends when this does. */
    streams: (stream: EventStream) => Promise<void>
  }
  /** The program begins to stop. */
  shutDown(): void
  close(): Promise<void>
}

/** Everybody is over quota. */
export async function openShop(options: ShopOptions): Promise<Shop> {
  const { app, key = randomBytes(32), log = silentLogger, clock = systemRuntime().clock } = options
  const charges = chargesOf(options, key)
  const payments = new Payments({
    ...{ app, realm: REALM, clock, log, refused: refusedPayments(app) },
    methods: options.methods?.(charges) ?? [charges],
    prices: { 'data:read': { charge: '0.0005', session: '0.0005' } },
  })
  const reads: Shop['reads'] = { count: 0, fails: false, waitsFor: null, streams: untilItEnds }
  const server = await startServer(goods(reads), {}, { access: overQuota(payments), log, clock })
  return {
    ...{ origin: server.origin, payments, reads },
    shutDown: () => server.shutdown.abort(),
    close: () => server.app.close(),
  }
}

export const chargesOf = (
  { rpcUrl, chainId, recipient, sponsoring }: Omit<ShopOptions, 'app'>,
  key: Uint8Array,
  transport: Transport = http(rpcUrl),
  offered: Partial<Pick<ChargeOptions, 'currencies' | 'sends'>> = {},
) =>
  new TempoChargeMethod({
    ...{ realm: REALM, keys: [key], chainId, recipient, currency: PATH_USD },
    currencies: () => ([PATH_USD, ALPHA_USD] as const).map((address) => ({ address, decimals: 6 })),
    ...offered,
    ...{ transport, nodes: [askOf(transport)], sponsoring: sponsoring ?? null },
  })

const goods = (reads: Shop['reads']) => [
  ...(['/read', '/other'] as const).map((path) =>
    endpoint({
      path,
      summary: 'A read.',
      tag: 'Test',
      access: dataRead,
      chain: 'none',
      cache: 'page',
      response: s.object({ count: s.integer() }),
      read: async () => {
        reads.count++
        await reads.waitsFor
        if (reads.fails) throw new ApiError('overloaded')
        return { count: reads.count }
      },
      present: (found) => found,
    }),
  ),
  rawEndpoint({
    ...{ path: '/live', summary: 'A stream.', tag: 'Test', access: dataRead },
    produces: { 'text/event-stream': null },
    answer: () => ({ kind: 'events', write: (stream) => reads.streams(stream) }),
  }),
  command({
    ...{ method: 'POST', path: '/order', summary: 'A read by a body.', tag: 'Test' },
    access: dataRead,
    body: s.object({ size: s.integer() }),
    response: s.object({ count: s.integer() }),
    run: async () => ({ count: ++reads.count }),
    present: (found) => found,
  }),
]

const untilItEnds = ({ signal }: EventStream) =>
  new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))

const overQuota = (payments: Payments): Access => ({
  identify: openToCallers.identify,
  manage: (request) => payments.managed(request, anonymous.id),
  admit: (caller, { headers, method, url, body }, { scope }, units) => {
    const accept = headers['accept-payment']
    const wanted = { method, url, body, scope: scope ?? '', units, accept: accept?.toString() }
    const presented = payments.presentedIn(headers, caller.id)
    return presented ? payments.begin(presented, wanted) : payments.challenge(wanted)
  },
})

/** Accounts of the dev chain: rich. */
export const accountOf = (addressIndex: number) =>
  mnemonicToAccount('test test test test test test test test test test test junk', { addressIndex })

export const keyOf = (account: ReturnType<typeof accountOf>) =>
  toHex(account.getHdKey().privateKey ?? new Uint8Array())

/** The library's client of one payer. */
export function payer(
  account: Account,
  { rpcUrl, chainId }: Pick<ShopOptions, 'rpcUrl' | 'chainId'>,
  mode: 'pull' | 'push' = 'pull',
) {
  const client = createClient({ account, chain: { ...tempo, id: chainId }, transport: http(rpcUrl) })
  return Mppx.create({
    polyfill: false,
    methods: [payByTempo({ account, mode, getClient: () => client })],
  })
}

export const balanceOf = (rpcUrl: string, token: `0x${string}`, holder: `0x${string}`): Promise<bigint> =>
  readContract(createClient({ transport: http(rpcUrl) }), {
    address: token,
    abi: Abis.tip20,
    functionName: 'balanceOf',
    args: [holder],
  })
