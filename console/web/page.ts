/** The interface between a page and the console's frame. */
import type { LinkFields } from '../model/link.ts'
import type { StatusSample } from './statusFeed.ts'

/** A line of `pages.ts`. */
export interface PageEntry {
  /** In links, and of the page's folder, tab and panel. */
  readonly name: string
  /** On the tab. */
  readonly title: string
  /** Loads the page's code when it is first shown. */
  readonly load: () => Promise<{ readonly open: OpenPage }>
}

/** Fills the page's own element, once. */
export type OpenPage = (host: HTMLElement, frame: PageFrame) => Page

/** Everything is optional: a page may be what it drew when it was opened. */
export interface Page {
  /**
   * A link to the page was followed, or its tab was chosen for the first time: then `fields` is
   * empty.
   */
  show?(fields: LinkFields): Promise<void> | void
  /** The fields that a link must hold to bring back what the page shows. */
  linked?(): LinkFields
  /** Every report while the page is shown or hidden, and the newest one when its tab is chosen. */
  told?(sample: StatusSample): void
}

export interface PageFrame {
  /** The chain chosen at the top; null before the program said which it serves. */
  readonly chainId: () => number | null
  /**
   * Writes the page's link into the address bar; `push` lets the browser's back button return to
   * the one before.
   */
  readonly writeLink: (how: 'push' | 'replace') => void
}
