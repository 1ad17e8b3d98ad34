/**
 * A dev chain that was lost starts over with another block 0: what is held of the last one describes
 * nothing, and what waited for its blocks waits for ever. Never done for a chain given by RPC_URL:
 * there another genesis is an error.
 */
import type { Hash } from '#primitives.ts'
import { voidMoneyOn } from '#rows/books/lostChain.ts'
import { appDatabase } from '#rows/database.ts'
import { postgresLeases } from '#rows/leases.ts'
import { closeChannels } from '#rows/payments/channels.ts'
import { deleteFilters } from '#rows/rpcFilters.ts'
import { readChainIdentity } from '#store/ledger/ledger.ts'
import { dropChain } from '#store/maintain/dropChain.ts'
import { migrateChain } from '#store/maintain/migrate.ts'
import type { Logger } from '#telemetry.ts'
import { beginAgain } from '#webhooks/matching/beginAgain.ts'
import type { Engines } from '../engines.ts'

/** The chain as its node tells it now. */
interface Generation {
  readonly chainId: number
  readonly genesisHash: Hash | null
  readonly config: { readonly startBlock: number | null }
}

/**
 * Drops what is held of another generation. What hangs on it goes first: a death in between finds
 * both again.
 */
export async function dropLostGeneration(
  { chainId, genesisHash, config }: Generation,
  { postgres, clickhouse }: Pick<Engines, 'postgres' | 'clickhouse'>,
  log: Logger,
): Promise<void> {
  const known = await readChainIdentity(postgres, chainId)
  if (!known || known.genesisHash === genesisHash) return
  log.warn(
    { chainId, held: known.genesisHash, now: genesisHash },
    'the dev chain began anew: dropping the old one’s data, and what hung on it',
  )
  const app = appDatabase(postgres)
  await app.transaction().execute(async (transaction) => {
    await beginAgain(transaction, chainId, config.startBlock ?? 0)
    await deleteFilters(transaction, chainId)
    await closeChannels(transaction, chainId)
  })
  await voidMoneyOn(app, chainId)
  await dropChain(postgres, clickhouse, chainId)
  await migrateChain(postgres, chainId, { leases: postgresLeases(postgres) })
}
