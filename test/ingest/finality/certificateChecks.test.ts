// Goal: a thread checks certificates of finality as the check itself does, and names what is wrong.
// Method: the thread of the program, with the certificates of one secret.
import { afterAll, describe, expect, test } from 'vitest'
import { CertificateRefusedError } from '#ingest/finality/certificate/CertificateRefusedError.ts'
import { CertificateChecks, CheckLostError } from '#ingest/finality/check/CertificateChecks.ts'
import type { EpochKeys } from '#ingest/finality/keys/epochKeys.ts'
import { KeyRefusedError } from '#ingest/finality/keys/KeyRefusedError.ts'
import { silentLogger } from '#telemetry.ts'
import { digestOf, outcomeExtraData, signingNetwork } from '../../support/signedFinality.ts'

const checks = new CertificateChecks(silentLogger)
afterAll(() => checks.close())

const network = signingNetwork(`0x${'02'.repeat(32)}`)
const keys: EpochKeys = {
  epochBlocks: 10,
  keys: [{ fromEpoch: 0, key: network.key, origin: 'configured' }],
  unknownFrom: [],
}
const proposal = { epoch: 1, view: 6, parentView: 5, digest: digestOf(5) }
const header = { number: 15, hash: proposal.digest }
const bytes = network.certificate(proposal)

describe('a thread', () => {
  test('gives what a certificate proves, and leaves its bytes with the caller', async () => {
    expect(await checks.check(bytes, header, keys)).toMatchObject(proposal)
    expect(bytes.length).toBe(131)
  })

  test('names the part that is wrong, and goes on', async () => {
    const swapped = checks.check(bytes, { ...header, hash: digestOf(6) }, keys)
    await expect(swapped).rejects.toThrow(CertificateRefusedError)
    await expect(swapped).rejects.toMatchObject({ part: 'digest', remedy: 'retry' })
    await expect(checks.check(bytes, header, { ...keys, keys: [] })).rejects.toMatchObject({ part: 'key' })
    expect(await checks.check(bytes, header, keys)).toMatchObject(proposal)
  })

  test('follows a key into the next epoch, and names why it is refused', async () => {
    const { key } = signingNetwork(`0x${'03'.repeat(32)}`)
    const boundaryOf = (epoch: number, of: typeof key, isNextFullDkg: boolean) => {
      return { number: epoch * 10 - 1, extraData: outcomeExtraData({ epoch, key: of, isNextFullDkg }) }
    }
    const change = {
      boundary: boundaryOf(3, key, false),
      before: boundaryOf(2, network.key, true),
      isCertified: true,
    }
    expect((await checks.follow(keys, change)).keys.at(-1)).toEqual({ fromEpoch: 3, key, origin: 'followed' })
    const refused = checks.follow(keys, { ...change, isCertified: false })
    await expect(refused).rejects.toThrow(KeyRefusedError)
    await expect(refused).rejects.toMatchObject({ reason: 'certificate_missing', epoch: 3 })
  })

  test('stops for who asked no longer', async () => {
    const reason = new Error('enough')
    await expect(checks.check(bytes, header, keys, AbortSignal.abort(reason))).rejects.toThrow(reason)
  })

  test('that is closed has proved nothing', async () => {
    const closed = new CertificateChecks(silentLogger)
    await closed.check(bytes, header, keys)
    const under = closed.check(bytes, header, keys)
    await Promise.all([closed.close(), expect(under).rejects.toThrow(CheckLostError)])
  })
})
