/** Chain data: names and logos of tokens, whom payments are attributed to, and the JSON-RPC door. */
import { endpoints } from '#api/routes/index.ts'
import { LogoCache } from '#api/routes/tokens/LogoCache.ts'
import { RpcDoor } from '#api/rpc/RpcDoor.ts'
import { appDatabase } from '#rows/database.ts'
import { type Base, definePart } from '../part.ts'

export const chainDataPart = definePart({
  name: 'chainData',
  endpoints,
  open: (base) => {
    const { chains, tokenNames, lists, egress, runtime } = base
    const logoCache = new LogoCache(runtime.clock)
    const { curatedTokens } = lists
    return { services: { chains, tokenNames, curatedTokens, egress, logoCache, rpc: rpcDoors(base) } }
  },
})

function rpcDoors({ program, chains, runtime: { clock }, log }: Base): ReadonlyMap<number, RpcDoor> {
  const { postgres } = program.engines
  const filters = appDatabase(postgres)
  return new Map(
    program.reachable.map(({ chainId, kind, config: { rpcMethods: enabled }, relay }) => {
      const reads = chains.get(chainId)
      const stored = reads ? { postgres, state: reads.state } : null
      return [chainId, new RpcDoor({ chainId, kind, relay, enabled, stored, filters, clock, log })]
    }),
  )
}
