/** The account page: who is signed in, their organizations, keys and usage. */
import {
  AccountClient,
  type Org,
  type Person,
  type ReceivedInvitation,
  shortAddress,
} from '../../model/AccountClient.ts'
import type { LinkFields } from '../../model/link.ts'
import { RequestFailure } from '../../model/queryAnswer.ts'
import { origin } from '../api.ts'
import { button, element } from '../element.ts'
import type { Page, PageFrame } from '../page.ts'
import { card } from '../parts/card.ts'
import { table } from '../table.ts'
import { keyView } from './keyView.ts'
import { orgView } from './orgView.ts'
import { field, form } from './parts.ts'
import { signInView } from './signInView.ts'

export function open(host: HTMLElement, frame: PageFrame): Page {
  const view = new AccountView(host, frame)
  return { show: (fields) => view.show(fields), linked: () => view.linked() }
}

class AccountView {
  readonly #host: HTMLElement
  readonly #frame: PageFrame
  readonly #client = new AccountClient(origin)
  /** The organization that is shown. */
  #orgId: string | null = null
  /** From a link: becomes a membership when its reader has signed in. */
  #invitation: string | null = null
  #endSignIn = () => {}

  constructor(host: HTMLElement, frame: PageFrame) {
    this.#host = host
    this.#frame = frame
  }

  async show({ org, invitation }: LinkFields): Promise<void> {
    this.#orgId = org ?? this.#orgId
    this.#invitation = invitation ?? null
    await this.#draw()
  }

  linked(): LinkFields {
    return {
      ...(this.#orgId !== null && { org: this.#orgId }),
      ...(this.#invitation !== null && { invitation: this.#invitation }),
    }
  }

  async #draw(): Promise<void> {
    this.#endSignIn()
    try {
      const person = await this.#client.me()
      const parts = person ? await this.#signedIn(person) : [this.#signIn()]
      this.#host.replaceChildren(
        ...parts,
        keyView(() => this.#draw()),
      )
    } catch (error) {
      const text = error instanceof RequestFailure ? error.message : 'This page could not be shown.'
      this.#host.replaceChildren(
        element(
          'p',
          { class: 'empty' },
          text,
          ' ',
          button('Try again', () => void this.#draw()),
        ),
      )
    }
  }

  #signIn(): HTMLElement {
    const { view, end } = signInView(this.#client, this.#invitation, () => this.#draw())
    this.#endSignIn = end
    return view
  }

  async #signedIn(person: Person): Promise<HTMLElement[]> {
    await this.#accept()
    const [orgs, received] = await Promise.all([
      this.#client.list<Org>('v1/orgs'),
      this.#client.list<ReceivedInvitation>('v1/invitations'),
    ])
    const shown = orgs.find(({ id }) => id === this.#orgId) ?? orgs[0]
    this.#orgId = shown?.id ?? null
    return [
      this.#who(person),
      ...(received.length > 0 ? [this.#invitations(received)] : []),
      this.#organizations(orgs, shown),
      ...(shown ? [await orgView(this.#client, shown, person, () => this.#draw())] : []),
    ]
  }

  /** An invitation that was used up by signing up, or withdrawn, is none any more. */
  async #accept(): Promise<void> {
    const id = this.#invitation
    this.#invitation = null
    if (id === null) return
    const path = `v1/invitations/${encodeURIComponent(id)}/accept`
    const joined = await this.#client.ask<{ readonly orgId: string }>('POST', path).catch(() => null)
    this.#orgId = joined?.orgId ?? this.#orgId
    this.#frame.writeLink('replace')
  }

  #who({ address }: Person): HTMLElement {
    if (address === undefined)
      return element(
        'p',
        { class: 'headline' },
        'This machine acts for the default organization: no sign-in is needed here.',
      )
    const out = async () => {
      await this.#client.ask('POST', 'v1/auth/siwe/logout')
      await this.#draw()
    }
    const name = element('code', { title: address, id: 'account' }, shortAddress(address))
    return element('div', { class: 'headline' }, 'Signed in as ', name, form('Sign out', out))
  }

  #invitations(received: readonly ReceivedInvitation[]): HTMLElement {
    const answer = (id: string, how: 'accept' | 'decline') => async () => {
      await this.#client.ask('POST', `v1/invitations/${id}/${how}`)
      await this.#draw()
    }
    const rows = received.map(({ id, orgName, role }) => [
      orgName,
      role,
      element(
        'div',
        { class: 'row' },
        form('Accept', answer(id, 'accept')),
        form('Decline', answer(id, 'decline')),
      ),
    ])
    return card('Invitations for you', table(['Organization', 'Role', ''], rows))
  }

  #organizations(orgs: readonly Org[], shown: Org | undefined): HTMLElement {
    const choose = (id: string) => {
      this.#orgId = id
      this.#frame.writeLink('push')
      void this.#draw()
    }
    const name = field('Name', { required: true, maxlength: 100 })
    const make = async () => {
      const { id } = await this.#client.ask<Org>('POST', 'v1/orgs', { name: name.input.value })
      choose(id)
    }
    const choices = orgs.map(({ id, name: text, role }) =>
      button(text, () => choose(id), { 'aria-pressed': `${id === shown?.id}`, title: role }),
    )
    return card(
      'Organizations',
      element('div', { class: 'row choices' }, ...choices),
      form('Create', make, name.label),
    )
  }
}
