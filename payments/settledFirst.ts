import { ApiError } from '#http/errors.ts'
import type { Admission, RequestPayment } from '#http/request/access.ts'
import type { Payment } from '#rows/payments/payments.ts'
import { settlementPending } from './Claims.ts'
import { PaymentRefusedError } from './methods/PaymentMethod.ts'

export type Paid = Extract<Admission, { kind: 'paid' }>
export type Taken = Awaited<ReturnType<RequestPayment['settle']>>

/**
 * Money that is there already is taken before anything is done for it. Such a payment costs nothing to
 * make up: where its first look at the chain tells nothing, that counts against whoever sent it.
 * @throws ApiError
 */
export async function settledFirst({ payment }: Paid, { state }: Pick<Payment, 'state'>): Promise<Admission> {
  let isTaken = false
  try {
    const taken = await payment.settle().catch((error: unknown) => {
      throw state === 'claimed' && isPending(error) ? settlementPending(unproved()) : error
    })
    if (taken.kind === 'challenged') return taken
    isTaken = true
    return { kind: 'paid', payment: { ...payment, settle: async () => taken } }
  } finally {
    if (!isTaken) await payment.release()
  }
}

const isPending = (error: unknown): boolean =>
  error instanceof ApiError && error.code === 'settlement_pending'

const unproved = () => new PaymentRefusedError(new Error('no block has it, and it proves no payer'))
