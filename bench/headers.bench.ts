/** Claim: a table of the fields that forks brought hashes headers as fast as code that names them. */
import { type RpcBlock, readHeader } from '#ingest/read/block.ts'
import { headerHash } from '#ingest/verify/parts/header.ts'
import { cannedChain } from './cannedChain.ts'
import { earlierHeaderHash } from './finality/earlierHeader.ts'
import { type Line, measure, median, quantile } from './harness.ts'
import { dense } from './shapes.ts'

const HEADERS = 500
/** Times that each header is hashed in a turn, so that a turn takes tenths of a second. */
const PASSES = 40
const PAIRS = 41
const WARM_PAIRS = 4

type Rule = 'ethereum' | 'tempo'
type HashOf = (block: RpcBlock, rule: Rule) => string

/** `npm run bench headers` */
export async function benchHeaders(): Promise<Line[]> {
  const tempo = Array.from(cannedChain({ ...dense(HEADERS), txsPerBlock: 0 }), ({ block }) =>
    readHeader(JSON.parse(block)),
  )
  const prague = tempo.map((block) => ({
    ...block,
    withdrawalsRoot: block.parentHash,
    blobGasUsed: '0x20000' as const,
    excessBlobGas: '0x0' as const,
    parentBeaconBlockRoot: block.parentHash,
    requestsHash: block.parentHash,
  }))
  return [
    await compared('a header of Tempo', tempo, 'tempo'),
    await compared('a header of Ethereum’s Prague', prague, 'ethereum'),
  ]
}

async function compared(name: string, blocks: readonly RpcBlock[], rule: Rule): Promise<Line> {
  for (const block of blocks)
    if (headerHash(block, rule) !== earlierHeaderHash(block, rule))
      throw new Error('two hashes of one header')
  const microseconds = async (hashOf: HashOf) => {
    const { cpuSeconds } = await measure(() => {
      for (let pass = 0; pass < PASSES; pass++) for (const block of blocks) hashOf(block, rule)
    })
    return (1e6 * cpuSeconds) / (PASSES * blocks.length)
  }
  const [own, earlier]: [number[], number[]] = [[], []]
  for (let pair = 0; pair < WARM_PAIRS + PAIRS; pair++) {
    const turns =
      pair % 2 === 0
        ? ([
            [headerHash, own],
            [earlierHeaderHash, earlier],
          ] as const)
        : ([
            [earlierHeaderHash, earlier],
            [headerHash, own],
          ] as const)
    for (const [hashOf, found] of turns) found.push(await microseconds(hashOf))
  }
  const warm = (values: readonly number[]) => values.slice(WARM_PAIRS)
  const ratios = warm(own).map((value, index) => value / (warm(earlier)[index] ?? Number.NaN))
  const show = (values: readonly number[]) => `${median(warm(values)).toFixed(2)} µs`
  const between = [0.25, 0.75].map((share) => quantile(ratios, share).toFixed(3)).join(' to ')
  return {
    subject: `${name}: hashed`,
    value: `${show(own)} of CPU: ${median(ratios).toFixed(3)} × (quartiles ${between})`,
    against: `without the table: ${show(earlier)}; ${PAIRS} pairs by turns`,
  }
}
