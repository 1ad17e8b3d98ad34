/** A word with the colour of how it stands. */
import { element } from '../element.ts'

export type Tone = 'good' | 'busy' | 'bad'

export const badge = (text: string, tone: Tone): HTMLElement =>
  element('span', { class: `badge ${tone}` }, text)
