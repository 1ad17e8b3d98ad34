/** `millrace chains`: which chains the stores hold, and how one is given up. */

import { SettingError } from '#errors.ts'
import { blockCount, type RangeSet } from '#ingest/range.ts'
import { DEV_CHAIN_ID } from '#local/devchain/devChainRecord.ts'
import { removeDevChain } from '#local/devchain/otherDevChains.ts'
import type { Runtime } from '#runtime/runtime.ts'
import { dropChain } from '#store/maintain/dropChain.ts'
import { type HeldChain, listChainIds, readHeldChain } from '#store/maintain/heldChains.ts'
import type { Logger } from '#telemetry.ts'
import { byteSize, counted } from '#text/quantity.ts'
import type { Config } from '../../config.ts'
import type { Engines } from '../../engines.ts'
import { openStores, selectHeldChain, withChainLease, withDatabases } from '../../stores.ts'

/** Works beside a running program too. */
export async function printHeldChains(
  config: Config,
  json: boolean,
  runtime: Runtime,
  log: Logger,
): Promise<void> {
  const chains = await withDatabases(config, runtime, log, readHeldChains)
  if (json) return print(JSON.stringify(chains.map(({ identity, ...held }) => ({ ...identity, ...held }))))
  if (chains.length === 0) print('no chain is held')
  for (const chain of chains) print(lineOf(chain))
}

/**
 * Drops everything held of a chain. @throws LeaseHeldError while a program writes it, SettingError
 * without `confirmed`
 */
export async function removeChain(
  config: Config,
  chainId: number,
  confirmed: boolean,
  runtime: Runtime,
  log: Logger,
): Promise<void> {
  const stores = await openStores(config, runtime, log)
  try {
    const { engines } = stores
    await selectHeldChain(stores, chainId)
    const held = await readHeldChain(engines.postgres, engines.clickhouse, chainId)
    if (!confirmed)
      throw new SettingError('--yes', `is needed to drop ${held ? lineOf(held) : `chain ${chainId}`}`)
    await withChainLease(stores, chainId, config, runtime, log, () =>
      dropChain(engines.postgres, engines.clickhouse, chainId),
    )
    // The one that runs today keeps its blocks, and is indexed anew.
    if (chainId !== DEV_CHAIN_ID) await removeDevChain(config.dataDir, chainId)
    print(`chain ${chainId} is no longer held; while the settings name it, the next start indexes it anew`)
  } finally {
    await stores.close()
  }
}

async function readHeldChains({ postgres, clickhouse }: Engines): Promise<HeldChain[]> {
  const chains: HeldChain[] = []
  for (const chainId of await listChainIds(postgres)) {
    const chain = await readHeldChain(postgres, clickhouse, chainId)
    if (chain) chains.push(chain)
  }
  return chains
}

function lineOf({ identity, tip, coverage, bytes }: HeldChain): string {
  const blocks = (ranges: RangeSet) => ranges.reduce((sum, range) => sum + blockCount(range), 0)
  const store = (name: string, ranges: RangeSet, size: number) =>
    `${name} ${counted(blocks(ranges), 'block')} in ${byteSize(size)}`
  return `chain ${identity.chainId} from block ${identity.startBlock} to ${Math.max(tip, identity.startBlock - 1)}: ${store('Postgres', coverage.postgres, bytes.postgres)}, ${store('ClickHouse', coverage.clickhouse, bytes.clickhouse)}`
}

const print = (text: string): void => void process.stdout.write(`${text}\n`)
