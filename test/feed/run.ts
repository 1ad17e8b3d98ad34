/**
 * `npm run feed:check -- <url> [--chain <id>]`: reads the whole feed of a deployment as an
 * aggregator does and prints what is wrong with it; exit code 1 when anything is.
 */
import { parseArgs } from 'node:util'
import { checkFeed } from './checkFeed.ts'

/** Problems printed; the first ones say enough. */
const PRINTED_MAX = 20

const { positionals, values } = parseArgs({ allowPositionals: true, options: { chain: { type: 'string' } } })
const [address] = positionals
if (address === undefined || !URL.canParse(address)) {
  process.stderr.write('usage: npm run feed:check -- <url> [--chain <id>]\n')
  process.exit(2)
}
const { origin } = new URL(address)
const read = async (path: string) => {
  const response = await fetch(origin + path)
  return { status: response.status, body: await response.json() }
}
const { latestBlock, events, pairs, problems } = await checkFeed(read, `/feed/${values.chain ?? 'mainnet'}`)
for (const problem of problems.slice(0, PRINTED_MAX)) process.stdout.write(`FAILED  ${problem}\n`)
process.stdout.write(
  `${events} events of ${pairs} pairs up to block ${latestBlock}: ${problems.length} problems\n`,
)
process.exitCode = problems.length > 0 ? 1 : 0
