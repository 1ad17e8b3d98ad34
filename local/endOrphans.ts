/**
 * Entry of the process that ends what a killed program left running in a data directory
 * (orphanWatch.ts).
 */
import { join } from 'node:path'
import { systemRuntime } from '#runtime/runtime.ts'
import { endDevChain, recordedDevChains } from './devchain/otherDevChains.ts'
import { findHolder } from './engines/dataDir.ts'
import { findPostmaster, stopPostmaster } from './engines/postgres/postmaster.ts'

/** A supervisor has started the program again by then; all is over within 30 s of the kill. */
const ADOPTION_MS = 15_000

const [, , dataDir = ''] = process.argv
const { clock } = systemRuntime()
await clock.sleep(ADOPTION_MS)
if (!findHolder(dataDir)) await endAll()

/** Both as at an ordinary end: the next start goes on with the same chain. */
async function endAll(): Promise<void> {
  for (const chain of await recordedDevChains(dataDir)) await endDevChain(dataDir, chain)
  const postmaster = findPostmaster(join(dataDir, 'postgres', 'data'))
  if (postmaster) await stopPostmaster(postmaster.identity, clock)
}
