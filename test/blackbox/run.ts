/**
 * `npm run test:blackbox -- <url> [--chain <id>] [--only <path>]`: checks a running deployment and
 * prints a table; exit code 1 when anything failed. An API key is read from SVC_API_KEY.
 */
import { parseArgs } from 'node:util'
import { type Result, runBlackbox } from './blackbox.ts'

const usage = 'usage: npm run test:blackbox -- <url> [--chain <id>] [--only <path>]\n'

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { chain: { type: 'string' }, only: { type: 'string' } },
})
const [address] = positionals
if (address === undefined || !URL.canParse(address)) {
  process.stderr.write(usage)
  process.exit(2)
}

const print = (line: string) => process.stdout.write(`${line}\n`)
const startedMs = performance.now()
const results = await runBlackbox(new URL(address).origin, {
  chainId: values.chain,
  only: values.only,
  apiKey: process.env['SVC_API_KEY'],
  onResult: (result) => print(lineOf(result)),
})

const failed = results.filter(({ failures }) => failures.length > 0)
const expectations = results.reduce((sum, result) => sum + result.expectations, 0)
const operations = new Set(
  results.filter(({ check }) => check !== 'service').map(({ operation }) => operation),
).size
const seconds = ((performance.now() - startedMs) / 1000).toFixed(1)
print(
  `\n${operations} operations, ${results.length} checks, ${expectations} expectations, ${failed.length} checks failed, ${seconds} s`,
)
process.exitCode = failed.length > 0 ? 1 : 0

function lineOf({ operation, check, expectations, failures, notes }: Result): string {
  const verdict = failures.length > 0 ? 'FAILED' : 'ok'
  const head = `${verdict.padEnd(7)} ${operation.padEnd(50)} ${check.padEnd(10)} ${`${expectations}`.padStart(6)}`
  return [
    head,
    ...failures.map((text) => `        - ${text}`),
    ...notes.map((text) => `        (${text})`),
  ].join('\n')
}
