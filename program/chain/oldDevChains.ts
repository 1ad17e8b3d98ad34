/**
 * Dev chains that an earlier version held in this data directory under the id of a network. They are
 * no longer served, and nothing of the network's own chain is written beside their rows.
 */
import { SettingError } from '#errors.ts'
import { DEV_CHAIN_ID } from '#local/devchain/devChainRecord.ts'
import { endDevChain, recordedDevChains } from '#local/devchain/otherDevChains.ts'
import { readGenesis } from '#store/ledger/ledger.ts'
import type { Postgres } from '#store/postgres.ts'

/**
 * Ids of those that Postgres still holds; what was left running of them ends. @param running ids of
 * the dev chains of this start
 */
export async function findOldDevChains(
  postgres: Postgres,
  dataDir: string,
  running: readonly number[],
): Promise<ReadonlySet<number>> {
  const recorded = await recordedDevChains(dataDir)
  const old = recorded.filter(({ chainId }) => !running.includes(chainId))
  const held = new Set<number>()
  for (const chain of old) {
    await endDevChain(dataDir, chain)
    // Today's own rests while the settings name nodes, and nothing else has its id.
    if (chain.chainId === DEV_CHAIN_ID) continue
    const genesis = await readGenesis(postgres, chain.chainId)
    if (genesis !== null && genesis === chain.genesisHash) held.add(chain.chainId)
  }
  return held
}

/** @throws SettingError where a node's chain has the id of a dev chain that is still held */
export function assertNotOldDevChain(
  old: ReadonlySet<number>,
  { chainId, devChain }: { readonly chainId: number; readonly devChain: object | null },
): void {
  if (!devChain && old.has(chainId))
    throw new SettingError('DATA_DIR', `${describeOld(chainId)}; then this start indexes the node's chain`)
}

/** Advice for one, in one line. */
export const describeOld = (chainId: number): string =>
  `holds a local dev chain under the id ${chainId}, which is that of another chain: drop it by \`npm run millrace -- chains remove ${chainId} --yes\``
