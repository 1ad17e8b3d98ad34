/** The account that has a dev chain's first money, as it sends. */
import { createClient, type Hex, http } from 'viem'
import { mnemonicToAccount } from 'viem/accounts'
import { sendTransactionSync } from 'viem/actions'
import { tempo } from 'viem/chains'
import { PATH_USD } from '#primitives.ts'

/** Tokens that every dev chain begins with. */
export const genesisTokens = {
  pathUSD: PATH_USD,
  AlphaUSD: '0x20c0000000000000000000000000000000000001',
} as const
/** Foundry's own, which is no secret. */
const MNEMONIC = 'test test test test test test test test test test test junk'
/** A balance that was never there before costs more than nodes estimate. */
const GAS = 1_500_000n

/** The address of a dev chain's node. */
export interface DevNode {
  readonly rpcUrl: string
  readonly chainId: number
}

export const genesisAccount = () => mnemonicToAccount(MNEMONIC)

export interface GenesisCall {
  readonly to: Hex
  readonly data: Hex
}

/** Awaits the block. @returns the transaction's hash @throws where the chain refuses it */
export async function sendFromGenesis({ rpcUrl, chainId }: DevNode, call: GenesisCall): Promise<Hex> {
  const client = createClient({
    account: genesisAccount(),
    chain: { ...tempo, id: chainId },
    transport: http(rpcUrl),
  })
  // The traffic of the chain sends from the same account: this nonce is apart from its own.
  const apart = { nonceKey: 'expiring', gas: GAS, feeToken: genesisTokens.pathUSD } as const
  const { status, transactionHash } = await sendTransactionSync(client, { calls: [call], ...apart })
  if (status !== 'success') throw new Error(`the chain refused ${transactionHash}`)
  return transactionHash
}
