/** A figure with its name and what it means, for a list of facts. */
import { element } from '../element.ts'

export const fact = (name: string, value: string, meaning: string): HTMLElement =>
  element(
    'div',
    {},
    element('dt', {}, name),
    element('dd', {}, value),
    element('dd', { class: 'meaning' }, meaning),
  )
