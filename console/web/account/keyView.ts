/** A key of the reader's own, which the page's queries then count against. */
import { readStatus } from '../api.ts'
import { element } from '../element.ts'
import { card } from '../parts/card.ts'
import { heldKey, holdKey } from './heldKey.ts'
import { field, form } from './parts.ts'

/** A key's last letters, as lists of keys show them. */
const SHOWN_CHARACTERS = 4

/** `changed` draws it again. */
export function keyView(changed: () => Promise<void>): HTMLElement {
  const held = heldKey()
  return card('Your API key', ...(held === null ? asks(changed) : shows(held, changed)))
}

function asks(changed: () => Promise<void>): HTMLElement[] {
  const key = field('Key', {
    ...{ type: 'password', required: true, name: 'api-key' },
    ...{ pattern: 'svc_(live|test)_[0-9A-Za-z]{46}', title: 'A key begins with svc_live_ or svc_test_.' },
  })
  const use = async () => {
    const given = key.input.value.trim()
    // A key that is none is refused whatever it asks for.
    await readStatus(new AbortController().signal, given)
    holdKey(given)
    await changed()
  }
  const text =
    'Queries of this page then count as the key’s. It stays in this tab, until the tab is closed or you forget it.'
  return [element('p', { class: 'meaning' }, text), form('Use key', use, key.label)]
}

function shows(held: string, changed: () => Promise<void>): HTMLElement[] {
  const forget = async () => {
    holdKey(null)
    await changed()
  }
  const name = element('code', { id: 'own-key' }, `…${held.slice(-SHOWN_CHARACTERS)}`)
  return [
    element('p', { class: 'meaning' }, 'Queries of this page count as those of the key ', name, '.'),
    form('Forget key', forget),
  ]
}
