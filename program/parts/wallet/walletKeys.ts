/** The wallet that settings mean, and the chains it pays on. */
import { http } from 'viem'
import { type LocalAccount, privateKeyToAccount } from 'viem/accounts'
import type { WalletLimits } from '#rows/jobs/wallet.ts'
import type { PayChain } from '#wallet/payChain.ts'
import type { Config } from '../../config.ts'
import type { Program } from '../../program.ts'
import { readKeyFile } from '../../settings/keyFile.ts'
import { limitsOf } from '../../settings/walletFile.ts'
import { devKey } from '../devKey.ts'

export interface WalletKeys {
  readonly account: LocalAccount
  readonly chains: readonly PayChain[]
  readonly limits: WalletLimits
  /** In the smallest unit of quotes. */
  readonly lowUnits: bigint
}

type Reachable = Pick<Program, 'reachable'>['reachable']

/** A node that has not answered by then is asked again, or the next one. */
const CALL_MS = 10_000

/** Null where no setting and no dev chain gives one. @throws SettingError */
export function walletKeysOf(config: Config, reachable: Reachable): WalletKeys | null {
  const { wallet } = config
  if (wallet) {
    const { keyFile, limits, lowUnits } = wallet
    const account = privateKeyToAccount(readKeyFile('WALLET_FILE', 'keyFile', keyFile))
    const elsewhere = wallet.chains.map(({ chainId, rpcUrls }) => payChain(chainId, rpcUrls))
    const indexed = reachable.map(indexedChain)
    const others = elsewhere.filter(({ chainId }) => indexed.every((one) => one.chainId !== chainId))
    return { account, limits, lowUnits, chains: [...indexed, ...others] }
  }
  const local = reachable.filter(({ devChain }) => devChain !== null)
  if (local.length === 0) return null
  return {
    account: privateKeyToAccount(devKey(config, 'wallet')),
    chains: local.map(indexedChain),
    ...{ limits: limitsOf(), lowUnits: 0n },
  }
}

const indexedChain = ({ chainId, devChain, config }: Reachable[number]): PayChain =>
  payChain(chainId, devChain ? [devChain.rpcUrl] : config.rpcUrls)

/** A payment that was sent may have arrived, so nothing is repeated by itself. */
const payChain = (chainId: number, urls: readonly string[]): PayChain => ({
  chainId,
  endpoints: urls
    .filter((url) => url.startsWith('http'))
    .map((url) => http(url, { retryCount: 0, timeout: CALL_MS })),
})
