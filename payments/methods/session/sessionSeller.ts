/** The payment library's seller of channels, over our rows. */
import { Mppx, tempo } from 'mppx/server'
import { createClient, type Transport } from 'viem'
import { tempo as tempoChain } from 'viem/chains'
import type { Ask } from '#money/node.ts'
import type { AppDatabase } from '#rows/database.ts'
import { nameCapture } from '#rows/payments/captures.ts'
import { findOpenChannel } from '#rows/payments/channels.ts'
import type { Sponsor } from '../../chain/Sponsor.ts'
import { noticingSends } from '../../chain/sendCounted.ts'
import { secretKeyOf } from '../ChallengeSigner.ts'
import { paymentStore } from './channelStore.ts'

export interface SessionSellerOptions {
  readonly app: AppDatabase
  /** Host whose service is sold. */
  readonly realm: string
  readonly chainId: number
  readonly recipient: `0x${string}`
  /** The token that the library takes where an offer names none; each offer names its own. */
  readonly currency: `0x${string}`
  /** Settles for the recipient, and pays fees. */
  readonly sponsor: Sponsor
  /** To nodes of the chain, each of which counts its refusals. */
  readonly transport: Transport
  /** Each node by itself. */
  readonly nodes: readonly Ask[]
}

export type SessionSeller = ReturnType<typeof openSessionSeller>

export function openSessionSeller(
  { app, realm, chainId, recipient, currency, sponsor, transport: inner }: SessionSellerOptions,
  key: Uint8Array,
) {
  const { account, policy: feePayerPolicy } = sponsor
  const transport = sponsor.limiting(noticingSends(inner))
  const client = createClient({ account, chain: { ...tempoChain, id: chainId }, transport })
  return Mppx.create({
    realm,
    secretKey: secretKeyOf(key),
    methods: [
      tempo.session({
        ...{ chainId, recipient, currency, account, feePayer: account, feePayerPolicy },
        ...{ unitType: 'request', bootstrap: true, getClient: () => client },
        store: paymentStore(app),
        // Asked of a payer that has proved who it is.
        resolveChannelId: async ({ source, paymentRequest: { currency: token } }) => {
          const payer = source?.split(':').at(-1)
          return payer ? (await findOpenChannel(app, { payer, token: String(token) }))?.id : undefined
        },
        onSessionSettlement: ({ channelId: id, amount: settled, txHash }) =>
          nameCapture(app, { id, settled, txHash }),
      }),
    ],
  })
}
