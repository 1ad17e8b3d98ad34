/**
 * `npm run feed:check -- <url> [--chain <id>]`: reads the whole feed of a deployment as an
 * aggregator does and prints what is wrong with it; exit code 1 when anything is. `SVC_API_KEY` is
 * sent where it is set; a quota that is spent is waited for.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { isRecord } from '#primitives.ts'
import { checkFeed, type ReadJson } from './checkFeed.ts'

/** Problems printed; the first ones say enough. */
const PRINTED_MAX = 20
/** Waits for a quota before the check gives up; each is a minute at most. */
const WAITS_MAX = 60
const WAIT_SECONDS_MAX = 60

const { positionals, values } = parseArgs({ allowPositionals: true, options: { chain: { type: 'string' } } })
const [address] = positionals
if (address === undefined || !URL.canParse(address)) {
  process.stderr.write('usage: npm run feed:check -- <url> [--chain <id>]\n')
  process.exit(2)
}
const { origin } = new URL(address)
const key = process.env['SVC_API_KEY']
let waits = 0
const read: ReadJson = async (path) => {
  const response = await fetch(origin + path, key === undefined ? {} : { headers: { 'svc-api-key': key } })
  const body = await response.json()
  if (response.status !== 429 || waits++ >= WAITS_MAX) return { status: response.status, body }
  const seconds = Number(response.headers.get('retry-after') ?? 1)
  await sleep(Math.min(WAIT_SECONDS_MAX, seconds) * 1000)
  return read(path)
}
const { latestBlock, events, pairs, problems } = await checkFeed(
  read,
  `/feed/${values.chain ?? (await onlyChain()) ?? 'mainnet'}`,
)
for (const problem of problems.slice(0, PRINTED_MAX)) process.stdout.write(`FAILED  ${problem}\n`)
process.stdout.write(
  `${events} events of ${pairs} pairs up to block ${latestBlock}: ${problems.length} problems\n`,
)
process.exitCode = problems.length > 0 ? 1 : 0

/** The chain of a deployment that serves one, as a program on its dev chain does. */
async function onlyChain(): Promise<string | undefined> {
  const { body } = await read('/status')
  const chains = isRecord(body) && Array.isArray(body['chains']) ? body['chains'] : []
  const [only, ...others] = chains.map((chain: unknown) => (isRecord(chain) ? `${chain['chainId']}` : ''))
  return others.length === 0 ? only : undefined
}
