/** A titled part of a page. */
import { element } from '../element.ts'

export const card = (title: string, ...children: readonly (Node | string | null)[]): HTMLElement =>
  element('section', { class: 'card', 'aria-label': title }, element('h2', {}, title), ...children)
