/** Money on the dev chain. */
import { encodeFunctionData } from 'viem'
import { Abis } from 'viem/tempo'
import { allowChannels } from './channels/escrow.ts'
import { DevRpc } from './DevRpc.ts'
import { DEV_DOLLAR, mintOf } from './dollar/dollar.ts'
import { type DevNode, genesisTokens, sendFromGenesis } from './genesisAccount.ts'

/** Tokens of a dev chain: the dollars of its start, and that of x402. */
export const devTokens = { ...genesisTokens, USDC: DEV_DOLLAR } as const
/** A thousand dollars of each token. */
const FUNDED = 1_000_000_000n

/** Gives an account a thousand of each token; the first two it may also pay into channels. */
export async function fundAccount(chain: DevNode, to: `0x${string}`): Promise<void> {
  const data = encodeFunctionData({ abi: Abis.tip20, functionName: 'transfer', args: [to, FUNDED] })
  for (const token of Object.values(genesisTokens)) {
    await sendFromGenesis(chain, { to: token, data })
    await allowChannels(new DevRpc(chain.rpcUrl), to, token)
  }
  await sendFromGenesis(chain, mintOf(to, FUNDED))
}
