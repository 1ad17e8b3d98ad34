/** Seeds from the command line: `node test/finality/simulation/run.ts [SEEDS] [FROM] [BUG]`. */
import { type FinalityBug, finalityBugs } from './bugs.ts'
import { simulate } from './simulate.ts'

const [seeds = '100', from = '1', named] = process.argv.slice(2)
const bug: FinalityBug | null = finalityBugs.find((name) => name === named) ?? null
const startedAt = performance.now()
const sums = { failed: 0, kills: 0, proofs: 0 }
for (let seed = Number(from); seed < Number(from) + Number(seeds); seed++) {
  const { violations, kills, proofs } = await simulate(seed, bug)
  sums.kills += kills
  sums.proofs += proofs
  if (violations.length === 0) continue
  sums.failed++
  if (sums.failed <= 10) process.stdout.write(`seed ${seed}: ${violations[0]}\n`)
}
const seconds = (performance.now() - startedAt) / 1_000
process.stdout.write(
  `${JSON.stringify({ seeds: Number(seeds), ...sums, seconds: Number(seconds.toFixed(1)) })}\n`,
)
process.exitCode = sums.failed > 0 ? 1 : 0
