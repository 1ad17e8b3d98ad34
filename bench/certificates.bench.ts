/**
 * Claim: to check certificates as fast as blocks become final takes a twentieth of a core, and one
 * product of pairings is cheaper than the library's own check of each signature.
 */
import { setTimeout } from 'node:timers/promises'
import * as Bls from 'ox/Bls'
import * as BlsPoint from 'ox/BlsPoint'
import {
  bytesOfHex,
  finalizeMessage,
  readCertificate,
  seedMessage,
} from '#ingest/finality/certificate/certificate.ts'
import { signatureSuite } from '#ingest/finality/certificate/groupSignatures.ts'
import { CertificateChecks } from '#ingest/finality/check/CertificateChecks.ts'
import type { EpochKeys } from '#ingest/finality/keys/epochKeys.ts'
import { EPOCH_BLOCKS } from '#ingest/finality/keys/epochs.ts'
import { silentLogger } from '#telemetry.ts'
import { digestOf } from '#test/support/signedFinality.ts'
import { cannedGroup } from './finality/cannedCertificates.ts'
import { type Line, measure, median, quantile, type Run } from './harness.ts'

const ROUNDS = 5
const CERTIFICATES = 40
/** Two blocks a second, each looked at. */
const LOOK_MS = 500

/** `npm run bench certificates`; CPU is that of the whole process, of which the thread is a part. */
export async function benchCertificates(): Promise<Line[]> {
  const certificates = Array.from({ length: CERTIFICATES }, (_, number) => {
    const header = { number, hash: digestOf(number + 1) }
    const proposal = { epoch: 0, view: number + 1, parentView: number, digest: header.hash }
    return { header, bytes: cannedGroup.certificate(proposal) }
  })
  const checks = new CertificateChecks(silentLogger)
  const checkAll = async (everyMs: number) => {
    const begun = performance.now()
    for (const [index, { bytes, header }] of certificates.entries()) {
      await setTimeout(Math.max(0, begun + index * everyMs - performance.now()))
      await checks.check(bytes, header, held)
    }
  }
  const verifyAll = () => {
    for (const { bytes } of certificates) verifyByLibrary(bytes)
  }
  try {
    const cold = await measure(() => checkAll(LOOK_MS))
    const [own, library]: [Run[], Run[]] = [[], []]
    verifyAll()
    for (let round = 0; round < ROUNDS; round++) {
      own.push(await measure(() => checkAll(0)))
      library.push(await measure(verifyAll))
    }
    const paced = await measure(() => checkAll(LOOK_MS))
    return linesOf(own, library, [cold, paced])
  } finally {
    await checks.close()
  }
}

const held: EpochKeys = {
  epochBlocks: EPOCH_BLOCKS,
  keys: [{ fromEpoch: 0, key: cannedGroup.key, origin: 'configured' }],
  unknownFrom: [],
}

/** As its documentation has it: each signature alone. @throws when one is not the group's */
function verifyByLibrary(bytes: Uint8Array): void {
  const certificate = readCertificate(bytes)
  const publicKey = BlsPoint.fromBytes(bytesOfHex(cannedGroup.key), 'G2')
  for (const [payload, point] of [
    [finalizeMessage(certificate), certificate.vote],
    [seedMessage(certificate), certificate.seed],
  ] as const) {
    const signature = BlsPoint.fromBytes(point, 'G1')
    if (!Bls.verify({ payload, publicKey, signature, suite: signatureSuite }))
      throw new Error('the library refuses a certificate')
  }
}

function linesOf(own: readonly Run[], library: readonly Run[], [cold, paced]: readonly [Run, Run]): Line[] {
  const each = (run: Run, figure: 'cpuSeconds' | 'wallSeconds') => (1_000 * run[figure]) / CERTIFICATES
  const show = (runs: readonly Run[], figure: 'cpuSeconds' | 'wallSeconds') => {
    const values = runs.map((run) => each(run, figure))
    return `${median(values).toFixed(1)} ms (${quantile(values, 0).toFixed(1)} to ${quantile(values, 1).toFixed(1)})`
  }
  const ratio = median(own.map((run, index) => run.cpuSeconds / (library[index]?.cpuSeconds ?? Number.NaN)))
  const share = (run: Run, looks: number) => `${((looks * each(run, 'cpuSeconds')) / 10).toFixed(1)} %`
  return [
    {
      subject: 'certificates one behind the other, in the worker',
      value: `${show(own, 'wallSeconds')} and CPU ${show(own, 'cpuSeconds')} each: ${ratio.toFixed(2)} × by CPU`,
      against: `each signature alone by the library, on the main thread: ${show(library, 'wallSeconds')}, CPU ${show(library, 'cpuSeconds')}`,
    },
    {
      subject: 'certificates at two looks a second, in the worker',
      value: `CPU ${each(paced, 'cpuSeconds').toFixed(1)} ms each: ${share(paced, 2)} of a core, at one look a second ${share(paced, 1)}`,
      against: `the first ${CERTIFICATES} of a process, its thread’s start in them: CPU ${each(cold, 'cpuSeconds').toFixed(1)} ms each`,
    },
  ]
}
