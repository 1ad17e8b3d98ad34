/** The account that pays fees for payers and settles channels: a setting, or a dev chain's own. */
import { createClient, http, type Transport } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { readContract } from 'viem/actions'
import { Abis } from 'viem/tempo'
import { type PaymentSettings, sponsorDefaults } from '#api/access/paymentSettings.ts'
import { fundAccount } from '#local/devchain/fundAccount.ts'
import type { DevChain } from '#local/devchain/node.ts'
import { Sponsor } from '#payments/chain/Sponsor.ts'
import type { Offers } from '#payments/methods/charge/Offers.ts'
import type { ChargeOptions } from '#payments/methods/charge/TempoCharges.ts'
import { ChannelOffers } from '#payments/methods/session/ChannelOffers.ts'
import { ChannelWatch } from '#payments/methods/session/ChannelWatch.ts'
import { paymentStore } from '#payments/methods/session/channelStore.ts'
import { TempoSessions } from '#payments/methods/session/TempoSessions.ts'
import { amountOf } from '#payments/price.ts'
import { appDatabase } from '#rows/database.ts'
import { keepHash } from '#rows/payments/sponsored.ts'
import { readKeyFile } from '../../settings/keyFile.ts'
import type { Base } from '../part.ts'
import { devSponsorKey } from './payee.ts'

export interface OpenedSponsor {
  readonly sponsoring: NonNullable<ChargeOptions['sponsoring']>
  readonly channelOffers: ChannelOffers
  readonly watch: ChannelWatch
  sessionsOf(
    shared: Pick<ChargeOptions, 'realm' | 'keys' | 'chainId' | 'recipient' | 'currency'>,
  ): TempoSessions
  /** Until aborted. */
  run(signal: AbortSignal): Promise<unknown>
}

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
    : devSponsorKey(config)
  const { dollarsPerDay, unsettledDollars } = settings ?? sponsorDefaults
  const app = appDatabase(program.engines.postgres)
  const { clock } = runtime
  const account = privateKeyToAccount(key)
  const sponsor = new Sponsor({ app, chainId, account, limit: amountOf(dollarsPerDay, 1, MILLIONTHS) })
  const channelOffers = new ChannelOffers({
    ...{ currencies: offers.current, operator: account.address, transport, clock },
  })
  const watch = new ChannelWatch({
    ...{ app, chainId, sponsor, transport, clock, log },
    unsettledMax: (token) => {
      const known = offers.current().find(({ address }) => address === token)
      return known ? amountOf(unsettledDollars, 1, known.decimals) : null
    },
  })
  const store = paymentStore(app)
  return {
    sponsoring: { sponsor, store, keepHash: (identity, txHash) => keepHash(app, identity, txHash) },
    ...{ channelOffers, watch },
    sessionsOf: (shared) =>
      new TempoSessions({ ...shared, app, sponsor, transport, currencies: channelOffers.current }),
    run: async (signal) => {
      if (devChain && !settings) await fundOnce(devChain, account.address, currencies)
      await channelOffers.check()
      await Promise.all([channelOffers.run(signal), watch.run(signal)])
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
