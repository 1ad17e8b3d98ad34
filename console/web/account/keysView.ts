/** Projects and their API keys. */
import type { Key, Project, Scope } from '../../model/AccountClient.ts'
import { element } from '../element.ts'
import { card } from '../parts/card.ts'
import { copy } from '../query/download.ts'
import { table } from '../table.ts'
import type { OrgContext } from './context.ts'
import { choice, dangerButton, field, form } from './parts.ts'

export function keysView(
  context: OrgContext,
  projects: readonly Project[],
  keys: readonly Key[],
  scopes: readonly Scope[],
): HTMLElement {
  const { client, org, mayManage, redraw } = context
  const name = field('Project', { required: true, maxlength: 100 })
  const make = async () => {
    await client.ask('POST', `v1/orgs/${org.id}/projects`, { name: name.input.value })
    await redraw()
  }
  return card(
    'API keys',
    ...projects.map((project) => projectView(context, project, keys, scopes)),
    mayManage ? form('Create project', make, name.label) : null,
  )
}

function projectView(
  { client, org, mayManage, redraw }: OrgContext,
  { id, name }: Project,
  all: readonly Key[],
  scopes: readonly Scope[],
): HTMLElement {
  const path = `v1/orgs/${org.id}/projects/${id}`
  const revoke = (keyId: string) => async () => {
    await client.ask('DELETE', `${path}/api-keys/${keyId}`)
    await redraw()
  }
  const rows = all
    .filter(({ projectId }) => projectId === id)
    .map((key) => [
      key.name ?? '',
      element('code', { title: key.id }, `…${key.tokenLast4}`),
      key.environment,
      key.scopes.join(', '),
      key.createdAt.slice(0, 10),
      mayManage
        ? dangerButton('Revoke', 'Revoke this key? It stops working within a second.', revoke(key.id))
        : '',
    ])
  const remove = async () => {
    await client.ask('DELETE', path)
    await redraw()
  }
  return element(
    'div',
    { class: 'project' },
    element(
      'h3',
      {},
      name,
      mayManage ? dangerButton('Delete', `Delete the project ${name} and its keys?`, remove) : null,
    ),
    rows.length > 0
      ? table(['Name', 'Ends with', 'Environment', 'Scopes', 'Made', ''], rows)
      : element('p', { class: 'meaning' }, 'No keys yet.'),
    mayManage ? newKey(`${path}/api-keys`, scopes, { client, redraw }) : null,
  )
}

/** The token is shown once, until the reader has it. */
function newKey(
  path: string,
  scopes: readonly Scope[],
  { client, redraw }: Pick<OrgContext, 'client' | 'redraw'>,
): HTMLElement {
  const name = field('Name', { maxlength: 100 })
  const environment = choice('Environment', ['production', 'sandbox'], 'production')
  const boxes = scopes
    .filter(({ selfServe }) => selfServe)
    .map(({ scope, description }) => {
      const input = element('input', { type: 'checkbox', value: scope, checked: scope === 'data:read' })
      return { input, label: element('label', { title: description }, input, ` ${scope}`) }
    })
  const shown = element('div', { class: 'token', hidden: true })
  const make = async () => {
    const { token } = await client.ask<{ readonly token: string }>('POST', path, {
      ...(name.input.value !== '' && { name: name.input.value }),
      environment: environment.select.value,
      scopes: boxes.filter(({ input }) => input.checked).map(({ input }) => input.value),
    })
    shown.replaceChildren(
      element('p', {}, 'Copy the key now: it is not shown again.'),
      element('code', {}, token),
      element(
        'div',
        { class: 'row' },
        form('Copy', async () => void (await copy(token))),
        form('Done', redraw),
      ),
    )
    shown.hidden = false
  }
  const fields = [name.label, environment.label, ...boxes.map(({ label }) => label)]
  return element('div', {}, form('Create key', make, ...fields), shown)
}
