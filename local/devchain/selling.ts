/** Selling on a dev chain, by a charge, a session or x402. */
import { channelTransport } from './channels/channelTransport.ts'
import { DevRpc } from './DevRpc.ts'
import { devDollarOn } from './dollar/dollar.ts'
import { type DevNode, genesisAccount } from './genesisAccount.ts'

/** A seller's view of the chain; `feePayer` pays for its transactions. */
export const sellingOn = (chain: DevNode) => ({
  chainId: chain.chainId,
  transport: channelTransport(new DevRpc(chain.rpcUrl)),
  dollar: devDollarOn(chain),
  feePayer: genesisAccount(),
})
