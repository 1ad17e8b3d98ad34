/** The context of the parts of an organization's view. */
import type { AccountClient, Org } from '../../model/AccountClient.ts'

/** Shown to members; what they may not change is not offered. */
export interface OrgContext {
  readonly client: AccountClient
  readonly org: Org
  readonly mayManage: boolean
  readonly redraw: () => Promise<void>
}
