/** The port of payments: what goes beyond the quota may be paid for. */
import type { Payments } from '#payments/Payments.ts'

export type PaidRequests = Pick<Payments, 'sells' | 'presentedIn' | 'challenge' | 'begin'>
