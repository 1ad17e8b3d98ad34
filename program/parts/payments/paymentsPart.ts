/** Payments for reads beyond the quota. Beside a dev chain they need no setting. */
import { fallback, http } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import type { PaymentSettings } from '#api/access/paymentSettings.ts'
import { statedOrigin } from '#api/access/site.ts'
import { WEBHOOKS_SCOPE } from '#api/routes/webhooks/access.ts'
import { SettingError } from '#errors.ts'
import { channelTransport } from '#local/devchain/channels/channelTransport.ts'
import { DevRpc } from '#local/devchain/DevRpc.ts'
import { genesisTokens } from '#local/devchain/genesisAccount.ts'
import { askOf } from '#money/node.ts'
import { JOBS_SCOPE } from '#orchestrator/job/JobOrders.ts'
import { type BooksLook, BooksWatch } from '#payments/books/BooksWatch.ts'
import { Prover, type ProverOptions } from '#payments/books/Prover.ts'
import { Uncollected } from '#payments/books/Uncollected.ts'
import { countingRefusals } from '#payments/chain/sendCounted.ts'
import { Offers } from '#payments/methods/charge/Offers.ts'
import { TempoChargeMethod } from '#payments/methods/charge/TempoChargeMethod.ts'
import { recheck } from '#payments/methods/recheck.ts'
import { Sends } from '#payments/methods/Sends.ts'
import { PayerProofs } from '#payments/PayerProofs.ts'
import { Payments } from '#payments/Payments.ts'
import { PayoutChain } from '#payments/payouts/PayoutChain.ts'
import { PayoutRefusedError } from '#payments/payouts/PayoutSender.ts'
import { UnsentDebts } from '#payments/payouts/UnsentDebts.ts'
import { RefusedPayments } from '#payments/RefusedPayments.ts'
import { lowercased } from '#primitives.ts'
import { appDatabase } from '#rows/database.ts'
import { noFindings } from '#rows/payments/proofs.ts'
import type { Config } from '../../config.ts'
import type { Program } from '../../program.ts'
import { devKey } from '../devKey.ts'
import { type Alarm, type Base, definePart, type Part } from '../part.ts'
import { bookedChains } from './bookedChains.ts'
import { type OpenedPayouts, openPayouts, payoutAccountOf, type TransferFee } from './openPayouts.ts'
import { openSponsor } from './openSponsor.ts'
import { paymentAlarms, paymentKinds } from './paymentAlarms.ts'
import { openX402, type X402Means, type X402Parts } from './x402.ts'

export interface PaymentsPart extends Part {
  /** Null where nothing is sold. */
  readonly payments: Payments | null
  /** The other means that jobs are sold by. */
  readonly proofs: PayerProofs | null
  readonly transferFee: TransferFee
  readonly till: Till
}

/** The selling side, as its operator is told of it. */
export interface Till {
  /** Why nothing is sold; null where something is. */
  readonly problem: string | null
  /** The last look at the books; null where this process takes none. */
  readonly books: () => BooksLook | null
  /** Tokens that are taken and sent. */
  readonly tokens: OpenedPayouts['tokens']
}

/** A node that is slower takes no payments. */
const LOOK_MS = 5_000
const devCurrencies = [genesisTokens.pathUSD, genesisTokens.AlphaUSD] as const

export const paymentsPart = definePart({ name: 'payments', alarms: paymentKinds, open: openPaymentsPart })

/** The goods, by the mode of access. */
const soldWhere = { guarded: 'reads beyond the quota and jobs', open: 'jobs' } as const

