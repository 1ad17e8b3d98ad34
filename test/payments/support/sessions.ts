/** Sessions of the shop, and payers that are the library's own managers of one channel. */
import { tempo as payByTempo } from 'mppx/client'
import { Session } from 'mppx/tempo'
import { type Account, createClient, type Transport } from 'viem'
import { tempo } from 'viem/chains'
import { channelTransport } from '#local/devchain/channels/channelTransport.ts'
import { DevRpc } from '#local/devchain/DevRpc.ts'
import { askOf } from '#money/node.ts'
import type { Sponsor } from '#payments/chain/Sponsor.ts'
import { TempoSessionMethod } from '#payments/methods/session/TempoSessionMethod.ts'
import { ALPHA_USD, accountOf, PATH_USD, REALM, type ShopOptions } from './shop.ts'

const { createChannelStore } = Session.Client

export interface SellingOptions extends Pick<ShopOptions, 'app' | 'rpcUrl' | 'chainId' | 'recipient'> {
  readonly sponsor: Sponsor
  readonly transport?: Transport
}

export const sessionsOf = (
  {
    app,
    rpcUrl,
    chainId,
    recipient,
    sponsor,
    transport = channelTransport(new DevRpc(rpcUrl)),
  }: SellingOptions,
  key: Uint8Array,
  realm = REALM,
): TempoSessionMethod =>
  new TempoSessionMethod({
    ...{ app, realm, keys: [key], chainId, recipient, currency: PATH_USD, sponsor },
    currencies: () => ([PATH_USD, ALPHA_USD] as const).map((address) => ({ address, decimals: 6 })),
    ...{ transport, nodes: [askOf(transport)] },
  })

export interface PayerOptions {
  readonly maxDeposit?: string
  readonly bootstrap?: boolean
  readonly channelStore?: ReturnType<typeof createChannelStore>
}

/** The library's manager of one payer's channel, and what it sends. */
export function openSession(
  /** The place of one of the dev chain's. */
  payer: number | Account,
  { rpcUrl, chainId }: Pick<ShopOptions, 'rpcUrl' | 'chainId'>,
  options: PayerOptions = {},
) {
  const account = typeof payer === 'number' ? accountOf(payer) : payer
  const client = createClient({
    account,
    chain: { ...tempo, id: chainId },
    transport: channelTransport(new DevRpc(rpcUrl)),
  })
  const sent: Request[] = []
  const wire = { keepsVouchers: false }
  const through: typeof fetch = (input, init) => {
    const request = new Request(input, init)
    sent.push(request.clone())
    if (wire.keepsVouchers && request.headers.has('authorization')) throw new Error('kept')
    return fetch(request)
  }
  const channelStore = options.channelStore ?? createChannelStore()
  const fixed = { account, client, fetch: through, channelStore }
  const manager = payByTempo.session.manager({ maxDeposit: '1', ...options, ...fixed })
  /** A voucher that is signed for it is kept and not sent. */
  const signedFor = async (act: () => Promise<unknown>) => {
    wire.keepsVouchers = true
    await act().catch(() => {})
    wire.keepsVouchers = false
    return sent.at(-1)?.headers.get('authorization') ?? ''
  }
  /** The next voucher, signed for a request. */
  const nextVoucher = async (url: string, asked: RequestInit = {}) => {
    const authorization = await signedFor(() => manager.fetch(url, asked))
    return (to: string, init = asked) =>
      fetch(to, { ...init, headers: { ...Object.fromEntries(new Headers(init.headers)), authorization } })
  }
  return { manager, sent, channelStore, signedFor, nextVoucher, read: (url: string) => manager.fetch(url) }
}
