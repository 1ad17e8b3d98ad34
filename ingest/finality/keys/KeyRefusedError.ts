import { failure } from '#errors.ts'

/**
 * Why the key of an epoch is not taken:
 * - `outcome_unreadable`, `outcome_of_other_epoch`: the last block of the epoch before says nothing
 *   that can be used;
 * - `pin_contradicted`: it names another key than the one that is compiled in or configured;
 * - `old_key_unknown`: nobody can check what the block says;
 * - `key_unannounced`: the epoch before did not say that a new key is to come;
 * - `announcement_not_held`: its last block is not held, so whether it did is unknown;
 * - `certificate_missing`: the old key has not been seen signing the new one.
 */
export type KeyRefusal =
  | 'outcome_unreadable'
  | 'outcome_of_other_epoch'
  | 'pin_contradicted'
  | 'old_key_unknown'
  | 'key_unannounced'
  | 'announcement_not_held'
  | 'certificate_missing'

/** Finality waits in front of this epoch until its key is configured, or what lacks has come. */
export class KeyRefusedError extends failure('KeyRefusedError', 'finality_key_unknown', 'retry') {
  readonly reason: KeyRefusal
  readonly epoch: number

  constructor(reason: KeyRefusal, epoch: number) {
    super(`the key that signs finality from epoch ${epoch} on is not known: ${reasons[reason]}`)
    this.reason = reason
    this.epoch = epoch
  }
}

const reasons: Readonly<Record<KeyRefusal, string>> = {
  outcome_unreadable: 'the last block of the epoch before tells none',
  outcome_of_other_epoch: 'the last block of the epoch before tells one of another epoch',
  pin_contradicted: 'the chain tells another one than was pinned',
  old_key_unknown: 'the key before it is not known',
  key_unannounced: 'the chain tells a new one that was not announced',
  announcement_not_held: 'the chain tells a new one, and the block that would have announced it is not held',
  certificate_missing: 'the block that tells a new one has no certificate under the old one',
}

export const isKeyRefusal = (text: string): text is KeyRefusal => Object.hasOwn(reasons, text)
