/**
 * Claim: verification with all roots costs less than decoding and encoding do, and senders some
 * hundredths of it. One thread, no network, no store.
 */
import { everySender, SENDERS_ONE_IN } from '#ingest/verify/senders/senderSample.ts'
import { decodeRange } from '#transform/decode/decodeRange.ts'
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
  const secondsOf = async (rules: Pick<ChainProfile, 'checks' | 'senders'>) => {
    const profile: ChainProfile = { chainId: 4217, kind: 'tempo', headerRule: 'tempo', ...rules }
    const runs: number[] = []
    for (let run = 0; run < RUNS; run++)
      runs.push((await measure(() => void decodeRange(profile, bytes, range))).cpuSeconds)
    return median(runs.slice(1))
  }
  const links = await secondsOf({ checks: 'links' })
  const roots = await secondsOf({ checks: 'roots' })
  const senders = await secondsOf({ checks: 'roots', senders: { key: [1, 2], oneIn: SENDERS_ONE_IN } })
  const every = await secondsOf({ checks: 'roots', senders: everySender })
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
    {
      subject: `decode, roots and one sender in ${SENDERS_ONE_IN}`,
      value: `${perSecond(shape.blocks, senders)} blocks/s, ${megabytes(senders)}`,
      against: `${(senders / roots).toFixed(3)} × the cost of roots`,
    },
    {
      subject: 'decode, roots and every sender, as the audit does',
      value: `${perSecond(shape.blocks, every)} blocks/s, ${megabytes(every)}`,
      against: `${(every / roots).toFixed(2)} × the cost of roots`,
    },
  ]
}
