/** Access: keys, quotas, sign-in and the accounts behind them. */
import type { ServiceAccess } from '#api/access/ServiceAccess.ts'
import type { SignIn } from '#api/access/SignIn.ts'
import type { Accounts } from '#api/routes/orgs/accounts.ts'
import { type Base, definePart, type Part } from '../part.ts'
import type { PaymentsPart } from '../payments/paymentsPart.ts'
import { type OpenedAccess, openAccess } from './access.ts'

interface AccessPart
  extends Part<{ readonly accounts: Accounts; readonly signIn: SignIn }>,
    Pick<OpenedAccess, 'firstKey'> {
  readonly access: ServiceAccess
}

interface BesideAccess {
  readonly payments: Pick<PaymentsPart, 'payments' | 'proofs'>
}

export const accessPart = definePart({ name: 'access', open: openAccessPart })

async function openAccessPart(
  base: Base,
  { payments: { payments, proofs } }: BesideAccess,
): Promise<AccessPart> {
  const { config, program, secrets, quotas, chains, runtime, screen } = base
  const { accounts, signIn, run, ...opened } = await openAccess({
    ...{ settings: config.access, engines: program.engines, secrets, quotas, chains },
    // Without quotas nothing is beyond them.
    payments: config.access.mode === 'guarded' ? payments : null,
    proofs,
    clock: runtime.clock,
    showsKey: screen.isTerminal,
  })
  const { mode, reason } = config.access
  return {
    ...opened,
    services: { accounts, signIn },
    notes: [`access is ${mode}: ${reason}`],
    // The cost of the last answers is counted too.
    run: ({ answered }) => run(answered),
  }
}
