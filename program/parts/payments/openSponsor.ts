/** The account that pays fees for payers and settles channels: a setting, or a dev chain's own. */
import { createClient, http, type Transport } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { readContract } from 'viem/actions'
import { Abis } from 'viem/tempo'
import { type PaymentSettings, sponsorDefaults } from '#api/access/paymentSettings.ts'
import { fundAccount } from '#local/devchain/fundAccount.ts'
import type { DevChain } from '#local/devchain/node.ts'
import { amountOf } from '#money/amounts.ts'
import { Sponsor } from '#payments/chain/Sponsor.ts'
import { SponsorFunds } from '#payments/chain/SponsorFunds.ts'
import type { Offers } from '#payments/methods/charge/Offers.ts'
import type { ChargeOptions } from '#payments/methods/charge/TempoChargeMethod.ts'
import { recheck } from '#payments/methods/recheck.ts'
import { ChannelOffers } from '#payments/methods/session/ChannelOffers.ts'
import { ChannelWatch } from '#payments/methods/session/ChannelWatch.ts'
import { paymentStore } from '#payments/methods/session/channelStore.ts'
import { TempoSessionMethod } from '#payments/methods/session/TempoSessionMethod.ts'
import { appDatabase } from '#rows/database.ts'
import { keepHash } from '#rows/payments/sponsored.ts'
import { repeat } from '#runtime/repeat.ts'
import { readKeyFile } from '../../settings/keyFile.ts'
import { devKey } from '../devKey.ts'
import type { Base } from '../part.ts'

export interface OpenedSponsor {
  readonly sponsoring: NonNullable<ChargeOptions['sponsoring']>
  readonly channelOffers: ChannelOffers
  readonly watch: ChannelWatch
  sessionsOf(
    shared: Pick<ChargeOptions, 'realm' | 'keys' | 'chainId' | 'recipient' | 'currency' | 'nodes'>,
  ): TempoSessionMethod
  /** Until aborted. */
  run(signal: AbortSignal): Promise<unknown>
}

/** The next try if the dev chain's node does not answer. */
const FUND_AGAIN_MS = 2_000

/** Dollars are worth a million of these. */
const MILLIONTHS = 6

/** Null where nobody named a key. @throws SettingError */
export function openSponsor(
  { config, program, runtime, log }: Pick<Base, 'config' | 'program' | 'runtime' | 'log'>,
  { chainId, currencies, sponsor: settings }: PaymentSettings,
  { offers, transport }: { readonly offers: Offers; readonly transport: Transport },
): OpenedSponsor | null {
  const devChain = program.reachable.find((chain) => chain.chainId === chainId)?.devChain ?? null
  if (!settings && !devChain) return null
  const key = settings
    ? readKeyFile('ACCESS_FILE', 'payments.sponsor.keyFile', settings.keyFile)
    : devKey(config, 'sponsor')
  const { dollarsPerDay, unsettledDollars } = settings ?? sponsorDefaults
  const app = appDatabase(program.engines.postgres)
  const { clock } = runtime
  const account = privateKeyToAccount(key)
  const tokens = () => offers.tokens().map(({ address }) => address)
  const funds = new SponsorFunds({ tokens, account: account.address, transport, clock })
  const limit = amountOf(dollarsPerDay, 1, MILLIONTHS)
  const sponsor = new Sponsor({ app, chainId, account, limit, isFunded: () => funds.isThere })
  const channelOffers = new ChannelOffers({ currencies: offers.current, funds, transport })
  const watch = new ChannelWatch({
    ...{ app, chainId, sponsor, transport, clock, log },
    unsettledMax: (token) => {
      const known = offers.tokens().find(({ address }) => address === token)
      return known ? amountOf(unsettledDollars, 1, known.decimals) : null
    },
  })
  const store = paymentStore(app)
  return {
    sponsoring: { sponsor, store, keepHash: (identity, txHash) => keepHash(app, identity, txHash) },
    ...{ channelOffers, watch },
    sessionsOf: (shared) =>
      new TempoSessionMethod({ ...shared, app, sponsor, transport, currencies: channelOffers.current }),
    run: async (signal) => {
      if (devChain && !settings) {
        const failed = { log, ms: FUND_AGAIN_MS, message: 'the sponsor of the dev chain has no money yet' }
        await repeat({ clock, signal, failed }, async () => {
          await fundOnce(devChain, account.address, currencies)
          return 'ended' as const
        })
      }
      await Promise.all([funds.check(), channelOffers.check()])
      await Promise.all([funds.run(signal), recheck(channelOffers, clock, signal), watch.run(signal)])
    },
  }
}

/** A dev chain's sponsor begins with money of its own. */
async function fundOnce(
  { rpcUrl, chainId }: DevChain,
  account: `0x${string}`,
  [token]: readonly `0x${string}`[],
): Promise<void> {
  if (!token) return
  const client = createClient({ transport: http(rpcUrl) })
  const asked = { abi: Abis.tip20, functionName: 'balanceOf', args: [account] } as const
  if ((await readContract(client, { address: token, ...asked })) > 0n) return
  await fundAccount({ rpcUrl, chainId }, account)
}
