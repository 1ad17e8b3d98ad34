/**
 * The record that a start of ours writes about the dev chain it runs, so that the next one finds the
 * process again or knows that it is gone: `anvil.json` beside the chain's state.
 */
import { readFile, rename, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { field } from './DevRpc.ts'

/** Chain id of the dev chain: the one that viem has for Tempo's local network. */
export const DEV_CHAIN_ID = 1337

/** Files of one dev chain, all in one folder of the data directory. */
export interface DevChainFiles {
  readonly folder: string
  readonly record: string
  /**
   * Written by anvil when it is asked to end, read and deleted by the next start. Present = the
   * chain ended cleanly.
   */
  readonly state: string
  readonly log: string
}

/** One run of one generation. */
export interface DevChainRecord {
  readonly pid: number
  readonly port: number
  /**
   * Hash of block 0: no two generations share it. Null until the node has answered for the first
   * time.
   */
  readonly genesisHash: string | null
  /** The settings that block 0 was made of, in seconds and gas. */
  readonly genesisTimestamp: number
  readonly genesisGasLimit: number
}

/** Names the files of a chain below a data directory. */
export function devChainFiles(dataDir: string, chainId: number): DevChainFiles {
  const folder = resolve(dataDir, 'devchain', String(chainId))
  return {
    folder,
    record: join(folder, 'anvil.json'),
    state: join(folder, 'state.json'),
    log: join(folder, 'anvil.log'),
  }
}

/** The record of the last run; undefined when there is none or it cannot be read as one. */
export async function readRecord(files: DevChainFiles): Promise<DevChainRecord | undefined> {
  try {
    return parseRecord(JSON.parse(await readFile(files.record, 'utf8')))
  } catch {
    return undefined
  }
}

/** Replaces the record in one step: a kill leaves the old one or the new one. */
export async function writeRecord(files: DevChainFiles, record: DevChainRecord): Promise<void> {
  const next = `${files.record}.new`
  await writeFile(next, `${JSON.stringify(record)}\n`, { flush: true })
  await rename(next, files.record)
}

function parseRecord(value: unknown): DevChainRecord | undefined {
  const [pid, port] = [field(value, 'pid'), field(value, 'port')]
  const [genesisTimestamp, genesisGasLimit] = [
    field(value, 'genesisTimestamp'),
    field(value, 'genesisGasLimit'),
  ]
  if (typeof pid !== 'number' || typeof port !== 'number') return undefined
  if (typeof genesisTimestamp !== 'number' || typeof genesisGasLimit !== 'number') return undefined
  const genesisHash = field(value, 'genesisHash')
  return {
    pid,
    port,
    genesisHash: typeof genesisHash === 'string' ? genesisHash : null,
    genesisTimestamp,
    genesisGasLimit,
  }
}
