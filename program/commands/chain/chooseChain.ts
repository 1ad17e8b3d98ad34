/** `--chain`: one chain of the settings. */
import { SettingError } from '#errors.ts'
import { DEV_CHAIN_ID } from '#local/devchain/devChainRecord.ts'
import type { Config } from '../../config.ts'
import type { ChainConfig } from '../../settings/chainFields.ts'

/** The settings with the one chain that an option names, or all of them. @throws SettingError */
export function chooseChain(config: Config, asked: number | null): Config {
  if (asked === null) return config
  // A node of RPC_URL says itself which chain it serves, and is held to it; the local chain is
  // known.
  const idOf = ({ chainId, rpcUrls }: ChainConfig) => chainId ?? (rpcUrls.length > 0 ? asked : DEV_CHAIN_ID)
  const chains = config.chains.filter((chain) => idOf(chain) === asked)
  const named = config.chains.map(idOf).join(', ')
  if (chains.length === 0)
    throw new SettingError('--chain', `chain ${asked} is not in the settings; there are ${named}`)
  return { ...config, chains: chains.map((chain) => ({ ...chain, chainId: asked })) }
}
