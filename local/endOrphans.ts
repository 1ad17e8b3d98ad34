/**
 * Entry of the process that ends what a killed program left running in a data directory
 * (orphanWatch.ts).
 */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { systemRuntime } from '#runtime.ts'
import { signalAnvil } from './devchain/anvilProcess.ts'
import { devChainFiles, readRecord } from './devchain/devChainRecord.ts'
import { findHolder } from './engines/dataDir.ts'
import { findPostmaster, stopPostmaster } from './engines/postmaster.ts'

/** A supervisor has started the program again by then; all is over within 30 s of the kill. */
const ADOPTION_MS = 15_000

const [, , dataDir = ''] = process.argv
const { clock } = systemRuntime()
await clock.sleep(ADOPTION_MS)
if (!findHolder(dataDir)) await endAll()

/** Both as at an ordinary end: the next start goes on with the same chain. */
async function endAll(): Promise<void> {
  for (const chainId of chainIdsIn(dataDir)) {
    const files = devChainFiles(dataDir, chainId)
    const record = await readRecord(files)
    if (record) await signalAnvil({ pid: record.pid, stateFile: files.state }, 'SIGINT')
  }
  const postmaster = findPostmaster(join(dataDir, 'postgres', 'data'))
  if (postmaster) await stopPostmaster(postmaster.identity, clock)
}

function chainIdsIn(folder: string): number[] {
  try {
    return readdirSync(join(folder, 'devchain')).map(Number).filter(Number.isSafeInteger)
  } catch {
    // No local chain was ever made here.
    return []
  }
}
