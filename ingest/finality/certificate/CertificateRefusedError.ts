import { failure } from '#errors.ts'

/**
 * The checks of a certificate, in this order:
 * - `bytes`: each value in its one spelling, nothing behind the end;
 * - `votePoint`, `seedPoint`: points of the subgroup, not infinity, in their one spelling;
 * - `digest`: the hash of the header as we recomputed it;
 * - `epoch`: that of the header's height;
 * - `key`: we hold the one of this epoch;
 * - `vote`, `seed`: signed by it.
 */
export const certificateParts = [
  'bytes',
  'votePoint',
  'seedPoint',
  'digest',
  'epoch',
  'key',
  'vote',
  'seed',
] as const

export type CertificatePart = (typeof certificateParts)[number]

/** A certificate proves nothing of the block it was given for. `part` is the first that is wrong. */
export class CertificateRefusedError extends failure(
  'CertificateRefusedError',
  'certificate_refused',
  'retry',
) {
  readonly part: CertificatePart
  /** More about it, for people. */
  readonly detail: string

  constructor(part: CertificatePart, detail: string, options?: ErrorOptions) {
    super(`a certificate of finality is refused for its ${partNames[part]}: ${detail}`, options)
    this.part = part
    this.detail = detail
  }
}

const partNames: Readonly<Record<CertificatePart, string>> = {
  bytes: 'bytes',
  votePoint: 'vote, which is no valid point',
  seedPoint: 'seed, which is no valid point',
  digest: 'digest',
  epoch: 'epoch',
  key: 'key',
  vote: 'vote',
  seed: 'seed',
}
