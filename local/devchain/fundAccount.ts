/** Money on the dev chain. */
import { createClient, encodeFunctionData, http } from 'viem'
import { mnemonicToAccount } from 'viem/accounts'
import { sendTransactionSync } from 'viem/actions'
import { tempo } from 'viem/chains'
import { Abis } from 'viem/tempo'
import { allowChannels } from './channels/escrow.ts'
import { DevRpc } from './devRpc.ts'
import type { DevChain } from './node.ts'

/** Every dev chain begins with these. */
export const genesisTokens = {
  pathUSD: '0x20c0000000000000000000000000000000000000',
  AlphaUSD: '0x20c0000000000000000000000000000000000001',
} as const
/** Foundry's own, which is no secret. */
const MNEMONIC = 'test test test test test test test test test test test junk'
/** A thousand dollars of each token. */
const FUNDED = 1_000_000_000n
/** A balance that was never there before costs more than nodes estimate. */
const TRANSFER_GAS = 1_500_000n

/** Gives an account a thousand of each token, which it may also pay into channels. */
export async function fundAccount(
  { rpcUrl, chainId }: Pick<DevChain, 'rpcUrl' | 'chainId'>,
  to: `0x${string}`,
): Promise<void> {
  const client = createClient({
    account: mnemonicToAccount(MNEMONIC),
    chain: { ...tempo, id: chainId },
    transport: http(rpcUrl),
  })
  const data = encodeFunctionData({ abi: Abis.tip20, functionName: 'transfer', args: [to, FUNDED] })
  for (const token of Object.values(genesisTokens)) {
    // The traffic of the chain sends from the same account: this nonce is apart from its own.
    const apart = { nonceKey: 'expiring', gas: TRANSFER_GAS, feeToken: genesisTokens.pathUSD } as const
    const receipt = await sendTransactionSync(client, { calls: [{ to: token, data }], ...apart })
    if (receipt.status !== 'success') throw new Error(`the chain refused ${receipt.transactionHash}`)
    await allowChannels(new DevRpc(rpcUrl), to, token)
  }
}
