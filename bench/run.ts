/** `npm run bench [subject]`: runs the benches and prints one table. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { benchAccess } from './access.bench.ts'
import { benchArchive } from './archive.bench.ts'
import { benchCalibration } from './calibration.ts'
import { benchCertificates } from './certificates.bench.ts'
import { benchDecode } from './decode.bench.ts'
import { benchExchange } from './exchange.bench.ts'
import { benchFinality, benchLiveFinality } from './finality.bench.ts'
import { type Line, machine } from './harness.ts'
import { benchHeaders } from './headers.bench.ts'
import { benchFar, benchGrowth, benchIngest } from './ingest.bench.ts'
import { benchJobs } from './jobs.bench.ts'
import { benchLists } from './lists.bench.ts'
import { benchLive } from './live.bench.ts'
import { benchOrchestrator } from './orchestrator.bench.ts'
import { benchPeers } from './peers.bench.ts'
import { benchQuery } from './query.bench.ts'
import { benchRpc, benchRpcLive } from './rpc.bench.ts'
import { benchSeal } from './seal.bench.ts'
import { benchStrangers } from './strangers.bench.ts'
import { wholePathLines } from './webhooks/wholePath.ts'
import { benchWebhooks } from './webhooks.bench.ts'

const subjects: Readonly<Record<string, () => Promise<Line[]>>> = {
  calibration: benchCalibration,
  decode: benchDecode,
  headers: benchHeaders,
  certificates: benchCertificates,
  archive: benchArchive,
  seal: benchSeal,
  ingest: benchIngest,
  growth: benchGrowth,
  far: benchFar,
  live: benchLive,
  finality: benchFinality,
  liveFinality: benchLiveFinality,
  lists: benchLists,
  access: benchAccess,
  strangers: benchStrangers,
  query: benchQuery,
  rpc: benchRpc,
  rpcLive: benchRpcLive,
  exchange: benchExchange,
  orchestrator: benchOrchestrator,
  jobs: benchJobs,
  webhooks: benchWebhooks,
  webhookPath: wholePathLines,
  peers: benchPeers,
}

const asked = process.argv.slice(2)
const unknown = asked.find((name) => !Object.hasOwn(subjects, name))
if (unknown !== undefined) {
  process.stderr.write(`no bench is called ${unknown}; there are ${Object.keys(subjects).join(', ')}\n`)
  process.exit(1)
}

const lines: Line[] = []
for (const [name, bench] of Object.entries(subjects))
  if (asked.length === 0 || asked.includes(name)) lines.push(...keep(name, await bench()))

process.stdout.write(`\n${machine()}\n\n| subject | measured | against |\n| --- | --- | --- |\n`)
for (const { subject, value, against } of lines)
  process.stdout.write(`| ${subject} | ${value} | ${against} |\n`)
process.exit(0)

/** Writes a subject's lines beside the committed results, so that two runs can be compared. */
function keep(name: string, found: Line[]): Line[] {
  const folder = join(import.meta.dirname, 'results/latest')
  mkdirSync(folder, { recursive: true })
  writeFileSync(
    join(folder, `${name}.json`),
    `${JSON.stringify({ machine: machine(), lines: found }, null, 2)}\n`,
  )
  return found
}
