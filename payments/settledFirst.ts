import type { Admission, RequestPayment } from '#http/request/access.ts'

export type Paid = Extract<Admission, { kind: 'paid' }>
export type Taken = Awaited<ReturnType<RequestPayment['settle']>>

/** Money that is there already is taken before anything is done for it. @throws ApiError */
export async function settledFirst({ payment }: Paid): Promise<Admission> {
  let isTaken = false
  try {
    const taken = await payment.settle()
    if (taken.kind === 'challenged') return taken
    isTaken = true
    return { kind: 'paid', payment: { ...payment, settle: async () => taken } }
  } finally {
    if (!isTaken) await payment.release()
  }
}
