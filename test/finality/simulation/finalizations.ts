import { epochOf } from '#ingest/finality/keys/epochs.ts'
import { type Branch, certificateOf, TEST_EPOCH_BLOCKS } from '../../support/finalityChain.ts'
import type { SigningNetwork } from '../../support/signedFinality.ts'
import { CHANGED_EPOCH } from './blocks.ts'
import { groupA, groupB } from './standIn.ts'

interface Signing {
  readonly view?: number
  readonly epoch?: number
  /** The one whose epoch it is unless said. */
  readonly group?: SigningNetwork
}

/** Digits of a certificate that a group stands in for. The true chain's second never signs for liars. */
export function finalizationText(branch: Branch, number: number, signing: Signing): string {
  const isLate = epochOf(number, TEST_EPOCH_BLOCKS) >= CHANGED_EPOCH
  return certificateOf(branch, number, { group: isLate ? groupB : groupA, ...signing })
}
