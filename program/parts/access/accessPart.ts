/** Access: keys, quotas, sign-in and the accounts behind them. */
import type { ServiceAccess } from '#api/access/ServiceAccess.ts'
import type { SignIn } from '#api/access/SignIn.ts'
import type { Accounts } from '#api/routes/orgs/accounts.ts'
import type { Base, Part } from '../part.ts'
import type { PaymentsPart } from '../payments/paymentsPart.ts'
import { type OpenedAccess, openAccess } from './access.ts'

export interface AccessPart
  extends Part<{ readonly accounts: Accounts; readonly signIn: SignIn }>,
    Pick<OpenedAccess, 'firstKey'> {
  readonly access: ServiceAccess
}

export async function openAccessPart(base: Base, { payments, proofs }: PaymentsPart): Promise<AccessPart> {
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
    // What the last answers cost is counted too.
    run: ({ answered }) => run(answered),
  }
}