/** A debt from before is told all the same. */
function nothingSold({ program, chains, runtime, log }: Base, problem: string): PaymentsPart {
  const app = appDatabase(program.engines.postgres)
  const unsent = new UnsentDebts({ app, sendsOn: [], clock: runtime.clock, log })
  const [first] = chains.keys()
  return {
    payments: null,
    proofs: null,
    transferFee: () => Promise.reject(new PayoutRefusedError('nothing is sent')),
    problems: () => {
      const findings = { ...noFindings, waiting: unsent.late, books: 0, unchecked: 0 }
      return first === undefined ? [] : paymentAlarms(first, findings, null)
    },
    till: { problem, books: () => null, tokens: () => [] },
    services: {},
    get notes() {
      return [`nothing is sold: ${problem}`, ...unsent.notes]
    },
    run: ({ answered }) => unsent.run(answered),
  }
}
const NO_PAYOUTS = 'payments.payouts of ACCESS_FILE names no key that refunds are sent with'
const NOT_ELSEWHERE = `x402 is not offered: ${NO_PAYOUTS}`
const UNSPONSORED = 'sessions are not offered, and payers pay their own fees: payments.sponsor names no key'

/** @throws SettingError where payments are on a chain that is not served */
async function openPaymentsPart(base: Base): Promise<PaymentsPart> {
  const { config, program, secrets, egress, quotas, log } = base
  const { clock } = base.runtime
  const { mode, prices, chainPrices } = config.access
  const settings = config.access.payments ?? devSettings(config, program)
  if (!settings) return nothingSold(base, 'ACCESS_FILE names no payee')
  const sending = payoutAccountOf(base, settings)
  if (!sending) return nothingSold(base, NO_PAYOUTS)
  const { chainId, recipient, currencies } = settings
  const urls = urlsOf(chainId, program)
  const transport = transportTo(urls, isDev(chainId, program))
  const nodes = urls.map((url) => askOf(http(url)))
  const [currency] = currencies
  if (!currency) throw new SettingError('ACCESS_FILE', 'payments.currencies: names none')
  const sends = new Sends(clock)
  const offers = new Offers({ chainId, recipient, currencies, nodes: urls.map(looking), sends })
  const origin = statedOrigin(config.access)
  const realm = new URL(origin).host
  const sponsored = openSponsor(base, settings, { offers, transport })
  const keys = await secrets.follow('payments', (found) => {
    for (const keyed of [charges, sessions, proofs]) keyed?.use(found)
  })
  const seller = { realm, keys, chainId, recipient, currency }
  const charges = new TempoChargeMethod({
    ...{ ...seller, transport, nodes, currencies: offers.current, sends },
    sponsoring: sponsored?.sponsoring ?? null,
  })
  const app = appDatabase(program.engines.postgres)
  const x402 = openElsewhere(settings, { app, egress, account: sending.account, origin, clock })
  const sessions = sponsored?.sessionsOf({ ...seller, nodes })
  const methods = [charges, ...(sessions ? [sessions] : []), ...(x402 ? [x402.method] : [])]
  const checked = [offers, ...(x402 ? [x402.offer] : [])]
  await Promise.all(checked.map((one) => one.check()))
  const refused = new RefusedPayments(quotas, clock)
  const payments = new Payments({
    ...{ app, realm, methods, refused, clock, log },
    // Where access is open, no quota is left to go beyond.
    ...(mode === 'guarded' ? { prices, chainPrices } : { prices: {} }),
    priced: new Set([JOBS_SCOPE]),
    single: new Set([WEBHOOKS_SCOPE]),
  })
  const proofs = new PayerProofs({ app, transport, refused, ...seller })
  const sender = new PayoutChain({ chainId, account: sending.account, feeTokens: currencies, nodes, clock })
  const route = { sender, ask: askOf(transport), tokens: offers.tokens }
  const payouts = openPayouts(base, sending, [route, ...(x402 ? [x402.route] : [])])
  const uncollected = new Uncollected({ app, scopes: Object.keys(prices), clock, log })
  const checks = checked.map((one) => ({ run: (signal: AbortSignal) => recheck(one, clock, signal) }))
  const told = { outcome: payments.outcome.bind(payments), budgets: payouts.budgets }
  const prover = openProver(base, chainId, { ...told, nodes })
  const elsewhere =
    x402 && x402.chainId !== chainId ? openProver(base, x402.chainId, { ...told, nodes: x402.nodes }) : null
  const selling = `${soldWhere[mode]} are sold on chain ${chainId} to ${recipient}`
  const booked = () => bookedChains(config, program.engines.postgres)
  const books = new BooksWatch({ app, chains: booked, clock, log })
  const running = [payments, uncollected, prover, elsewhere, books, payouts, sponsored, ...checks]
  return {
    ...{ payments, proofs, transferFee: payouts.transferFee, services: {} },
    till: { problem: null, books: () => books.last, tokens: payouts.tokens },
    problems: () => problemsOn(base, chainId, { prover, books, unsettled: sponsored?.watch.problem ?? null }),
    get notes() {
      const problems = checked.flatMap((one) => one.problems)
      const ofSessions = sponsored?.channelOffers.problems ?? [UNSPONSORED]
      const notes = x402?.notes ?? (settings.x402 ? [NOT_ELSEWHERE] : [])
      return [selling, ...notes, ...payouts.notes, ...problems, ...ofSessions, ...books.notes]
    },
    run: ({ answered }) => Promise.all(running.map((part) => part?.run(answered))),
  }
}

