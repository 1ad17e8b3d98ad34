/**
 * Accounts with the admin role of standard tokens, a row for each: anybody may grant the role of a
 * token of their own to any number of accounts.
 */
import { type Address, type Hash, hash } from '#primitives.ts'
import { roleMembershipUpdated } from '#transform/events/tokens/tip20.ts'
import { tokenCreated } from '#transform/events/tokens/tip20Factory.ts'
import { type Fold, type FoldState, on } from '../fold.ts'

const columns = { token: 'address', account: 'address', is_admin: 'bool' } as const

type AdminColumns = typeof columns
type AdminState = FoldState<AdminColumns>

/** DEFAULT_ADMIN_ROLE of every token. */
const adminRole: Hash = hash(`0x${'00'.repeat(32)}`)

const keyOf = (token: Address, account: Address): string => `${token}${account.slice(2)}`

export const adminsFold: Fold<AdminColumns> = {
  name: 'token_admins',
  version: 1,
  entity: 'token_account',
  columns,
  reducers: [
    on(
      tokenCreated,
      ({ token, admin }) => keyOf(token, admin),
      (_state: AdminState | null, { token, admin }) => ({ token, account: admin, is_admin: true }),
    ),
    on(
      roleMembershipUpdated,
      ({ role, account }, { emitter }) => (role === adminRole ? keyOf(emitter, account) : null),
      (_state: AdminState | null, { account, hasRole }, { emitter }) => ({
        ...{ token: emitter, account, is_admin: hasRole },
      }),
    ),
  ],
}
