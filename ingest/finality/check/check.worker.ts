/**
 * Entry of a worker thread: what takes the curve's arithmetic, which is loaded nowhere else. Structured
 * clone keeps an error's message, but neither its class nor its fields: they go as data.
 */

import { type CertificatePart, CertificateRefusedError } from '../certificate/CertificateRefusedError.ts'
import type { Certificate } from '../certificate/certificate.ts'
import type { EpochKeys } from '../keys/epochKeys.ts'
import { followKey, type KeyChange } from '../keys/followKey.ts'
import { type KeyRefusal, KeyRefusedError } from '../keys/KeyRefusedError.ts'
import { assertFinalized, type CertifiedHeader } from './assertFinalized.ts'

export interface CheckTask {
  readonly bytes: Uint8Array
  readonly header: CertifiedHeader
  readonly keys: EpochKeys
}

export type CheckResult =
  | { readonly ok: true; readonly certificate: Certificate }
  | { readonly ok: false; readonly part: CertificatePart; readonly detail: string }

export function check({ bytes, header, keys }: CheckTask): CheckResult {
  try {
    return { ok: true, certificate: assertFinalized(bytes, header, keys) }
  } catch (error) {
    if (!(error instanceof CertificateRefusedError)) throw error
    return { ok: false, part: error.part, detail: error.detail }
  }
}

export interface FollowTask {
  readonly keys: EpochKeys
  readonly change: KeyChange
}

export type FollowResult =
  | { readonly ok: true; readonly keys: EpochKeys }
  | { readonly ok: false; readonly reason: KeyRefusal; readonly epoch: number }

export function follow({ keys, change }: FollowTask): FollowResult {
  try {
    return { ok: true, keys: followKey(keys, change) }
  } catch (error) {
    if (!(error instanceof KeyRefusedError)) throw error
    return { ok: false, reason: error.reason, epoch: error.epoch }
  }
}