interface Looked {
  readonly prover: Pick<Prover, 'findings'>
  readonly books: Pick<BooksWatch, 'differing' | 'unchecked'>
  readonly unsettled: string | null
}

/** None for a chain that is not indexed here. */
function problemsOn(
  { chains }: Pick<Base, 'chains'>,
  chainId: number,
  { prover, books, unsettled }: Looked,
): readonly Alarm[] {
  if (!chains.has(chainId)) return []
  const findings = { ...prover.findings, books: books.differing, unchecked: books.unchecked }
  return paymentAlarms(chainId, findings, unsettled)
}

/** Null without a key to send refunds with: a dev chain's own has no money elsewhere. */
const openElsewhere = ({ x402, payouts }: PaymentSettings, means: X402Means): X402Parts | null =>
  x402 && payouts ? openX402(x402, means) : null

function openProver(
  { chains, program, runtime, log }: Base,
  chainId: number,
  told: Pick<ProverOptions, 'nodes' | 'outcome' | 'budgets'>,
): Prover {
  const indexed = chains.get(chainId)
  const index = indexed ? { schema: indexed.state.schema, reads: indexed.postgres.reads } : null
  return new Prover({
    app: appDatabase(program.engines.postgres),
    ...{ ...told, chain: { chainId, index }, clock: runtime.clock, log },
  })
}

function devSettings(config: Config, { reachable }: Program): PaymentSettings | null {
  const chain = reachable.find(({ devChain }) => devChain !== null)
  if (!chain) return null
  const recipient = privateKeyToAddress(devKey(config, 'payee'))
  return {
    chainId: chain.chainId,
    recipient: lowercased(recipient),
    currencies: devCurrencies,
    payouts: null,
    sponsor: null,
    x402: null,
    rewards: null,
  }
}

/** Those of the chain's nodes. */
function urlsOf(chainId: number, { reachable }: Program): readonly string[] {
  const chain = reachable.find((one) => one.chainId === chainId)
  if (!chain)
    throw new SettingError(
      'ACCESS_FILE',
      `payments.chainId: chain ${chainId} is not one of those indexed here`,
    )
  const urls = chain.devChain ? [chain.devChain.rpcUrl] : chain.config.rpcUrls
  return urls.filter((url) => url.startsWith('http'))
}

/** A node as offers look at it. */
const looking = (url: string) => http(url, { retryCount: 0, timeout: LOOK_MS })

const isDev = (chainId: number, { reachable }: Program): boolean =>
  reachable.some((chain) => chain.chainId === chainId && chain.devChain !== null)

const transportTo = (urls: readonly string[], isDevChain: boolean) =>
  // A payment that was sent may have arrived: the same transaction is not another payment.
  fallback(
    urls.map((url) => countingRefusals(isDevChain ? channelTransport(new DevRpc(url)) : http(url))),
    { retryCount: 0 },
  )
