/**
 * Records a chain from an RPC endpoint: its blocks and receipts as `recordings.ts` reads them, a
 * manifest, and the answers to the calls that an indexer makes for a token's metadata, as they are
 * at the last block.
 */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createWriteStream, statSync, writeFileSync } from 'node:fs'
import { finished } from 'node:stream/promises'
import { constants, createZstdCompress } from 'node:zlib'
import { DevRpc } from '#local/devchain/DevRpc.ts'
import { endWith, readFlags } from './flags.ts'
import { fetchBlocks } from './record/fetchBlocks.ts'
import { readMetadata } from './record/metadata.ts'
import { Tally } from './record/tally.ts'
import type { RecordedBlock } from './recordings.ts'

const usage = `usage: node test/chain/record.ts --out path [--rpc http://127.0.0.1:8545] [--from 0] [--to latest]
  --out            such as test/chain/recordings/mine, without the endings of its files
  [--loop-from 1]  first block that a replay may repeat: the one after the chain's setup
  [--note text]    kept in the manifest`
const flags = readFlags(
  { rpc: 'http://127.0.0.1:8545', out: '', from: 0, to: 'latest', 'loop-from': 1, note: '' },
  usage,
)
if (!flags.out) endWith(usage, 2)

/** Blocks of one request. */
const RUN = 8
/** Readers allow a window of 128 MiB: much of a chain is said again many blocks later. */
const zstdParams = {
  [constants.ZSTD_c_compressionLevel]: 19,
  [constants.ZSTD_c_windowLog]: 27,
  [constants.ZSTD_c_enableLongDistanceMatching]: 1,
}

const rpc = new DevRpc(flags.rpc)
const last = flags.to === 'latest' ? await rpc.quantity('eth_blockNumber') : Number(flags.to)
const tally = new Tally()
const text = await writeText()
writeJson('calls', await readMetadata(rpc, tally.tokens, last))
const manifest = await describe()
writeJson('manifest', manifest)
process.stdout.write(`${JSON.stringify(manifest, null, 2)}\n`)

async function writeText(): Promise<{ rawBytes: number; sha256OfText: string }> {
  const digest = createHash('sha256')
  const zstd = createZstdCompress({ params: zstdParams })
  const output = zstd.pipe(createWriteStream(`${flags.out}.ndjson.zst`))
  let rawBytes = 0
  for await (const entry of recordedBlocks()) {
    tally.add(entry)
    const line = `${JSON.stringify(entry)}\n`
    rawBytes += Buffer.byteLength(line)
    digest.update(line)
    if (!zstd.write(line)) await once(zstd, 'drain')
  }
  zstd.end()
  await finished(output)
  return { rawBytes, sha256OfText: digest.digest('hex') }
}

/** One request is ahead while the blocks of another are compressed. */
async function* recordedBlocks(): AsyncGenerator<RecordedBlock, void, undefined> {
  const runFrom = (from: number) => fetchBlocks(rpc, from, Math.min(from + RUN - 1, last))
  let ahead = runFrom(flags.from)
  for (let from = flags.from; from <= last; from += RUN) {
    const blocks = await ahead
    ahead = runFrom(from + RUN)
    yield* blocks
  }
}

async function describe(): Promise<object> {
  const { firstHash, lastHash, transactions, reverted, logs, transactionTypes } = tally
  return {
    format: 'one {"block","receipts"} per line, ascending, zstd',
    chainId: await rpc.quantity('eth_chainId'),
    client: await rpc.call('web3_clientVersion'),
    note: flags.note,
    ...{ firstBlock: flags.from, lastBlock: last, loopFrom: flags['loop-from'] },
    ...{ firstHash, lastHash, transactions, reverted, logs, transactionTypes },
    rawBytes: text.rawBytes,
    tokens: tally.tokens.size,
    zstdBytes: statSync(`${flags.out}.ndjson.zst`).size,
    sha256OfText: text.sha256OfText,
  }
}

function writeJson(ending: string, value: unknown): void {
  writeFileSync(`${flags.out}.${ending}.json`, `${JSON.stringify(value, null, 2)}\n`)
}
