/** Dev chains of a data directory that are no longer the one to run: an earlier version's had another id. */
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { signalAnvil } from './anvilProcess.ts'
import { type DevChainRecord, devChainFiles, readRecord } from './devChainRecord.ts'

export interface RecordedDevChain extends DevChainRecord {
  readonly chainId: number
}

/** Every dev chain that was ever started in the directory and wrote down how. */
export async function recordedDevChains(dataDir: string): Promise<RecordedDevChain[]> {
  const found: RecordedDevChain[] = []
  for (const chainId of await idsIn(dataDir)) {
    const record = await readRecord(devChainFiles(dataDir, chainId))
    if (record) found.push({ chainId, ...record })
  }
  return found
}

/** Asks its process, if it still runs, to end with its chain on disk. */
export async function endDevChain(dataDir: string, { chainId, pid }: RecordedDevChain): Promise<void> {
  await signalAnvil({ pid, stateFile: devChainFiles(dataDir, chainId).state }, 'SIGINT')
}

/** Ends its process and deletes what it left, up to some hundred megabytes. */
export async function removeDevChain(dataDir: string, chainId: number): Promise<void> {
  const files = devChainFiles(dataDir, chainId)
  const record = await readRecord(files)
  if (record) await signalAnvil({ pid: record.pid, stateFile: files.state }, 'SIGKILL')
  await rm(files.folder, { recursive: true, force: true })
}

async function idsIn(dataDir: string): Promise<number[]> {
  try {
    return (await readdir(join(dataDir, 'devchain'))).map(Number).filter(Number.isSafeInteger)
  } catch {
    // No dev chain was ever made here.
    return []
  }
}
