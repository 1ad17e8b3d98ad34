/**
 * The one reader of recorded chains: `recordings/<name>.ndjson.zst` has one line a block, ascending
 * from its first block, and each line is `{"block","receipts"}` as a node answered
 * `eth_getBlockByNumber` (with full transactions) and `eth_getBlockReceipts`. Beside it stand a
 * manifest and the answers to some `eth_call`s.
 */
import { createReadStream, existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { constants, createZstdDecompress, zstdDecompressSync } from 'node:zlib'

/** A block and its receipts as a node answered them. */
export interface RecordedBlock {
  readonly block: unknown
  readonly receipts: unknown
}

/** The facts of a recording that need no reading of its blocks; the file has some counts beside these. */
export interface Manifest {
  readonly chainId: number
  /** The commands that made the chain. */
  readonly note: string
  readonly firstBlock: number
  readonly lastBlock: number
  /** The first block of everyday life, after the chain's setup: from here on it may be repeated. */
  readonly loopFrom: number
  readonly lastHash: string
  readonly zstdBytes: number
  /** Digest of the text before compression, in hexadecimal digits. */
  readonly sha256OfText: string
}

/** A node's answer to an `eth_call`: the returned data, or its JSON-RPC error. */
export type CallAnswer =
  | string
  | { readonly error: { readonly code: number; readonly message: string; readonly data?: unknown } }

/** Recordings are compressed over a window of 128 MiB, which a reader has to allow. */
const zstdParams = { [constants.ZSTD_d_windowLogMax]: 27 }

/**
 * The path of a recording, without the endings of its files. `name` is one of the folder `recordings`, or
 * an absolute path to one elsewhere.
 */
export function recordingPath(name: string): string {
  return resolve(import.meta.dirname, 'recordings', name)
}

/** Reads every `step`-th block, from the first one on. */
export function readRecording(name: string, step = 1): readonly RecordedBlock[] {
  const bytes = zstdDecompressSync(readFileSync(textPath(name)), { params: zstdParams })
  const lines = bytes.toString('utf8').trimEnd().split('\n')
  return lines.filter((_, index) => index % step === 0).map((line): RecordedBlock => JSON.parse(line))
}

/** Reads one block after the other, for recordings that need not be in memory as a whole. */
export async function* streamRecording(name: string): AsyncGenerator<RecordedBlock, void, undefined> {
  const text = createReadStream(textPath(name)).pipe(createZstdDecompress({ params: zstdParams }))
  for await (const line of createInterface({ input: text, crlfDelay: Number.POSITIVE_INFINITY }))
    yield JSON.parse(line)
}

export function readManifest(name: string): Manifest {
  return JSON.parse(readFileSync(`${recordingPath(name)}.manifest.json`, 'utf8'))
}

/**
 * Reads what the recorded node answered at the last block to the calls that an indexer makes for
 * a token's metadata, by `<to>:<data>` in lower case; none when the recording has no such file.
 */
export function readCalls(name: string): Readonly<Record<string, CallAnswer>> {
  const path = `${recordingPath(name)}.calls.json`
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {}
}

const textPath = (name: string) => `${recordingPath(name)}.ndjson.zst`
