/**
 * Simulations from the command line: `node test/simulation/run.ts --seeds 2000 --from 1`, `--seed
 * 17 --trace` to read one, `--bugs 500` for the bug bank; `--stale` for caches and long absences,
 * `--liar` for one endpoint of two that never stops lying, `--wrong` for one of another chain,
 * `--pruned` for a node without old blocks behind the only address, `--forked` for numbers of T12,
 * `--clients` for what the RPC door tells, `--outages` for long downtimes, `--away` for 2,000
 * blocks during which nobody indexes.
 */
import { parseArgs } from 'node:util'
import { makeBodies, makeForkedBodies, mostlyEmpty } from './bodies.ts'
import { bugNames, bugSwarms } from './bugs.ts'
import { simulate } from './simulate.ts'
import {
  askedChain,
  forkedChain,
  longOutage,
  oneLiar,
  outages,
  prunedNode,
  staleHistory,
  wrongChain,
} from './swarm.ts'

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '100' },
    from: { type: 'string', default: '1' },
    seed: { type: 'string' },
    trace: { type: 'boolean', default: false },
    bugs: { type: 'string' },
    bug: { type: 'string' },
    stale: { type: 'boolean', default: false },
    liar: { type: 'boolean', default: false },
    wrong: { type: 'boolean', default: false },
    pruned: { type: 'boolean', default: false },
    forked: { type: 'boolean', default: false },
    clients: { type: 'boolean', default: false },
    away: { type: 'boolean', default: false },
    outages: { type: 'boolean', default: false },
  },
})
const full = [...(await makeBodies(25)), ...(await makeForkedBodies(10))]
const bodies = values.away ? mostlyEmpty(full) : full
const swarm = [
  values.stale && staleHistory,
  values.liar && oneLiar,
  values.wrong && wrongChain,
  values.pruned && prunedNode,
  values.forked && forkedChain,
  values.clients && askedChain,
  values.outages && outages,
  values.away && longOutage,
].find((one) => one !== false)
if (values.seed !== undefined) await runOne(Number(values.seed))
else if (values.bugs !== undefined) await runBugs(Number(values.bugs))
else await runMany(Number(values.from), Number(values.seeds))

async function runOne(seed: number): Promise<void> {
  const bugs = bugNames.filter((name) => name === values.bug)
  const trace = values.trace ? (line: string) => print(line) : undefined
  const outcome = await simulate(seed, { bodies, bugs, swarm, ...(trace && { trace }) })
  print(JSON.stringify(outcome, null, 2))
  process.exitCode = outcome.violations.length > 0 ? 1 : 0
}

async function runMany(from: number, count: number): Promise<void> {
  const startedAt = performance.now()
  const sums = { failed: 0, events: 0, blocks: 0, kills: 0, reorgs: 0 }
  for (let seed = from; seed < from + count; seed++) {
    const outcome = await simulate(seed, { bodies, swarm })
    sums.events += outcome.events
    sums.blocks += outcome.blocks
    sums.kills += outcome.kills
    sums.reorgs += outcome.reorgs
    if (outcome.violations.length === 0) continue
    sums.failed++
    print(`seed ${seed}: ${outcome.violations[0]}`)
  }
  const seconds = (performance.now() - startedAt) / 1000
  print(JSON.stringify({ seeds: count, ...sums, seedsPerSecond: Number((count / seconds).toFixed(2)) }))
  process.exitCode = sums.failed > 0 ? 1 : 0
}

async function runBugs(seedsMax: number): Promise<void> {
  for (const bug of bugNames) {
    if (values.bug !== undefined && bug !== values.bug) continue
    let found = 'NOT FOUND'
    for (let seed = 1; seed <= seedsMax; seed++) {
      const { violations } = await simulate(seed, { bodies, bugs: [bug], swarm: bugSwarms[bug] })
      if (violations.length === 0) continue
      found = `seed ${seed}: ${violations[0]?.slice(0, 120)}`
      break
    }
    if (found === 'NOT FOUND') process.exitCode = 1
    print(`${bug}: ${found}`)
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
