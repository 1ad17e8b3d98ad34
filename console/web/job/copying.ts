/** Texts that are there to be copied: hashes, ids and commands. */
import { shortened } from '../../model/labels.ts'
import { button, element } from '../element.ts'
import { copy } from '../query/download.ts'

const HASH_CHARACTERS = 13
/** More is only slow to draw; Copy takes all of it. */
const SHOWN_CHARACTERS_MAX = 20_000

/** Both ends of a hash; a press copies it whole. */
export function hashButton(hash: string): HTMLElement {
  const label = shortened(hash, HASH_CHARACTERS)
  const made = button(label, () => void tellCopied(made, label, hash, made), {
    ...{ class: 'quiet hash', title: hash, 'aria-label': `Copy ${hash}` },
  })
  return made
}

/** A command of several lines, with what it does. */
export function commandBox(title: string, meaning: string, text: string): HTMLElement {
  const isCut = text.length > SHOWN_CHARACTERS_MAX
  const shown = element(
    'pre',
    { tabindex: 0, 'aria-label': `${title}: command` },
    isCut ? `${text.slice(0, SHOWN_CHARACTERS_MAX)}…` : text,
  )
  const press = button('Copy', () => void tellCopied(press, 'Copy', text, shown))
  return element(
    'section',
    { class: 'command', 'aria-label': title },
    element('div', { class: 'command-head' }, element('h3', {}, title), press),
    element(
      'p',
      { class: 'meaning' },
      meaning,
      isCut ? ' Only its beginning is shown: Copy takes it whole.' : null,
    ),
    shown,
  )
}

/** A browser that lets no page write to the clipboard gets the text selected in `shown` instead. */
async function tellCopied(
  pressed: HTMLButtonElement,
  label: string,
  text: string,
  shown: HTMLElement,
): Promise<void> {
  if (await copy(text)) {
    pressed.textContent = 'copied'
    pressed.addEventListener('blur', () => pressed.replaceChildren(label), { once: true })
    return
  }
  shown.textContent = text
  document.getSelection()?.selectAllChildren(shown)
}
