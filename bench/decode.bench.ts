/** Claim: verification with all roots costs less than decoding and encoding do. One thread, no network, no store. */
import { decodeRange } from '#transform/decodeRange.ts'
import type { ChainProfile } from '#transform/profile.ts'
import { type ChainShape, cannedChain } from './cannedChain.ts'
import { type Line, measure, median, perSecond } from './harness.ts'

const shape: ChainShape = { name: 'dense', blocks: 100, txsPerBlock: 50, logsPerTx: 2, extraDataBytes: 0 }
const RUNS = 11

export async function benchDecode(): Promise<Line[]> {
  const blocks = [...cannedChain(shape)]
  const bytes = new TextEncoder().encode(
    `[${blocks.flatMap(({ block, receipts }, k) => [`{"id":${2 * k},"result":${block}}`, `{"id":${2 * k + 1},"result":${receipts}}`]).join(',')}]`,
  )
  const range = { from: 0, to: shape.blocks - 1 }
  const secondsOf = async (checks: ChainProfile['checks']) => {
    const profile: ChainProfile = { chainId: 4217, kind: 'tempo', headerRule: 'tempo', checks }
    const runs: number[] = []
    for (let run = 0; run < RUNS; run++)
      runs.push((await measure(() => void decodeRange(profile, bytes, range))).cpuSeconds)
    return median(runs.slice(1))
  }
  const links = await secondsOf('links')
  const roots = await secondsOf('roots')
  const megabytes = (seconds: number) => `${Math.round(bytes.byteLength / 1e6 / seconds)} MB/s`
  return [
    {
      subject: 'decode, links checked',
      value: `${perSecond(shape.blocks, links)} blocks/s, ${megabytes(links)}`,
      against: 'one thread',
    },
    {
      subject: 'decode, roots recomputed',
      value: `${perSecond(shape.blocks, roots)} blocks/s, ${megabytes(roots)}`,
      against: `${(roots / links).toFixed(2)} × the cost of links`,
    },
  ]
}
