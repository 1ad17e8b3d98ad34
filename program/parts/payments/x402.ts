/** Exact payments of x402, as the operator set them up: their chain, their facilitator, their fees. */
import type { PendingSettlementStore } from '@x402/core/facilitator'
import PQueue from 'p-queue'
import { http, type PrivateKeyAccount, parseUnits } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import type { FeePayer, X402Settings } from '#api/access/paymentSettings.ts'
import type { Egress } from '#egress/Egress.ts'
import { type Ask, askOf } from '#money/node.ts'
import { Sends } from '#payments/methods/Sends.ts'
import type { Facilitator } from '#payments/methods/x402/Facilitator.ts'
import { type FeeBudget, LocalFacilitator } from '#payments/methods/x402/LocalFacilitator.ts'
import { pendingPayouts, pendingSettlements } from '#payments/methods/x402/pendingSettlements.ts'
import { RemoteFacilitator } from '#payments/methods/x402/RemoteFacilitator.ts'
import { TokenChain } from '#payments/methods/x402/TokenChain.ts'
import { X402ExactMethod } from '#payments/methods/x402/X402ExactMethod.ts'
import { X402Offer } from '#payments/methods/x402/X402Offer.ts'
import { AuthorizationPayouts } from '#payments/payouts/AuthorizationPayouts.ts'
import type { AppDatabase } from '#rows/database.ts'
import { feesLeft, inTurnOf } from '#rows/payments/fees.ts'
import type { Clock } from '#runtime/runtime.ts'
import { readKeyFile } from '../../settings/keyFile.ts'
import type { PayoutRoute } from './openPayouts.ts'

export interface X402Parts {
  readonly chainId: number
  readonly nodes: readonly Ask[]
  readonly method: X402ExactMethod
  readonly offer: X402Offer
  /** How what is owed there is sent. */
  readonly route: PayoutRoute
  /** Sentences for /status. */
  readonly notes: readonly string[]
}

export interface X402Means {
  readonly app: AppDatabase
  /** The one that refunds and rewards are sent from. */
  readonly account: PrivateKeyAccount
  readonly egress: Pick<Egress, 'fetch'>
  /** The origin of the service. */
  readonly origin: string
  readonly clock: Clock
}

/** @throws SettingError for a key that cannot be used */
export function openX402(settings: X402Settings, means: X402Means): X402Parts {
  const { chainId, rpcUrl, asset, recipient } = settings
  // A payment that was sent may have arrived: it is not sent again.
  const transport = http(rpcUrl, { retryCount: 0 })
  const nodes = [askOf(transport)]
  const chain = new TokenChain({ chainId, asset, transport })
  const pending = pendingSettlements(means.app)
  const facilitator = facilitatorOf(settings, transport, means, pending)
  const sends = new Sends(means.clock)
  const { clock } = means
  const offer = new X402Offer({ chainId, recipient, chain, facilitator, sends, clock })
  const method = new X402ExactMethod({
    ...{ origin: means.origin, chainId, asset, recipient, chain, facilitator, pending },
    ...{ token: offer.token, known: offer.known, sends, clock },
  })
  const pendingOut = pendingPayouts(means.app)
  const sender = new AuthorizationPayouts({
    ...{ chainId, asset, chain, token: offer.settling, account: means.account, clock },
    ...{ pending: pendingOut, facilitator: facilitatorOf(settings, transport, means, pendingOut) },
    nodes,
  })
  const notes = [`x402 payments for them go to ${recipient} on chain ${chainId}`]
  const tokens = () => {
    const token = offer.known()
    return token ? [{ address: asset, decimals: token.decimals }] : []
  }
  return { chainId, nodes, method, offer, route: { sender, ask: askOf(transport), tokens }, notes }
}

function facilitatorOf(
  { chainId, facilitator }: X402Settings,
  transport: ReturnType<typeof http>,
  { app, egress }: X402Means,
  pending: PendingSettlementStore,
): Facilitator {
  if ('url' in facilitator) return new RemoteFacilitator({ url: facilitator.url, egress })
  const key = readKeyFile('ACCESS_FILE', 'payments.x402.keyFile', facilitator.keyFile)
  return new LocalFacilitator({
    ...{ chainId, key, transport },
    fees: feeBudget(app, chainId, privateKeyToAddress(key), facilitator),
    pending,
  })
}

const COIN_DECIMALS = 18

/** One connection at a time waits for the turn. */
function feeBudget(app: AppDatabase, chainId: number, address: string, { feesPerDay }: FeePayer): FeeBudget {
  const account = {
    ...{ chainId, address: address.toLowerCase() },
    perDay: parseUnits(feesPerDay, COIN_DECIMALS),
  }
  const turns = new PQueue({ concurrency: 1 })
  return {
    inTurn: (work) => turns.add(() => inTurnOf(app, account, work)),
    left: () => feesLeft(app, account),
  }
}
