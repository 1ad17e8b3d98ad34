/** One organization: its projects and keys, its members, what its keys asked. */
import type {
  AccountClient,
  Invitation,
  Key,
  Member,
  Org,
  Person,
  Project,
  Scope,
} from '../../model/AccountClient.ts'
import { element } from '../element.ts'
import { card } from '../parts/card.ts'
import { table } from '../table.ts'
import type { OrgContext } from './context.ts'
import { keysView } from './keysView.ts'
import { choice, dangerButton, field, form } from './parts.ts'
import { usageView } from './usageView.ts'

/**
 * A view that asks again for what a change of keys or members may change, and no more: each person has a
 * quota of questions. `redraw` draws the whole page.
 */
export async function orgView(
  client: AccountClient,
  org: Org,
  person: Person,
  redraw: () => Promise<void>,
): Promise<HTMLElement> {
  const view = element('div', { class: 'parts' })
  const context = { client, org, mayManage: org.role !== 'member', redraw: () => drawParts() }
  let usage: HTMLElement | null = null
  const drawParts = async () => {
    const [projects, members, scopes, invitations, ...keys] = await Promise.all([
      client.list<Project>(`v1/orgs/${org.id}/projects`),
      client.list<Member>(`v1/orgs/${org.id}/members`),
      client.list<Scope>('v1/scopes'),
      client.list<Invitation>(`v1/orgs/${org.id}/invitations`),
      client.list<Key>(`v1/orgs/${org.id}/api-keys`),
      client.list<Key>(`v1/orgs/${org.id}/api-keys?environment=sandbox`),
    ])
    usage ??= await usageView(context, keys.flat())
    view.replaceChildren(
      keysView(context, projects, keys.flat(), scopes),
      usage,
      membersView(context, person, members, invitations, redraw),
      ...(org.role === 'owner' ? [ownerView({ ...context, redraw })] : []),
    )
  }
  await drawParts()
  return view
}

function membersView(
  { client, org, mayManage, redraw }: OrgContext,
  person: Person,
  members: readonly Member[],
  invitations: readonly Invitation[],
  redrawPage: () => Promise<void>,
): HTMLElement {
  const end = (userId: string) => async () => {
    await client.ask('DELETE', `v1/orgs/${org.id}/members/${userId}`)
    await (userId === person.id ? redrawPage() : redraw())
  }
  const rows = members.map(({ userId, address, role }) => [
    element('code', {}, address ?? 'the operator'),
    role,
    userId === person.id
      ? dangerButton('Leave', `Leave ${org.name}?`, end(userId))
      : org.role === 'owner'
        ? dangerButton('Remove', 'End this membership?', end(userId))
        : '',
  ])
  return card(
    'Members',
    table(['Account', 'Role', ''], rows),
    invitations.length > 0 || mayManage
      ? invitationsView({ client, org, mayManage, redraw }, invitations)
      : null,
  )
}

function invitationsView(
  { client, org, mayManage, redraw }: OrgContext,
  invitations: readonly Invitation[],
): HTMLElement {
  const path = `v1/orgs/${org.id}/invitations`
  const account = field('Account', {
    placeholder: '0x…',
    pattern: '0x[0-9a-fA-F]{40}',
    required: true,
    size: 44,
  })
  const role = choice('Role', org.role === 'owner' ? ['member', 'admin', 'owner'] : ['member'], 'member')
  const invite = async () => {
    await client.ask('POST', path, { address: account.input.value, role: role.select.value })
    await redraw()
  }
  const withdraw = (id: string) => async () => {
    await client.ask('DELETE', `${path}/${id}`)
    await redraw()
  }
  const linkOf = (id: string) => `${location.href.split('#')[0]}#view=account&invitation=${id}`
  const rows = invitations.map(({ id, address, email, role: of }) => [
    address ? element('code', {}, address) : email,
    of,
    // Members are told ids that open nothing.
    ...(mayManage
      ? [element('code', {}, linkOf(id)), dangerButton('Withdraw', 'Withdraw this invitation?', withdraw(id))]
      : []),
  ])
  const titles = ['For', 'Role', ...(mayManage ? ['Link, good once and for seven days', ''] : [])]
  return element(
    'div',
    {},
    element('h3', {}, 'Invitations'),
    rows.length > 0 ? table(titles, rows) : null,
    mayManage ? form('Invite', invite, account.label, role.label) : null,
  )
}

function ownerView({ client, org, redraw }: OrgContext): HTMLElement {
  const name = field('Name', { required: true, maxlength: 100, value: org.name })
  const rename = async () => {
    await client.ask('PATCH', `v1/orgs/${org.id}`, { name: name.input.value })
    await redraw()
  }
  const remove = async () => {
    await client.ask('DELETE', `v1/orgs/${org.id}`)
    await redraw()
  }
  const question = `Delete ${org.name}? All of its keys stop working.`
  return card(
    'Organization',
    form('Rename', rename, name.label),
    dangerButton('Delete the organization', question, remove),
  )
}
