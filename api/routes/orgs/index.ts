/** Every operation on people, organizations, projects and keys. */
import type { Endpoint } from '#http/endpoint.ts'
import type { AccountServices } from './accounts.ts'
import {
  acceptInvitationEndpoint,
  createInvitationEndpoint,
  declineInvitationEndpoint,
  deleteInvitationEndpoint,
  listInvitationsEndpoint,
  listReceivedInvitationsEndpoint,
} from './invitations.ts'
import { createKeyEndpoint, listOrgKeysEndpoint, listProjectKeysEndpoint, revokeKeyEndpoint } from './keys.ts'
import { listScopesEndpoint, readMeEndpoint } from './me.ts'
import { changeMemberEndpoint, listMembersEndpoint, removeMemberEndpoint } from './members.ts'
import {
  createOrgEndpoint,
  deleteOrgEndpoint,
  listOrgsEndpoint,
  readOrgEndpoint,
  renameOrgEndpoint,
} from './orgs.ts'
import {
  createProjectEndpoint,
  deleteProjectEndpoint,
  listProjectsEndpoint,
  readProjectEndpoint,
  renameProjectEndpoint,
} from './projects.ts'
import { readUsageEndpoint } from './usage.ts'

export const orgEndpoints: readonly Endpoint<AccountServices>[] = [
  readMeEndpoint,
  listScopesEndpoint,
  listOrgsEndpoint,
  createOrgEndpoint,
  readOrgEndpoint,
  renameOrgEndpoint,
  deleteOrgEndpoint,
  listMembersEndpoint,
  changeMemberEndpoint,
  removeMemberEndpoint,
  listInvitationsEndpoint,
  createInvitationEndpoint,
  deleteInvitationEndpoint,
  listReceivedInvitationsEndpoint,
  acceptInvitationEndpoint,
  declineInvitationEndpoint,
  listProjectsEndpoint,
  createProjectEndpoint,
  readProjectEndpoint,
  renameProjectEndpoint,
  deleteProjectEndpoint,
  listOrgKeysEndpoint,
  listProjectKeysEndpoint,
  createKeyEndpoint,
  revokeKeyEndpoint,
  readUsageEndpoint,
]
