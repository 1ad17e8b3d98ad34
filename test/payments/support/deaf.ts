/** Charges whose outcome nobody hears of at first. */
import type { TempoChargeMethod } from '#payments/methods/charge/TempoChargeMethod.ts'
import type { PaymentMethod } from '#payments/methods/PaymentMethod.ts'

/** Told as unknown so often, though the chain has it. */
export function deaf(charges: TempoChargeMethod, times: number): PaymentMethod {
  let left = times
  const heard = <Result>(asked: Promise<Result>) =>
    asked.then((found) => (left-- > 0 ? ({ kind: 'unknown' } as const) : found))
  return {
    name: charges.name,
    offersOf: charges.offersOf.bind(charges),
    challenge: charges.challenge.bind(charges),
    presentedIn: charges.presentedIn.bind(charges),
    identityOf: charges.identityOf,
    metaIn: charges.metaIn,
    check: charges.check.bind(charges),
    send: (...asked) => heard(charges.send(...asked)),
    outcome: (...asked) => heard(charges.outcome(...asked)),
    receiptHeaders: charges.receiptHeaders,
  }
}
